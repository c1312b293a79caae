"""Simulated candidates that want stars without knowing anything, and what they earn."""

from __future__ import annotations

from pathlib import Path

import pytest

from deployments.model_server.gaming import MANNERS
from deployments.model_server.key import EXPLANATIONS, KnownQuestion, compute_true_stars
from deployments.model_server.profile import parse_profile, read_profile
from schemas.errors import UsageError
from tasks.judging import find_address

PROFILES = Path(__file__).parents[3] / "deployments" / "model_server" / "profiles"
STATEMENT = "Question: a set has one order.\nTrue or false?"


def know(
    question_type: str, answer: str, labels: tuple[str, ...] = (), language: str = "en"
) -> KnownQuestion:
    return KnownQuestion("hash", question_type, language, "Law", (answer,), labels, "Since it follows.")


@pytest.mark.parametrize(
    ("entry", "stars"),
    [
        (know("true_false", "false"), {"blind": 2, "inject": 2}),
        (know("true_false", "true"), {"blind": 0, "inject": 0}),
        (know("true_false", "false", language="zh"), {"blind": 2, "inject": 2}),
        (know("multiple_choice", "C", ("A", "B", "C", "D")), {"blind": 2, "inject": 2}),
        (know("multiple_choice", "A", ("A", "B", "C", "D")), {"blind": 0, "inject": 0}),
        (know("multiple_choice", "B", ("A", "B")), {"blind": 2, "inject": 2}),
        (know("short_answer", "the order of a set"), {"blind": 0, "inject": 0, "echo": 0}),
    ],
)
def test_a_manner_earns_what_its_answer_is_worth_and_no_star_for_a_reason(
    entry: KnownQuestion, stars: dict[str, int]
) -> None:
    found = {name: compute_true_stars(entry, MANNERS[name](entry, STATEMENT)) for name in stars}
    assert found == stars


def test_an_answer_with_its_reason_has_the_third_star_and_one_without_has_not() -> None:
    entry = know("true_false", "true")
    reason = EXPLANATIONS["en"]["reasonable"][0]
    assert [
        compute_true_stars(entry, response)
        for response in (f"true. Reason: {reason}", "true. Reason: Since it follows.", "true", "false", "")
    ] == [3, 3, 2, 0, 0]


def test_who_asks_for_stars_is_found_to_speak_to_its_judge() -> None:
    for language in ("en", "zh"):
        entry = know("true_false", "true", language=language)
        assert find_address(MANNERS["inject"](entry, STATEMENT)) == "stars"
        assert find_address(MANNERS["blind"](entry, STATEMENT)) is None


def test_the_profile_of_gaming_candidates_has_every_manner_and_an_unknown_one_is_refused() -> None:
    profile = read_profile(PROFILES / "gaming.yaml")
    assert {model.manner for model in profile.models.values() if model.manner} == set(MANNERS)
    assert (profile.models["sim-silent"].faults.empty, profile.models["sim-refuser"].faults.refusal) == (
        1.0,
        1.0,
    )
    with pytest.raises(UsageError, match="manner 'bribe' is none of blind, echo, inject"):
        parse_profile({"models": {"x": {"manner": "bribe"}}})
