"""How much a hunt tries: a part of it in every run, the whole with `make test-long`.

A hunt draws, damages or kills again and again, or goes through each of many. Its test has the mark `hunt`, so that
`make test-long` finds it; what it tries in which run stands here once, and not in two tests.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")

IS_WHOLE = os.environ.get("PROCTOR_TEST_LONG") == "1"


def tries(part: int, whole: int) -> int:
    """How often: `part` in every run, `whole` in a long one."""
    return whole if IS_WHOLE else part


def some(of: Sequence[T], part: int, *, kind: Callable[[T], Hashable] = lambda _: None) -> list[T]:
    """About `part` of many, the same in every run; all of them in a long one.

    At least one of each kind is among them. They keep their order.
    """
    if IS_WHOLE or len(of) <= part:
        return list(of)
    drawn = set(random.Random(part).sample(range(len(of)), part))
    kinds = {kind(of[place]) for place in drawn}
    for place, one in enumerate(of):
        if kind(one) not in kinds:
            kinds.add(kind(one))
            drawn.add(place)
    return [of[place] for place in sorted(drawn)]
