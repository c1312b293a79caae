"""The order of a page's rows, its columns, and which rows are furniture or run on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.readers.extraction import IMAGE, PICTURE_MARK, Extraction
from tasks.ingest.readers.pdf_pages import Page, Row
from tasks.ingest.words.grammar import opens_answer
from tasks.ingest.words.labels import parse_label

# A column that ends soon has at least this share of a page's rows.
SHORT_COLUMN = 0.1


def repair_order(pages: list[Page], extraction: Extraction) -> None:
    """Put a page into geometric order where that makes its question numbers run better."""
    changed: list[int] = []
    for number, page in enumerate(pages, start=1):
        body = [row for row in page.rows if not row.is_furniture]
        if len(body) < 4:
            continue
        if order_score(body) >= 0:
            # in two clean columns a line beside another is no stray
            settled = body if count_crossings(body, page.width) in (1, 2) else settle_strays(body, page.width)
            if settled is not body:
                page.rows = [row for row in page.rows if row.is_furniture] + settled
            continue
        ordered = order_rows(body, page.width)
        if order_score(ordered) > order_score(body):
            page.rows = [row for row in page.rows if row.is_furniture] + ordered
            changed.append(number)
    if changed:
        extraction.warnings.append(
            f"The reading order of {len(changed)} page(s) was repaired by position: {changed[:10]}."
        )


def count_crossings(rows: list[Row], width: float) -> int:
    """How often the text goes from one column to the other; 0 where there is one column."""
    border = find_column_border(rows, width, SHORT_COLUMN)
    if border is None or sum(1 for row in rows if row.left > border - 10) < 5:
        return 0
    sides = [row.left > border - 10 for row in rows if row.right < border + 10 or row.left > border - 10]
    return sum(1 for left, right in pairwise(sides) if left != right)


def settle_strays(rows: list[Row], width: float) -> list[Row]:
    """Move the few rows of a one-column page that break its downward order to their height."""
    if find_column_border(rows, width) is not None:
        return rows
    # the longest run of rows that only goes down; rows on one height count as going down
    best: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        before = max(
            (
                (best[other][0], other)
                for other in range(max(0, index - 60), index)
                if rows[other].bottom > row.bottom - row.size
            ),
            default=(0, -1),
        )
        best.append((before[0] + 1, before[1]))
    place = max(range(len(rows)), key=lambda index: best[index][0])
    kept: set[int] = set()
    while place >= 0:
        kept.add(place)
        place = best[place][1]
    if len(kept) == len(rows) or len(kept) < 0.75 * len(rows):
        return rows
    ordered = [rows[index] for index in sorted(kept)]
    for index, row in enumerate(rows):
        if index not in kept:
            spot = next((at for at, other in enumerate(ordered) if other.bottom < row.bottom), len(ordered))
            ordered.insert(spot, row)
    return ordered


def order_score(rows: list[Row]) -> int:
    """Minus the backward steps between question numbers in this order; 0 is perfect."""
    values: list[int] = []
    for row in rows:
        label = parse_label(row.text)
        if label is not None and label.style == "num" and not label.is_weak:
            values.append(label.value)
    return -sum(1 for left, right in pairwise(values) if right < left and right != 1)


def order_rows(rows: list[Row], width: float) -> list[Row]:
    """The rows column by column, from top to bottom."""
    border = find_column_border(rows, width)
    if border is None:
        return _top_down(rows)
    left = [row for row in rows if (row.left + row.right) / 2 < border and row.right < border + 10]
    right = [row for row in rows if row.left > border - 10]
    spanning = [row for row in rows if row not in left and row not in right]
    return order_columns(left, right, spanning)


def order_columns(left: list[Row], right: list[Row], spanning: list[Row]) -> list[Row]:
    """Return the left column and the right one, from one row that spans both to the next."""
    ordered: list[Row] = []
    edges = sorted((row.bottom for row in spanning), reverse=True)
    last = float("inf")
    for edge in [*edges, float("-inf")]:
        ordered += _top_down([row for row in left if edge < row.bottom <= last])
        ordered += _top_down([row for row in right if edge < row.bottom <= last])
        ordered += [row for row in spanning if row.bottom == edge]
        last = edge
    return ordered


def _top_down(rows: list[Row]) -> list[Row]:
    """Sort by rows of equal height, then from left to right."""
    ordered: list[Row] = []
    band: list[Row] = []
    for row in sorted(rows, key=lambda row: -(row.top + row.bottom)):
        if band and abs((band[0].top + band[0].bottom) - (row.top + row.bottom)) > band[0].size:
            ordered += sorted(band, key=lambda item: item.left)
            band = []
        band.append(row)
    return ordered + sorted(band, key=lambda item: item.left)


def find_column_border(rows: list[Row], width: float, share: float = 0.2) -> float | None:
    """The x of an upright gap between two columns that have such a share each, or None."""
    best: tuple[int, float] | None = None
    lefts, rights = sorted([row.left for row in rows]), sorted([row.right for row in rows])
    narrow = [row for row in rows if row.right - row.left <= 4]
    for step in range(30, 71, 2):
        x = width * step / 100
        left = bisect_right(rights, x + 2)
        right = len(rows) - bisect_left(lefts, x - 2)
        both = sum(1 for row in narrow if row.right <= x + 2 and row.left >= x - 2)
        crossing = len(rows) - left - right + both
        if crossing <= 0.1 * len(rows) and min(left, right) >= share * len(rows):
            score = crossing * 100 + abs(step - 50)
            if best is None or score < best[0]:
                best = (score, x)
    return best[1] if best else None


_LETTERS = re.compile(r"\s*+(?:[（(]?[A-J](?:\s*+[)）.．、])?\s*+)*+")
OPTION = re.compile(r"\s*[（(]?[A-J]\s*[)）.．、]")
_NUMBERS = re.compile(r"[\d一二三四五六七八九十]+")
# Characters of a text, and pages, that show whether it stands on every other one.
_LONG = 6


def mark_furniture(pages: list[Page]) -> None:
    """Mark repeated headers and footers, and printed page numbers, near the edges."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    places: list[tuple[int, Row, tuple[str, int]]] = []
    known: dict[str, str] = {}
    for number, page in enumerate(pages):
        for row in page.rows:
            is_outer = row.bottom > page.height * 0.9 or row.top < page.height * 0.1
            # a mark without a number stands for any drawing of a scan
            if not is_outer or row.text == IMAGE:
                continue
            # `[Turn over` beside a footer stands on every other page
            shown = row.text.strip().split("   ", 1)[0]
            if not any(map(str.isalpha, shown)):
                shown = row.text  # `6    A mill …` is no page number
            folded = _NUMBERS.sub("#", "".join(shown.split()))
            key = (same_as_known(folded, known), round(row.bottom / 12))
            seen[key].add(number)
            places.append((number, row, key))
            if is_page_number(row.text, number + 1, len(pages)):
                row.is_furniture = True
    _mark_page_numbers(pages)
    for _, row, key in places:
        # a longer text may stand on the left or on the right pages alone
        share = 0.4 if len(key[0]) >= _LONG and len(pages) >= _LONG else 0.6
        needed = max(2, round(share * len(pages)))
        count = len(seen[key] | seen[(key[0], key[1] + 1)] | seen[(key[0], key[1] - 1)])
        if count >= needed and len(pages) > 1 and not begins_content(row.text):
            row.is_furniture = True


