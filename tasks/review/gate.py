"""The gate: from annotators' decisions to what passes (LLMEval-Fair §2.1). Pure: no store, no clock.

A question passes when enough reviewers accept it, edits included. An edit counts as an accept of the corrected
question; reviewers agree when at most one correction is on the table and it leaves the key alone, or all of them
made the same one. Anything else goes to an adjudicator, whose decision stands. Without a full set of decisions a
question is not decided: it stays out, and is reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from schemas.reviews import REJECT_REASONS

State = Literal["accepted", "rejected", "waiting", "disputed"]

# Fields that an annotator may correct; the same as the content of a question, without what only its document knows.
EDITABLE_FIELDS = (
    "question_type",
    "discipline",
    "sub_discipline",
    "stem",
    "material",
    "options",
    "answer",
    "explanation",
)


@dataclass(frozen=True)
class Item:
    """A question as it lies in a batch."""

    question_uuid: str
    revision: int
    lineage_uuid: str
    document_id: str | None
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Decision:
    """What one annotator decided on one question; `edited_fields` only with an edit."""

    question_uuid: str
    annotator: str
    decision: str
    reject_reason: str | None = None
    comment: str | None = None
    edited_fields: Mapping[str, Any] | None = None
    is_adjudication: bool = False


@dataclass(frozen=True)
class Outcome:
    """Where a question stands, with the content and revision that this makes current."""

    item: Item
    state: State
    accept_count: int
    reject_count: int
    reject_reason: str | None
    was_edited: bool
    was_adjudicated: bool
    revision: int
    content: Mapping[str, Any] = field(repr=False)


def compute_outcomes(
    items: Iterable[Item], decisions: Iterable[Decision], review_count: int, *, quorum: int | None = None
) -> list[Outcome]:
    """Where every item stands, in the order given.

    Args:
        items: the questions of a batch.
        decisions: all decisions given, at most one per question and annotator.
        review_count: reviews that a question is to get.
        quorum: agreeing decisions that settle a question when all reviews are in; default all of them.
    """
    by_question: dict[str, list[Decision]] = {}
    for decision in decisions:
        by_question.setdefault(decision.question_uuid, []).append(decision)
    return [
        compute_outcome(item, by_question.get(item.question_uuid, []), review_count, quorum or review_count)
        for item in items
    ]


def compute_outcome(item: Item, decisions: Sequence[Decision], review_count: int, quorum: int) -> Outcome:
    """Where one question stands after `decisions`."""
    reviews = [decision for decision in decisions if not decision.is_adjudication]
    adjudications = [decision for decision in decisions if decision.is_adjudication]
    accepts = [decision for decision in decisions if decision.decision != "reject"]
    rejects = [decision for decision in decisions if decision.decision == "reject"]

    state: State
    edit: Mapping[str, Any] | None = None
    if adjudications:
        verdict = adjudications[-1]
        state = "rejected" if verdict.decision == "reject" else "accepted"
        edit = verdict.edited_fields if verdict.decision == "edit" else None
    elif len(reviews) < review_count:
        state = "waiting"
    elif len(rejects) >= quorum and len(rejects) > len(accepts):
        state = "rejected"
    elif len(accepts) >= quorum and len(accepts) > len(rejects):
        is_agreed, edit = _agree_on_content(item, accepts)
        state = "accepted" if is_agreed else "disputed"
    else:
        state = "disputed"

    corrected = apply_edit(item.content, edit) if state == "accepted" and edit else item.content
    was_edited = corrected is not item.content and _differs(item.content, corrected)
    return Outcome(
        item=item,
        state=state,
        accept_count=len(accepts),
        reject_count=len(rejects),
        reject_reason=_most_frequent_reason(rejects) if state == "rejected" else None,
        was_edited=was_edited,
        was_adjudicated=bool(adjudications),
        revision=item.revision + 1 if was_edited else item.revision,
        content=corrected if was_edited else item.content,
    )


def apply_edit(content: Mapping[str, Any], edited_fields: Mapping[str, Any] | None) -> dict[str, Any]:
    """The content with the corrected fields put in; `content` itself is left as it is."""
    return {**content, **(edited_fields or {})}


def _agree_on_content(item: Item, accepts: Sequence[Decision]) -> tuple[bool, Mapping[str, Any] | None]:
    """Whether the accepts mean one and the same question, and the edit that leads to it."""
    results = {
        _canonical(corrected): decision.edited_fields
        for decision in accepts
        if decision.decision == "edit"
        and _differs(item.content, corrected := apply_edit(item.content, decision.edited_fields))
    }
    if not results:
        return True, None
    if len(results) > 1:
        return False, None
    edit = next(iter(results.values()))
    everybody_edited = all(decision.decision == "edit" for decision in accepts)
    # Who accepted the question as it stood vouched for its key: a correction of the key contradicts that.
    keeps_key = _key_texts(item.content) == _key_texts(apply_edit(item.content, edit))
    return everybody_edited or keeps_key, edit


def _key_texts(content: Mapping[str, Any]) -> list[str]:
    """The answer in words: for a choice the texts of the keyed options, so that reordering them is no change."""
    texts = {option["label"]: option["text"] for option in content.get("options") or []}
    return sorted(texts.get(key, key) for key in content.get("answer") or [])


def _most_frequent_reason(rejects: Sequence[Decision]) -> str | None:
    counts = Counter(decision.reject_reason for decision in rejects if decision.reject_reason)
    if not counts:
        return None
    return max(counts, key=lambda reason: (counts[reason], -REJECT_REASONS.index(reason)))


def _differs(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return _canonical(before) != _canonical(after)


def _canonical(content: Mapping[str, Any]) -> str:
    return json.dumps(
        {name: content.get(name) for name in EDITABLE_FIELDS},
        ensure_ascii=False,
        sort_keys=True,
        default=list,
    )
