"""A Ctrl-C whenever Python takes one: as a function begins, and as one of C returns."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import CodeType, FrameType

from warehouse.stores import blocks

_BLOCKS = str(Path(blocks.__file__))


def interrupt_everywhere(
    act: Callable[[], object], is_meant: Callable[[CodeType], bool], *, step: int = 1
) -> Iterator[KeyboardInterrupt]:
    """Act again and again, interrupted each time `step` moments later in what is meant.

    Left out is one: before the end of a block begins nothing can be let go, which is left to whoever clears the traceback.
    """
    for number in count(1, step):
        seen = 0

        def watch(frame: FrameType, event: str, _: object, last: int = number) -> None:
            nonlocal seen
            code = frame.f_code
            if event not in ("call", "c_return") or not is_meant(code) or _is_finalizing(frame):
                return
            if event == "call" and code.co_filename == _BLOCKS and code.co_name == "__exit__":
                return
            seen += 1
            if seen == last:
                sys.setprofile(None)
                raise KeyboardInterrupt

        try:
            sys.setprofile(watch)
            act()
        except KeyboardInterrupt as interrupted:
            # With its traceback, as it is while a command ends.
            yield interrupted
        else:
            assert seen < number, "an interruption was lost"
            return
        finally:
            sys.setprofile(None)


def _is_finalizing(frame: FrameType | None) -> bool:
    """Whether Python would only print what is raised."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
