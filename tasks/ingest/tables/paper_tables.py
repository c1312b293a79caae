"""The tables of a paper that hold questions or keys, read where they stand among its lines."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.region_titles import find_region_headings, is_region_heading
from tasks.ingest.layout.headings import read_heading, sets_several
from tasks.ingest.layout.key_lines import KEY_MARK, KeyEntry, read_key_line
from tasks.ingest.layout.pieces import Piece, say
from tasks.ingest.readers.emphasis import KINDS
from tasks.ingest.readers.extraction import Line, Marked, Sheet
from tasks.ingest.tables.sheets import read_rows
from tasks.ingest.tables.statements import NUMBER_CELL, find_slots, head_statements, judge_statement
from tasks.ingest.words.cleaning import join_wrapped
from tasks.ingest.words.columns import (
    Header,
    find_lettered_header,
    find_question_header,
    find_role,
    fold_header,
)
from tasks.ingest.words.labels import counts_questions, parse_label
from tasks.ingest.words.lexicon import FineType
from tasks.ingest.words.signs import ends_asking


class PaperTables:
    """The tables of a document with a question to a row, read with their sections."""

    def __init__(self, lines: Sequence[Line], starts: Sequence[int], language: str | None) -> None:
        self.lines, self.starts, self.language = lines, starts, language
        self.warnings: list[str] = []
        # where the rows that were written as keys begin
        self.key_rows: set[int] = set()
        self.tables: list[QuestionTable] = find_question_tables(lines)
        taken = {line for table in self.tables for line in table.lines}
        self.keys = [(span, keys) for span, keys in find_key_tables(lines) if span.start not in taken]

    def replace_rows(self, pieces: list[Piece]) -> list[Piece]:
        """Put a piece of kind `questions` for every such table, key lines for key tables."""
        tables = {self.starts[line]: place for place, table in enumerate(self.tables) for line in table.lines}
        keys = {self.starts[line]: place for place, (span, _) in enumerate(self.keys) for line in span}
        if not tables and not keys:
            return pieces
        kept: list[Piece] = []
        seen: set[str] = set()
        data: set[int] = set()
        for piece in pieces:
            is_table = piece.start in tables
            if not is_table and keys.get(piece.start, -1) in (-1, *data):
                kept.append(piece)
                continue
            place = tables[piece.start] if is_table else keys[piece.start]
            if f"{is_table}{place}" in seen:
                continue
            seen.add(f"{is_table}{place}")
            if is_table:
                kept.append(replace(piece, text="▦", sources=(piece.start,), kind="questions", table=place))
            elif written := _write_keys(piece, self._read_again(place, pieces), kept):
                kept.extend(written)
                self.key_rows = {*self.key_rows, *(self.starts[line] for line in self.keys[place][0])}
            else:
                data.add(place)
                kept.append(piece)
        return _drop_legend(self._head_keys(kept), self.key_rows)

    def _head_keys(self, pieces: list[Piece]) -> list[Piece]:
        """Put the missing heading above a key table where all numbers below it were asked above."""
        places = [place for place, piece in enumerate(pieces) if piece.start in self.key_rows]
        if not places or any(is_region_heading(piece.text) for piece in pieces[: places[0]]):
            return pieces
        asked, answered = (
            {piece.label.value for piece in some if counts_questions(piece.label)}
            for some in (pieces[: places[0]], pieces[places[-1] + 1 :])
        )
        if not answered or not answered <= asked:
            return pieces
        return [*pieces[: places[0]], say(pieces[places[0]], "参考答案"), *pieces[places[0] :]]

    def _read_again(self, place: int, pieces: Sequence[Piece]) -> Sequence[KeyEntry]:
        """The keys of a table as the steps above have written its rows: `б` below `а) … б) …` is B."""
        span, entries = self.keys[place]
        texts = {piece.start: piece.text for piece in pieces}
        rows: list[list[str]] = []
        for at in span:
            cells = texts.get(self.starts[at], "").strip().strip("|").split("|")
            rows.append(cells if len(cells) == len(self.lines[at].cells) else list(self.lines[at].cells))
        paired = _read_key_cells(rows)
        again = _read_key_table(rows) or (paired.entries if paired is not None else [])
        is_same = [one.number for one in again] == [one.number for one in entries]
        return again if is_same else entries

    def read(self, pieces: Sequence[Piece], section: int, fine: FineType | None) -> list[Draft]:
        """The questions of all tables among the pieces of a section of type `fine`."""
        drafts: list[Draft] = []
        for piece in pieces:
            if piece.table >= 0:
                found, warnings = read_question_table(
                    self.tables[piece.table], self.lines, self.starts, section, fine, self.language
                )
                drafts.extend(found)
                self.warnings.extend(warnings)
        return drafts


_MOST_OF_LEGEND = 3


def _drop_legend(pieces: list[Piece], rows: Collection[int]) -> list[Piece]:
    """The lines without those that close a paper below its keys, `MC = multiple choice`."""
    end = max((at for at, piece in enumerate(pieces, start=1) if piece.start in rows), default=len(pieces))
    below = pieces[end:]
    is_legend = len(below) <= _MOST_OF_LEGEND and all(
        piece.label is None and piece.kind == "body" and read_heading(piece.text) is None for piece in below
    )
    return pieces[:end] if is_legend else pieces


def _write_keys(piece: Piece, entries: Sequence[KeyEntry], before: Sequence[Piece]) -> list[Piece]:
    """Write the rows of a key table as key lines; [] where they are none."""
    if find_region_headings(before):
        texts = [
            f"{entry.number}. {entry.text}" + (f" 解析：{entry.explanation}" if entry.explanation else "")
            for entry in sorted(entries, key=lambda entry: entry.number)
        ]
    else:
        texts = ["  ".join(f"{entry.number}. {entry.text}" for entry in entries)]
        asked = {one.label.value for one in before if one.label is not None and not one.label.is_weak}
        is_named = not piece.text.lstrip()[:1].isdigit()
        if not read_key_line(texts[0]) or not (is_named or asked.issuperset(one.number for one in entries)):
            return []  # data of a question: below its questions only what names no columns is a key
    return [replace(piece, text=text, sources=(), kind="body") for text in texts]


@dataclass(frozen=True)
class QuestionTable:
    """The lines of a document that are a table of questions, and its header."""

    lines: tuple[int, ...]
    header: Header
    slots: tuple[int, int] | None = None  # the columns in which a statement is ticked as true, and as false
    record: int = 0  # which question of the document it is, where it is one with a field to a row


def find_question_tables(lines: Sequence[Line]) -> list[QuestionTable]:
    """Return the tables among the lines that hold one question to a row, in order.

    Tables with nothing between them are one (a table cut at a page). Tables of options, marks, keys and data are
    not among them. Two questions or more with a field to a row, `题目 | …`, `答案 | B`, are a table each.
    """
    found: list[QuestionTable] = []
    records: list[QuestionTable] = []
    for first, end, rows in _list_tables(lines):
        cells = _read_key_cells(rows)
        if cells is not None and cells.is_sure and not cells.is_wide and find_role(cells.name) == "answer":
            continue  # `Answer | A | C | B` below `Question | 1 | 2 | 3`
        before = found[-1] if found else None
        slots = find_slots(rows)
        header = find_question_header(rows)
        if header is not None and _is_data(rows, header):
            header = None
        stated = head_statements(rows, slots, header) if slots is not None else None
        header, slots = (stated, slots) if stated is not None else (header, None)
        if header is None and sets_several(_find_above(lines, first)):
            header = find_lettered_header(rows)
        is_next = before is not None and not any(
            line.text.strip() and line.kind != "furniture" for line in lines[before.lines[-1] + 1 : first]
        )
        if before is not None and is_next and _fits(before, header, rows, lines, first):
            found[-1] = replace(before, lines=(*before.lines, *range(first, end)))
            continue
        if header is None and before is not None and _runs_on(before, rows, lines):
            header = before.header
        if header is not None:
            found.append(QuestionTable(tuple(range(first, end)), header, slots))
        else:
            records += [
                QuestionTable(tuple(range(first + begin, first + end)), own)
                for begin, end, own in _find_records(rows)
            ]
    if len(records) >= _LEAST_RECORDS:
        found += [replace(table, record=place) for place, table in enumerate(records, start=1)]
        found.sort(key=lambda table: table.lines)
    return found


def _list_tables(lines: Sequence[Line]) -> Iterator[tuple[int, int, list[list[str]]]]:
    """Where each table of a document begins and ends among its lines, and its rows."""
    for table, run in groupby(range(len(lines)), key=lambda at: lines[at].table):
        places = [*run]
        if table:
            yield places[0], places[-1] + 1, [list(lines[at].cells) for at in places]


def _find_above(lines: Sequence[Line], first: int) -> str:
    """The line above a table that is not blank."""
    return next((line.text for line in reversed(lines[:first]) if line.text.strip()), "")


_LEAST_RECORDS = 2
_MOST_DATA = 3
_NUMERIC = re.compile(r"[\d.,%±+\-−×/\s]+")


def _is_data(rows: Sequence[Sequence[str]], header: Header) -> bool:
    """Whether a few rows below `Item | A | B | C` are data: they offer no words, and none asks."""
    below = [row for row in rows[header.row + 1 :] if any(cell.strip() for cell in row)]
    column = header.columns.get("stem")
    if column is None or not header.options or "answer" in header.columns or len(below) > _MOST_DATA:
        return False
    offered = [row[at].strip() for row in below for at in header.options.values() if at < len(row)]
    stems = [row[column] for row in below if column < len(row)]
    return all(_NUMERIC.fullmatch(cell) for cell in offered if cell) and not any(map(ends_asking, stems))


def _find_records(rows: Sequence[Sequence[str]]) -> list[tuple[int, int, Header]]:
    """Where each question of a table with a field to a row begins and ends, and its fields."""
    if any(len(row) != len(("name", "value")) for row in rows):
        return []
    names = [row[0].strip() for row in rows]
    found: list[tuple[int, int, Header]] = []
    begins = [at for at, name in enumerate(names) if name == names[0]]
    for begin, end in pairwise([*begins, len(rows)]):
        header = find_question_header([names[begin:end], [row[1] for row in rows[begin:end]]])
        if header is None or header.row or not (header.options or "answer" in header.columns):
            return []
        found.append((begin, end, header))
    return found


def _fits(
    before: QuestionTable,
    header: Header | None,
    rows: Sequence[Sequence[str]],
    lines: Sequence[Line],
    first: int,
) -> bool:
    if header is not None:
        return header.names == before.header.names
    is_cut = lines[first].page > lines[before.lines[-1]].page
    return is_cut and len(rows[0]) == len(before.header.names) - (0 if before.slots is None else 3)


def _runs_on(before: QuestionTable, rows: Sequence[Sequence[str]], lines: Sequence[Line]) -> bool:
    """Whether rows go on counting where those of a table of as many columns, without names, end."""
    column = before.header.columns.get("number")
    if before.header.row >= 0 or column is None or any(len(row) != len(before.header.names) for row in rows):
        return False
    numbers = [lines[at].cells[column] for at in before.lines] + [row[column] for row in rows]
    counted = [int(match[1]) for number in numbers if (match := NUMBER_CELL.fullmatch(number.strip()))]
    return (
        len(counted) > len(before.lines) / 2
        and counted == [*range(counted[0], counted[0] + len(counted))]
        and all(NUMBER_CELL.fullmatch(row[column].strip()) for row in rows)
    )


def find_key_tables(lines: Sequence[Line]) -> list[tuple[range, list[KeyEntry]]]:
    """The tables that hold one answer to a row: `题号 | 答案`, pairs side by side."""
    found: list[tuple[range, list[KeyEntry]]] = []
    headings = find_region_headings(lines)
    asked: set[int] = set()
    seen = 0
    for first, end, rows in _list_tables(lines):
        for line in lines[seen:first]:
            label = parse_label(line.text) if not line.table else None
            asked.update([label.value] if counts_questions(label) else ())
        seen = end
        entries = _read_key_table(rows)
        cells = None if entries else _read_key_cells(rows)
        if cells is not None and _answers(cells, first, headings, asked, lines):
            entries = cells.entries
        if entries:
            found.append((range(first, end), entries))
    return found


def _read_key_table(rows: Sequence[Sequence[str]]) -> list[KeyEntry]:
    for index, row in enumerate(rows[:3]):
        roles = [find_role(cell) for cell in row]
        for column, role in enumerate(roles):
            cells = [other[column].strip() for other in rows[index + 1 :] if column < len(other)]
            if role in (None, "stem") and cells and all(NUMBER_CELL.fullmatch(cell) for cell in cells):
                roles[column] = "number"  # `Q | Answer`
        numbers = [column for column, role in enumerate(roles) if role == "number"]
        answers = [column for column, role in enumerate(roles) if role == "answer"]
        if not numbers or len(numbers) != len(answers) or "stem" in roles or "options" in roles:
            continue
        explained = roles.index("explanation") if "explanation" in roles and len(numbers) == 1 else None
        entries: list[KeyEntry] = []
        for place, column in enumerate(numbers):
            for other in rows[index + 1 :]:
                number = NUMBER_CELL.fullmatch(other[column].strip())
                text = other[answers[place]].strip()
                if number is None or not text:
                    continue
                explanation = other[explained].strip() if explained is not None else ""
                value = int(number[1])
                text = f"{number[0]} {text}" if number["part"] else text
                if number["part"] and entries and entries[-1].number == value:
                    entries[-1].text += f"\n{text}"  # `15.2` below `15.1`
                else:
                    entries.append(KeyEntry(value, text, explanation or None))
        return entries if len(entries) >= 2 else []
    return []


# So near below a title of answers a table is their key, whatever it calls its columns.
_NEAR_TITLE, _SEARCHED, _COVER = 3, 20, 5


def _answers(
    cells: KeyCells, first: int, headings: Sequence[int], asked: Collection[int], lines: Sequence[Line]
) -> bool:
    """Whether keys of a table answer the questions above it: data may look the same."""
    last = bisect_left(headings, first) - 1
    heading = headings[last] if last >= 0 else -1
    is_near = heading >= 0 and first - heading <= _SEARCHED
    above = [line for line in lines[heading + 1 : first] if line.text.strip()] if is_near else []
    is_numbered = any(counts_questions(parse_label(line.text)) for line in above)
    if is_near and not is_numbered and len(above) <= _NEAR_TITLE and (heading >= _COVER or not asked):
        return True
    is_named = find_role(cells.name) == "answer" if cells.name else not cells.is_wide
    if not cells.is_sure or not is_named:
        return False
    is_below = heading >= _COVER
    numbers = {entry.number for entry in cells.entries}
    return is_below or (numbers <= {*asked} and len(numbers) >= _KEY_SHARE * len({*asked}))


_LEAST_KEYS, _KEY_SHARE = 4, 0.6
_KEY_CELL = re.compile(KEY_MARK)


@dataclass(frozen=True)
class KeyCells:
    """The keys of a table, and what it calls them or ''; `is_wide`: beside other columns."""

    entries: list[KeyEntry]
    name: str
    is_sure: bool
    is_wide: bool = False


def _read_key_cells(rows: Sequence[Sequence[str]]) -> KeyCells | None:
    """Read a table of numbers and, beside or below each, its key: `1 | B | 6 | C`.

    None for any other. The numbers leave none out, and what stands at them is not all the same; it `is_sure` where most of
    it are keys.
    """
    cells = [[cell.strip() for cell in row] for row in rows if row]
    if not cells:
        return None
    across = cells[0][1] if len(cells[0]) > 1 else ""
    column = _find_keys(cells[1:])
    own = cells[0][column] if column and column < len(cells[0]) else across
    named = next((row[0] for row in cells[1::2] if row and not _is_number(cells[0][0])), "")
    for pairs, name in (
        (_pair_across(cells), ""),
        (_pair_down(cells), named),
        (_pair_across(cells[1:]), across),
        (_pair_columns(cells[1:]), own),
    ):
        entries = sorted(
            (KeyEntry(int(re.sub(r"\D", "", number)), key) for number, key in pairs),
            key=lambda entry: entry.number,
        )
        if len(entries) < _LEAST_KEYS or len({entry.text for entry in entries}) < 2:
            continue
        first = entries[0].number
        keys = sum(_KEY_CELL.fullmatch(entry.text) is not None for entry in entries)
        if keys and [entry.number for entry in entries] == list(range(first, first + len(entries))):
            is_wide = len(cells[0]) > _LEAST_WIDTH and len(entries) == len(cells) - 1
            return KeyCells(entries, name, keys >= _KEY_SHARE * len(entries), is_wide)
    return None


def _is_number(cell: str) -> bool:
    return NUMBER_CELL.fullmatch(cell) is not None


def _pair_across(cells: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """`1 | B | 6 | C` in every row; [] where a row has anything else."""
    if any(len(row) % 2 for row in cells):
        return []
    pairs = [pair for row in cells for pair in zip(row[::2], row[1::2], strict=True) if any(pair)]
    return pairs if all(_is_number(number) and key for number, key in pairs) else []


def _pair_down(cells: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Rows of numbers, each above a row of keys; a name may stand before both."""
    pairs: list[tuple[str, str]] = []
    for above, below in zip(cells[::2], cells[1::2], strict=False):
        begin = 0 if above and _is_number(above[0]) else 1
        own = [pair for pair in zip(above[begin:], below[begin:], strict=False) if any(pair)]
        if not own or not all(_is_number(number) and key and not _is_number(key) for number, key in own):
            return []
        pairs += own
    return [] if len(cells) % 2 else pairs


