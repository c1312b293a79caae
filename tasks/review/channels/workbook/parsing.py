"""What a review workbook says: the decisions of good rows, and every fault with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.identity import (
    Identity,
    WorkbookQuestion,
    compute_given_digest,
    compute_shown_digest,
    squeeze,
)
from tasks.review.channels.workbook.rows import (
    CHOICES,
    INPUT_NAMES,
    MOST_REPEATED,
    NOT_GIVEN,
    parse_row,
    translate,
)
from tasks.review.decisions import Fault, GivenDecision, Item
from tasks.review.desk import WorkItem
from tasks.review.recording import RowFault
from tasks.review.words import Language

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

    from tasks.review.channels.workbook.rows import Row

# Of faults of one kind: stretches of rows and typed values that are named.
_MOST_STRETCHES = 8
_MOST_TYPED = 3
_CHANGED = "this cell was changed; restore it, and write a correction into the matching New… column"


@dataclass
class SheetReading:
    """What a sheet says.

    Attributes:
        decisions: those of rows without a fault.
        faults: every fault.
        is_whole: whether a fault is of the sheet itself, so that no row can be trusted.
        columns: place of each column, from 0.
        said: by question, a hash of what its row says, be it new or not.
        old: questions whose row says nothing new; of `decisions` they have the one that stood.
    """

    decisions: list[GivenDecision] = field(default_factory=list)
    faults: list[RowFault] = field(default_factory=list)
    is_whole: bool = False
    columns: Mapping[str, int] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    old: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _SheetRow:
    """A row: its number, its cells by column name, its question, and the part of the card."""

    number: int
    values: Row
    question_uuid: str
    part: int


def parse_sheet(book: Workbook, identity: Identity, work: Mapping[str, WorkItem]) -> SheetReading:
    """The decisions of the sheet's good rows, and every fault found, each with its place."""
    saved_at = book.properties.modified
    return _SheetParser(book[layout.SHEET], identity, work, saved_at.isoformat() if saved_at else "").parse()


