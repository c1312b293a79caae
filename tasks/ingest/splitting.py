"""Splitting a paper's text into questions by rules for layouts, never for single papers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tasks.ingest.content.emphasis import take_format_keys
from tasks.ingest.content.fields import (
    Draft,
    drop_asking_lead,
    read_content,
)
from tasks.ingest.content.filled_answers import (
    cut_own_number,
    find_filled,
    prints_answers,
    read_filled,
    read_trailing_letters,
)
from tasks.ingest.content.key_matching import match_keys
from tasks.ingest.content.keys import (
    KeySection,
    find_region,
    find_region_headings,
    is_region_heading,
    part_answers,
    read_entries,
    read_region,
    read_table_keys,
    read_table_numbers,
    split_inline,
)
from tasks.ingest.content.losses import note_losses
from tasks.ingest.layout.furniture import (
    drop_notices,
    drop_page_numbers,
    drop_titles,
    is_noise,
    letter_options,
    move_bracket,
    move_tag,
)
from tasks.ingest.layout.key_blocks import write_key_blocks
from tasks.ingest.layout.key_lines import KeyEntry, read_key_line
from tasks.ingest.layout.marks import write_marks
from tasks.ingest.layout.materials import (
    cut_breaks,
    cut_material,
    join_shared,
    read_material,
    share_matches,
    shared_options,
    split_cases,
    split_matching,
)
from tasks.ingest.layout.numbers import find_candidates, last_number
from tasks.ingest.layout.options import offers_options
from tasks.ingest.layout.pieces import Piece, join_pieces, make_pieces
from tasks.ingest.layout.sections import (
    OPTION_A,
    Section,
    divide,
    is_chapter,
)
from tasks.ingest.layout.sequences import choose_questions
from tasks.ingest.layout.signs import FORM, Mark, has_options_ahead, is_instruction
from tasks.ingest.layout.unnumbered import split_unnumbered
from tasks.ingest.readers.extraction import Line
from tasks.ingest.tables.question_tables import (
    QuestionTable,
    find_key_tables,
    find_question_tables,
    read_question_table,
)
from tasks.ingest.words.answers import (
    ANSWER_MARK,
    has_colon,
)
from tasks.ingest.words.cleaning import clean_text, detect_language
from tasks.ingest.words.grammar import is_instruction_title
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import FineType

_AFTER_TITLE = re.compile(r"[^。？?；;_]{2,40}?\s+(?=一\s*[、.．]\s*[\u4e00-\u9fff]{2,8}题)")


@dataclass
class Split:
    """The questions of one paper, the answers that found no question, and sentences on what was odd."""

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
    pieces = write_key_blocks(write_marks(make_pieces(lines, starts)))
    language = detect_language("\n".join(piece.text for piece in pieces if not _asks_name(piece.text)))
    result = Split([], language=language)
    tables = _Tables(lines, starts, language, result.warnings)
    body, regions = _take_regions(part_answers(tables.replace_rows(pieces)))
    keys: list[tuple[int, KeySection]] = []
    drafts: list[Draft] = []
    answer_parts: set[int] = set()
    for part, (part_pieces, region) in enumerate(zip(body, regions, strict=True)):
        answer_parts.update(piece.start for piece in region)
        part_drafts, part_keys = _split_part(part_pieces, language, tables)
        answered = tables.read(region, len(part_drafts), None)
        found = read_region([piece for piece in region if piece.table < 0]) if region else []
        part_drafts = _merge_repeated(part_drafts, answered, language)
        unmatched = match_keys(part_drafts, [*part_keys, *found], language)
        keys.extend((part, section) for section in unmatched)
        drafts.extend(part_drafts)
    result.keys = [section for _, section in keys]
    result.drafts = drafts
    take_format_keys(drafts, lines, starts)
    if result.keys and drafts:
        count = sum(len(section.entries) for section in result.keys)
        result.warnings.append(f"{count} printed answers match no question.")
    report_gaps(result)
    result.warnings.extend(note_losses(drafts, pieces, answer_parts))
    return result


def _asks_name(text: str) -> bool:
    return (has_colon(text) or "_" in text) and FORM.search(text) is not None


class _Tables:
    """The tables of a document that hold one question to a row, read when their section is known."""

    def __init__(
        self, lines: Sequence[Line], starts: Sequence[int], language: str | None, warnings: list[str]
    ) -> None:
        self.lines, self.starts, self.language, self.warnings = lines, starts, language, warnings
        self.tables: list[QuestionTable] = find_question_tables(lines)
        taken = {line for table in self.tables for line in table.lines}
        self.keys = [(span, keys) for span, keys in find_key_tables(lines) if span.start not in taken]

    def replace_rows(self, pieces: list[Piece]) -> list[Piece]:
        """Put one piece of kind `questions` in the place of every such table, key lines in that of a key table."""
        tables = {self.starts[line]: place for place, table in enumerate(self.tables) for line in table.lines}
        keys = {self.starts[line]: place for place, (span, _) in enumerate(self.keys) for line in span}
        if not tables and not keys:
            return pieces
        kept: list[Piece] = []
        seen: set[str] = set()
        for piece in pieces:
            is_table = piece.start in tables
            if not is_table and piece.start not in keys:
                kept.append(piece)
                continue
            place = tables[piece.start] if is_table else keys[piece.start]
            if f"{is_table}{place}" in seen:
                continue
            seen.add(f"{is_table}{place}")
            if is_table:
                kept.append(replace(piece, text="▦", sources=(piece.start,), kind="questions", table=place))
            else:
                kept.extend(_write_keys(piece, self.keys[place][1], kept))
        return kept

    def read(self, pieces: Sequence[Piece], section: int, fine: FineType | None) -> list[Draft]:
        """Return the questions of all tables among the pieces; `fine` is the type that their section names."""
        drafts: list[Draft] = []
        for piece in pieces:
            if piece.table >= 0:
                found, warnings = read_question_table(
                    self.tables[piece.table], self.lines, self.starts, section, fine, self.language
                )
                drafts.extend(found)
                self.warnings.extend(warnings)
        return drafts


def _write_keys(piece: Piece, entries: Sequence[KeyEntry], before: Sequence[Piece]) -> list[Piece]:
    """Write the rows of a key table as the lines that key lines are read from."""
    if any(is_region_heading(other.text) for other in before):
        texts = [
            f"{entry.number}. {entry.text}" + (f" 解析：{entry.explanation}" if entry.explanation else "")
            for entry in sorted(entries, key=lambda entry: entry.number)
        ]
    else:
        texts = ["  ".join(f"{entry.number}. {entry.text}" for entry in entries)]
        if not read_key_line(texts[0]):
            return [piece]
    return [replace(piece, text=text, sources=(), kind="body") for text in texts]


def _merge_repeated(drafts: list[Draft], answered: Sequence[Draft], language: str | None) -> list[Draft]:
    """Add the questions of the tables in an answer part, unless they only repeat questions with their answers."""
    if not answered:
        return drafts
    by_stem = {re.sub(r"\W+", "", draft.stem): draft for draft in drafts}
    added: list[Draft] = []
    for draft in answered:
        known = by_stem.get(re.sub(r"\W+", "", draft.stem))
        if known is None:
            added.append(draft)
            continue
        known.answer = known.answer or draft.answer
        known.explanation = known.explanation or draft.explanation
    return [*drafts, *added]


def _take_regions(pieces: list[Piece]) -> tuple[list[list[Piece]], list[list[Piece]]]:
    """Separate question parts from answer parts; a chapter that begins inside an answer part ends it."""
    bodies: list[list[Piece]] = []
    regions: list[list[Piece]] = []
    rest = pieces
    headings = find_region_headings(pieces)
    while rest:
        index = find_region(rest, headings)
        while index is not None and _find_next_section(rest, index) is not None:
            # the answers of one section, read with it
            index = find_region(rest, [heading for heading in headings if heading > index])
        if index is None:
            bodies.append(rest)
            regions.append([])
            break
        end = len(rest)
        for place in range(index + 2, len(rest)):
            if is_chapter(rest[place].text) and has_options_ahead(rest[place : place + 60]):
                end = place
                break
        bodies.append(rest[:index])
        regions.append(rest[index + 1 : end])
        rest = rest[end:]
        headings = [heading - end for heading in headings if heading >= end]
    return bodies, regions


def _find_next_section(pieces: Sequence[Piece], index: int) -> int | None:
    """Return where questions continue after the answers of one section: at the heading with the next number.

    The answers of a whole paper begin with the first section again.
    """
    from tasks.ingest.layout.sections import read_heading

    before = (read_heading(pieces[place].text) for place in range(index - 1, -1, -1))
    last = next((found.label for found in before if found is not None and found.label is not None), None)
    if last is None:
        return None
    for place in range(index + 1, len(pieces)):
        heading = read_heading(pieces[place].text)
        if heading is not None and heading.label is not None:
            is_next = (heading.label.style, heading.label.value) == (last.style, last.value + 1)
            return place if is_next else None
    return None


def _split_part(
    pieces: list[Piece], language: str | None, tables: _Tables
) -> tuple[list[Draft], list[KeySection]]:
    pieces = letter_options(pieces)
    if len(pieces) > 2 and pieces[-1].text.strip() == pieces[0].text.strip():
        pieces = pieces[:-1]  # the title again, above the answers
    pieces = [
        move_tag(move_bracket(piece))
        for piece in drop_page_numbers(drop_notices(pieces))
        if not is_noise(piece, language)
    ]
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
        section.pieces = _take_key_lines(section, keys)
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
        found, carry = _split_section(section, carry)
        chunks.extend((number, section, label, lines, material) for label, lines, material in found)
    is_answered = prints_answers([lines for _, _, _, lines, _ in chunks])
    has_tables = bool(drafts)
    filled = find_filled(chunks)
    for number, section, label, lines, material in chunks:
        fine = None if label is not None and label.style == "bonus" else section.fine
        draft = read_content(lines, fine, language, is_answered or number in filled)
        if not draft.stem and not draft.options:
            continue
        draft.section = number
        draft.section_number = section.number
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
    read_filled(drafts, language)
    read_trailing_letters(drafts)
    if has_tables:
        drafts.sort(key=lambda draft: draft.start)
    return drafts, keys


def _take_key_lines(section: Section, keys: list[KeySection]) -> list[Piece]:
    """Take key lines (`1、CDE 2、CD …`) out of a section: they answer its questions."""
    kept: list[Piece] = []
    found = KeySection(section.number, section.fine, title=section.title)
    pending: tuple[Piece, list[int]] | None = None
    block = _find_block(section)
    if block is not None:
        begin, offset = block
        answers = [section.pieces[begin].cut(offset), *section.pieces[begin + 1 :]]
        answers = [piece for piece in answers if piece.text.strip()]
        found.entries.extend(read_entries(Section(fine=section.fine, pieces=answers)))
    for piece in section.pieces[: block[0] if block is not None else None]:
        if pending is not None:
            cells = read_table_keys(piece.text, len(pending[1]))
            if cells:
                found.entries.extend(map(KeyEntry, pending[1], cells))
                pending = None
                continue
            kept.append(pending[0])
            pending = None
        numbers = read_table_numbers(piece.text)
        if numbers:
            pending = (piece, numbers)
            continue
        entries = read_key_line(piece.text)
        if len(entries) >= 2 and not offers_options([piece], True):
            found.entries.extend(entries)
        elif not (
            is_region_heading(piece.text)
            and len(piece.text) < 10
            and kept is not None
            and _is_last(section, piece)
        ):
            kept.append(piece)
    if pending is not None:
        kept.append(pending[0])
    if found.entries:
        keys.append(found)
        while kept and is_region_heading(kept[-1].text):
            kept.pop()
    return kept


def _find_block(section: Section) -> tuple[int, int] | None:
    """Return where the answers of a whole section begin below its questions: `答案：1）… 2）…`, the piece and the index.

    The first answer repeats the number of the first question, and there are several of both.
    """
    first: Label | None = None
    seen = 0
    for index, piece in enumerate(section.pieces):
        label = piece.label
        if label is not None and not label.is_weak and label.style in ("num", "nump", "paren", "bracket"):
            if first is None:
                first = label
            seen += label.style == first.style and label.value == first.value + seen
            continue
        mark = ANSWER_MARK.match(piece.text)
        if mark is None or first is None or seen < 2:
            continue
        rest = piece.cut(mark.end())
        follows = rest if rest.text.strip() else None
        if follows is None and index + 1 < len(section.pieces):
            follows = section.pieces[index + 1]
        start = follows.label if follows is not None else None
        if start is None or (start.style, start.value) != (first.style, first.value):
            continue
        following = [other.label for other in section.pieces[index + 1 :]]
        goes_on = any(
            label is not None and label.style == first.style and label.value == first.value + 1
            for label in following
        )
        if goes_on or (follows is rest and len(split_inline(rest)) > 1):
            return index, mark.end()
    return None


def _is_last(section: Section, piece: Piece) -> bool:
    return bool(section.pieces) and section.pieces[-1] is piece


def _split_section(
    section: Section, carry: int | None
) -> tuple[list[tuple[Label | None, list[Piece], str | None]], int | None]:
    """Return (label, lines, material) of every question in a section, and the last number used."""
    pieces = section.pieces
    expects_options = section.fine is not None and section.fine.question_type == "multiple_choice"
    cases = split_cases(section)
    if cases and not _goes_on(section, carry):
        return cases, carry
    matching = split_matching(section)
    if matching:
        last = matching[-1][0]
        return matching, last.value if last is not None else carry
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
            lines[0] = replace(
                lines[0], start=first.sources[begin] if begin < len(first.sources) else first.start
            )
        lines = [_cut_echo(line, candidate.value) for line in lines[:2]] + lines[2:]
        lines, tail = cut_material(lines, section)
        if section.breaks:
            lines = cut_breaks(lines, pieces, index, section.breaks)
        lines = _drop_part_heading(lines)
        if material_until is not None and candidate.value > material_until:
            material, material_until, shared = None, None, []
        if shared and not offers_options(lines, True):
            found.append((label, [*lines, *shared], None))
        else:
            found.append((label, lines, material))
        if tail:
            material, material_until = read_material(tail, section)
            shared = shared_options(tail)
    del style
    found = _cut_bonus(found)
    if expects_options:
        found = _move_leading_keys(found)
    if section.fine is not None and section.fine.name == "matching":
        found = share_matches(found, preamble)
    if section.fine is not None and section.fine.question_type == "material_analysis":
        found = join_shared(found, section)
    return found, picks[-1][2].value


_PART_HEADING = re.compile(
    r"\s*(?:[（(]?[B-H][)）]|[B-H]\s*[.．、:：])\s*(?:Directions?\s*[:：]\s*)?(?:[请将把]*(?:下列|以下|下面|下述|划线)|"
    r"(?:英译汉|汉译英|中译英|英译中)|(?i:(?:translate|rewrite|complete|fill|answer|correct|explain|choose|match|combine)"
    r"\s.{0,40}\b(?:following|below|sentences|words|phrases|questions)\b))"
)


def _drop_part_heading(lines: list[Piece]) -> list[Piece]:
    """Drop `B. Translate the following into English.` from the end of a question: it opens the next part.

    Below options it stays: there a letter counts an option.
    """
    if len(lines) < 2 or any(OPTION_A.match(line.text) for line in lines):
        return lines
    return lines[:-1] if _PART_HEADING.match(lines[-1].text) else lines


_LEADING_KEY = re.compile(r"\s*([A-H])\s+(?=[A-Z_\u4e00-\u9fff])")


def _move_leading_keys(
    found: list[tuple[Label | None, list[Piece], str | None]],
) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Put keys printed right behind the numbers, `1.B Which …`, behind the stems, where nearly all questions have one."""
    matches = [_LEADING_KEY.match(lines[0].text) if lines else None for _, lines, _ in found]
    letters = [match.group(1) for match in matches if match]
    if len(letters) < 2 or len(letters) < 0.8 * len(found) or set(letters) == {"A"}:
        return found
    moved: list[tuple[Label | None, list[Piece], str | None]] = []
    for (label, lines, material), match in zip(found, matches, strict=True):
        if match is None:
            moved.append((label, lines, material))
            continue
        letter = lines[0].cut(match.start(1), match.end(1))
        mark = replace(letter, text=f"Answer: {letter.text}", sources=(letter.start,) * 9, label_length=0)
        head = replace(lines[0].cut(match.end()), start=lines[0].start)
        moved.append((label, [head, *lines[1:], mark], material))
    return moved


