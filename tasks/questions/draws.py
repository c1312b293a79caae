"""Draws by hash: the same salt and items give the same draw on any machine, in any order.

Nothing here is secret: who knows the salt knows the draw. What a candidate must not foresee is drawn with the key of a
season instead (`tasks.exam.plan.bank.drawing`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

_SEPARATOR = "\x1f"


def compute_rank(*parts: object) -> bytes:
    """The place of something among others, random but always the same: SHA-256 of its parts."""
    return hashlib.sha256(_join(parts)).digest()


def compute_short_rank(*parts: object) -> bytes:
    """A rank of eight bytes (BLAKE2b), for draws by the thousand; no order of compute_rank."""
    return hashlib.blake2b(_join(parts), digest_size=8).digest()


def draw_order(items: Iterable[T], *salt: object, name: Callable[[T], object] = str) -> list[T]:
    """The items in an order that the salt fixes.

    Items of the same name keep the order in which they come.

    `name` says what an item is drawn by, for example its UUID.
    """
    return sorted(items, key=lambda item: compute_rank(*salt, name(item)))


def draw_short_order(names: Iterable[str], *salt: object) -> list[str]:
    """The names in an order that the salt fixes, by short ranks: for hundreds of thousands."""
    begun = hashlib.blake2b(_join((*salt, "")), digest_size=8)

    def rank(name: str) -> bytes:
        one = begun.copy()
        one.update(name.encode("utf-8", "surrogatepass"))
        return one.digest()

    return sorted(names, key=rank)


def draw_share(items: Sequence[T], share: float, *salt: object) -> list[T]:
    """That share of the items, rounded, in the drawn order.

    It holds at least one item where there is any, and none for a share of 0. Every item is drawn or not by
    its own rank: of a larger share, a smaller one with the same salt is the beginning.
    """
    if not items or share <= 0:
        return []
    return draw_order(items, *salt)[: max(1, round(len(items) * share))]


def _join(parts: Sequence[object]) -> bytes:
    return _SEPARATOR.join(map(str, parts)).encode("utf-8", "surrogatepass")
