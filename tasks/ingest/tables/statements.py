"""Tables of statements with a column to tick for true and one for false, or one for both."""

from __future__ import annotations

from collections.abc import Sequence

from schemas import patterns as re
from tasks.ingest.words.answers import read_truth
from tasks.ingest.words.columns import MIN_STEM, Header
from tasks.ingest.words.grammar import number_word

NUMBER_CELL = re.compile(
    rf"(?:{number_word()}\s*)?(\d{{1,3}})\s*(?P<part>[.．]\d{{1,2}}|[（(]?[a-h][)）]?)?\s*[题題]?\s*[.．、]?"
)
_LEAST_STATEMENTS = 3
_TICK = re.compile(r"[\W_]{0,6}|[XxVv]")
_EMPTY_BOX = re.compile(r"[\s_…()（）\[\]□☐○◯▢❏❑]*")
_OWN_NUMBER = re.compile(r"\s*[（(]?(\d{1,3})\s*[.．、)）\]:](?!\d)\s*")


_EITHER = re.compile(r"\s*(?:[/|,，、]|\b(?:or|ou|oder|of|o|atau|veya|hay|czy|или)\b|或)\s*")


def find_slots(rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """The columns for true and false of a table of statements, with ticks or nothing below.

    They are the same where one column is for both, `V / F`.
    """
    width = len(rows[0])
    if width < 2 or len(rows) <= _LEAST_STATEMENTS or any(len(row) != width for row in rows):
        return None
    for column, cell in enumerate(rows[0]):
        if all(
            _EMPTY_BOX.fullmatch(row[column]) or _judge(row[column], cell) for row in rows[1:]
        ) and _names_both(cell):
            return column, column
    if width < 3:
        return None
    named = [
        read_truth(cell)
        if cell.strip() and all(_TICK.fullmatch(row[column].strip()) for row in rows[1:])
        else None
        for column, cell in enumerate(rows[0])
    ]
    if sorted(filter(None, named)) != ["false", "true"]:
        return None
    return named.index("true"), named.index("false")


def _names_both(name: str) -> bool:
    """Whether a column is for both judgements: `V / F`, `right or wrong`."""
    parts = _EITHER.split(name.strip())
    is_told = sorted(read_truth(part) or "" for part in parts) == ["false", "true"]
    return is_told or (
        len({*parts}) == len(parts) == 2 and all(len(one) == 1 and one.isalpha() for one in parts)
    )


def _judge(cell: str, name: str) -> str:
    """What a cell below such a name says; empty where it says neither."""
    parts = [part.casefold() for part in _EITHER.split(name.strip())]
    own = cell.strip().casefold()
    if len(parts) == 2 and own in parts and read_truth(parts[0]) != "false":
        return ("true", "false")[parts.index(own)]
    return read_truth(cell) or ""


def head_statements(
    rows: Sequence[Sequence[str]], slots: tuple[int, int], header: Header | None
) -> Header | None:
    """Its columns as `judge_statement` gives them; None where it holds more than statements."""
    known = header.columns if header is not None else {}
    if header is not None and (header.options or known.keys() & {"answer", "options", "material"}):
        return None
    others = [column for column in range(len(rows[0])) if column not in slots]
    long = [column for column in others if all(len(row[column].strip()) >= MIN_STEM for row in rows[1:])]
    stem = header.columns["stem"] if header is not None else long[0] if len(long) == 1 else -1
    if stem not in long:
        return None
    width = len(rows[0])
    columns = {**known, "stem": stem, "number": width, "type": width + 1, "answer": width + 2}
    remarks = [
        column
        for column in others
        if column > max(slots) and any(len(row[column].strip()) >= MIN_STEM for row in rows[1:])
    ]
    if len(remarks) == 1 and remarks[0] != stem:
        columns["explanation"] = remarks[0]  # `Correction`
    return Header(0, columns, names=[*rows[0], "", "", ""])


def judge_statement(row: list[str], header: Header, slots: tuple[int, int]) -> list[str]:
    """A row with number, type and judgement in three cells more; a header's are empty."""
    stem = header.columns["stem"]
    if row == header.names[: len(row)]:
        return [*row, "", "", ""]
    own = _OWN_NUMBER.match(row[stem])
    label = (
        own[1]
        if own is not None
        else next((cell for cell in row[:stem] if NUMBER_CELL.fullmatch(cell.strip())), "")
    )
    ticked = [_EMPTY_BOX.fullmatch(row[column]) is None for column in slots]
    if all(ticked):  # a tick beside a cross
        ticked = [read_truth(row[column]) == "true" for column in slots]
    judged = ("true" if ticked[0] else "false") if ticked.count(True) == 1 else ""
    judged = _judge(row[slots[0]], header.names[slots[0]]) if slots[0] == slots[1] else judged
    text = row[stem][own.end() :] if own is not None else row[stem]
    return [*row[:stem], text, *row[stem + 1 :], label.strip().rstrip(".．、"), "true_false", judged]