_BONUS = re.compile(
    r"\s*((?:Bonus|BONUS|Extra [Cc]redit|EXTRA CREDIT)(?: (?:[Qq]uestion|[Pp]roblem|QUESTION|PROBLEM))?|附加题)\s*(?=[:：（(\[])[:：]?\s*"
)


def _cut_bonus(
    found: list[tuple[Label | None, list[Piece], str | None]],
) -> list[tuple[Label | None, list[Piece], str | None]]:
    """Make a question of `Bonus (5 pts): …` behind the last numbered one."""
    label, lines, material = found[-1]
    for place, line in enumerate(lines[1:], start=1):
        bonus = _BONUS.match(line.text)
        if bonus and (line.text[bonus.end() :].strip() or place + 1 < len(lines)):
            own = Label("bonus", label.value + 1 if label is not None else 1, 0, bonus.group(1))
            rest = [replace(line.cut(bonus.end()), start=line.start), *lines[place + 1 :]]
            return [*found[:-1], (label, lines[:place], material), (own, rest, None)]
    return found


_ECHO = re.compile(r"\s+(\d{1,3})[.)]\s*_{3,}\s*$")


def _cut_echo(line: Piece, value: int) -> Piece:
    """Drop the place for the answer at the end of a stem, `… of the firm.   3) _____`: it repeats the number."""
    echo = _ECHO.search(line.text) if line.text.rstrip().endswith("___") else None
    return line.cut(0, echo.start()) if echo and int(echo.group(1)) == value else line


def _goes_on(section: Section, carry: int | None) -> bool:
    """Whether the numbers below short-answer passages continue from the section before: they count questions then."""
    if not carry or section.fine is None or section.fine.question_type == "material_analysis":
        return False
    numbers = [piece.label.value for piece in section.pieces if piece.label and piece.label.style == "num"]
    return len(numbers) > 1 and numbers == list(range(carry + 1, carry + 1 + len(numbers)))


def _is_single(section: Section, preamble: Sequence[Piece], picks: Sequence[Mark]) -> bool:
    """Whether the numbers below a free-response heading count the parts of one question, whose text precedes them."""
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
