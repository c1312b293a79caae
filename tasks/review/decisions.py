"""Decisions on their way into the ledger: the same checks and the same rows for every channel they come in by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.errors import ContractError, GateError, UsageError
from schemas.reviews import DECISIONS, REJECT_REASONS, REVIEW_CHANNELS
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.questions.question import QuestionContent
from tasks.questions.rules import find_unanswerable
from tasks.review.gate import EDITABLE_FIELDS, Decision, Item, apply_edit, compute_outcomes
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger

# A remark is a sentence or two; a pasted book is a mistake.
MOST_COMMENT_CHARACTERS = 4_000

RULE_FAULTS: dict[str, tuple[str, str]] = {
    "stem_is_not_empty": ("stem", "the stem is empty"),
    "answer_is_not_empty": ("answer", "the answer is empty"),
    "choice_has_two_options": ("options", "there are fewer than two options"),
    "labels_are_unique_and_sequential": ("options", "the option labels are not A, B, C … in order"),
    "option_texts_are_not_empty": ("options", "an option has no text"),
    "option_texts_are_distinct": ("options", "two options have the same text"),
    "key_is_among_labels": ("answer", "the key is not among the option labels"),
    "truth_is_true_or_false": ("answer", "the answer of a true/false question is not true or false"),
}


@dataclass(frozen=True)
class GivenDecision:
    """What an annotator gave for one question, whatever the channel."""

    question_uuid: str
    decision: str
    reject_reason: str | None = None
    comment: str | None = None
    edited_fields: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Fault:
    """Something wrong with a given decision: the field it lies in, and a sentence without the question's text."""

    field: str
    message: str


@dataclass(frozen=True)
class RecordSummary:
    """What recording changed, and whether the batch is complete by it."""

    batch_id: str
    annotator: str
    new_count: int
    changed_count: int
    unchanged_count: int
    is_complete: bool


def find_faults(content: Mapping[str, Any], given: GivenDecision) -> list[Fault]:
    """Everything that is wrong with a decision on a question of that content; empty when it can be recorded."""
    if given.decision not in DECISIONS:
        return [Fault("decision", f"the decision is not one of {', '.join(DECISIONS)}")]
    faults = _find_reason_faults(given)
    if given.comment is not None and len(given.comment) > MOST_COMMENT_CHARACTERS:
        faults.append(Fault("comment", f"the comment is longer than {MOST_COMMENT_CHARACTERS} characters"))
    if given.decision == "edit":
        return faults + _find_edit_faults(content, given.edited_fields or {})
    if given.edited_fields:
        faults.append(
            Fault("decision", f"there are corrections, but the decision is {given.decision}; choose edit")
        )
    if given.decision == "accept":
        faults += [
            Fault(
                "decision", f"it cannot be accepted as it stands: {RULE_FAULTS[rule][1]}; edit or reject it"
            )
            for rule in find_unanswerable(QuestionContent.from_row(content))
        ]
    return faults


def record_decisions(
    ledger: Ledger,
    batch_id: str,
    annotator: str,
    given: Sequence[GivenDecision],
    channel: str,
    now: str,
    *,
    role: str = "reviewer",
) -> RecordSummary:
    """Write decisions, all or none; the same decision again changes nothing, another one replaces it.

    Raises:
        UsageError: the batch is unknown, a question is not assigned to the annotator in that role, or a decision is
            faulty (a channel checks with `find_faults` first, to say where).
        GateError: the batch is closed.
    """
    if channel not in REVIEW_CHANNELS:
        raise ContractError(f"Review channel {channel!r} is not one of {', '.join(REVIEW_CHANNELS)}.")
    with ledger.write() as connection:
        batch = review.lock_batch(connection, batch_id)
        if batch is None:
            raise UsageError(f"There is no review batch {batch_id!r}. See `proctor review status`.")
        if batch["status"] == "closed":
            raise GateError(
                f"Review batch {batch_id} was closed at {batch['closed_at']}: decisions are no longer taken."
            )
        assigned = {
            row["question_uuid"] for row in review.read_assignments(connection, batch_id, annotator, role)
        }
        contents = {row["question_uuid"]: row["content"] for row in review.read_items(connection, batch_id)}
        before = {row["question_uuid"]: row for row in review.read_decisions(connection, batch_id, annotator)}
        changed: list[dict[str, Any]] = []
        new_count = 0
        for one in given:
            if one.question_uuid not in assigned:
                raise UsageError(
                    f"Question {one.question_uuid} of batch {batch_id} is not assigned to {annotator} as {role}. "
                    "Nothing was recorded."
                )
            if faults := find_faults(contents[one.question_uuid], one):
                raise UsageError(
                    f"Question {one.question_uuid}, {faults[0].field}: {faults[0].message}. Nothing was recorded."
                )
            row = {
                "batch_id": batch_id,
                "question_uuid": one.question_uuid,
                "annotator": annotator,
                "decision": one.decision,
                "reject_reason": one.reject_reason,
                "comment": one.comment,
                "edited_fields": dict(one.edited_fields) if one.edited_fields else None,
                "channel": "adjudication" if role == "adjudicator" else channel,
                "decided_at": now,
            }
            old = before.get(one.question_uuid)
            if old is None:
                new_count += 1
                changed.append(row)
            elif any(old[name] != row[name] for name in _GIVEN_FIELDS):
                changed.append(row)
        review.replace_decisions(connection, changed)
        complete = is_settled(connection, batch_id, batch["review_count"])
        review.update_batch(connection, batch_id, status="complete" if complete else "open")
    return RecordSummary(
        batch_id=batch_id,
        annotator=annotator,
        new_count=new_count,
        changed_count=len(changed) - new_count,
        unchanged_count=len(given) - len(changed),
        is_complete=complete,
    )


