"""Counts with what is counted."""

from __future__ import annotations

import pytest

from schemas.counting import say_count


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (say_count(1, "question"), "1 question"),
        (say_count(0, "question"), "0 questions"),
        (say_count(1_234, "question"), "1,234 questions"),
        (say_count(1, "question waits", "questions wait"), "1 question waits"),
        (say_count(2, "question waits", "questions wait"), "2 questions wait"),
        (say_count(1.0, "set"), "1 set"),
        (say_count(2.5, "set"), "2.5 sets"),
    ],
)
def test_one_is_said_in_the_singular(said: str, expected: str) -> None:
    assert said == expected
