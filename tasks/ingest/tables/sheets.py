"""Questions from the rows of sheets and from records, by the roles of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from schemas import patterns as re
from tasks.ingest.content.choices import make_true_false
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.format_answers import STANDS_BACK, STANDS_OUT
from tasks.ingest.content.named_pictures import SPEAKS_OF_FIGURE
from tasks.ingest.content.shown_keys import take_choices, take_shown_keys
from tasks.ingest.layout.option_marks import write_letters
from tasks.ingest.layout.pieces import IndexedLines
from tasks.ingest.readers.extraction import FORMULA, PICTURE_MARK, Marked, Sheet, is_picture
from tasks.ingest.tables.packed_options import as_piece, offer_with, split_packed_options
from tasks.ingest.tables.record_questions import read_record
from tasks.ingest.tables.sheet_keys import answer_by
from tasks.ingest.tables.sheet_tables import divide_sheet, read_title
from tasks.ingest.tables.tidying import tidy_columns
from tasks.ingest.words.cleaning import detect_language
from tasks.ingest.words.column_shapes import is_ticked
from tasks.ingest.words.columns import Header, fold_header
from tasks.ingest.words.kinds import are_truth_options
from tasks.ingest.words.lexicon import FineType, find_type_in_title, match_exactly

_SCHEMA_CELL = re.compile(
    r"^(?:int|integer|string|str|float|double|bool|boolean|text|long|date|datetime|json|varchar(?:\(\d+\))?|(?:int|string|float)\[\]|\{.*\}(?:\[\])?|"
    r"server|client|server/client|client/server|required|optional|必填|选填|非必填|可选|id|key|name|desc|question|option|image\w*|answer|relation|tag|\w*Option)$"
)
_NOTE = re.compile(
    r"\s*(?:注|说明|备注|合计|共计|共|总计|以上|note|total|end)\b|\s*(?:注|说明|备注|合计)", re.IGNORECASE
)
_SUM = re.compile(
    r"\s*[\u4e00-\u9fff]{0,4}(?:合\s*计|总\s*计|小\s*计|共\s*计|(?i:(?:sub)?total))\s*[:：]?\s*"
)

_WORDED = re.compile(r"[^\W\d_]{4}")  # what a term means


@dataclass
class SheetSplit:
    """The questions of all sheets, the raw text, and warnings.

    The raw text has one line per row; it is also given where in it each sheet begins.
    """

    drafts: list[Draft]
    text: str
    warnings: list[str] = field(default_factory=list)
    language: str | None = None
    pages: list[int] = field(default_factory=list)


def split_sheets(sheets: Sequence[Sheet], columns: Mapping[str, Sequence[str]] | None = None) -> SheetSplit:
    """Read the questions of every sheet that maps to question columns.

    The headers of those that do not are reported. `columns` adds header names by role (from a mapping file). A sheet
    that holds only numbers and answers answers the questions of the other sheets.
    """
    parts: list[str] = []
    offset = 0
    result = SheetSplit([], "")
    unread: list[Sheet] = []
    language = detect_language("\n".join("\n".join(row) for sheet in sheets for row in sheet.rows[:300]))
    for number, sheet in enumerate(sheets):
        title = f"[{sheet.name}]" if sheet.name else ""
        spans: list[tuple[int, int]] = []
        result.pages.append(offset)
        if title:
            parts.append(title)
            offset += len(title) + 1
        for row in sheet.rows:
            line = "\t".join(
                cell.replace("\t", " ").replace("\r", "").replace("\n", "⏎") for cell in row
            ).rstrip()
            spans.append((offset, offset + len(line)))
            parts.append(line)
            offset += len(line) + 1
        if not any(cell.strip() for row in sheet.rows for cell in row):
            continue
        for table in divide_sheet(sheet, columns):
            if table.header is None:
                unread.append(table.sheet)
                continue
            whole = [(spans[0][0], spans[-1][1])] * len(table.sheet.rows)
            drafts, warnings = read_rows(
                table.sheet, table.header, whole if table.is_turned else spans, number, language, table.fine
            )
            result.drafts.extend(drafts)
            result.warnings.extend(warnings)
            if sheet.is_hidden and drafts:
                result.warnings.append(
                    f"Sheet {sheet.name!r} is hidden; its {len(drafts)} questions were read."
                )
    for other in unread:
        held, matched = answer_by(other, result.drafts, columns, language)
        if matched < held:
            result.warnings.append(
                f"Sheet {other.name!r} holds {held} answers; {matched} were matched to questions by number."
            )
        elif not held:
            result.warnings.append(_describe_unknown(other))
    result.text = "\n".join(parts)
    result.language = language
    return result


def _read_sheet_type(name: str) -> FineType | None:
    """The type that a sheet's name is, or ends with; `C#编程开发` is a subject."""
    folded = re.sub(r"[\d_|（()）\s-]+", " ", name).strip()
    fine = match_exactly(folded)
    if fine is not None or not re.search(r"题(?:型|库)?$|(?i:questions?|choice|false)$", folded):
        return fine
    return find_type_in_title(folded)


