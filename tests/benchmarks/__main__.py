"""`make bench`: every benchmark, or the named ones.

Named ones are run as in `python -m tests.benchmarks quick_starts path_cost`.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path

ALL = (
    "quick_starts",
    "path_cost",
    "exam_speed",
    "exam_load",
    "ingest_accuracy",
    "ingest_mutations",
    "ingest_confidence",
    "ingest_assistance",
    "ingest_second_readings",
    "ingest_speed",
    "validity_edges",
    "validity_equating",
    "validity_leaks",
    "year_by_commands",
)


def main(names: list[str]) -> int:
    """Run the benchmarks one after the other; 2 for an unknown name."""
    unknown = sorted(set(names) - set(ALL))
    if unknown:
        print(f"Unknown benchmarks: {', '.join(unknown)}. There are: {', '.join(ALL)}.", file=sys.stderr)
        return 2
    print(
        f"# Benchmarks on {os.cpu_count()} cores; read CPU seconds and ratios, wall times vary with the machine"
    )
    for name in names or [name for name in ALL if (Path(__file__).parent / f"{name}.py").exists()]:
        started = time.perf_counter()
        importlib.import_module(f"tests.benchmarks.{name}").main()
        print(f"({name}: {time.perf_counter() - started:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
