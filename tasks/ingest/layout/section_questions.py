"""The lines of one section divided into its questions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.layout.heading_search import BULLET
from tasks.ingest.layout.headings import INSTRUCTION
from tasks.ingest.layout.materials import (
    cut_material,
    join_shared,
    names_range,
    read_material,
    shared_options,
)
from tasks.ingest.layout.numbers import find_candidates
from tasks.ingest.layout.options import offers_options
from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.layout.sections import OPTION_A, Section
from tasks.ingest.layout.sequences import choose_questions
from tasks.ingest.layout.signs import Mark, is_instruction
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    EXPLANATION_MARK,
)
from tasks.ingest.words.labels import Label


def split_section(
    section: Section, carry: int | None
) -> tuple[list[tuple[Label | None, list[Piece], str | None]], int | None]:
    """Return (label, lines, material) of every question in a section, and the last number used."""
    pieces = section.pieces
    expects_options = section.fine is not None and section.fine.question_type == "multiple_choice"
    marks, style = find_candidates(section, carry, expects_options)
    if not marks:
        return split_unnumbered(section), carry
    chosen = choose_questions([mark[2] for mark in marks], carry, expects_options)
    picks = [marks[index] for index in chosen]
    if not picks:
        return split_unnumbered(section), carry
    found: list[tuple[Label | None, list[Piece], str | None]] = []
    material: str | None = None
    material_until: int | None = None
    first_piece, first_begin, _, _ = picks[0]
    preamble = list(pieces[:first_piece])
    if first_begin:
        preamble.append(pieces[first_piece].cut(0, first_begin))
    if _is_single(section, preamble, picks):
        own = Label(section.style, section.number or 0, 0, section.label) if section.number else None
        return [(own, [piece for piece in pieces if not is_instruction(piece)], None)], carry
    material, material_until = read_material(preamble, section)
    shared = shared_options(preamble, expects_options)
    for place, (index, begin, candidate, label) in enumerate(picks):
        following = picks[place + 1] if place + 1 < len(picks) else None
        lines = _lines_between(pieces, index, begin + label.end, following)
        if lines:
            # the question's place in the text begins at its number
            first = pieces[index]
            lines[0] = lines[0].begin_at(first.sources[begin] if begin < len(first.sources) else first.start)
        lines, tail = cut_material(lines, section)
        if material_until is not None and candidate.value > material_until:
            material, material_until, shared = None, None, []
        if shared and not offers_options(lines, True):
            found.append((label, [*lines, *shared], None))
        else:
            found.append((label, lines, material))
        if tail:
            told, until = read_material(tail, section)
            if told is not None or not names_range(tail[0]):
                material, material_until = told, until
            shared = shared_options(tail)
    del style
    if section.fine is not None and section.fine.question_type == "material_analysis":
        found = join_shared(found, section)
    return found, picks[-1][2].value


def _is_single(section: Section, preamble: Sequence[Piece], picks: Sequence[Mark]) -> bool:
    """Whether the numbers below a free-response heading count the parts of one question.

    The text of the question precedes them.
    """
    kind = section.fine.question_type if section.fine is not None else None
    if kind not in ("calculation", "short_answer", "essay") or picks[0][2].value != 1:
        return False
    if picks[0][3].style == "word":
        return False  # `Question 1:` never counts parts
    text = join_pieces([piece for piece in preamble if not is_instruction(piece)])
    is_part_style = picks[0][3].style in ("nump", "paren", "circ")
    return len(text) >= (12 if is_part_style else 60)


def _lines_between(pieces: Sequence[Piece], index: int, begin: int, following: Mark | None) -> list[Piece]:
    if following is not None and following[0] == index:
        return [pieces[index].cut(begin, following[1])]
    lines = [pieces[index].cut(begin)]
    last = following[0] if following is not None else len(pieces)
    lines.extend(pieces[index + 1 : last])
    if following is not None and following[1]:
        lines.append(pieces[last].cut(0, following[1]))
    return [line for line in lines if line.text.strip()] or lines[:1]


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