def _describe_unknown(sheet: Sheet) -> str:
    rows = [[cell.strip() for cell in row if cell.strip()] for row in sheet.rows[:30]]
    widest = max(rows, key=len, default=[])
    names = ", ".join(repr(cell[:20]) for cell in widest[:12])
    return (
        f"Sheet {sheet.name!r} maps to no question column and was not read; its headers are {names}. "
        "Name them in a mapping file if it holds questions."
    )


@dataclass
class _Row:
    """One question's cells: those of a row and of the rows that continue it."""

    record: dict[str, str]
    options: dict[str, str]
    fine: FineType | None
    label: str
    start: int
    end: int
    index: int = 0


def read_rows(
    sheet: Sheet,
    header: Header,
    spans: Sequence[tuple[int, int]],
    number: int,
    language: str | None,
    default: FineType | None = None,
) -> tuple[list[Draft], list[str]]:
    """Return the questions of the rows below a header, and sentences on rows that were left out.

    `spans` are the first and last offsets of the rows in the raw text, `default` is the type where no cell
    names one.
    """
    warnings: list[str] = []
    name = f"Sheet {sheet.name!r}" if sheet.name else "A table"
    printed = sheet.rows
    sheet = replace(sheet, rows=tidy_columns(sheet.rows, header))
    rows, empty, schema_rows = _collect_rows(sheet, header, spans, default)
    _write_letters(rows)
    drafts: list[Draft] = []
    for row in rows:
        _take_flags(row.record)
        draft = read_record(row.record, list(row.options.items()), row.fine, language)
        _check_filler(draft, row.record)
        draft.section = number
        draft.value = read_integer(row.record.get("number", ""))
        draft.number_label = row.label
        draft.start, draft.end = row.start, row.end
        drafts.append(draft)
    settle_number_keys(drafts)
    take_shown_keys(drafts)
    for marked in sheet.marked.values():
        chosen = [
            _choose_marked(draft, row.index, printed[row.index], header, marked)
            for draft, row in zip(drafts, rows, strict=True)
        ]
        if take_choices(drafts, chosen):
            break
    if empty:
        warnings.append(f"{name}: {empty} numbered rows have no question text and were left out.")
    if schema_rows:
        warnings.append(f"{name}: {schema_rows} further header rows below the header were left out.")
    return drafts, warnings


def _write_letters(rows: Sequence[_Row]) -> None:
    """Write small letters of options in cells, `a) north  b) south`, as lines have them."""
    stems = [(row, row.record.get("stem", "").split("\n")) for row in rows if not any(row.options.values())]
    lines = [as_piece(line) for _, stem in stems for line in stem]
    pairs = zip(lines, write_letters(IndexedLines(lines)).pieces, strict=True)
    for row, stem in stems:
        own = [next(pairs) for _ in stem]
        if any(before is not after for before, after in own):
            row.record["stem"] = "\n".join(after.text for _, after in own)