class _SheetParser:
    def __init__(
        self, sheet: Worksheet, identity: Identity, work: Mapping[str, WorkItem], saved_at: str
    ) -> None:
        self.sheet = sheet
        self.saved_at = saved_at
        self.identity = identity
        self.work = work
        self.language: Language = identity.language
        self.columns = {column.name: column for column in layout.list_columns(identity.language)}
        self.listed = {one.question_uuid: one for one in identity.questions}
        self.reading = SheetReading()
        self.positions: dict[str, int] = {}

    def parse(self) -> SheetReading:
        for merged in self.sheet.merged_cells.ranges:
            where = self._say(f"cells {merged.coord}", f"单元格 {merged.coord}")
            said = self._say(
                "they are merged; unmerge them, one row per question", "被合并；请取消合并，每题一行"
            )
            self._add_whole(where, said)
        if not self._find_columns():
            return self.reading
        self.reading.columns = self.positions
        first: dict[str, _SheetRow] = {}
        parts: dict[str, dict[int, _SheetRow]] = {}
        for row in self._list_rows():
            name = row.question_uuid
            if name not in self.listed:
                message = "this question is not one of the workbook's; the ID was changed or a row was added"
                self._add(row, Fault("question_uuid", message), is_whole=True)
            elif row.part in parts.get(name, {}):
                above = parts[name][row.part].number
                message = f"the same question stands in row {above}; keep one of the rows"
                self._add(row, Fault("question_uuid", message), is_whole=True)
            else:
                parts.setdefault(name, {})[row.part] = row
                if row.part == 1:
                    first[name] = row
        for name, listed in self.listed.items():
            if name in first:
                self._parse_question(listed, first[name], parts[name])
        for name in sorted(self.listed.keys() & self.work.keys() - first.keys()):
            self._add_missing(name)
        self.reading.faults.sort(key=lambda fault: (fault.row is None, fault.row or 0))
        return self.reading

    def _parse_question(
        self, listed: WorkbookQuestion, first: _SheetRow, parts: Mapping[int, _SheetRow]
    ) -> None:
        one = self.work.get(listed.question_uuid)
        if one is None:
            if any(squeeze(first.values[name].value) for name in INPUT_NAMES):
                self._add(first, Fault("decision", NOT_GIVEN))
            return
        faults = [(first, fault) for fault in self._check_shown(listed, one.item, first, parts)]
        for row in parts.values():
            message = f"this row continues the question above; decide in its first row (row {first.number})"
            if row.part > 1:
                filled = [name for name in INPUT_NAMES if squeeze(row.values[name].value)]
                faults += [(row, Fault(name, message)) for name in filled]
        given, found = parse_row(first.values, one.item)
        faults += [(first, fault) for fault in found]
        for row, fault in faults:
            self._add(row, fault)
        if given is None or faults:
            return
        # What stands there as it was written says nothing new: a decision given since, elsewhere, is not undone.
        said = self.reading.said[listed.question_uuid] = compute_given_digest(given)
        if one.own is not None and (said == listed.given or one.was_decided_after(self.saved_at)):
            given = one.own.given
            self.reading.old.add(listed.question_uuid)
        self.reading.decisions.append(given)

    def _check_shown(
        self, listed: WorkbookQuestion, item: Item, first: _SheetRow, parts: Mapping[int, _SheetRow]
    ) -> list[Fault]:
        """Nobody changed the question itself: a correction there would be lost."""
        texts = [str(row.values["card"].value or "") for _, row in sorted(parts.items())]
        shown = compute_shown_digest(texts)
        if shown != listed.shown:
            others = [one for one in self.identity.questions if one.shown == shown]
            if others:
                self.reading.is_whole = True
                said = "this row shows the question of another row: the rows were sorted without all of their columns"
                return [Fault("card", said)]
            return [Fault("card", _CHANGED)]
        if squeeze(first.values["revision"].value) != str(item.revision):
            return [Fault("revision", _CHANGED)]
        return []

    def _list_rows(self) -> Iterator[_SheetRow]:
        # Those that the file has: to go through a sheet makes every cell of it, up to the last of a million rows.
        for number in sorted({row for row, _ in self.sheet._cells if row >= layout.FIRST_ROW}):
            values = {name: self.sheet.cell(number, place + 1) for name, place in self.positions.items()}
            if not any(squeeze(cell.value) for cell in values.values()):
                continue
            part = values["part"].value
            yield _SheetRow(
                number,
                values,
                str(values["question_uuid"].value or "").strip(),
                int(part) if isinstance(part, int | float) else 0,
            )

    def _find_columns(self) -> bool:
        """Find each column by its header, wherever it is; missing, doubled or added is a fault."""
        by_header = {column.header: column.name for column in self.columns.values()}
        is_good = True
        for place, cell in enumerate(next(self.sheet.iter_rows(min_row=1, max_row=1), ())):
            if cell.value is None:
                continue
            name = by_header.get(str(cell.value).strip())
            letter = layout.name_column(place + 1)
            where = self._say(f"row 1, column {letter}", f"第 1 行 {letter} 列")
            if name is None:
                said = "this column is not one of the workbook's; move its text into COMMENT"
                self._add_whole(where, self._say(said, "此列不属于本工作簿；请把内容移到“备注”"))
                is_good = False
            elif name in self.positions:
                self._add_whole(
                    where, self._say(f"the column {cell.value} is there twice", f"“{cell.value}”列有两个")
                )
                is_good = False
            else:
                self.positions[name] = place
        for column in self.columns.values():
            if column.name not in self.positions:
                said = f"the column {column.header!r} is missing; restore it, or export again"
                self._add_whole(
                    self._say("row 1", "第 1 行"),
                    self._say(said, f"缺少“{column.header}”列；请恢复，或重新导出"),
                )
                is_good = False
        return is_good

    def _add(self, row: _SheetRow, fault: Fault, *, is_whole: bool = False) -> None:
        """Add a fault of a cell, with what was typed where the cell is a choice."""
        typed = str(row.values[fault.field].value or "").strip()
        is_shown = fault.field in CHOICES and len(typed) <= MOST_REPEATED and not typed.startswith("=")
        self.reading.faults.append(
            RowFault(
                row.number,
                layout.name_column(self.positions[fault.field] + 1),
                self.columns[fault.field].header,
                translate(fault.message, self.language),
                typed if is_shown else "",
                row.question_uuid if row.question_uuid in self.listed else None,
                {
                    name: text
                    for name in INPUT_NAMES
                    if name in row.values and (text := str(row.values[name].value or "").strip())
                },
            )
        )
        self.reading.is_whole |= is_whole

    def _add_missing(self, name: str) -> None:
        said = self._say(
            f"the row of question {name} is missing; restore it, or export the workbook again",
            f"缺少题目 {name} 的行；请恢复，或重新导出",
        )
        self.reading.faults.append(RowFault(None, None, "", said, question_uuid=name))

    def _add_whole(self, where: str, said: str) -> None:
        message = self._say(f"{where}: {said}", f"{where}：{said}")
        self.reading.faults.append(RowFault(None, None, "", message))
        self.reading.is_whole = True

    def _say(self, en: str, zh: str) -> str:
        return zh if self.language == "zh" else en


