"""Formulas of a PDF that need more than one line, written on one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from schemas import patterns as re
from tasks.ingest.readers.extraction import FORMULA, IMAGE, UNSHOWN_FORMULA
from tasks.ingest.readers.pdf_brackets import (
    OPENS,
    SMALL,
    append_part,
    is_tall,
    join_pieces,
    join_stacks,
    read_points,
    write_brackets,
)
from tasks.ingest.readers.pdf_characters import AXIS
from tasks.ingest.readers.pdf_lines import starts_anew
from tasks.ingest.readers.pdf_pages import Row
from tasks.ingest.readers.pdf_rules import TOUCH, Rule
from tasks.ingest.readers.scripts import lower_text, raise_text, split_raised
from tasks.ingest.words.cleaning import is_cjk
from tasks.ingest.words.labels import parse_label

# In sizes of the print. How far the baselines of what a bar parts are from it.
ABOVE, BELOW = (0.05, 1.25), (0.35, 1.5)
# How much longer a bar is than the longer of its parts, and how long one may be.
OVERHANG = 1.2
LONGEST_BAR = 30.0
# Of rows on one baseline: how far they may be from it and from each other.
OFF_LINE, APART = 0.16, 1.3
# A row of a bracket in pieces has few other characters.
LONGEST_PIECES = 8
_PIECES = re.compile("\ufffd[\ufffd\\s]*")
# What limits stand under and over: words at the end of a row, and signs anywhere in it.
_TAKES_LIMITS = re.compile(r"(?:lim|sup|inf|max|min|arg|det|gcd|Pr|[∑∏∫⋃⋂⨁⨂∪∩])$")
BIG_SIGNS = frozenset("∑∏∐∫∮⋃⋂⋀⋁⊕⊗⊙⊎⊔⨁⨂")
# How far limits may reach beyond their sign, and lie from its baseline, in sizes of the print around it; so many rows apart.
_BESIDE, _OVER, _ROWS_APART = 1.2, 2.4, 3
_LONGEST_LIMIT = 12
# A script is smaller than what bears it by so much, and has at most so many characters.
_SCRIPT, _LONGEST_SCRIPT = 0.9, 24
_DOTS, _MOST_DOTS = re.compile(r"[．.·•・\s]+"), 40
_PLAIN = re.compile(r"\w+")
# In sizes of the print: what stands so far right of a line is in another column.
_COLUMN_GAP = 2.0
_ENDS_IN_LETTER = re.compile(r"\s[(（]?[A-Ha-h][)）.．、]\s*$")


def write_linear(rows: Sequence[Row], level: Sequence[Rule], upright: Sequence[Rule]) -> list[Row]:
    """The rows with every fraction on one line, and with what stands beside it on its baseline.

    `level` and `upright` are the lines drawn on the page. What no line holds, a large bracket in pieces around a matrix,
    is marked as a formula.
    """
    body = _measure_body(rows)
    found = join_pieces([_mark_pieces(row) for row in _drop_emphasis(rows)], body)
    if len(found) < 2:
        return found
    bars = [
        bar
        for bar in sorted(level, key=lambda rule: rule.high - rule.low)
        if not any(
            min(abs(side.at - bar.low), abs(side.at - bar.high)) <= TOUCH and side.covers(bar.at)
            for side in upright
        )
    ]
    has_small = any(0 < read_points(row) < SMALL * body for row in found)
    if has_small:
        _join_small(found, bars, body)
    for bar in bars:
        _write_fraction(found, bar)
    found = _join_limits(_join_sign_limits(found))
    join_stacks(found)
    if has_small:
        _join_scripts(found, bars, body)
    write_brackets(found, body)
    return _join_baselines(found)


def cut_formulas(rows: Sequence[Row], keep: Callable[[float, float, float, float], str]) -> list[Row]:
    """The rows with a picture for every formula of which a part has no meaning as text.

    It shows the lines that the formula is in, as far as its marks reach up and down, and nothing of the column, question or
    option beside it. `keep` gives the mark for a picture in such a box: left, lower, right and upper edge.
    """
    cut = list(rows)
    marked = sorted(
        (place for place, row in enumerate(rows) if UNSHOWN_FORMULA.search(row.text)),
        key=lambda place: -rows[place].top,
    )
    while marked:
        own = [marked.pop(0)]
        while marked and rows[marked[0]].top > min(rows[place].bottom for place in own) - rows[own[0]].size:
            own.append(marked.pop(0))
        bottom, top = min(rows[place].bottom for place in own), max(rows[place].top for place in own)
        level = [place for place, row in enumerate(rows) if bottom <= (row.bottom + row.top) / 2 <= top]
        for shown in _part_line(level, rows):
            members = sorted(set(own).intersection(shown))
            if members:
                _cut_formula(cut, members, [rows[place] for place in shown], keep)
    return cut


def _part_line(level: Sequence[int], rows: Sequence[Row]) -> list[list[int]]:
    """The rows of one line, by place, in parts: columns, questions and options side by side."""
    parts: list[list[int]] = []
    right = 0.0
    for place in sorted(level, key=lambda place: rows[place].left):
        row = rows[place]
        if not parts or row.left > right + _COLUMN_GAP * row.size or starts_anew(row.text):
            parts.append([])
        parts[-1].append(place)
        right = max(right, row.right)
    return parts


def _cut_formula(
    cut: list[Row],
    members: Sequence[int],
    shown: Sequence[Row],
    keep: Callable[[float, float, float, float], str],
) -> None:
    room = 0.25 * cut[members[0]].size  # limits of sums hang below the rows that took them in
    mark = keep(
        min(row.left for row in shown),
        min(row.bottom for row in shown) - room,
        max(row.right for row in shown),
        max(row.top for row in shown) + room,
    )
    for place in members:
        text, *after = UNSHOWN_FORMULA.split(cut[place].text)
        text += mark if place == members[0] else ""
        for following in after[:-1]:
            # An option of the same row has no picture of its own: it stays one that is lost.
            text += following + (FORMULA if _ENDS_IN_LETTER.search(following) else "")
        cut[place] = replace(cut[place], text=text + "".join(after[-1:]))


def _measure_body(rows: Sequence[Row]) -> float:
    """The size of most characters."""
    sizes: Counter[float] = Counter()
    for row in rows:
        sizes[round(read_points(row), 1)] += len(row.text)
    half, seen = sizes.total() / 2, 0
    for size, count in sorted(sizes.items()):
        seen += count
        if seen >= half:
            return size
    return 0.0


def _drop_emphasis(rows: Sequence[Row]) -> list[Row]:
    """The rows without those that are nothing but dots under Chinese letters."""
    return [
        row
        for place, row in enumerate(rows)
        if not (
            len(row.text) <= _MOST_DOTS
            and _DOTS.fullmatch(row.text)
            and any(
                0.2 * near.size <= near.baseline - row.baseline <= near.size
                and near.left <= (row.left + row.right) / 2 <= near.right
                and any(is_cjk(one) for one in near.text)
                for near in rows[max(place - _ROWS_APART, 0) : place + _ROWS_APART + 1]
            )
        )
    ]


def _join_small(rows: list[Row], bars: Sequence[Rule], body: float) -> None:
    """Join what scripts, limits and fractions are made of: `2πi`, `h`, its own `2`, `m`."""
    place = 0
    while place < len(rows):
        row = rows[place]
        for near in range(place + 1, min(place + 1 + _ROWS_APART, len(rows))) if _is_part(row, body) else ():
            other = rows[near]
            size = max(row.size, other.size)
            rise, gap = other.baseline - row.baseline, other.left - row.right
            if not (_is_part(other, body) and -0.5 * size <= gap <= 0.4 * size):
                continue
            is_level = abs(rise) <= OFF_LINE * size and min(row.size, other.size) >= 0.7 * size
            is_script = 0.3 * row.size <= abs(rise) <= 0.9 * row.size and len(other.text) <= 2
            if (is_level or is_script) and _list_bars(row, bars) == _list_bars(other, bars):
                rows[place] = append_part(row, other.text if is_level else _write_script(other, rise), other)
                del rows[near]
                break
        else:
            place += 1


def _is_part(row: Row, body: float) -> bool:
    return 0 < read_points(row) < SMALL * body and not (row.cells or row.is_furniture or row.signs)


def _list_bars(row: Row, bars: Sequence[Rule]) -> list[Rule]:
    reach = BELOW[1] * row.size
    return [
        bar
        for bar in bars
        if bar.low - 0.3 * row.size <= row.left
        and row.right <= bar.high + 0.3 * row.size
        and abs(row.baseline - bar.at) <= reach
    ]


def _write_script(part: Row, rise: float) -> str:
    if "/" in part.text:
        return f"{'^' if rise > 0 else '_'}{{{part.text.strip()}}}"
    return raise_text(part.text.strip()) if rise > 0 else lower_text(part.text.strip())


def _join_scripts(rows: list[Row], bars: Sequence[Rule], body: float) -> None:
    """Write small rows behind others as what they are: scripts, and fractions of small print."""
    place = 0
    while place < len(rows):
        row = rows[place]
        hosts = (
            [
                near
                for near in range(max(place - _ROWS_APART, 0), min(place + _ROWS_APART, len(rows)))
                if near != place and _bears(rows[near], row)
            ]
            if _is_part(row, body)
            else []
        )
        if not hosts:
            place += 1
            continue
        at = min(hosts, key=lambda near: abs(row.left - rows[near].right))
        host = rows[at]
        rows[at] = _hang(host, row, bars)
        del rows[place]


def _hang(host: Row, row: Row, bars: Sequence[Rule]) -> Row:
    """The row with a small one behind it: a script, more of one, or a fraction of small print."""
    rise, gap = row.baseline - host.baseline, row.left - host.right
    space = " " if host.text[-1:].isalnum() or gap > 0.1 * host.size else ""
    # the axis of a formula goes through the bars of its fractions
    lift = row.baseline + AXIS * row.size - host.baseline - AXIS * host.size
    if "/" in row.text and abs(lift) <= 0.15 * host.size:
        return append_part(host, space + row.text, row)
    before, raised = split_raised(host.text)
    if not raised or (rise < 0 and not _is_under(row, bars)):
        return append_part(host, _write_script(row, rise), row)
    host = replace(host, text=before)
    if rise > 0:
        return append_part(host, _write_script(replace(row, text=raised + row.text), rise), row)
    space = " " if before[-1:].isalnum() else ""
    return append_part(host, f"{space}{bracket(raised)}/{bracket(row.text.strip())}", row)


def _is_under(row: Row, bars: Sequence[Rule]) -> bool:
    slack = 0.6 * row.size
    return any(
        0 < bar.at - row.baseline <= BELOW[1] * row.size
        and bar.low - slack <= row.left
        and row.right <= bar.high + slack
        for bar in bars
    )


def _bears(host: Row, row: Row) -> bool:
    """Whether a small row stands behind another, a little above or below its line."""
    gap, rise = row.left - host.right, row.baseline - host.baseline
    return (
        not (host.cells or host.is_furniture)
        and read_points(row) < _SCRIPT * read_points(host)
        and -0.5 * host.size <= gap <= 0.7 * host.size
        and 0.08 * host.size <= abs(rise) <= host.size
        and len(row.text.strip()) <= _LONGEST_SCRIPT
        and not starts_anew(row.text)
        and not is_cjk(host.text.rstrip()[-1:] or " ")
        and IMAGE not in host.text
        and (host.text.rstrip()[-1:] not in OPENS[:-1] or "/" in row.text)
        and host.text != "|"
    )


def _mark_pieces(row: Row) -> Row:
    """The row with a mark for the pieces of a large bracket or root."""
    text = row.text.strip()
    if "\ufffd" not in text or len(text) > LONGEST_PIECES or row.cells:
        return row
    return replace(row, text=_PIECES.sub(FORMULA, text))


def _write_fraction(rows: list[Row], bar: Rule) -> None:
    """Put a fraction in the place of its parts, where the bar parts just these."""
    parts = [
        (place, row)
        for place, row in enumerate(rows)
        if not row.is_furniture
        and not row.cells
        and row.size
        and not is_tall(row, row.size)
        and row.left >= bar.low - 0.3 * row.size
        and row.right <= bar.high + 0.3 * row.size
    ]
    over = [(place, row) for place, row in parts if _is_within(row.baseline - bar.at, ABOVE, row.size)]
    under = [(place, row) for place, row in parts if _is_within(bar.at - row.baseline, BELOW, row.size)]
    if not over or not under or len(over) + len(under) > 6:
        return
    size = max(row.size for _, row in (*over, *under))
    extent = max(_extent(over), _extent(under))
    length = bar.high - bar.low
    if length > LONGEST_BAR * size or length > extent + OVERHANG * size:
        return
    first = min(place for place, _ in (*over, *under))
    above, below = (
        " ".join(row.text.strip(" _") for _, row in sorted(part, key=_left)) for part in (over, under)
    )
    if not above or not below:
        return
    every = [row for _, row in (*over, *under)]
    fraction = replace(
        rows[first],
        text=f"{bracket(above)}/{bracket(below)}",
        left=min(bar.low, *(row.left for row in every)),
        right=max(bar.high, *(row.right for row in every)),
        bottom=min(row.bottom for row in every),
        top=max(row.top for row in every),
        size=size,
        baseline=bar.at - AXIS * size,
        signs=(),
    )
    for place, row in enumerate(rows):
        # the bar is no blank of the rows beside it
        if abs(row.baseline - fraction.baseline) <= 0.5 * size and "_" in row.text:
            if abs(row.right - bar.low) <= 2 * size:
                rows[place] = replace(row, text=row.text.rstrip(" _"))
            elif abs(row.left - bar.high) <= 2 * size:
                rows[place] = replace(row, text=row.text.lstrip(" _"))
    gone = {place for place, _ in (*over, *under)}
    rows[:] = [
        fraction if place == first else row
        for place, row in enumerate(rows)
        if place == first or place not in gone
    ]


def _is_within(distance: float, limits: tuple[float, float], size: float) -> bool:
    return limits[0] * size <= distance <= limits[1] * size


def _extent(parts: Sequence[tuple[int, Row]]) -> float:
    return max(row.right for _, row in parts) - min(row.left for _, row in parts)


def _left(part: tuple[int, Row]) -> float:
    return part[1].left


def bracket(text: str) -> str:
    """A part of a fraction, in brackets where it is more than a word."""
    return text if _PLAIN.fullmatch(text) or len(text) == 1 else f"({text})"


def _join_baselines(rows: Sequence[Row]) -> list[Row]:
    """The rows with those joined that follow each other on one baseline."""
    joined: list[Row] = []
    for row in rows:
        place = _find_before(joined, row)
        if place is None:
            joined.append(row)
            continue
        between = joined[place + 1 :]
        del joined[place + 1 :]
        before = joined[place]
        text = "".join(one.text.strip() for one in between)
        gap = row.left - max(one.right for one in (before, *between))
        is_open = before.text.rstrip()[-1:] in ("(", "[", "{") or row.text.lstrip()[:1] in (")", "]", "}")
        space = " " if not is_open and (gap > 0.1 * before.size or before.text[-1:] == " ") else ""
        joined[place] = replace(
            append_part(before, text + space + row.text.lstrip(), row),
            is_bold=before.is_bold and row.is_bold,
            is_coloured=before.is_coloured and row.is_coloured,
        )
    return joined


def _find_before(rows: Sequence[Row], row: Row) -> int | None:
    """The place of the row that this one continues; at most one small row stands between."""
    for back in (1, 2):
        if len(rows) < back:
            return None
        before = rows[-back]
        size = max(before.size, row.size)
        if (
            before.cells
            or row.cells
            or IMAGE in before.text
            or before.is_furniture
            or row.is_furniture
            or not before.size
            or not row.size
            or min(before.size, row.size) < 0.65 * size
        ):
            return None
        gap = row.left - before.right
        if abs(before.baseline - row.baseline) <= OFF_LINE * size and -0.6 * size <= gap <= APART * size:
            label = parse_label(row.text)
            if label is not None and not label.is_weak and gap > 0.5 * size:
                return None
            return len(rows) - back
        is_small = before.right - before.left <= 2.5 * size and len(before.text.strip()) <= 2
        if not (is_small and before.left >= row.left - 1.2 * size and before.right <= row.left + 2.5 * size):
            return None
    return None


def _join_sign_limits(rows: Sequence[Row]) -> list[Row]:
    """The rows with what stands over and under a large sign written behind it."""
    gone: set[int] = set()
    changed = list(rows)
    for place, row in enumerate(rows):
        # from the last sign to the first, since what is written behind one moves the others
        for end, left, right in reversed(row.signs):
            limits = [
                (near, rows[near])
                for near in range(max(place - _ROWS_APART, 0), min(place + _ROWS_APART + 1, len(rows)))
                if near != place and near not in gone and _is_limit(rows[near], row, left, right)
            ]
            lower = [one for one in limits if one[1].baseline < row.baseline]
            upper = [one for one in limits if one[1].baseline > row.baseline]
            if len(lower) > 1 or len(upper) > 1:
                continue
            text = changed[place].text
            written = "".join(lower_text(one.text.strip()) for _, one in lower)
            written += "".join(raise_text(one.text.strip()) for _, one in upper)
            changed[place] = replace(changed[place], text=text[:end] + written + text[end:])
            gone.update(near for near, _ in limits)
    return [row for place, row in enumerate(changed) if place not in gone]


def _is_limit(row: Row, host: Row, left: float, right: float) -> bool:
    """Whether a row of small print stands over or under a sign of another."""
    reach = _BESIDE * host.size
    return (
        not (row.cells or row.is_furniture or row.signs)
        and 0 < row.size < 0.86 * host.size
        and len(row.text.strip()) <= _LONGEST_LIMIT
        and row.left >= left - reach
        and row.right <= right + reach
        and 0.3 * host.size < abs(row.baseline - host.baseline) < _OVER * host.size
    )


def _join_limits(rows: Sequence[Row]) -> list[Row]:
    """The rows with limits written as scripts: small print under or over the end of a row."""
    joined: list[Row] = []
    for row in rows:
        before = joined[-1] if joined else None
        if (
            before is not None
            and not (before.cells or row.cells or before.is_furniture or row.is_furniture)
            and 0 < row.size < 0.8 * before.size
            and len(row.text.strip()) <= _LONGEST_LIMIT
            and _TAKES_LIMITS.search(before.text.strip())
            and any(one.isalnum() or one == "∞" for one in row.text)
            and row.left >= before.right - 4 * before.size
            and row.left >= before.left - 0.8 * before.size
            and row.right <= before.right + 0.8 * before.size
            and 0.3 * before.size < abs(row.baseline - before.baseline) < 1.4 * before.size
        ):
            write = raise_text if row.baseline > before.baseline else lower_text
            joined[-1] = append_part(before, write(row.text.strip()), row)
        else:
            joined.append(row)
    return joined
