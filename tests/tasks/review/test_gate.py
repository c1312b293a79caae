from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.review.decisions.decision import Decision, Edit, GivenDecision
from tasks.review.decisions.gate import Outcome, compute_outcomes
from tasks.review.decisions.item import Item
from tests.tasks.review.conftest import NOW, make_question

ITEM = Item.from_question(make_question(1))


def decide(annotator: str, decision: str, reason: str | None = None, **fields: Any) -> Decision:
    edit = Edit.from_row(fields) if fields else None
    given = GivenDecision(ITEM.question_uuid, decision, reason, None, edit)
    return Decision(given, annotator, "adjudication" if annotator == "judge" else "web", NOW)


def settle(*decisions: Decision, review_count: int = 2) -> Outcome:
    return compute_outcomes([ITEM], decisions, review_count)[0]


def test_two_accepts_pass_the_question_unchanged() -> None:
    outcome = settle(decide("a", "accept"), decide("b", "accept"))
    assert (outcome.state, outcome.revision, outcome.was_edited, outcome.accept_count) == (
        "accepted",
        1,
        False,
        2,
    )


@pytest.mark.parametrize(
    ("state", "votes"),
    [
        ("waiting", [decide("a", "accept")]),
        ("disputed", [decide("a", "accept"), decide("b", "reject", "unclear")]),
        ("disputed", [decide("a", "edit", answer=["C"]), decide("b", "edit", answer=["A"])]),
        # A corrected key contradicts an accept.
        ("disputed", [decide("a", "accept"), decide("b", "edit", answer=["C"])]),
        ("disputed", [decide("a", "accept"), decide("b", "accept"), decide("c", "reject", "unclear")]),
    ],
)
def test_what_is_not_agreed_on_waits_or_is_a_dispute(state: str, votes: list[Decision]) -> None:
    assert settle(*votes, review_count=max(2, len(votes))).state == state


@pytest.mark.parametrize(
    ("accept_count", "reject_count", "state"),
    [(2, 2, "disputed"), (3, 2, "accepted"), (2, 3, "rejected"), (3, 3, "disputed")],
)
def test_of_more_decisions_than_were_asked_for_the_majority_settles(
    accept_count: int, reject_count: int, state: str
) -> None:
    """Each side alone has as many as settle a question."""
    votes = [decide(f"a{number}", "accept") for number in range(accept_count)]
    votes += [decide(f"r{number}", "reject", "unclear") for number in range(reject_count)]
    assert settle(*votes).state == state


def test_two_rejects_refuse_it_with_the_most_frequent_reason() -> None:
    outcome = settle(
        decide("a", "reject", "unclear"),
        decide("b", "reject", "formatting"),
        decide("c", "reject", "formatting"),
        review_count=3,
    )
    assert (outcome.state, outcome.reject_reason, outcome.reject_count) == ("rejected", "formatting", 3)


def test_an_edit_counts_as_an_accept_and_makes_a_new_revision_while_the_old_content_stays() -> None:
    outcome = settle(decide("a", "accept"), decide("b", "edit", stem="A shelf holds ( ) books."))
    assert (outcome.state, outcome.revision, outcome.was_edited) == ("accepted", 2, True)
    assert outcome.content.stem == "A shelf holds ( ) books."
    assert ITEM.content.stem == "A shelf of 1 rows holds ( ) books."


def test_equal_edits_agree() -> None:
    outcome = settle(decide("a", "edit", answer=["C"]), decide("b", "edit", answer=["C"]))
    assert (outcome.state, outcome.content.answer, outcome.revision) == ("accepted", ("C",), 2)


def test_answers_put_into_other_blanks_are_another_key() -> None:
    row = make_question(
        1, question_type="fill_in_the_blank", stem="____ before ____", options=[], answer=["b", "a"]
    )
    votes = [decide("a", "accept"), decide("b", "edit", answer=["a", "b"])]
    item = replace(Item.from_question(row), question_uuid=ITEM.question_uuid)
    assert [one.state for one in compute_outcomes([item], votes, 2)] == ["disputed"]


def test_an_edit_that_says_what_is_there_already_is_an_accept() -> None:
    outcome = settle(decide("a", "accept"), decide("b", "edit", answer=["B"]))
    assert (outcome.state, outcome.revision, outcome.was_edited) == ("accepted", 1, False)


@pytest.mark.parametrize(
    ("verdict", "state", "revision"),
    [
        (decide("judge", "accept"), "accepted", 1),
        (decide("judge", "reject", "factual_error"), "rejected", 1),
        (decide("judge", "edit", stem="New."), "accepted", 2),
    ],
    ids=["accept", "reject", "edit"],
)
def test_an_adjudicator_settles_a_dispute(verdict: Decision, state: str, revision: int) -> None:
    outcome = settle(decide("a", "edit", stem="Other."), decide("b", "reject", "unclear"), verdict)
    assert (outcome.state, outcome.revision, outcome.was_adjudicated) == (state, revision, True)


def test_an_adjudicators_accept_does_not_apply_a_reviewers_edit() -> None:
    outcome = settle(
        decide("a", "edit", stem="Other."), decide("b", "reject", "unclear"), decide("judge", "accept")
    )
    assert (outcome.was_edited, outcome.content.stem) == (False, ITEM.content.stem)


DECISIONS = st.sampled_from(
    [
        ("accept", None, {}),
        ("reject", "unclear", {}),
        ("edit", None, {"stem": "X"}),
        ("edit", None, {"answer": ["A"]}),
    ]
)


@settings(deadline=None)
@given(st.lists(DECISIONS, max_size=5), st.permutations(range(5)))
def test_the_outcome_does_not_depend_on_the_order_of_decisions(
    votes: list[tuple[str, str | None, dict[str, Any]]], order: list[int]
) -> None:
    decisions = [decide(f"a{place}", *vote[:2], **vote[2]) for place, vote in enumerate(votes)]
    shuffled = [decisions[place] for place in order if place < len(decisions)]
    assert settle(*decisions, review_count=3) == settle(*shuffled, review_count=3)
