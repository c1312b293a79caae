"""How fast is the lake? Opening, landing, reading, and what Great Expectations costs per landing.

Run: python -m tests.benchmarks.lake_speed [rows per landing, default 1000] [landings, default 30]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.settings import Settings
from schemas.tables import get_table
from tests.warehouse.sample_rows import allocation_frame, session_frame
from warehouse.lake.maintenance import compact_lake
from warehouse.lake.store import Batch, open_lake


@contextmanager
def measure(label: str, count: int = 1) -> Iterator[None]:
    """Print wall and CPU milliseconds per operation, and operations per second."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"{label:<58} {wall / count * 1e3:9.1f} ms wall {cpu / count * 1e3:9.1f} ms CPU {count / wall:8.1f} /s"
    )


def main(row_count: int = 1000, count: int = 30) -> None:
    """Print one line per measurement, over `count` landings of `row_count` rows."""
    from schemas.expectations import build_suite, find_refusals

    with measure("import of Great Expectations (once per process)"):
        build_suite(get_table("runs"))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder))
        with measure("first opening: every table, comment and view"):
            open_lake(settings).close()
        with measure("opening to write", 5):
            for _ in range(5):
                open_lake(settings).close()
        with measure("opening to read", 5):
            for _ in range(5):
                open_lake(settings, read_only=True).close()
        for name, frame in (
            ("sessions", session_frame(row_count)),
            ("allocations", allocation_frame("s", "2026-01", row_count)),
        ):
            find_refusals(get_table(name), frame.with_columns(landing_unit=frame["session_id"]))
            with measure(f"Great Expectations on {row_count} rows of {name}", 10):
                for _ in range(10):
                    find_refusals(get_table(name), frame.with_columns(landing_unit=frame["session_id"]))
        with open_lake(settings) as lake:
            frames = {n: allocation_frame(f"s{n}", "2026-01", row_count) for n in range(count)}
            with measure(f"landing {row_count} rows", count):
                for n, frame in frames.items():
                    lake.land("allocations", f"s{n}", frame)
            with measure("landing the same again", count):
                for n, frame in frames.items():
                    assert lake.land("allocations", f"s{n}", frame).is_unchanged
            with measure("replacing a unit", count):
                for n, frame in frames.items():
                    lake.land("allocations", f"s{n}", frame.head(row_count - 1))
            with measure(f"landing {count} units of {row_count} rows together", count):
                lake.land_together([Batch("allocations", f"t{n}", frame) for n, frame in frames.items()])
            grouped = "SELECT session_id, count(*) FROM allocations GROUP BY ALL"
            with measure("group by over all rows, before compaction", 5):
                for _ in range(5):
                    lake.query(grouped)
            with measure("compaction"):
                counts = compact_lake(lake, keep_days=0)
            with measure("group by over all rows, after compaction", 5):
                for _ in range(5):
                    lake.query(grouped)
            print(f"files before compaction {counts['files_before']}, after {counts['files_after']}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
