"""What a key gives away to somebody who does not read the question."""

from __future__ import annotations

from collections.abc import Mapping

from tasks.questions import BlindKey, find_blind_key

OPTIONS: list[Mapping[str, str | None]] = [
    {"label": "A", "text": "one"},
    {"label": "B", "text": "a longer one"},
    {"label": "C", "text": None},
    {"label": "D", "text": "two"},
]


def test_a_statement_is_right_by_its_truth() -> None:
    assert find_blind_key("true_false", [], ["false"]) == BlindKey("true_false", 2, frozenset({"false"}))
    assert find_blind_key("true_false", [], []) == BlindKey("true_false", 2, frozenset())


def test_a_choice_is_right_by_its_label_and_by_the_longest_option() -> None:
    assert find_blind_key("multiple_choice", OPTIONS, ["D"]) == BlindKey(
        "multiple_choice", 4, frozenset({"D"})
    )
    assert find_blind_key("multiple_choice", OPTIONS, ["B"]).right == {"B", "longest"}


def test_several_keys_and_open_questions_are_not_answered_blindly() -> None:
    assert find_blind_key("multiple_choice", OPTIONS, ["A", "B"]).right == frozenset()
    assert find_blind_key("short_answer", [], ["two"]) == BlindKey("open", 0, frozenset())
    assert find_blind_key("multiple_choice", OPTIONS[:1], ["A"]) == BlindKey("open", 0, frozenset())
