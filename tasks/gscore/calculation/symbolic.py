"""Whether two answers are mathematically equal.

Sympy is asked, in a process of its own with a time limit.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from types import TracebackType

_START_SECONDS = 60.0


class SymbolicComparer:
    """Compares expressions in a child process.

    The process is killed and started again when it takes too long.

    Use as a context manager; the process starts with the first question.
    """

    def __init__(self, time_limit: float = 2.0) -> None:
        self._time_limit = time_limit
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._known: dict[tuple[str, str], bool | None] = {}
        self.timeout_count = 0
        """Questions that were given up."""

    def __enter__(self) -> SymbolicComparer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def is_equal(self, one: str, other: str) -> bool | None:
        """Return whether two LaTeX expressions have the same value.

        Returns None when that could not be found out in time, or at all.
        """
        question = (one, other)
        if question not in self._known:
            self._known[question] = self._ask(question)
        return self._known[question]

    def _ask(self, question: tuple[str, str]) -> bool | None:
        process = self._start()
        try:
            if process.stdin is None:
                return None
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            answer = self._answers.get(timeout=self._time_limit)
        except (queue.Empty, OSError):
            self.timeout_count += 1
            self._stop()
            return None
        if not answer:  # the process ended (out of memory, for one)
            self._stop()
            return None
        verdict = json.loads(answer)
        return verdict if isinstance(verdict, bool) else None

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._answers = queue.Queue()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tasks.gscore.calculation.symbolic_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            threading.Thread(target=_collect, args=(self._process, self._answers), daemon=True).start()
            try:
                self._answers.get(timeout=_START_SECONDS)  # sympy's import is not the question's time
            except queue.Empty:
                self._stop()
                raise TimeoutError("sympy did not start within a minute") from None
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    stream.close()
            self._process = None


def _collect(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    """Pass the child's lines on, and an empty one when it ends."""
    try:
        for line in process.stdout or ():
            answers.put(line)
    except ValueError:
        pass  # closed while reading: nobody waits any more
    answers.put("")
