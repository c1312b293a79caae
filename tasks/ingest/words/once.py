"""What is found out about a text once a paper, however many steps and readings ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

T = TypeVar("T")

_KNOWN: list[_lru_cache_wrapper[Any]] = []


def once_a_paper(function: Callable[..., T]) -> _lru_cache_wrapper[T]:
    """Keep what a function gave for each of its arguments until the next paper.

    Without a bound: a paper with more lines than are kept would meet none of them again, and what a paper holds is bounded itself.
    """
    known = lru_cache(maxsize=None)(function)
    _KNOWN.append(known)
    return known


def forget_paper() -> None:
    """Forget what was found out: a paper seldom has a line of the one before."""
    for known in _KNOWN:
        known.cache_clear()