def _choose_marked(
    draft: Draft, index: int, row: Sequence[str], header: Header, marked: Marked
) -> list[str] | None:
    """The options of a question whose texts stand out; None where one does in part."""
    chosen: list[str] = []
    for label, text in draft.options:
        column = header.options.get(label, header.columns.get("options", -1))
        cell = row[column] if 0 <= column < len(row) else ""
        text = text if text in cell or label not in header.options else cell  # a cell of its own
        place = cell.find(text)
        inside = [
            min(last, place + len(text)) - max(first, place)
            for first, last in marked.get((index, column), ())
        ]
        share = sum(length for length in inside if length > 0) / max(len(text), 1)
        if place >= 0 and share >= STANDS_OUT:
            chosen.append(label)
        elif share > STANDS_BACK:
            return None
    return chosen


def _collect_rows(
    sheet: Sheet, header: Header, spans: Sequence[tuple[int, int]], default: FineType | None
) -> tuple[list[_Row], int, int]:
    found: list[_Row] = []
    by_label: dict[str, _Row] = {}
    passages: set[int] = set()  # the rows that others ask about
    fine = default
    if fine is None and sheet.name:
        fine = _read_sheet_type(sheet.name)
    empty = schema_rows = 0
    names = [fold_header(name) for name in header.names]
    known = {*header.columns.values(), *header.options.values(), *header.blanks}
    beside = _find_beside_options(header, known)
    for index in range(header.row + 1, len(sheet.rows)):
        row = sheet.rows[index]
        filled = [cell for cell in row if cell.strip()]
        if not filled:
            continue
        if index <= header.row + 4 and not found and (_is_schema_row(row) or _explains(row, names)):
            schema_rows += 1
            continue
        if names and [fold_header(cell) for cell in row][: len(names)] == names:
            continue  # the header printed again
        if len(filled) == 1 and (title := read_title(filled[0])) is not None:
            fine = title
            continue
        record = {role: _cell(row, column) for role, column in header.columns.items()}
        options = {
            label: FORMULA if (index, column) in sheet.unsaved else _cell(row, column)
            for label, column in header.options.items()
        }
        for column, cell in enumerate(row):
            if column not in known and is_picture(cell) and record.get("stem", "").strip():
                label = beside.get(column)
                if label is not None:
                    options[label] = f"{options[label]} {cell}".strip()
                    continue
                role = _find_shown_role(header, column, record)
                record[role] = f"{record.get(role, '')}\n{cell}".strip()
        if len(header.blanks) > 1:
            record["answer"] = "；".join(
                text for text in (_cell(row, column) for column in header.blanks) if text.strip()
            )
        if header.flags:
            record["answer"] = "".join(
                label for label, column in header.flags.items() if is_ticked(_cell(row, column))
            )
        wrong = [text for column in header.wrong if (text := _cell(row, column).strip())]
        answer = record.get("answer", "").strip()
        if len(header.wrong) == 1 and wrong:  # all of them in one cell
            wrong = [text for _, text in split_packed_options(wrong[0], None)] or wrong
            answer = "" if re.search("[;；]", answer) else answer
        # one wrong answer is what somebody gave, but of a judgement
        is_offered = len(wrong) > 1 or are_truth_options([answer, *wrong])
        if is_offered and answer and not any(options.values()):
            options = dict(offer_with(answer, wrong))
        if record.get("sub_stem", "").strip():
            material = record.get("stem", "").strip() or (
                found[-1].record.get("material", "") if found else ""
            )
            record |= {"material": material, "stem": record["sub_stem"]}
            record["type"] = record.get("sub_type", "").strip() or record.get("type", "")
        if is_ticked(record.get("flag", "")):
            record["right"] = record.get("options", "").strip()
        is_sum = _SUM.fullmatch(record.get("number", "") or record.get("stem", "")) is not None
        if is_sum and _WORDED.search(answer) is None:
            continue  # `合计 | 20题` below the questions
        first, last = spans[index]
        if found and _goes_on(found[-1], record, options):
            _append_row(found[-1], record, options)
            found[-1].end = last
            continue
        if not record.get("stem", "").strip():
            is_numbered = re.search(r"\d", record.get("number", "")) is not None
            if is_numbered or any(record.get(role, "").strip() for role in ("answer", "options", "type")):
                empty += 1
            continue
        above = by_label.get(record.get("parent", "").strip())
        # not where the numbers are those of chapters: a passage has less than what asks about it
        if above is not None and _is_told(record, options) and not _is_told(above.record, above.options):
            record["material"] = above.record["stem"]
            passages.add(above.index)
        label = record.get("number", "").strip() or str(index + sheet.first_row)
        found.append(_Row(record, options, fine, label, first, last, index))
        by_label[label] = found[-1]
    return [row for row in found if row.index not in passages], empty, schema_rows


