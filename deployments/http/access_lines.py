"""A line on standard output per call.

Strangers have a fixed number of lines a minute; calls beyond it are counted in one line.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

LINES_PER_MINUTE: Final = 120
_LONGEST_PATH: Final = 120


class AccessLines:
    """The lines of one server.

    Args:
        print_line: where they go; standard output by default.
        clock: seconds of a clock that never goes back.
        as_json: whether each is a JSON object.
    """

    def __init__(
        self,
        print_line: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        as_json: bool = False,
    ) -> None:
        self._as_json = as_json
        self._print = print_line or _print_out
        self._clock = clock
        self._began = clock()
        self._written = 0
        self._left_out = 0

    def write(self, scope: Mapping[str, Any], status: int, duration_ms: float) -> None:
        """Write a call that is over, or count it."""
        if self._clock() - self._began >= 60.0:
            self.finish()
        if not scope.get("state", {}).get("is_known"):
            if self._written >= LINES_PER_MINUTE:
                self._left_out += 1
                return
            self._written += 1
        path = "".join(c if c.isprintable() else "?" for c in str(scope["path"]))[:_LONGEST_PATH]
        if self._as_json:
            self._print_json(method=scope["method"], path=path, status=status, ms=round(duration_ms))
        else:
            self._print(f"{_now()} {scope['method']} {path} {status} {duration_ms:.0f} ms")

    def finish(self) -> None:
        """Say how many calls were left out of the minute that is over, and begin another."""
        if self._left_out and self._as_json:
            self._print_json(left_out=self._left_out)
        elif self._left_out:
            self._print(f"{_now()} {self._left_out:,} more calls of strangers are not written")
        self._began, self._written, self._left_out = self._clock(), 0, 0

    def _print_json(self, **values: Any) -> None:
        line = {"at": _now(), "level": "info", "part": "proctor.access", "event": "call"} | values
        self._print(json.dumps(line, ensure_ascii=False))


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _print_out(line: str) -> None:
    print(line, file=sys.stdout, flush=True)
