"""Who is shown to a judge under which letter and where, by the league's key."""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Iterable
from typing import TypeVar

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

T = TypeVar("T")


def draw_labels(key: bytes, answerers: Iterable[str], *place: object) -> dict[str, str]:
    """Letter → answerer, as shown: the same for the same key and place, so that calls replay."""
    return dict(zip(LETTERS, draw_sequence(key, answerers, "labels", *place), strict=False))


def draw_sequence(key: bytes, items: Iterable[T], *place: object) -> list[T]:
    """The items, which must have an order, in one that only the key's holder can foresee."""
    drawn = sorted(items)  # type: ignore[type-var]
    text = "\x1f".join(map(str, place))
    seed = int.from_bytes(hmac.new(key, text.encode(), hashlib.sha256).digest(), "big")
    random.Random(seed).shuffle(drawn)
    return drawn
