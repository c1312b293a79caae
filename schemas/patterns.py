"""Python's `re`, whose `compile` waits until a pattern is first used.

Papers are read by some thousand patterns, and a short command uses a tenth of them: to compile all takes longer than the rest of its
work. Whoever is about to fork compiles what still waits, once for all children. A module that compiles patterns as it is imported takes them from
here, `from schemas import patterns as re`.
"""

from __future__ import annotations

import re
from re import (
    ASCII,
    DOTALL,
    IGNORECASE,
    MULTILINE,
    UNICODE,
    VERBOSE,
    I,
    Match,
    Pattern,
    S,
    escape,
    findall,
    finditer,
    fullmatch,
    match,
    search,
    split,
    sub,
)
from typing import Any, AnyStr

__all__ = [
    "ASCII",
    "DOTALL",
    "IGNORECASE",
    "MULTILINE",
    "UNICODE",
    "VERBOSE",
    "I",
    "Match",
    "Pattern",
    "S",
    "compile",
    "compile_waiting",
    "escape",
    "findall",
    "finditer",
    "fullmatch",
    "match",
    "search",
    "split",
    "sub",
]

_METHODS = ("findall", "finditer", "fullmatch", "match", "scanner", "search", "split", "sub", "subn")
_KEPT = (*_METHODS, "flags", "groupindex", "groups")


class LazyPattern:
    """A pattern that is compiled as soon as more is asked of it than its text.

    Afterwards it has what the compiled one has, at the same speed.
    """

    __slots__ = ("_given", "pattern", *_KEPT)

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._given = flags
        _waiting.add(self)

    def __getattr__(self, name: str) -> Any:
        """What the compiled pattern has under this name."""
        compiled: Any = re.compile(self.pattern, self._given)
        for kept in _KEPT:
            setattr(self, kept, getattr(compiled, kept))
        _waiting.discard(self)
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """By its text, as a compiled one goes to other processes."""
        return compile, (self.pattern, self._given)


_waiting: set[LazyPattern] = set()


def compile(pattern: AnyStr, flags: int = 0) -> Pattern[AnyStr]:
    """The same as `re.compile`, but a pattern that is wrong is found when it is first used."""
    lazy: Any = LazyPattern(pattern, flags)
    return lazy  # type: ignore[no-any-return]


def compile_waiting() -> int:
    """Compile every pattern that was imported and not used yet; returns how many.

    Raises:
        re.error: for a pattern that is wrong.
    """
    waiting = list(_waiting)
    for lazy in waiting:
        lazy.__getattr__("flags")
    return len(waiting)
