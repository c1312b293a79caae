"""What a review looks like in Label Studio.

It is the labelling configuration in the annotator's language.

The fields have the names of the columns of a review workbook, and are read by the same rules.
"""

from __future__ import annotations

from lxml import etree

from tasks.review.channels.workbook.layout import list_inputs
from tasks.review.words import Language, list_words

CARD = "card"
PICTURES = "pictures"
CHOICES = ("decision", "reject_reason")
# Keys that choose without the mouse; the reasons are numbered.
_HOTKEYS = {"accept": "a", "edit": "e", "reject": "r"}
_STYLE = "white-space: pre-wrap; line-height: 1.6"
_HINTS: dict[Language, dict[str, str]] = {
    "en": {
        "decision": "Decision",
        "reject_reason": "Why it is rejected",
        "comment": "Comment (required with the reason “Other”)",
        "edit": "The whole corrected text, only where something changes; (none) empties a field. Options one per line: A. text",
    },
    "zh": {
        "decision": "结论",
        "reject_reason": "退回原因",
        "comment": "备注（原因为“其他”时必填）",
        "edit": "只填需要改动的项，写更正后的完整内容；(无) 表示清空。选项每行一个：A. 内容",
    },
}


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
        root,
        "View",
        visibleWhen="choice-selected",
        whenTagName="decision",
        whenChoiceValue=choice,
    )
    etree.SubElement(part, "Header", value=title)
    return part


def _add_text(parent: etree._Element, name: str, rows: str) -> None:
    etree.SubElement(
        parent, "TextArea", name=name, toName=CARD, rows=rows, maxSubmissions="1", editable="true"
    )
