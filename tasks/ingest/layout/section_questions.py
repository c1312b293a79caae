"""The lines of one section divided into its questions."""

from __future__ import annotations

from collections.abc import Sequence

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
from tasks.ingest.layout.sections import Section
from tasks.ingest.layout.sequences import choose_questions
from tasks.ingest.layout.signs import Mark, is_instruction
from tasks.ingest.layout.unnumbered import split_unnumbered
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
