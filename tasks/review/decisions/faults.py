"""What can be wrong with a decision, the same for every channel it comes in by. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from schemas.reviews import DECISIONS, REJECT_REASONS
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.questions import QuestionContent, rules
from tasks.review.decisions.decision import EDITABLE_FIELDS, MAY_BE_EMPTIED, Edit, GivenDecision

# A remark is a sentence or two; a pasted book is a mistake.
MOST_COMMENT_CHARACTERS = 4_000
# As many as `[picture:1]` can number.
MOST_PICTURES = 9_999
TEXT_FIELDS = ("question_type", "discipline", "sub_discipline", "material", "stem", "explanation")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a decision: the field, and a sentence without the question's text."""

    field: str
    message: str


RULE_FAULTS: dict[str, Fault] = {
    "stem_is_not_empty": Fault("stem", "the stem is empty"),
    "answer_is_not_empty": Fault("answer", "the answer is empty"),
    "choice_has_two_options": Fault("options", "there are fewer than two options"),
    "labels_are_unique_and_sequential": Fault("options", "the option labels are not A, B, C … in order"),
    "option_texts_are_not_empty": Fault("options", "an option has no text"),
    "option_texts_are_distinct": Fault("options", "two options have the same text"),
    "key_is_among_labels": Fault("answer", "the key is not among the option labels"),
    "pictures_are_there": Fault("stem", "a text names a picture that the question does not have"),
    "truth_is_true_or_false": Fault("answer", "the answer of a true/false question is not true or false"),
    "only_choices_have_options": Fault(
        "options", "only a choice has options; take them away, in a file with (none)"
    ),
    "blanks_match_answers": Fault("answer", "there are not as many answers as blanks"),
}
# Of a paper they may be misread, and a person accepts past them; the bank takes nothing that breaks them.
_BY_CORRECTION = ("only_choices_have_options", "blanks_match_answers")

_NO_FIGURE = Fault("pictures", "the figure that it speaks of is missing")


def find_shape_faults(fields: Mapping[str, object]) -> list[Fault]:
    """What keeps fields that a channel sent, whatever they are, from being an `Edit`."""
    faults = [
        Fault(name, "this field cannot be corrected")
        for name in sorted(set(fields) - {*EDITABLE_FIELDS, "pictures"})
    ]
    for name in TEXT_FIELDS:
        value = fields.get(name)
        if name in fields and not (isinstance(value, str) or (value is None and name in MAY_BE_EMPTIED)):
            faults.append(Fault(name, "it must be text"))
    options = fields.get("options", [])
    if not isinstance(options, list) or not all(
        isinstance(option, Mapping)
        and set(option) == {"label", "text"}
        and all(isinstance(part, str) for part in option.values())
        for option in options
    ):
        faults.append(Fault("options", "they must be a list of label and text"))
    pictures = fields.get("pictures", [])
    if not isinstance(pictures, list) or not all(map(_is_picture, pictures)):
        faults.append(Fault("pictures", "they must be a list of number, hash and what they show"))
    answer = fields.get("answer", [])
    if not isinstance(answer, list) or not all(isinstance(text, str) for text in answer):
        faults.append(Fault("answer", "it must be a list of texts"))
    return faults


def _is_picture(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == {"number", "sha256", "alt_text"}
        and type(value["number"]) is int
        and 1 <= value["number"] <= MOST_PICTURES
        and isinstance(value["sha256"], str)
        and re.fullmatch("[0-9a-f]{64}", value["sha256"]) is not None
        and isinstance(value["alt_text"], str | None)
        and len(value["alt_text"] or "") <= MOST_COMMENT_CHARACTERS
    )


def find_faults(content: QuestionContent, given: GivenDecision, notes: Collection[str] = ()) -> list[Fault]:
    """All that is wrong with a decision on such a content; `notes`: what reading it doubted."""
    if given.decision not in DECISIONS:
        return [Fault("decision", f"the decision is not one of {', '.join(DECISIONS)}")]
    faults = _find_reason_faults(given)
    if given.comment is not None and len(given.comment) > MOST_COMMENT_CHARACTERS:
        faults.append(Fault("comment", f"the comment is longer than {MOST_COMMENT_CHARACTERS} characters"))
    if given.decision == "edit":
        return faults + _find_edit_faults(content, given.edit or Edit())
    if given.edit is not None:
        faults.append(
            Fault("decision", f"there are corrections, but the decision is {given.decision}; choose edit")
        )
    if given.decision == "accept":
        faults += [
            Fault("decision", f"it cannot be accepted as it stands: {fault.message}; edit or reject it")
            for fault in (*([_NO_FIGURE] if "needs_figure" in notes else []), *_find_rule_faults(content))
        ]
    return faults


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


def _find_edit_faults(content: QuestionContent, edit: Edit) -> list[Fault]:
    if edit.is_blank:
        return [Fault("decision", "the decision is edit, but nothing is corrected")]
    faults = []
    if edit.question_type is not None and edit.question_type not in QUESTION_TYPES:
        faults.append(Fault("question_type", f"the type is not one of {', '.join(QUESTION_TYPES)}"))
    if edit.discipline is not None and edit.discipline not in DISCIPLINES:
        faults.append(Fault("discipline", f"the discipline is not one of {', '.join(DISCIPLINES)}"))
    if faults:
        return faults
    corrected = edit.apply(content)
    if corrected == content:
        return [Fault("decision", "the decision is edit, but the corrections equal what is there")]
    broken = [
        RULE_FAULTS[name]
        for name in _BY_CORRECTION
        if rules.RULES[name](content) and not rules.RULES[name](corrected)
    ]
    return _find_rule_faults(corrected) + broken


def _find_rule_faults(content: QuestionContent) -> list[Fault]:
    """Rules without which the question cannot be put or judged, and which it breaks."""
    return [RULE_FAULTS[rule] for rule in rules.find_unanswerable(content)]
