"""Measure CPU and wall time side by side, and print them. Nothing here asserts a time."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured line: CPU and wall in seconds, and what they are per unit where that says more."""

    name: str
    cpu_s: float
    wall_s: float
    note: str = ""


def measure_command(
    name: str, command: Sequence[str], environment: Mapping[str, str], repeats: int = 1, note: str = ""
) -> Row:
    """Run a command and count the CPU of it and its waited-for children; the best of `repeats`."""
    best: Row | None = None
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        done = subprocess.run(command, env=dict(environment), capture_output=True, text=True)
        wall = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: exit code {done.returncode}: {done.stderr[-800:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if best is None or cpu < best.cpu_s:
            best = Row(name, cpu, wall, note)
    assert best is not None
    return best


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """Print a table."""
    print(f"\n## {title}\n")
    print(f"{'':<58}{'CPU s':>9}{'wall s':>9}")
    for row in rows:
        print(f"{row.name:<58}{row.cpu_s:>9.2f}{row.wall_s:>9.2f}  {row.note}")
