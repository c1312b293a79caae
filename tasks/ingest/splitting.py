"""Splitting a paper's text into questions by rules for layouts, never for single papers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.ingest.content.answer_regions import take_key_lines, take_regions
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.fields import read_content
from tasks.ingest.content.filled_answers import (
    cut_own_number,
    drop_form_lines,
    find_filled,
    prints_answers,
    read_answers_below,
    read_filled,
    read_tails,
    read_trailing_letters,
)
from tasks.ingest.content.key_matching import match_keys
from tasks.ingest.content.key_regions import part_answers
from tasks.ingest.content.keys import KeySection, read_region
from tasks.ingest.content.losses import note_losses
from tasks.ingest.content.marked_options import take_format_keys, take_signs
from tasks.ingest.content.passages import drop_asking_lead
from tasks.ingest.layout.furniture import (
    drop_notices,
    drop_page_numbers,
    drop_titles,
    is_noise,
    letter_options,
    move_brackets,
    move_tags,
)
from tasks.ingest.layout.indexed_lines import IndexedLines
from tasks.ingest.layout.key_blocks import write_key_blocks
from tasks.ingest.layout.marks import write_marks
from tasks.ingest.layout.numbers import last_number
from tasks.ingest.layout.pieces import Piece, make_pieces
from tasks.ingest.layout.section_questions import split_section
from tasks.ingest.layout.sections import Section, divide
from tasks.ingest.layout.signs import FORM, has_options_ahead
from tasks.ingest.readers.extraction import Line
from tasks.ingest.tables.paper_tables import PaperTables, merge_repeated
from tasks.ingest.words.answers import has_colon
from tasks.ingest.words.cleaning import clean_text, detect_language
from tasks.ingest.words.grammar import is_instruction_title
from tasks.ingest.words.labels import Label
from tasks.running import without_collecting

_AFTER_TITLE = re.compile(r"[^。？?；;_]{2,40}?\s+(?=一\s*[、.．]\s*[\u4e00-\u9fff]{2,8}题)")


# an answer part seldom passes over one of these; model answers of free questions are often left out
_KEYED = ("multiple_choice", "true_false", "fill_in_the_blank")


@dataclass
class Split:
    """The questions of one paper, and what did not fit.

    These are the answers that found no question, and sentences on what was odd.
    """

    drafts: list[Draft]
    keys: list[KeySection] = field(default_factory=list)
    language: str | None = None
    warnings: list[str] = field(default_factory=list)


def split_lines(lines: Sequence[Line], starts: Sequence[int]) -> Split:
    """Split the lines of a document into drafts of questions.

    `starts` are the offsets of the lines in the raw text. Answers printed at the end of the paper are
    matched to their questions; those that match none are returned in `keys` (a separate answer file
    consists of nothing else).
    """
    with without_collecting():
        return _split_document(lines, starts)


def _split_document(lines: Sequence[Line], starts: Sequence[int]) -> Split:
    pieces = write_key_blocks(write_marks(make_pieces(lines, starts)))
    language = detect_language("\n".join(piece.text for piece in pieces if not _asks_name(piece.text)))
    result = Split([], language=language)
    tables = PaperTables(lines, starts, language, result.warnings)
    body, regions = take_regions(part_answers(tables.replace_rows(pieces)))
    keys: list[tuple[int, KeySection]] = []
    drafts: list[Draft] = []
    answer_parts: set[int] = set()
    for part, (part_pieces, region) in enumerate(zip(body, regions, strict=True)):
        answer_parts.update(piece.start for piece in region)
        part_drafts, part_keys = _split_part(part_pieces, language, tables)
        answered = tables.read(region, len(part_drafts), None)
        paths = {(draft.section_parent, draft.section_number) for draft in part_drafts}
        found = read_region([piece for piece in region if piece.table < 0], paths) if region else []
        part_drafts = merge_repeated(part_drafts, answered, language)
        unmatched = match_keys(part_drafts, [*part_keys, *found], language)
        read_answers_below(part_drafts)
        if region:
            for draft in part_drafts:
                if not draft.answer and draft.question_type in _KEYED:
                    draft.notes.append("answer_part_without_it")
        keys.extend((part, section) for section in unmatched)
        drafts.extend(part_drafts)
    result.keys = [section for _, section in keys]
    result.drafts = drafts
    take_signs(drafts)
    take_format_keys(drafts, lines, starts)
    if result.keys and drafts:
        count = sum(len(section.entries) for section in result.keys)
        result.warnings.append(f"{count} printed answers match no question.")
    report_gaps(result)
    result.warnings.extend(note_losses(drafts, pieces, answer_parts))
    return result


def _asks_name(text: str) -> bool:
    return (has_colon(text) or "_" in text) and FORM.search(text) is not None


def _split_part(
    pieces: list[Piece], language: str | None, tables: PaperTables
) -> tuple[list[Draft], list[KeySection]]:
    part = letter_options(IndexedLines(pieces))
    if len(pieces) > 2 and part.pieces[-1].text.strip() == part.pieces[0].text.strip():
        part = IndexedLines(part.pieces[:-1])  # the title again, above the answers
    kept = [piece for piece in drop_page_numbers(drop_notices(part)).pieces if not is_noise(piece)]
    pieces = list(move_tags(move_brackets(IndexedLines(kept))).pieces)
    for index, piece in enumerate(pieces[:6]):
        title = _AFTER_TITLE.match(piece.text)
        if title is not None:
            pieces[index] = piece.cut(title.end())
    sections = divide(drop_titles(pieces))
    has_typed = any(section.fine is not None for section in sections)
    keys: list[KeySection] = []
    chunks: list[tuple[int, Section, Label | None, list[Piece], str | None]] = []
    carry: int | None = None
    drafts: list[Draft] = []
    for number, section in enumerate(sections):
        in_tables = tables.read(section.pieces, number, section.fine)
        if in_tables:
            drafts.extend(in_tables)
            for draft in in_tables:
                draft.marks = draft.marks if draft.marks is not None else section.marks
            section.pieces = [piece for piece in section.pieces if piece.table < 0]
            section.is_question = False
        section.pieces = take_key_lines(section, keys)
        if in_tables and all(piece.label is None for piece in section.pieces):
            continue  # what is left besides the tables are instructions
        if number == 0 and section.is_cover and has_typed and not has_options_ahead(section.pieces):
            continue
        if section.fine is None and section.pieces and is_instruction_title(section.pieces[0].text):
            continue
        if section.is_question:
            own = Label(section.style, section.number or 0, 0, section.label)
            chunks.append((number, section, own, section.pieces, None))
            continue
        found, carry = split_section(section, carry)
        chunks.extend((number, section, label, lines, material) for label, lines, material in found)
    is_answered = prints_answers([lines for _, _, _, lines, _ in chunks])
    has_tables = bool(drafts)
    filled = find_filled(chunks)
    for number, section, label, lines, material in chunks:
        fine = None if label is not None and label.style == "bonus" else section.fine
        draft = read_content(lines, fine, language, is_answered or number in filled)
        if not draft.options and not (draft.stem if label else any(map(str.isalpha, draft.stem))):
            continue
        draft.section = number
        draft.section_number = section.number
        draft.section_parent = section.parent
        draft.number_label = label.text if label else ""
        draft.value = label.value if label else None
        cut_own_number(draft)
        draft.material = drop_asking_lead(clean_text(material, language)) if material else draft.material
        if draft.material and not draft.options and draft.question_type in ("short_answer", "essay"):
            draft.question_type = "material_analysis"
        if draft.marks is None:
            draft.marks = section.marks
        if lines:
            draft.start, draft.end = lines[0].start, max(line.end for line in lines)
        drafts.append(draft)
    drop_form_lines(drafts)
    read_filled(drafts, language)
    read_trailing_letters(drafts)
    read_tails(drafts)
    if has_tables:
        drafts.sort(key=lambda draft: draft.start)
    return drafts, keys


def report_gaps(result: Split) -> None:
    """Note missing and repeated numbers on the questions around them."""
    last: Draft | None = None
    for draft in result.drafts:
        if (
            last is not None
            and draft.section == last.section
            and draft.value is not None
            and last.value is not None
        ):
            if draft.value > (last_number(last.number_label) or last.value) + 1:
                draft.notes.append("number_gap_before")
            elif draft.value <= last.value and draft.value != 1:
                draft.notes.append("number_not_increasing")
        last = draft