def _is_told(record: Mapping[str, str], options: Mapping[str, str]) -> bool:
    return any(options.values()) or any(record.get(role, "").strip() for role in ("answer", "options"))


# `答案图`, `Solution image`: a column of what no candidate sees
_TELLS = re.compile(r"答案|解析|解答|详解|点评|(?i:answer|solution|explanation|feedback)")


# `A picture`, `选项A图片`: a column of what an option shows
_SHOWN = re.compile(r"(?:图|(?i:picture|image|photo|img|figure))")


def _find_beside_options(header: Header, known: AbstractSet[int]) -> dict[int, str]:
    """The options that have a column of pictures right of them, by these columns."""
    found = {
        column + 1: label
        for label, column in header.options.items()
        if column + 1 not in known
        and column + 1 < len(header.names)
        and _SHOWN.search(name := header.names[column + 1])
        and not _TELLS.search(name)
    }
    return found if len(found) > 1 and len(found) == len(header.options) else {}


def _find_shown_role(header: Header, column: int, record: Mapping[str, str]) -> str:
    """Whether a picture of a column of no known name is of the stem or of the explanation.

    Right of all columns it is of the explanation where the question has one and speaks of no figure.
    """
    name = header.names[column] if column < len(header.names) else ""
    is_right = not name and column > max(header.columns.values())
    explains = bool(record.get("explanation", "").strip()) and not SPEAKS_OF_FIGURE.search(record["stem"])
    return "explanation" if _TELLS.search(name) or (is_right and explains) else "stem"


def _take_flags(record: dict[str, str]) -> None:
    """Make the key of the options that are flagged as right, where they stand one to a row."""
    right = [text.strip() for text in record.pop("right", "").split("\n") if text.strip()]
    offered = [text.strip() for text in record.get("options", "").split("\n")]
    if right and not record.get("answer", "").strip() and len(offered) < 11:
        record["answer"] = "".join("ABCDEFGHIJ"[place] for place, text in enumerate(offered) if text in right)


def _goes_on(before: _Row, record: Mapping[str, str], options: Mapping[str, str]) -> bool:
    """Whether a row has neither number nor stem, or repeats those before it."""
    stem, number = record.get("stem", "").strip(), record.get("number", "").strip()
    offered = record.get("options", "").strip()
    if not stem and not number:
        is_taken = any(
            text.strip() and before.options.get(label, "").strip() for label, text in options.items()
        )
        if is_taken or (record.get("answer", "").strip() and before.record.get("answer", "").strip()):
            return False  # a question whose text is missing (a picture), not the rest of the one before
        return bool(offered or any(text.strip() for text in options.values()))
    is_bare = not any(text.strip() for role, text in record.items() if role != "stem")
    if is_bare and not any(text.strip() for text in options.values()):
        if re.match(r"[（(]?[A-J]\s*[)）.．、:：]", stem):
            return not any(text.strip() for text in before.options.values())
        runs_on = not re.search(r"[。？?！!）)_.；;:：]\s*$", before.record["stem"])
        return runs_on and bool(before.record.get("number", "").strip()) and not _NOTE.match(stem)
    if _leave_pictures(stem) != _leave_pictures(before.record.get("stem", "")) or (
        number != before.record.get("number", "").strip() and "flag" not in record
    ):
        return False
    # one option to a row: the cells beside it are merged
    return bool(offered) and offered != before.record.get("options", "").strip().split("\n")[-1]


