"""High brackets of a PDF's formulas, and the matrices and cases that they hold, on one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tasks.ingest.readers.extraction import FORMULA
from tasks.ingest.readers.pdf_characters import AXIS
from tasks.ingest.readers.pdf_pages import Row

# Small print is smaller than most of its page by so much.
SMALL = 0.86
OPENS = ("(", "[", "{", "（", "|")
# Pieces of high brackets, as Adobe's names, Unicode and the Symbol font have them.
_BRACKETS = frozenset("([{|)]}")
_CLOSES_WITH = dict(zip("([{|", ")]}|", strict=True))
_BRACKET_PIECES = {
    chr(code): sign
    for first, last, sign in (
        (0xF8EB, 0xF8ED, "("), (0xF8EE, 0xF8F0, "["), (0xF8F1, 0xF8F4, "{"),
        (0xF8F6, 0xF8F8, ")"), (0xF8F9, 0xF8FB, "]"), (0xF8FC, 0xF8FE, "}"),
        (0x239B, 0x239D, "("), (0x23A1, 0x23A3, "["), (0x23A7, 0x23AA, "{"),
        (0x239E, 0x23A0, ")"), (0x23A4, 0x23A6, "]"), (0x23AB, 0x23AD, "}"),
        (0xF0E6, 0xF0E8, "("), (0xF0E9, 0xF0EB, "["), (0xF0EC, 0xF0EF, "{"),
        (0xF0F6, 0xF0F8, ")"), (0xF0F9, 0xF0FB, "]"), (0xF0FC, 0xF0FE, "}"),
    )
    for code in range(first, last + 1)
} | {sign: sign for sign in _BRACKETS}  # fmt: skip
_MOST_PIECES, _MOST_CASES = 3, 6
# In sizes of the print: how high such a bracket is, and how far behind a brace its lines begin.
_TALL, _FAR = 1.8, 1.5
# More of them on a page are no formulas.
_MOST_TALL = 400


def read_points(row: Row) -> float:
    """How large a row's font says that it is; boxes of characters differ from font to font."""
    return row.points or row.size


def join_pieces(rows: Sequence[Row], body: float) -> list[Row]:
    """The rows with one bracket or stroke for the pieces of a high one, level with its middle."""
    joined: list[Row] = []
    begun: list[Row] = []
    for row in (*rows, None):
        sign = _find_piece(row) if row else ""
        if begun and (row is None or sign != _find_piece(begun[0]) or not _touches(row, begun)):
            joined.append(_join_piece(begun, body))
            begun = []
        if row is not None and sign:
            begun.append(row)
        elif row is not None:
            joined.append(row)
    return joined


def _touches(row: Row, pieces: Sequence[Row]) -> bool:
    low, high = min(one.bottom for one in pieces) - 1, max(one.top for one in pieces) + 1
    return abs(row.left - pieces[0].left) <= 2 and row.top >= low and row.bottom <= high


def _join_piece(pieces: Sequence[Row], body: float) -> Row:
    first, sign = pieces[0], _find_piece(pieces[0])
    bottom, top = min(one.bottom for one in pieces), max(one.top for one in pieces)
    if len(pieces) == 1 and (top - bottom < _TALL * body or first.text == sign):
        return first
    baseline = (bottom + top) / 2 - AXIS * body
    if sign == "|":
        baseline = (max(one.baseline for one in pieces) + min(one.baseline for one in pieces)) / 2
    return replace(first, text=sign, bottom=bottom, top=top, baseline=baseline, size=body, points=body)


def _find_piece(row: Row) -> str:
    """The bracket or stroke of which a row is a piece; '' for other rows."""
    # the bar of a fraction beside it may have been taken for a blank
    text = row.text.strip("_ ")
    if len(text) > _MOST_PIECES:
        return ""
    signs = {_BRACKET_PIECES.get(one, "") for one in text if not one.isspace()}
    return signs.pop() if len(signs) == 1 and not (row.cells or row.is_furniture) else ""


def is_tall(row: Row, size: float) -> bool:
    """Whether a row is one high bracket or stroke."""
    return row.text in _BRACKETS and row.top - row.bottom >= _TALL * size