def begins_content(text: str) -> bool:
    """Whether a row begins a question, an option or an answer.

    It is no header then, however often it comes back.
    """
    label = parse_label(text)
    return (label is not None and not label.is_weak) or bool(OPTION.match(text)) or opens_answer(text)


def _mark_page_numbers(pages: list[Page]) -> None:
    """Mark the number that is the last row of every page, wherever the text ends above it."""
    last = [
        (number, min(rows, key=lambda row: row.bottom), page)
        for number, page in enumerate(pages, start=1)
        if len(rows := [row for row in page.rows if row.text.strip() and row.text != IMAGE]) > 1
    ]
    found = [
        row
        for number, row, page in last
        if row.text.strip().isdecimal()
        and int(row.text) == number
        and row.top < _FOOT * page.height
        and abs((row.left + row.right) / 2 - page.width / 2) <= _CENTRED * page.width
        and all(other.bottom > row.top + row.size for other in page.rows if other is not row)
    ]
    for row in found if found and len(found) >= 0.6 * len(last) else ():
        row.is_furniture = True


# Shares of a page: how far up and beside its middle the number below its text may stand.
_FOOT, _CENTRED = 0.25, 0.03


def same_as_known(text: str, known: dict[str, str]) -> str:
    """Return the text met before that this one is, give or take a letter that OCR misread."""
    if text in known:
        return known[text]
    if len(text) >= 6:
        for other in list(known)[-40:]:
            if abs(len(other) - len(text)) <= 2 and SequenceMatcher(None, other, text).ratio() > 0.85:
                known[text] = known[other]
                return known[other]
    known[text] = text
    return text


def is_page_number(text: str, number: int, count: int) -> bool:
    """True for `第3页，共6页`, `Page 3 of 6`, `- 3 -`, `3/6` and the bare number of this page."""
    folded = "".join(text.split())
    if re.fullmatch(r"[▒▓\-—–]*第\d+页[,，/]?[（(]?(?:共\d+页)?[)）]?[▒▓\-—–]*", folded):
        return True
    if re.fullmatch(r"(?i)page\d+(?:of\d+)?", folded) or re.fullmatch(r"[-—–·.]+\d+[-—–·.]+", folded):
        return True
    if re.fullmatch(r"\d+/\d+", folded):
        return int(folded.split("/")[0]) == number
    return folded.isdecimal() and int(folded) in (number, number - 1, number + 1) and count > 1


