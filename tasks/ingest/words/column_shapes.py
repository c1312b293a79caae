"""What the columns of a table hold, whatever they are called.

The key is the column whose cells are labels of the options beside it; what asks has blanks or question marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas import patterns as re
from tasks.ingest.words.columns import Header, find_role, is_a_students
from tasks.ingest.words.lexicon import match_exactly
from tasks.ingest.words.signs import ends_asking
from tasks.ingest.words.word_lists import WORDS

_SAMPLE = 200
_MIN_ASKING = 6  # letters that a column of stems has in the mean
_PASSAGE = 30  # letters of a text that questions are about; names of chapters have fewer
_KEY = re.compile(
    r"[（(\[]?\s*(?:[A-Ha-h]{1,8}|[A-H](?:[,，、;；\s]+[A-H])+|对|错|√|×|正确|错误|T|F|true|false)\s*[)）\]]?",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\A\s*+(?:[（(]?A\s*+[)）.．、:：;；][\s\S]*[^A-Za-z0-9][（(]?B\s*+[)）.．、:：;；]|[\[{][^,:]*+[,:][\s\S]*[\]}]\s*+$)"
)


@dataclass(frozen=True)
class _Column:
    """The filled cells of a column, and what share of them is what."""

    place: int
    cells: list[str]
    length: float

    def share(self, holds: Callable[[str], object]) -> float:
        return sum(1 for cell in self.cells if holds(cell)) / max(len(self.cells), 1)


def complete_header(header: Header, rows: Sequence[Sequence[str]]) -> Header | None:
    """Give the columns that no name explains the roles that their cells show.

    None where no column asks anything. A column that is named for the answer of a student is no key.
    """
    columns = _read_columns(rows)
    _take_offers(header, columns)
    _take_flags(header, columns, rows)
    taken = {*header.columns.values(), *header.options.values()}
    free = [column for column in columns if column.place not in taken]
    if "type" not in header.columns:
        types = [column for column in free if column.share(_is_type) >= 0.8 and len(column.cells) >= 2]
        if types:
            header.columns["type"] = types[0].place
            free.remove(types[0])
    if "answer" not in header.columns:
        keys = [
            column
            for column in free
            if column.share(_KEY.fullmatch) > 0.8
            and not is_a_students(header.names[column.place] if column.place < len(header.names) else "")
        ]
        if keys:
            header.columns["answer"] = keys[-1].place
            free.remove(keys[-1])
    if "stem" not in header.columns and not _take_stem(header, free):
        return None
    if "answer" not in header.columns:
        _take_naming(header, rows, free)
    taken = {*header.columns.values(), *header.options.values()}
    free = [column for column in free if column.place not in taken]
    if not header.names:
        _share_rest(header, free)
    return header


def guess_columns(rows: Sequence[Sequence[str]]) -> Header | None:
    """Find the columns of a sheet without a header by what they hold.

    None where neither a key nor questions are found. The columns between what asks and its key are the options.
    """
    filled = [row for row in rows if sum(1 for cell in row if cell.strip()) >= 2]
    header = complete_header(Header(-1, {}), filled) if len(filled) > 1 else None
    if header is None or filled[0] is not rows[0] or not _is_names(filled[0], header):
        return header
    if len(filled) <= _LEAST_ASKING:
        return None  # one or two rows below names that nobody knows
    header.row, header.names = 0, [cell.strip() for cell in rows[0]]
    if "answer" in header.columns and is_a_students(header.names[header.columns["answer"]]):
        del header.columns["answer"]
    return header


_LEAST_ASKING = 3


def _is_names(row: Sequence[str], header: Header) -> bool:
    """Whether the first row names its columns: it asks nothing, and its key is none."""
    stem, key = header.columns["stem"], header.columns.get("answer")
    is_keyed = key is not None and key < len(row) and _KEY.fullmatch(row[key].strip()) is not None
    return len(row[stem].strip()) <= 12 and not _asks(row[stem].strip()) and not is_keyed


def _read_columns(rows: Sequence[Sequence[str]]) -> list[_Column]:
    width = max((len(row) for row in rows), default=0)
    columns: list[_Column] = []
    for place in range(width):
        cells = [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
        columns.append(_Column(place, cells[:_SAMPLE], sum(map(len, cells)) / max(len(rows), 1)))
    return columns


def _take_offers(header: Header, columns: Sequence[_Column]) -> None:
    """Read a column of packed options as such, though it be called the answer or nothing."""
    if header.options or "options" in header.columns:
        return
    named = {place: role for role, place in header.columns.items()}
    for column in columns:
        if named.get(column.place) in (None, "answer") and column.share(_OFFER.match) >= 0.7:
            header.columns = {role: place for role, place in header.columns.items() if place != column.place}
            header.columns["options"] = column.place
            return


def is_ticked(cell: str) -> bool:
    """Whether a cell says that what stands beside it is right."""
    return cell.strip().casefold() in WORDS["cell_ticks"]


def is_flag(cell: str) -> bool:
    """Whether a cell says nothing but that what stands beside it is right, or is wrong."""
    return is_ticked(cell) or cell.casefold() in WORDS["cell_crosses"]


def _take_flags(header: Header, columns: Sequence[_Column], rows: Sequence[Sequence[str]]) -> None:
    """Find what says of an option that it is right, behind each or in the row of each."""
    flags = {column.place for column in columns if column.cells and column.share(is_flag) == 1}
    offered = header.options or {chr(ord("A") + at): place for at, place in enumerate(header.blanks[:8])}
    behind = {label: place + 1 for label, place in offered.items()}
    free = {column.place for column in columns if column.place in flags or not column.cells}
    free -= {*offered.values(), *(place for role, place in header.columns.items() if role != "answer")}
    told = flags & {*behind.values()}
    if len(behind) > 1 and free.issuperset(behind.values()) and len(told) * 2 > len(behind):
        header.options, header.flags, header.blanks = offered, behind, []
        header.columns.pop("answer", None)
    if header.options or not header.names:
        return
    stem, texts = header.columns.get("stem"), header.columns.get("options", header.columns.get("answer"))
    roles = {place: find_role(header.names[place]) for place in header.unmapped}
    flag = header.columns.get("flag", next((at for at in flags if roles.get(at) == "answer"), None))
    if stem is not None and texts is not None and texts != flag and flag in flags:
        asked = [row[stem].strip() for row in rows if max(stem, texts) < len(row) and row[texts].strip()]
        if 2 * len({*filter(None, asked)}) <= len(asked):  # one option to a row
            header.columns = {role: at for role, at in header.columns.items() if role != "answer"}
            header.columns |= {"options": texts, "flag": flag}
    others = [place for place, role in roles.items() if role == "options"]
    named = next((column for column in columns if column.place == header.columns.get("options")), None)
    if others and named is not None and named.share(_LETTER.fullmatch) == 1:
        header.columns["options"] = others[0]  # beside a column of the letters


_LETTER = re.compile(r"[（(]?[A-Ja-j][)）.．、]?")


def _is_type(cell: str) -> bool:
    return len(cell) <= 12 and match_exactly(cell.strip("[]【】()（） ")) is not None


def _take_stem(header: Header, free: Sequence[_Column]) -> bool:
    """Find the column that asks; beside a key or options the longest text before them will do."""
    key = header.columns.get("answer")
    texts = [column for column in free if column.length >= _MIN_ASKING and column.share(str.isdigit) < 0.5]
    asking = [column for column in texts if column.share(_asks) >= 0.5 and len(column.cells) >= 2]
    is_offered = len(header.options) > 1 or "options" in header.columns
    if key is not None or is_offered:
        before = [column for column in texts if key is None or column.place < key] or texts
        longest = max((column.length for column in before), default=0.0)
        asking = asking or [column for column in before if column.length >= 0.5 * longest]
    distinct = [column for column in asking if len(set(column.cells)) >= 0.5 * len(column.cells)]
    if not distinct:
        return False
    header.columns["stem"] = distinct[0].place
    return True


def _asks(cell: str) -> bool:
    return ends_asking(cell) or cell.rstrip().endswith((":", "："))


_LISTED = re.compile(r"\s*[,，、;；|\n]\s*")
_LABELLED = re.compile(r"(?:^|[\s;；|])[（(]?[A-J]\s*[.．、:：)）]\s*")
_LEAST_NAMING = 0.8


def _take_naming(header: Header, rows: Sequence[Sequence[str]], free: Sequence[_Column]) -> None:
    """Find the key: a column whose cells name options of their rows, by text or number."""
    packed = header.columns.get("options")
    taken = {*header.columns.values()}
    for column in reversed(free):
        if column.place in taken:
            continue
        before = [one.place for one in free if header.columns["stem"] < one.place < column.place]
        offering = list(header.options.values()) or [place for place in before if place not in taken]
        named: list[str] = []
        asked = 0
        for row in rows:
            cells = [row[place].strip() for place in offering if place < len(row) and row[place].strip()]
            offered = _LABELLED.split(row[packed])[1:] if packed is not None and packed < len(row) else cells
            texts = [text.strip(" \n;；|") for text in offered]
            key = row[column.place].strip() if column.place < len(row) else ""
            if key and len(texts) > 1:
                asked += 1
                named += [key] if _names(key, texts) else []
        if len(named) >= max(_LEAST_ASKING, _LEAST_NAMING * asked) and len(set(named)) > 1:
            header.columns["answer"] = column.place
            return


def _names(key: str, texts: Sequence[str]) -> bool:
    """Whether a cell is one or some of these texts, or their numbers."""
    return all(
        part in texts or (part.isdecimal() and 0 < int(part) <= len(texts)) for part in _LISTED.split(key)
    )


def _share_rest(header: Header, free: Sequence[_Column]) -> None:
    """Share out the columns without names: numbers, options, key, explanations."""
    stem, key = header.columns["stem"], header.columns.get("answer")
    if free and free[0].place == 0 < stem and all(cell.isdigit() for cell in free[0].cells):
        header.columns["number"] = 0
        free = free[1:]
    passages = [
        column
        for column in free
        if column.place < stem and column.share(lambda cell: len(cell) >= _PASSAGE) >= 0.5
    ]
    if passages:
        header.columns["material"] = passages[-1].place
    after = [column for column in free if column.place > stem and column.length > 0]
    if key is None:
        if len(after) == 1 and "options" not in header.columns:
            header.columns["answer"] = after[0].place
        elif len(after) > 2:
            header.options = {chr(ord("A") + place): one.place for place, one in enumerate(after[:8])}
        return
    between = [column for column in after if column.place < key]
    beyond = [column for column in after if column.place > key and column.length > _MIN_ASKING]
    offered = between or ([] if "options" in header.columns else after)
    if between and beyond:
        header.columns["explanation"] = max(beyond, key=lambda column: column.length).place
    if len(offered) > 1 and "options" not in header.columns:
        header.options = {chr(ord("A") + place): column.place for place, column in enumerate(offered[:8])}