def _pair_columns(cells: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """A column of numbers and, among others, one of keys: `1 | B | 2`, `1 | MC | B | 1`."""
    width = len(cells[0]) if cells else 0
    if width < _LEAST_WIDTH or any(len(row) != width for row in cells):
        return []
    column = _find_keys(cells)
    is_worth = width == _LEAST_WIDTH and all(row[2].isdecimal() or not row[2] for row in cells)
    column = column or (1 if is_worth else 0)
    is_key = column and all(_is_number(row[0]) and row[column] for row in cells)
    return [(row[0], row[column]) for row in cells] if is_key else []


_LEAST_WIDTH = 3


def _find_keys(cells: Sequence[Sequence[str]]) -> int:
    """The one column besides the first that mostly holds keys; 0 where none or several do."""
    found = [
        column
        for column in range(1, len(cells[0]) if cells else 0)
        if sum(_KEY_CELL.fullmatch(row[column]) is not None for row in cells if column < len(row))
        >= _KEY_SHARE * len(cells)
    ]
    return found[0] if len(found) == 1 else 0


def read_question_table(
    table: QuestionTable,
    lines: Sequence[Line],
    starts: Sequence[int],
    section: int,
    fine: FineType | None,
    language: str | None,
) -> tuple[list[Draft], list[str]]:
    """The questions of a table, with their places, and what was left out."""
    if table.record:
        return _read_record(table, lines, starts, section, fine, language)
    rows: list[list[str]] = []
    spans: list[tuple[int, int]] = []
    marked: dict[str, Marked] = {kind: {} for kind in KINDS}
    number = table.header.columns.get("number") if table.slots is None else None
    page = lines[table.lines[0]].page
    names = [fold_header(name) for name in table.header.names]
    for index in table.lines:
        line = lines[index]
        row = list(line.cells)
        if table.slots is not None:
            row = judge_statement(row, table.header, table.slots)
        span = (starts[index], starts[index] + len(line.text))
        if names and [fold_header(cell) for cell in row] == names and len(rows) > table.header.row:
            continue
        is_cut = line.page > page and number is not None and len(rows) > table.header.row + 1
        if is_cut and number is not None and not row[number].strip() and rows[-1][number].strip():
            # a row that the end of the page cut in two
            rows[-1] = [_join_cells(upper, lower) for upper, lower in zip(rows[-1], row, strict=False)]
            spans[-1] = (spans[-1][0], span[1])
        else:
            _mark_cells(line, len(rows), marked)
            rows.append(row)
            spans.append(span)
        page = line.page
    return read_rows(Sheet("", rows, marked=marked), table.header, spans, section, language, fine)


def _read_record(
    table: QuestionTable,
    lines: Sequence[Line],
    starts: Sequence[int],
    section: int,
    fine: FineType | None,
    language: str | None,
) -> tuple[list[Draft], list[str]]:
    """The question of a table with a field to a row, as a row below the names of its fields."""
    marked: dict[str, Marked] = {kind: {} for kind in KINDS}
    for column, index in enumerate(table.lines):
        own: dict[str, Marked] = {kind: {} for kind in KINDS}
        _mark_cells(lines[index], 0, own)
        for kind in KINDS:
            marked[kind][1, column] = own[kind].get((0, 1), [])
    begin, last = starts[table.lines[0]], table.lines[-1]
    spans = [(begin, begin), (begin, starts[last] + len(lines[last].text))]
    rows = [[lines[index].cells[side] for index in table.lines] for side in (0, 1)]
    sheet = Sheet("", rows, first_row=table.record - 1, marked=marked)
    return read_rows(sheet, table.header, spans, section, language, fine)


def _mark_cells(line: Line, row: int, marked: dict[str, Marked]) -> None:
    """Note which stretches of a row's cells stand out; its text has them one after the other."""
    end = 0
    for column, cell in enumerate(line.cells if line.emphasis else ()):
        begin = line.text.find(cell.replace("\n", " "), end) if cell else -1
        if begin < 0:
            continue
        end = begin + len(cell)
        for first, last, kind in line.emphasis:
            if kind in marked and first < end and last > begin:
                marked[kind].setdefault((row, column), []).append((first - begin, last - begin))


def _join_cells(upper: str, lower: str) -> str:
    if not upper.strip() or not lower.strip():
        return upper or lower
    if re.match(r"\s*[（(]?[A-J]\s*[)）.．、:：]", lower):
        return f"{upper}\n{lower}"
    return join_wrapped(upper, lower)
