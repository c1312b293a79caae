"""Show that long work moves. It never shows any content.

It shows a bar on a terminal, and a line now and then otherwise.
"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

from warehouse.stores.away import add_listener

HEARTBEAT_S = 10.0


class Counted(NamedTuple):
    """How far a piece of work is; `total` is null where nobody knows it."""

    title: str
    done: int
    total: int | None


# The work that this process counted last: what it shows elsewhere (tasks/running/flow_runs/task.py).
_last: list[Progress] = []


def read_last_progress() -> Counted | None:
    """How far the piece of work is that began last in this process; None before the first.

    It is also returned when that work is over.
    """
    return _last[-1].count() if _last else None


def say_line(text: str) -> None:
    """A line between the lines of progress: what the work waits for."""
    if os.environ.get("PROCTOR_QUIET") != "1":
        print(text, file=sys.stderr, flush=True)


add_listener(say_line)


class Progress:
    """Counts finished units of one piece of work.

    `PROCTOR_QUIET=1` silences it. Output goes to standard error, so that results can be piped.
    """

    def __init__(self, title: str, total: int | None = None) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._started = self._last = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._is_quiet = os.environ.get("PROCTOR_QUIET") == "1"

    def __enter__(self) -> Progress:
        _last[:] = [self]
        if sys.stderr.isatty() and not self._is_quiet:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
            )
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None:
            self._write_line("done")

    def count(self) -> Counted:
        """How far it is."""
        return Counted(self._title, self._done, self._total)

    def advance(self, count: int = 1) -> None:
        """Count units that are finished (and durable)."""
        self._done += count
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done)
        elif time.monotonic() - self._last >= HEARTBEAT_S:
            self._write_line("so far")

    def reach(self, done: int, total: int | None = None) -> None:
        """Say how far it is, for work that counts by itself."""
        if total is not None and total != self._total:
            self._total = total
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, total=total)
        self.advance(done - self._done)

    def _write_line(self, word: str) -> None:
        if self._is_quiet:
            return
        self._last = time.monotonic()
        total = f" of {self._total}" if self._total is not None else ""
        seconds = self._last - self._started
        print(f"{self._title}: {self._done}{total} {word} ({seconds:.0f} s)", file=sys.stderr, flush=True)
