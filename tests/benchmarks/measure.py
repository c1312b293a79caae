"""Measure CPU and wall time side by side, and print them. Nothing here asserts a time."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

_PR_SET_CHILD_SUBREAPER = 36
# How long what a command started and left behind may take to end: it is counted, and nothing is left running.
_ORPHANS_S = 15.0


@dataclass(frozen=True)
class Row:
    """One measured line: CPU and wall time in seconds.

    It also says what they are per unit, where that says more.
    """

    name: str
    cpu_s: float
    wall_s: float
    note: str = ""
    is_measured: bool = True

    def with_note(self, note: str) -> Row:
        """The same with a note."""
        return replace(self, note=note)


def read_peak_mb() -> float:
    """Peak resident memory of this process, in MB.

    What getrusage reports of a child includes its parent's memory.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    return float("nan")


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Processes that their parents leave behind become ours.

    Their CPU is counted, and what is left at the end is stopped.

    Only Linux can do that; elsewhere the CPU of a server that a command starts and stops is not counted.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    try:
        yield
    finally:
        _stop_others(before)
        _reap()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def measure_tree(
    name: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    limit_s: float,
    folder: Path,
    repeats: int = 1,
) -> Row:
    """Run a command in `folder` and count its whole process tree.

    This is used within `adopting_orphans`; the result is the best of `repeats`.

    A run that takes longer than `limit_s` is ended with all that it started. It and one that fails give a row that says so
    and is not measured; nothing is raised.
    """
    best: Row | None = None
    for _ in range(repeats):
        row = _measure_once(name, command, environment, limit_s, folder)
        if not row.is_measured:
            return row
        if best is None or row.cpu_s < best.cpu_s:
            best = row
    assert best is not None
    return best


def _measure_once(
    name: str, command: Sequence[str], environment: Mapping[str, str], limit_s: float, folder: Path
) -> Row:
    _reap()
    others = {child.pid for child in psutil.Process().children(recursive=True)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    # Into a file: what a command leaves running would hold a pipe open, and reading it would wait for that.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        wall = time.perf_counter() - started
        if code != 0:
            _stop_others(others)
        left = _await_orphans(others)
        output.seek(0)
        said = output.read().strip().splitlines()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if code is None:
        return Row(name, cpu, wall, f"stopped: it had not ended after {limit_s:.0f} s", is_measured=False)
    if code:
        return Row(
            name, cpu, wall, f"failed: exit code {code}: {' '.join(said[-2:])[-200:]}", is_measured=False
        )
    return Row(name, cpu, wall, f"{left} left running" if left else "")


def _await_orphans(others: set[int]) -> int:
    """Reap what the command started and has been told to stop.

    Returns how many of its processes live on (a server).
    """
    deadline = time.monotonic() + _ORPHANS_S
    while True:
        _reap()
        living = [child for child in psutil.Process().children(recursive=True) if child.pid not in others]
        # A server is meant to stay; anything else is ending.
        if not living or time.monotonic() > deadline or all(_is_server(child) for child in living):
            return len(living)
        time.sleep(0.05)


def _is_server(process: psutil.Process) -> bool:
    try:
        return "prefect" in process.cmdline()
    except psutil.Error:
        return False


def _stop_others(others: set[int]) -> None:
    for child in psutil.Process().children(recursive=True):
        if child.pid not in others:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


def _reap() -> None:
    """Collect the children that have ended, adopted ones too."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """Print a table."""
    print(f"\n## {title}\n")
    print(f"{'':<70}{'CPU s':>9}{'wall s':>9}")
    for row in rows:
        cpu = f"{row.cpu_s:.2f}" if row.is_measured else "–"
        print(f"{row.name:<70}{cpu:>9}{row.wall_s:>9.2f}  {row.note}")
