"""What the page of one question shows: prepared here, so that the template only places it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from deployments.web.show import say, show_difference
from tasks.ingest import read_notes
from tasks.questions import QuestionContent
from tasks.review import Language, list_words
from tasks.review.channels import translate
from tasks.review.decisions import EDITABLE_FIELDS, Decision, Edit, Fault, GivenDecision, Item, find_faults


@dataclass(frozen=True, slots=True)
class Change:
    """A corrected field: its name, and what is removed and added in it."""

    name: str
    difference: Markup


@dataclass(frozen=True, slots=True)
class Opinion:
    """A decision as it is shown to its author or to an adjudicator: without a name."""

    decision: str
    word: str
    reason: str
    comment: str
    changes: Sequence[Change]


def describe_decision(content: QuestionContent, decision: Decision, language: Language) -> Opinion:
    """A decision in words, with what its correction changes in the question as it was."""
    given = decision.given
    return Opinion(
        decision=given.decision,
        word=list_words("decisions", language)[given.decision],
        reason=list_words("reasons", language).get(given.reject_reason or "", ""),
        comment=given.comment or "",
        changes=_list_changes(content, given.edit, language) if given.edit else [],
    )


def list_doubts(item: Item, language: Language) -> list[str]:
    """What reading the paper doubted, in sentences, and what to do about it."""
    notes = read_notes()
    codes = item.source.parse_notes if item.source else ()
    known = [notes[code] for code in codes if code in notes]
    return [f"{note.zh}{note.zh_do}" if language == "zh" else f"{note.en} {note.do}" for note in known] + [
        code for code in codes if code not in notes
    ]


def find_accept_fault(item: Item, language: Language) -> str:
    """Why the question cannot be accepted as it stands; empty when it can."""
    faults = find_faults(item.content, GivenDecision("", "accept"), item.notes)
    return translate(faults[0].message, language) if faults else ""


def describe_faults(faults: Sequence[Fault], language: Language) -> list[dict[str, str]]:
    """Faults as the page shows them: the field they lie in, and a sentence."""
    stop = "。" if language == "zh" else "."
    return [
        {"field": fault.field, "message": _begin(translate(fault.message, language)) + stop}
        for fault in faults
    ]


def write_original(content: QuestionContent, pictures: Sequence[Mapping[str, Any]] = ()) -> str:
    """What may be corrected, as the page's script compares it with."""
    row = content.as_row()
    return json.dumps(
        {name: row[name] for name in EDITABLE_FIELDS} | {"pictures": list(pictures)}, ensure_ascii=False
    )


def write_given(decision: Decision | None) -> str:
    """The annotator's own decision as the page's script repeats or changes it; empty for none."""
    if decision is None:
        return ""
    given = decision.given
    value: dict[str, Any] = {
        "decision": given.decision,
        "reject_reason": given.reject_reason,
        "comment": given.comment,
        "edit": given.edit.as_row() if given.edit else None,
    }
    return json.dumps(value, ensure_ascii=False)


def _list_changes(content: QuestionContent, edit: Edit, language: Language) -> list[Change]:
    before, after = content.as_row(), edit.apply(content).as_row()
    return [
        Change(
            name, show_difference(_write(name, before[name], language), _write(name, after[name], language))
        )
        for name in (*EDITABLE_FIELDS, "pictures")
        if before[name] != after[name]
    ]


def _write(name: str, value: Any, language: Language) -> str:
    """A field's value as text; codes in the reader's words."""
    if name == "options":
        return "\n".join(f"{option['label']}. {option['text']}" for option in value or ())
    if name == "pictures":
        return "\n".join(
            f"[picture:{one['number']}] {one['sha256'][:8]} {one.get('alt_text') or ''}".rstrip()
            for one in value or ()
        )
    if name == "answer":
        words = {word: say(word, language) for word in ("true", "false")}
        return "\n".join(words.get(text, text) for text in value or ())
    if name in ("question_type", "discipline"):
        topic = list_words("question_types" if name == "question_type" else "disciplines", language)
        return topic.get(value or "", value or "")
    return value or ""


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