def is_settled(connection: Any, batch_id: str, review_count: int) -> bool:
    """Whether nothing is waited for: every review is in and no dispute is left."""
    if review.count_pending(connection, batch_id):
        return False
    outcomes = compute_outcomes(*read_gate_input(connection, batch_id), review_count)
    return all(outcome.state in ("accepted", "rejected") for outcome in outcomes)


def read_gate_input(connection: Any, batch_id: str) -> tuple[list[Item], list[Decision]]:
    """The batch's questions and decisions as the gate takes them."""
    adjudicators = {
        (row["question_uuid"], row["annotator"])
        for row in review.read_assignments(connection, batch_id, role="adjudicator")
    }
    items = [
        Item(row["question_uuid"], row["revision"], row["lineage_uuid"], row["document_id"], row["content"])
        for row in review.read_items(connection, batch_id)
    ]
    decisions = [
        Decision(
            question_uuid=row["question_uuid"],
            annotator=row["annotator"],
            decision=row["decision"],
            reject_reason=row["reject_reason"],
            comment=row["comment"],
            edited_fields=row["edited_fields"],
            is_adjudication=(row["question_uuid"], row["annotator"]) in adjudicators,
        )
        for row in review.read_decisions(connection, batch_id)
    ]
    return items, decisions


_GIVEN_FIELDS = ("decision", "reject_reason", "comment", "edited_fields")


def _find_reason_faults(given: GivenDecision) -> list[Fault]:
    if given.decision != "reject":
        if given.reject_reason is not None:
            return [Fault("reject_reason", f"a reason is given, but the decision is {given.decision}")]
        return []
    if given.reject_reason is None:
        return [Fault("reject_reason", "a rejection needs a reason")]
    if given.reject_reason not in REJECT_REASONS:
        return [Fault("reject_reason", f"the reason is not one of {', '.join(REJECT_REASONS)}")]
    if given.reject_reason == "other" and not (given.comment or "").strip():
        return [Fault("comment", "the reason `other` needs a comment")]
    return []


def _find_edit_faults(content: Mapping[str, Any], edited: Mapping[str, Any]) -> list[Fault]:
    if not edited:
        return [Fault("decision", "the decision is edit, but nothing is corrected")]
    faults = [
        Fault(name, "this field cannot be corrected") for name in sorted(set(edited) - set(EDITABLE_FIELDS))
    ]
    if "question_type" in edited and edited["question_type"] not in QUESTION_TYPES:
        faults.append(Fault("question_type", f"the type is not one of {', '.join(QUESTION_TYPES)}"))
    if edited.get("discipline") is not None and edited["discipline"] not in DISCIPLINES:
        faults.append(Fault("discipline", f"the discipline is not one of {', '.join(DISCIPLINES)}"))
    faults += _find_shape_faults(edited)
    if faults:
        return faults
    corrected = apply_edit(content, edited)
    if all(corrected[name] == content.get(name) for name in edited):
        return [Fault("decision", "the decision is edit, but the corrections equal what is there")]
    return [Fault(*RULE_FAULTS[rule]) for rule in find_unanswerable(QuestionContent.from_row(corrected))]


def _find_shape_faults(edited: Mapping[str, Any]) -> list[Fault]:
    """A web page or a Label Studio file may send anything; what is stored has the types of the contract."""
    faults = []
    for name in ("stem", "material", "explanation", "sub_discipline"):
        value = edited.get(name)
        if name in edited and not (isinstance(value, str) or (value is None and name != "stem")):
            faults.append(Fault(name, "it must be text"))
    options = edited.get("options", [])
    if not isinstance(options, list) or not all(
        isinstance(option, Mapping)
        and set(option) == {"label", "text"}
        and all(isinstance(part, str) for part in option.values())
        for option in options
    ):
        faults.append(Fault("options", "they must be a list of label and text"))
    answer = edited.get("answer", [])
    if not isinstance(answer, list) or not all(isinstance(text, str) for text in answer):
        faults.append(Fault("answer", "it must be a list of texts"))
    return faults