def _append_row(before: _Row, record: Mapping[str, str], options: Mapping[str, str]) -> None:
    stem = record.get("stem", "").strip()
    if re.match(r"[（(]?[A-J]\s*[)）.．、:：]", stem):
        record = {**record, "stem": "", "options": stem}
    for role, text in record.items():
        known = before.record.get(role, "")
        is_known = _leave_pictures(text) == _leave_pictures(known)
        if is_known and known.strip():
            text = "\n".join(mark[0] for mark in PICTURE_MARK.finditer(text) if mark[0] not in known)
        if text.strip() and text.strip() not in known.split("\n"):
            before.record[role] = f"{known}\n{text}" if known.strip() else text
    for label, text in options.items():
        known = before.options.get(label, "")
        if text.strip() and text.strip() != known.strip():
            before.options[label] = f"{known}\n{text}" if known.strip() else text


def _leave_pictures(text: str) -> str:
    return PICTURE_MARK.sub("", text).strip()


def settle_number_keys(drafts: Sequence[Draft], first: int = 1) -> None:
    """Read keys that are numbers, `2` for B, where nearly all keys are numbers.

    They count from 0 or from 1, whichever fits all of them; from `first` where both do.
    """
    keyed = [draft for draft in drafts if draft.options and (draft.answer or draft.number_keys)]
    numbered = [draft for draft in keyed if draft.number_keys]
    if len(numbered) >= 0.8 * len(keyed) and not all(draft.answer for draft in numbered):
        fitting = [
            count
            for count in (first, 1 - first)
            if all(
                count <= key < count + len(draft.options) for draft in numbered for key in draft.number_keys
            )
        ]
        fallback = 0 if any(0 in draft.number_keys for draft in numbered) else 1
        _count_keys(numbered, fitting[0] if fitting else fallback, len(fitting) == 1 or first == 0)
    elif len(numbered) < 0.8 * len(keyed):
        for draft in numbered:  # among keys that are texts: `2, 4` of the options 1, 2, 3, 4
            named = [label for label, text in draft.options if text in map(str, draft.number_keys)]
            if not draft.answer and len(named) == len(draft.number_keys):
                draft.answer = named
                draft.notes = [note for note in draft.notes if note != "key_is_a_number"]
    for draft in drafts:
        if draft.number_keys and are_truth_options([text for _, text in draft.options]):
            make_true_false(draft)


def _count_keys(drafts: Sequence[Draft], first: int, is_sure: bool) -> None:
    for draft in drafts:
        labels = [label for label, _ in draft.options]
        if all(first <= number < first + len(labels) for number in draft.number_keys):
            draft.answer = sorted({labels[number - first] for number in draft.number_keys})
            if is_sure:
                draft.notes = [note for note in draft.notes if note != "key_is_a_number"]


def _cell(row: Sequence[str], column: int) -> str:
    return row[column] if column < len(row) else ""


def read_integer(text: str) -> int | None:
    """The first number in a text, or None."""
    match = re.search(r"\d+", text)
    return int(match.group(0)) if match else None


def _is_schema_row(row: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in row if cell.strip()]
    return len(filled) >= 2 and sum(1 for cell in filled if _SCHEMA_CELL.match(cell)) >= 0.7 * len(filled)


def _explains(row: Sequence[str], names: Sequence[str]) -> bool:
    """Whether most cells of a row repeat the names of their columns: `The correct option (1-5)`."""
    pairs = [(cell.casefold(), name) for cell, name in zip(row, names, strict=False) if cell.strip()]
    held = sum(1 for cell, name in pairs if len(name) > 1 and name in cell and name != cell.strip())
    return len(pairs) > 2 and held * 2 >= len(pairs)


def _check_filler(draft: Draft, record: Mapping[str, str]) -> None:
    """Drop a key that only repeats the chapter cell: an author's filler, no answer."""
    answer, chapter = record.get("answer", "").strip(), record.get("chapter", "").strip()
    if answer and answer == chapter and draft.options:
        draft.answer = []
        draft.notes.append("answer_is_filler")
