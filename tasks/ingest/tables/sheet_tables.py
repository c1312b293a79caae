"""The tables of one sheet: below each other, side by side, or with the fields down the side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from schemas import patterns as re
from tasks.ingest.content.region_titles import is_region_heading
from tasks.ingest.layout.headings import read_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.readers.extraction import Sheet
from tasks.ingest.tables.statements import find_slots, head_statements, judge_statement
from tasks.ingest.words.cleaning import clean_line
from tasks.ingest.words.column_shapes import complete_header, guess_columns
from tasks.ingest.words.columns import Header, find_header, find_role, fold_header, read_option_label
from tasks.ingest.words.lexicon import FineType, match_exactly, match_type_name

Names = Mapping[str, Sequence[str]] | None


@dataclass(frozen=True)
class SheetTable:
    """One table of a sheet, whose other cells are empty; without a header it asks nothing."""

    sheet: Sheet
    header: Header | None
    fine: FineType | None = None  # the type that a line above the header names
    is_turned: bool = False  # the sheet has its fields down the side


def divide_sheet(sheet: Sheet, columns: Names) -> list[SheetTable]:
    """The tables of a sheet in the order of their rows, those of the same rows from the left."""
    starts = _find_starts(sheet.rows, columns)
    if not starts:
        return [_turn(sheet, columns) or SheetTable(sheet, guess_columns(sheet.rows))]
    found: list[SheetTable] = []
    for first, last in zip_longest(starts, starts[1:], fillvalue=len(sheet.rows)):
        fine = _read_title_above(sheet.rows[:first])
        for left, right in find_sides(sheet.rows[first]):
            rows = [
                [cell if left <= at < right else "" for at, cell in enumerate(row)]
                if first <= index < last
                else []
                for index, row in enumerate(sheet.rows)
            ]
            found.append(_head(replace(sheet, rows=rows), first, columns, fine))
    return found


def _head(sheet: Sheet, first: int, columns: Names, fine: FineType | None) -> SheetTable:
    header = find_header(sheet.rows[first:], columns)
    if header is None:
        return SheetTable(sheet, None)
    header.row += first
    if _is_head(next(iter(sheet.rows[header.row + 1 :]), ()), columns, ()):
        header.row += 1  # the names again, in another language
    width = max(map(len, sheet.rows))
    padded = [[*row, *[""] * (width - len(row))] for row in sheet.rows]
    printed = [row for row in padded[header.row :] if any(row)]
    slots = find_slots(printed)
    stated = head_statements(printed, slots, header) if slots is not None else None
    if stated is not None and slots is not None:
        rows = [judge_statement(row, stated, slots) if any(row) else row for row in padded]
        return SheetTable(replace(sheet, rows=rows), replace(stated, row=header.row), fine)
    return SheetTable(sheet, complete_header(header, sheet.rows[header.row + 1 :]), fine)


def _find_starts(rows: Sequence[Sequence[str]], columns: Names) -> list[int]:
    """The rows where a table begins: names of columns other than those above, or a key."""
    best = find_header(rows, columns)
    starts: list[int] = []
    names: list[str] = []
    for index, row in enumerate(rows):
        is_best = best is not None and index <= best.row and [cell.strip() for cell in row] == best.names
        if not is_best and not _is_head(row, columns, names) and not (starts and _opens_key(rows, index)):
            continue
        folded = [fold_header(cell) for cell in row if cell.strip()]
        if folded != names and (not starts or index > starts[-1] + 1):
            starts.append(index)
            names = folded
    return starts if len(starts) <= _MOST_TABLES else starts[:1]


_MOST_TABLES = 100


def _is_head(row: Sequence[str], columns: Names, above: Sequence[str]) -> bool:
    """Whether a row does nothing but name columns, some of them as the header above it does."""
    filled = [cell for cell in row if cell.strip()]
    roles: set[str | None] = set()
    for cell in filled:
        role = find_role(cell, columns) or read_option_label(cell)
        if role is None or len(cell) > _LONGEST_NAME or _SAYS.search(cell) is not None:
            return False
        roles.add(role)
    is_told = len(roles) > 2 or any(fold_header(cell) in above for cell in filled)
    return is_told and ("stem" in roles or {"number", "answer"} <= roles)


_LONGEST_NAME = 24
# `题目：…`, `A: …`: more than the name of a column
_SAYS = re.compile(r"[:：]\s*\S")


def _opens_key(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Whether a row is `参考答案` alone above keys, or `题号 | 1 | 2` above the answers to these."""
    if counts_across(rows[index : index + 2]):
        return True
    head, *others = [cell for cell in rows[index] if cell.strip()] or [""]
    if others or not is_region_heading(head):
        return False
    below = rows[index + 1 : index + 1 + _NEAR]
    return counts_across(below) or any(read_key_line("  ".join(filter(str.strip, row))) for row in below)


def counts_across(rows: Sequence[Sequence[str]]) -> bool:
    """Whether two rows are `题号 | 1 | 2` and the answers to these."""
    first, second = ([cell for cell in row if cell.strip()] or [""] for row in [*rows[:2], (), ()][:2])
    is_counted = len(first) > 2 and all(number.strip().isdecimal() for number in first[1:])
    return is_counted and find_role(first[0]) == "number" and find_role(second[0]) == "answer"


_NEAR = 3


def find_sides(names: Sequence[str]) -> list[tuple[int, int]]:
    """The columns of tables side by side, whose names are the same; all where there is but one."""
    printed = [name.strip() for name in names]
    first = next((name for name in printed if name), None)
    begins = [at for at, name in enumerate(printed) if name == first] or [0]
    found = list(zip_longest(begins, begins[1:], fillvalue=len(printed)))
    sides = [[name for name in printed[begin:end] if name] for begin, end in found]
    is_repeated = len(sides) > 1 and len(sides[0]) > 1 and all(side == sides[0] for side in sides)
    return found if is_repeated else [(0, len(printed) or 1)]


def _read_title_above(rows: Sequence[Sequence[str]]) -> FineType | None:
    """The type that the lines right above a header name."""
    for row in reversed(rows):
        filled = [cell for cell in row if cell.strip()]
        if len(filled) > 1:
            return None
        heading = read_heading(clean_line(filled[0])[0]) if filled else None
        fine = match_exactly(filled[0].strip()) if filled else None
        fine = fine or (heading.fine if heading is not None else None)
        if fine is not None:
            return fine
    return None


def read_title(cell: str) -> FineType | None:
    """The type that a row with a single cell names, as a heading between the questions."""
    heading = read_heading(clean_line(cell)[0])
    return match_type_name(cell) or (heading.fine if heading is not None else None)


_LEAST_FIELDS = 3


def _turn(sheet: Sheet, columns: Names) -> SheetTable | None:
    """A sheet with its fields down the side, a question to a column, or None for any other."""
    rows = [[*cells] for cells in zip_longest(*sheet.rows[:_MOST_FIELDS], fillvalue="")]
    header = find_header(rows[:2], columns)
    if header is None or header.unmapped or len(header.columns) + len(header.options) < _LEAST_FIELDS:
        return None
    marked = {
        kind: {(column, row): spans for (row, column), spans in places.items()}
        for kind, places in sheet.marked.items()
    }
    unsaved = frozenset((column, row) for row, column in sheet.unsaved)
    turned = replace(sheet, rows=rows, marked=marked, unsaved=unsaved)
    return SheetTable(turned, complete_header(header, rows[header.row + 1 :]), is_turned=True)


_MOST_FIELDS = 40
