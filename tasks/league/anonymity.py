"""Who is shown to a judge under which letter, and in which order.

Both are drawn again for each judge from the league's key.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Iterable
from typing import TypeVar

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

T = TypeVar("T")


def draw_labels(key: bytes, answerers: Iterable[str], *place: object) -> dict[str, str]:
    """Letter → answerer, in the order in which the answers are shown.

    `place` names the round and the judge.

    The same key and place give the same letters, so that a prompt that was paid for is asked again in the same words.
    """
    return dict(zip(LETTERS, draw_sequence(key, answerers, "labels", *place), strict=False))


def draw_sequence(key: bytes, items: Iterable[T], *place: object) -> list[T]:
    """The items in an order that only the key's holder can foresee.

    The items must have an order of their own; the order in which they are given does not matter.
    """
    drawn = sorted(items)  # type: ignore[type-var]
    make_random(key, *place).shuffle(drawn)
    return drawn


def make_random(key: bytes, *place: object) -> random.Random:
    """A generator that follows from the key and the place alone."""
    text = "\x1f".join(map(str, place))
    return random.Random(int.from_bytes(hmac.new(key, text.encode(), hashlib.sha256).digest(), "big"))
