"""How fast is the lake? It measures opening, landing and reading.

It also measures what the rules cost as Polars expressions and as a suite.

Run: python -m tests.benchmarks.lake_speed [rows per landing, default 1000] [landings, default 30]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from schemas.settings import Settings
from schemas.table import Table
from schemas.tables import get_table
from tests.warehouse.lake.kit import find_refusals
from tests.warehouse.sample_rows import allocation_frame, make_question, question_frame, session_frame
from warehouse.lake import Batch, open_lake
from warehouse.lake.suite import find_suite_refusals
from warehouse.lake.suite.suite import build_suite
from warehouse.lake.upkeep import compact_lake


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
    # Last, so that nothing above runs with pandas already imported.
    with measure("import of Great Expectations (once per process)"):
        build_suite(get_table("runs"))
    compare_executions(row_count)


def compare_executions(row_count: int) -> None:
    """Print what both executions of the rules cost on the same frames, clean and spoiled.

    The cost is in CPU milliseconds.
    """
    print(
        f"\n{'the rules on ' + str(row_count) + ' rows':<40} {'Polars':>12} {'Great Expectations':>20}   ms CPU"
    )
    for name, clean in (
        ("sessions", session_frame(row_count)),
        ("allocations", allocation_frame("s", "2026-01", row_count)),
        ("questions", question_frame([make_question(number) for number in range(row_count)])),
    ):
        table, clean = get_table(name), clean.with_columns(landing_unit=pl.lit("u"))
        required = next(column.name for column in table.own_columns if column.required)
        is_hit = pl.int_range(pl.len()) % 10 == 0
        spoiled = clean.with_columns(pl.when(~is_hit).then(pl.col(required)).alias(required))
        for state, frame in (("clean", clean), ("every tenth row spoiled", spoiled)):
            assert find_refusals(table, frame) == find_suite_refusals(table, frame)
            costs = [
                measure_cpu(find, table, frame, count)
                for find, count in ((find_refusals, 50), (find_suite_refusals, 5))
            ]
            print(f"{name + ', ' + state:<40} {costs[0]:12.2f} {costs[1]:20.1f}")


def measure_cpu(
    find: Callable[[Table, pl.DataFrame], object], table: Table, frame: pl.DataFrame, count: int
) -> float:
    """CPU milliseconds per call, all threads counted."""
    start = time.process_time()
    for _ in range(count):
        find(table, frame)
    return (time.process_time() - start) / count * 1e3


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