def write_brackets(rows: list[Row], body: float) -> None:
    """Write what stands between high brackets, and behind a high brace, on one line."""
    tall = [row for row in rows if is_tall(row, body) and not row.is_furniture]
    gone: dict[int, Row] = {}
    for opening in sorted(tall, key=lambda row: row.top - row.bottom) if len(tall) <= _MOST_TALL else ():
        if id(opening) in gone or opening.text not in OPENS:
            continue
        close = _CLOSES_WITH[opening.text]
        room = 0.8 * body
        closing = min(
            (
                row
                for row in tall
                if id(row) not in gone
                and row.text == close
                and row.left > opening.right
                and abs(row.top - opening.top) <= room
                and abs(row.bottom - opening.bottom) <= room
            ),
            key=lambda row: row.left,
            default=None,
        )
        if closing is None and opening.text != "{":
            continue
        edge = closing.left + 0.3 * body if closing else float("inf")
        inside = [
            row
            for row in rows
            if row is not opening
            and row is not closing
            and not (row.cells or row.is_furniture)
            and opening.bottom <= (row.bottom + row.top) / 2 <= opening.top
            and row.left >= opening.right - 0.3 * body
            and row.right <= edge
        ]
        if closing is None:
            inside = [row for row in inside if row.left <= opening.right + _FAR * body]
        if not inside:
            continue
        text = f"{opening.text}{_write_lines(inside)}{close if closing else ''}"
        gone |= {id(row): row for row in (opening, *inside, closing) if row}
        whole = replace(
            opening, text=text, right=max(row.right for row in (closing, *inside) if row), size=body
        )
        rows[:] = [whole if row is opening else row for row in rows if row is opening or id(row) not in gone]
    for place, row in enumerate(rows):
        if row.text != "|" and row.size == body and any(row is one for one in tall):
            rows[place] = replace(row, text=FORMULA)


def _write_lines(rows: Sequence[Row]) -> str:
    lines: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: -row.baseline):
        if lines and abs(lines[-1][0].baseline - row.baseline) <= 0.4 * row.size:
            lines[-1].append(row)
        else:
            lines.append([row])
    return "; ".join(
        " ".join(" ".join(row.text.split()) for row in sorted(line, key=lambda row: row.left)).rstrip(
            ";；,，"
        )
        for line in lines
    )


def join_stacks(rows: list[Row]) -> None:
    """Write small rows over each other behind an opening bracket on one line: `(1 0; 0 1)`."""
    place = 0
    while place < len(rows):
        host = rows[place]
        place += 1
        if host.text.rstrip()[-1:] not in OPENS or host.cells or host.is_furniture or not host.size:
            continue
        stack: list[Row] = []
        right = host.right + 0.5 * host.size
        while place + len(stack) < len(rows):
            row = rows[place + len(stack)]
            if not _is_stacked(row, host, right if not stack else max(one.right for one in stack)):
                break
            stack.append(row)
        if not stack and host.text.rstrip().endswith("{"):
            stack = _find_cases(rows[place : place + _MOST_CASES], host)
        if len({round(row.baseline / (0.5 * row.size)) for row in stack}) > 1:
            text = _write_lines(stack)
            for row in stack:
                host = append_part(host, "", row)
            rows[place - 1] = replace(host, text=host.text + text)
            del rows[place : place + len(stack)]


def _find_cases(rows: Sequence[Row], host: Row) -> list[Row]:
    """The rows above and below a line that begin one below the other right behind its brace."""
    found: list[Row] = []
    for row in rows:
        rise = row.baseline - host.baseline
        if (
            row.cells
            or row.is_furniture
            or not 0 <= row.left - host.right <= 1.2 * host.size
            or not 0.3 * host.size <= abs(rise) <= 3 * host.size
            or (found and abs(row.left - found[0].left) > 0.5 * host.size)
        ):
            break
        found.append(row)
    rises = [row.baseline - host.baseline for row in found]
    return found if found and min(rises) < 0 < max(rises) else []


def _is_stacked(row: Row, host: Row, right: float) -> bool:
    room = 0.55 * (host.top - host.bottom)
    return (
        not (row.cells or row.is_furniture or row.signs)
        and 0 < read_points(row) < SMALL * read_points(host)
        and host.right - 0.3 * host.size <= row.left <= right + host.size
        and host.bottom - room <= row.bottom
        and row.top <= host.top + room
    )


def append_part(row: Row, text: str, part: Row) -> Row:
    """The row with a part that stands at its end."""
    return replace(
        row,
        text=row.text.rstrip() + text,
        right=max(row.right, part.right),
        bottom=min(row.bottom, part.bottom),
        top=max(row.top, part.top),
    )
