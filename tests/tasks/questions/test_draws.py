from __future__ import annotations

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from deployments.model_server.profile import draw_index, draw_uniform
from tasks.questions.draws import compute_rank, compute_short_rank, draw_order, draw_share
from tests.tasks.review.kit import draw_annotators

LETTERS = list("ABCDEFGH")


def test_a_rank_never_changes() -> None:
    assert compute_rank("b1", "q7") == hashlib.sha256(b"b1\x1fq7").digest()
    assert compute_rank("b1", 7) == compute_rank("b1", "7")
    assert compute_rank("seed/1/s1/4").hex() == hashlib.sha256(b"seed/1/s1/4").hexdigest()
    assert compute_short_rank("b1", "q7") == hashlib.blake2b(b"b1\x1fq7", digest_size=8).digest()


def test_the_same_salt_draws_the_same_order_for_ever() -> None:
    assert draw_order(LETTERS, "salt") == list("CGFBDAHE")
    assert draw_order(LETTERS, "another salt") == list("ECDFGBHA")
    assert draw_order(range(6), "6f1c52b8") == [1, 5, 0, 4, 2, 3]


def test_an_order_does_not_depend_on_how_the_items_come() -> None:
    assert draw_order(reversed(LETTERS), "salt") == draw_order(LETTERS, "salt")


def test_a_share_is_rounded_and_never_empty_while_there_are_items() -> None:
    assert [len(draw_share(LETTERS, share, "salt")) for share in (0.0, 0.01, 0.3, 0.5, 1.0)] == [
        0,
        1,
        2,
        4,
        8,
    ]
    assert draw_share([], 0.5, "salt") == []


@settings(deadline=None)
@given(st.lists(st.text(max_size=5), unique=True), st.floats(0, 1), st.floats(0, 1), st.text(max_size=5))
def test_a_larger_share_begins_with_the_smaller_one(
    items: list[str], one: float, other: float, salt: str
) -> None:
    small, large = (draw_share(items, share, salt) for share in sorted((one, other)))
    assert large[: len(small)] == small


def test_what_each_caller_draws_never_changes() -> None:
    sample = draw_share([f"q{place}" for place in range(12)], 0.3, "b1")
    assert sorted(sample) == ["q11", "q3", "q6", "q8"]
    annotators = draw_annotators(
        [f"q{place}" for place in range(1, 7)], {"ann": 4, "ben": 4, "cy": 4}, 2, "b1"
    )
    assert annotators == {
        "q5": ["ben", "cy"],
        "q4": ["ben", "ann"],
        "q2": ["cy", "ann"],
        "q3": ["ann", "ben"],
        "q1": ["cy", "ben"],
        "q6": ["cy", "ann"],
    }
    assert (draw_uniform("a", 1), draw_index(100, "x", 2)) == (0.5058861624664539, 15)
