"""Questions of two lists to be matched, as the exports of question banks have them."""

from __future__ import annotations

from collections.abc import Sequence

LETTERS = "ABCDEFGHIJ"


def ask_pairs(stem: str, sides: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """A choice for every left side among all right sides.

    The asking text stands above each of them. A left side without a right one has no answer; a right side without a
    left one is offered all the same.
    """
    offered = list(dict.fromkeys(right for _, right in sides if right))
    if not 2 <= len(offered) <= len(LETTERS):
        return []
    options = dict(zip(LETTERS, offered, strict=False))
    return [
        {
            "material": stem,
            "question": left,
            **options,
            "type": "multiple_choice",
            "answer": LETTERS[offered.index(right)] if right else "",
        }
        for left, right in sides
        if left
    ]
