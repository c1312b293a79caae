"""What is to be known of an edition, in sentences of both languages."""

from __future__ import annotations

from tasks.report.words import (
    describe_judge_checks,
    describe_override,
    describe_provisional,
    describe_unequated,
)


def test_an_overridden_gate_and_a_provisional_order_are_said_with_their_reasons() -> None:
    row = {
        "overridden_gates": ["agreement"],
        "override_reason": "the year must end",
        "is_provisional": True,
        "provisional_because": ["agreement", "ratings"],
    }
    assert describe_override(row, "en") == (
        "the judge agrees too little with people. A person decided to publish all the same; the reason: the year must end"
    )
    assert describe_provisional(row, "en") == (
        "The judge's agreement with people may be below the bar (the lower end of its kappa is); The judge was compared "
        "with people on fewer responses than the bar: the order may change."
    )


def test_what_control_answers_said_of_a_judge_is_told() -> None:
    row = {"key_count": 0, "control_count": 56, "control_wrong_count": 8, "control_gap": 0.0}
    assert (
        "56 control answers, 8 judged wrong, references at least 0.0 stars above the others"
        in describe_judge_checks(row, "en")
    )
    assert "对照作答 56 份，错判 8 份" in describe_judge_checks(row, "zh")
    assert describe_judge_checks(row | {"key_count": None}, "en") == ""


def test_what_has_no_equated_score_has_its_cause() -> None:
    said = {why: describe_unequated({"unequated_because": why}, "en") for why in ("draws", None)}
    assert said["draws"].startswith("No equated score: the model of the answers came to no one result")
    assert said[None] == "No equated score: this edition does not say why."
