"""Sections without numbers.

They are terms on a line, and questions recognised by their options.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.layout.heading_search import BULLET
from tasks.ingest.layout.headings import INSTRUCTION
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sections import OPTION_A, Section
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    EXPLANATION_MARK,
)
from tasks.ingest.words.labels import Label


def split_unnumbered(section: Section) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split a typed section without numbers.

    It holds terms on one line, terms one per line, or a single question.
    """
    if section.fine is None:
        offered = sum(1 for piece in section.pieces if OPTION_A.match(piece.text))
        return _split_by_options(section.pieces) if offered >= 3 else []
    pieces = [
        piece for piece in section.pieces if not (INSTRUCTION.search(piece.text) and len(piece.text) < 120)
    ]
    kind = section.fine.question_type
    if not pieces and section.pieces and kind in ("essay", "short_answer", "calculation"):
        # `Part V Writing` with nothing but `Directions: Write …`: the directions are the question
        opening = section.pieces[0]
        lead = re.match(r"(?i)\s*(?:directions?|instructions?)\s*[:：]\s*", opening.text)
        pieces = [opening.cut(lead.end()) if lead else opening, *section.pieces[1:]]
    if not pieces:
        return []
    if kind == "term_explanation":
        terms: list[tuple[Label | None, list[Piece], str | None]] = []
        for piece in map(_cut_bullet, pieces):
            if len(piece.text) > 200:
                return [(None, pieces, None)]
            for first, last in _term_spans(piece.text):
                terms.append((None, [piece.cut(first, last)], None))
        return terms
    if kind == "multiple_choice":
        return _split_by_options(pieces)
    if kind in ("true_false", "fill_in_the_blank") and section.fine.name != "cloze":
        chunks: list[tuple[Label | None, list[Piece], str | None]] = []
        for piece in pieces:
            if chunks and (ANSWER_MARK.match(piece.text) or EXPLANATION_MARK.match(piece.text.lstrip())):
                chunks[-1][1].append(piece)  # it answers the line above
            else:
                chunks.append((None, [_cut_bullet(piece)], None))
        return chunks
    label = Label(section.style, section.number or 0, 0, section.label) if section.number else None
    return [(label, pieces, None)]


def _cut_bullet(piece: Piece) -> Piece:
    bullet = BULLET.match(piece.text)
    return piece.cut(bullet.end()) if bullet else piece


def _split_by_options(pieces: Sequence[Piece]) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Split unnumbered choice questions: a stem begins after the last option of the one before."""
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    current: list[Piece] = []
    has_options = False
    for piece in pieces:
        is_option = re.match(r"\s*[（(]?[A-J]\s*[)）.．、:：]", piece.text) is not None
        is_answer = (
            re.match(r"\s*(?:【?(?:正确|参考)?答案|(?i:Answer)|【?解析|Explanation)", piece.text) is not None
        )
        if has_options and not is_option and not is_answer:
            found.append((None, current, None))
            current, has_options = [], False
        has_options = has_options or is_option
        current.append(piece)
    if current and has_options:
        found.append((None, current, None))
    return found


def _term_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the terms on one line.

    They are separated by wide gaps, 、 ； or, failing those, single spaces.
    """
    for separator in (
        r"\s{2,}|\t|[；;|]\s*",
        r"[、]",
        r"\s+" if re.search(r"[\u4e00-\u9fff]", text) else r"[,，]\s*",
    ):
        spans = [(match.start(), match.end()) for match in re.finditer(rf"(?:(?!{separator}).)+", text)]
        spans = [(first, last) for first, last in spans if text[first:last].strip(" ,，。.;；、")]
        if len(spans) > 1:
            return spans
    return [(0, len(text))]
