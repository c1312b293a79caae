"""What a review looks like in Label Studio, and whose task a task there is.

The fields have the names of the columns of a review workbook, and are read by the same rules. A task carries, beside its card,
whose it is and whether it is still what was handed out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from lxml import etree

from tasks.review.channels.workbook.layout import list_inputs
from tasks.review.words import LANGUAGES, Language, list_words
from tasks.texts import read_texts

CARD = "card"
PICTURES = "pictures"
CHOICES = ("decision", "reject_reason")
# Keys that choose without the mouse; the reasons are numbered.
_HOTKEYS = {"accept": "a", "edit": "e", "reject": "r"}
_STYLE = "white-space: pre-wrap; line-height: 1.6"
_HINTS: Final[dict[Language, dict[str, str]]] = read_texts(
    "tasks.review.channels.label_studio", "layout.yaml"
)
FORMAT_NAME = "proctor-review-task"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class TaskIdentity:
    """What a task says of itself.

    Attributes:
        batch_id: the review batch.
        annotator: whose task it is; empty where several people work on the same tasks.
        role: `reviewer` or `adjudicator`.
        language: of the card and of messages.
        question_uuid, revision: the question.
        digest: a hash of what was handed out.
        shown: a hash of the card as written.
        given: a hash of the decision that the task held when it was written; empty without one.
    """

    batch_id: str
    annotator: str
    role: str
    language: Language
    question_uuid: str
    revision: int
    digest: str
    shown: str
    given: str

    def as_row(self) -> dict[str, Any]:
        """As it stands in the task's data."""
        row = {"format": FORMAT_NAME, "version": FORMAT_VERSION, **asdict(self)}
        return row | {"checksum": _compute_checksum(row)}

    @classmethod
    def from_row(cls, row: object) -> TaskIdentity | None:
        """The identity in a task's data; null where there is none, or it was altered."""
        names = cls.__slots__
        if not isinstance(row, Mapping) or not {"checksum", "format", "version", *names} <= row.keys():
            return None
        body = {name: row[name] for name in ("format", "version", *names)}
        texts = [value for name, value in body.items() if name not in ("version", "revision")]
        is_read = (
            body["format"] == FORMAT_NAME
            and body["version"] == FORMAT_VERSION
            and all(isinstance(text, str) for text in texts)
            and isinstance(body["revision"], int)
            and body["language"] in LANGUAGES
            and row["checksum"] == _compute_checksum(body)
        )
        return cls(**{name: row[name] for name in names}) if is_read else None


def render_config(language: Language, *, has_pictures: bool = False) -> str:
    """The labelling configuration (XML) of a project whose tasks are questions to review."""
    hints = _HINTS[language]
    root = etree.Element("View")
    etree.SubElement(root, "Text", name=CARD, value=f"${CARD}", style=_STYLE, granularity="word")
    if has_pictures:
        etree.SubElement(root, "HyperText", name=PICTURES, value=f"${PICTURES}")
    etree.SubElement(root, "Header", value=hints["decision"])
    words = list_words("decisions", language)
    decision = etree.SubElement(
        root,
        "Choices",
        name="decision",
        toName=CARD,
        choice="single-radio",
        required="true",
        showInline="true",
    )
    for code, word in words.items():
        etree.SubElement(decision, "Choice", value=word, hotkey=_HOTKEYS[code])
    rejected = _add_part(root, words["reject"], hints["reject_reason"])
    reason = etree.SubElement(
        rejected, "Choices", name="reject_reason", toName=CARD, choice="single-radio", showInline="true"
    )
    for number, word in enumerate(list_words("reasons", language).values(), start=1):
        etree.SubElement(reason, "Choice", value=word, hotkey=str(number))
    corrected = _add_part(root, words["edit"], hints["edit"])
    for column in list_inputs(language):
        if column.is_edit:
            etree.SubElement(corrected, "Header", value=column.header, size="5")
            _add_text(corrected, column.name, rows="3")
    etree.SubElement(root, "Header", value=hints["comment"])
    _add_text(root, "comment", rows="2")
    return etree.tostring(root, pretty_print=True, encoding="unicode")


def _add_part(root: etree._Element, choice: str, title: str) -> etree._Element:
    """What is shown with one decision only."""
    part = etree.SubElement(
        root, "View", visibleWhen="choice-selected", whenTagName="decision", whenChoiceValue=choice
    )
    etree.SubElement(part, "Header", value=title)
    return part


def _add_text(parent: etree._Element, name: str, rows: str) -> None:
    etree.SubElement(
        parent, "TextArea", name=name, toName=CARD, rows=rows, maxSubmissions="1", editable="true"
    )


def _compute_checksum(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(row, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
