"""Lists come a page at a time.

The caller names the last entry of the page before, and no reply grows with history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeVar

from fastapi import Query

T = TypeVar("T")

MOST_PER_PAGE: Final = 500
Limit = Annotated[int, Query(ge=1, le=MOST_PER_PAGE)]


def cut_page(found: Sequence[T], limit: int, name: Callable[[T], str]) -> tuple[Sequence[T], str | None]:
    """The page, and what the next one follows.

    `found` has one entry more than the page when there is a next page.
    """
    page = found[:limit]
    return page, name(page[-1]) if len(found) > limit else None
