"""What is printed around a question: its type, its marks, the remarks of a form."""

from __future__ import annotations

import re

from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.headings import MARKS_GROUP
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.answers import TYPE_TAG
from tasks.ingest.words.lexicon import match_type_name

_MARKS_TAIL = re.compile(
    r"\s*[（(\[【]\s*(?:本[大小]?题\s*|共\s*|满分\s*)?(\d+(?:\.\d+)?)\s*(?:分|pts?\.?|points?|marks?|mks?\.?)\s*(?:total)?[)）\]】]()\s*$",
    re.IGNORECASE,
)


_PART_MARKS = re.compile(
    r"[（(\[]\s*\d+(?:\.\d+)?\s*(?:分|pts?\.?|points?|marks?|mks?\.?)\s*[)）\]]|(?:[.?!:)\]]|\s{2})\s*\[\d{1,2}(?:\s*\+\s*\d{1,2})*\]",
    re.IGNORECASE,
)


_DIGIT = re.compile(r"\d")


_MARGIN = re.compile(r"(?<=[.?!)])(?:\s{3,}|\t\s*)(\d{1,2})\s*$")


_BARE_MARKS_TAIL = re.compile(
    r"(?<=[.?!:)\]。？])\s*(?:(?:[-–—]\s*)?(\d+(?:\.\d+)?)\s*(?:pts?|points?|marks?|mks?)\s*\.?|\[(\d{1,2})\])\s*$",
    re.IGNORECASE,
)


_TAIL_TAG = re.compile(r"\s*[\[【]\s*([\u4e00-\u9fff]{1,6}题)\s*[】\]]\s*[*＊]?\s*$")


def take_tags(pieces: list[Piece], draft: Draft) -> list[Piece]:
    """Read `【单选题】`, `(多选)` and `（10分）` at the start of a question."""
    while (
        len(pieces) > 1
        and pieces[0].text.lstrip()[:1] in _OUTCOME_STARTS
        and (outcome := _OUTCOME.fullmatch(pieces[0].text))
    ):
        total = outcome.group("marks")
        draft.marks = float(total) if total and draft.marks is None else draft.marks
        pieces = pieces[1:]
    for _ in range(3):
        first = pieces[0]
        if first.text.lstrip()[:1] not in _TAG_STARTS:
            break
        marks = MARKS_GROUP.match(first.text)
        tag = TYPE_TAG.match(first.text)
        if marks and (len(first.text) > marks.end() or len(pieces) > 1):
            draft.marks = float(marks.group(1))
            lead = re.match(r"\s*[:：.]?\s*", first.text[marks.end() :])
            pieces[0] = first.cut(marks.end() + (lead.end() if lead else 0))
            if not pieces[0].text.strip():
                pieces = pieces[1:]
        elif tag and match_type_name(tag.group(1)) is not None and len(first.text) > tag.end():
            draft.fine = match_type_name(tag.group(1))
            pieces[0] = first.cut(tag.end())
        else:
            break
    # `… [单选题]` behind the stem, as survey programs print it
    tail = _TAIL_TAG.search(pieces[0].text) if pieces[0].text.rstrip()[-1:] in "】]*＊" else None
    fine = match_type_name(tail.group(1)) if tail is not None else None
    if tail is not None and fine is not None and tail.start() > 0:
        draft.fine = draft.fine or fine
        pieces[0] = pieces[0].cut(0, tail.start())
    return pieces


# `CLO: <2>; Bloom Taxonomy Level: <Applying>   Marks: 9`, `[3+5=8]`: what a form says of a question
_OUTCOME = re.compile(
    r"\s*(?:(?:C\.?L\.?O|P\.?L\.?O|CO|LO|SO|BL|BT|Bloom['’]?s?(?:\s+Taxonomy)?(?:\s+Level)?|Difficulty|Topic|Time)\b\s*[-:：#]+\s*[<(\[]?[\w ,&/+-]{1,24}[>)\]]?\s*[:;,.|]*\s*|"
    r"(?:Marks|Points|Total Marks)\s*[-:：=]\s*\[?(?P<marks>\d{1,3})\]?\s*[;,.]?\s*|[\[(]\s*\d{1,2}(?:\s*\+\s*\d{1,2})*\s*=\s*\d{1,3}\s*[\])]\s*|\[\d{1,3}\]\s*)+",
    re.IGNORECASE,
)


# in either case, with the other letter that a pattern takes for s
_OUTCOME_STARTS = frozenset("CcPpLlSsſBbDdTtMm[(")
_TAG_STARTS = frozenset("（([【")


def take_margin_marks(body: list[Piece], draft: Draft) -> list[Piece]:
    """Take `… of the Otto cycle.      10`: marks in the right margin of a question.

    They stand after a wide gap.
    """
    if not body or draft.options or not body[-1].text.rstrip()[-1:].isdecimal():
        return body
    if sum(1 for piece in body if _MARGIN.search(piece.text)) != 1:
        return body
    tail = _MARGIN.search(body[-1].text)
    if tail is None:
        return body
    draft.marks = draft.marks if draft.marks is not None else float(tail.group(1))
    return [*body[:-1], body[-1].cut(0, tail.start())]


def take_marks(draft: Draft) -> None:
    """Take the marks at the end of a stem, `（10分）` or `5 pts`."""
    last = draft.stem.rstrip()[-1:]
    if last not in ")）]】.tTsSkKſ\u212a" or _DIGIT.search(draft.stem) is None:
        return  # neither of the two marks below ends so, and both have a number
    if len(_PART_MARKS.findall(draft.stem)) > 1:
        return  # marks of the parts stay where they are
    tail = _MARKS_TAIL.search(draft.stem) if last in ")）]】" else None
    tail = tail or _BARE_MARKS_TAIL.search(draft.stem)
    if tail and tail.start() > 0:
        draft.marks = draft.marks if draft.marks is not None else float(tail.group(1) or tail.group(2))
        draft.stem = draft.stem[: tail.start()].rstrip()