def render_faults(faults: Sequence[RowFault], most: int, language: Language) -> str:
    """What is wrong, one line for each kind of fault in a column; at most so many lines."""
    kinds: dict[object, list[RowFault]] = {}
    for fault in faults:
        kinds.setdefault((fault.column, fault.message), []).append(fault)
    lines = [f"- {_render_kind(kind, language)}" for kind in list(kinds.values())[:most]]
    if len(kinds) > most:
        more = sum(map(len, list(kinds.values())[most:]))
        lines.append(f"- 另有 {more} 处" if language == "zh" else f"- and {more} more")
    return "\n".join(lines)


def render_message(fault: RowFault, language: Language) -> str:
    """What is wrong with one cell, with what was typed."""
    return fault.message + _render_typed([fault], language)


def _render_kind(kind: Sequence[RowFault], language: Language) -> str:
    """Faults of one kind: where they are, and what is wrong."""
    first, is_zh = kind[0], language == "zh"
    head = f"工作表“{layout.SHEET}”" if is_zh else f"sheet {layout.SHEET!r}, "
    tail = first.message + _render_typed(kind, language)
    if first.row is None:
        return (head if is_zh else head.replace(", ", ": ")) + ("：" if is_zh else "") + tail
    rows = [fault.row for fault in kind if fault.row is not None]
    column = f"{first.column} 列（{first.header}）" if is_zh else f"column {first.column} ({first.header})"
    if len(rows) == 1:
        where = f"第 {rows[0]} 行 {column}：" if is_zh else f"row {rows[0]}, {column}: "
    else:
        listed = _list_stretches(rows, language)
        where = (
            f"{column}，{len(rows)} 行（{listed}）：" if is_zh else f"{column}, {len(rows)} rows ({listed}): "
        )
    return head + where + tail


def _render_typed(kind: Sequence[RowFault], language: Language) -> str:
    """What was typed there, a few of many."""
    typed = list(dict.fromkeys(fault.typed for fault in kind if fault.typed))
    if not typed:
        return ""
    more = "…" if len(typed) > _MOST_TYPED else ""
    listed = ("、" if language == "zh" else ", ").join(f"“{text}”" for text in typed[:_MOST_TYPED]) + more
    return f"（填写的是{listed}）" if language == "zh" else f" (there is {listed})"


def _list_stretches(rows: Sequence[int], language: Language) -> str:
    """Numbers of rows, those that follow one another as a stretch."""
    stretches: list[list[int]] = []
    for row in sorted(set(rows)):
        if stretches and row == stretches[-1][1] + 1:
            stretches[-1][1] = row
        else:
            stretches.append([row, row])
    named = [f"{low}" if low == high else f"{low}–{high}" for low, high in stretches[:_MOST_STRETCHES]]
    left = sum(high - low + 1 for low, high in stretches[_MOST_STRETCHES:])
    if left:
        named.append(f"另 {left} 行" if language == "zh" else f"and {left} more")
    return ("、" if language == "zh" else ", ").join(named)