def mark_wraps(pages: list[Page]) -> None:
    """Mark the rows after which the next row's first word had no room any more.

    The next row stands below, or at the head of the next column or page.
    """
    edges: dict[float, float] = {}
    for page in pages:
        text = [row for row in page.rows if not row.is_furniture]
        whole = [row for row in text if not row.gaps and row.right - row.left > 0.5 * page.width]
        # marks in the margin stand beyond the edge of the text, alone or after a gap
        widest = sorted(row.right for row in (whole if len(whole) >= _LEAST_WHOLE else text))[-2:]
        if widest:
            edges[page.width] = max(edges.get(page.width, 0.0), widest[0])
    leading = 0.0
    last: _Place | None = None
    for number, page in enumerate(pages):
        rows = [row for row in page.rows if not row.is_furniture]
        if not rows:
            continue
        border = _find_border(rows, page.width) if len(rows) > 8 else None
        lefts = {
            is_second: min((row.left for row in rows if _is_beyond(row, border) is is_second), default=0.0)
            for is_second in (False, True)
        }
        foot, head = min(row.bottom for row in rows), max(row.top for row in rows)
        leading = _find_leading(rows) or leading
        for row in rows:
            left, edge = lefts[_is_beyond(row, border)], _column_edge(row, page, border, edges)
            is_foot, is_head = row.bottom < foot + 2 * row.size, row.top > head - row.size
            place = _Place(row, number, left, edge, border is not None, is_foot, is_head)
            if last is not None:
                last.row.wraps = _is_next(last, place, leading) and _runs_over(last, place)
            last = place


class _Place(NamedTuple):
    """A row on its page: where its column begins and ends, in points."""

    row: Row
    page: int
    left: float
    edge: float
    is_column: bool
    is_foot: bool
    is_head: bool


def _is_beyond(row: Row, border: float | None) -> bool:
    return border is not None and row.left > border - 10


def _is_next(place: _Place, following: _Place, leading: float) -> bool:
    """Whether a row stands right below another, or at the head of the next column or page."""
    row, other = place.row, following.row
    is_picture = IMAGE in other.text and not PICTURE_MARK.sub("", other.text).strip()
    indent = other.left - row.left
    if place.page == following.page and other.top < row.top + row.size * 0.3:
        limit = max(row.size * _NEAR, 0.0 if is_picture else leading)
        return row.bottom - other.top < limit and indent < _INDENT * row.size
    is_alike = row.is_bold == other.is_bold and abs(row.size - other.size) < _ALIKE * row.size
    is_within = min(indent, indent + place.left - following.left) < _INDENT * row.size
    return place.is_foot and following.is_head and is_within and is_alike and not is_picture


def _runs_over(place: _Place, following: _Place) -> bool:
    """Whether the first word of the following row had no room any more, and begins nothing."""
    row = place.row
    is_wide = place.is_column or row.right - row.left > 0.5 * (place.edge - place.left)
    is_full = row.right + first_word_width(following.row) > place.edge - 0.5 * row.size
    return (
        is_wide
        and is_full
        and not starts_anew(following.row.text)
        and not (IMAGE in row.text and _LETTERS.fullmatch(PICTURE_MARK.sub("", row.text)))
    )


def _find_leading(rows: Sequence[Row]) -> float:
    """How far a row may stand from the next, in points, as the page is set; 0 if it is short.

    Nearly all rows stand at least so far apart: where paragraphs alone do, lines within them are nearer.
    """
    gaps = sorted(
        row.bottom - following.top for row, following in pairwise(rows) if following.top < row.bottom
    )
    return gaps[len(gaps) // 10] * 1.1 if len(gaps) >= _LEAST_GAPS else 0.0


# In heights of a row: how far below the next one is near, how far it may be set in, and by what two of one print differ.
_NEAR, _INDENT, _ALIKE = 1.6, 4.0, 0.3
_LEAST_GAPS, _LEAST_WHOLE = 8, 4


def _find_border(rows: list[Row], width: float) -> float | None:
    """The border of two columns, of which the last may be short where the text goes to it once."""
    border = find_column_border(rows, width)
    if border is None and count_crossings(rows, width) in (1, 2):
        border = find_column_border(rows, width, SHORT_COLUMN)
    return border


def first_word_width(row: Row) -> float:
    """How wide the first word of a row is, in points: would it have fitted on the row above?"""
    text = row.text.lstrip()
    word = _LATIN_WORD.match(text)
    count = len(word.group(0)) if word else 1
    return count * (row.right - row.left) / max(len(text), 1)


_LATIN_WORD = re.compile(r"[\x21-\x7e]+")
_ANSWER = re.compile(
    r"\s*(?:【[^【】]{2,8}】|(?:(?:参考|正确|标准)?答案?|解|(?:答案|试题)?解析)\s*[:：]|"
    r"(?:Answers?|Ans|Solutions?|Key|Explanation)\s*[.:：])"
)


def starts_anew(text: str) -> bool:
    """Whether a row begins with a number, an option label or the word for an answer."""
    return bool(_ANSWER.match(text)) or begins_content(text)


def _column_edge(row: Row, page: Page, border: float | None, edges: dict[float, float]) -> float:
    """The right edge of the column, or the widest of all one-column pages."""
    if border is None:
        return edges.get(page.width, page.width)
    if row.right < border + 10:
        return max(other.right for other in page.rows if other.right < border + 10)
    return max(other.right for other in page.rows)
