"""A decision as the web page sends it → a decision for the desk, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tasks.questions import QuestionContent
from tasks.review.decisions import EDITABLE_FIELDS, Edit, Fault, GivenDecision, find_faults, find_shape_faults

_TEXTS = ("decision", "reject_reason", "comment")


def parse_decision(
    sent: Mapping[str, Any], question_uuid: str, content: QuestionContent, notes: Collection[str] = ()
) -> tuple[GivenDecision | None, Sequence[Fault]]:
    """The decision, or the faults that keep it from being one.

    `sent` has `decision`, `reject_reason`, `comment`, and `edit`: the corrected fields by name, in their stored form. What a page
    sends unchanged is no correction. `notes` are what reading its paper doubted.
    """
    if faults := [
        Fault(name, "it must be text") for name in _TEXTS if not isinstance(sent.get(name), str | None)
    ]:
        return None, faults
    corrected = sent.get("edit") or {}
    if not isinstance(corrected, Mapping):
        return None, [Fault("edit", "it must be the corrected fields by name")]
    if shape := find_shape_faults(corrected):
        return None, shape
    there = content.as_row()
    changed = {
        name: corrected[name]
        for name in EDITABLE_FIELDS
        if name in corrected and corrected[name] != there[name]
    }
    if corrected.get("pictures"):
        changed["pictures"] = corrected["pictures"]
    given = GivenDecision(
        question_uuid,
        sent.get("decision") or "",
        sent.get("reject_reason") or None,
        (sent.get("comment") or "").strip() or None,
        Edit.from_row(changed) if sent.get("decision") == "edit" or changed else None,
    )
    faults = find_faults(content, given, notes)
    return (None, faults) if faults else (given, [])
