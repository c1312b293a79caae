"""Which rows of a PDF are running headers and footers, and which only run on in the next."""

from __future__ import annotations

import re
from collections import defaultdict
from difflib import SequenceMatcher
from itertools import pairwise

from tasks.ingest.readers.extraction import IMAGE, is_picture
from tasks.ingest.readers.pdf_columns import SHORT_COLUMN, count_crossings, find_column_border
from tasks.ingest.readers.pdf_pages import Page, Row
from tasks.ingest.words.labels import parse_label

OPTION = re.compile(r"\s*[（(]?[A-J]\s*[)）.．、]")


_NUMBERS = re.compile(r"[\d一二三四五六七八九十]+")
# Characters of a text, and pages, that show whether it stands on every other one.
_LONG = 6


def mark_furniture(pages: list[Page]) -> None:
    """Mark repeated headers and footers, and printed page numbers.

    They stand near the upper and lower edges.
    """
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
            folded = _NUMBERS.sub("#", "".join(shown.split()))
            key = (same_as_known(folded, known), round(row.bottom / 12))
            seen[key].add(number)
            places.append((number, row, key))
            if is_page_number(row.text, number + 1, len(pages)):
                row.is_furniture = True
    for _, row, key in places:
        # a longer text may stand on the left or on the right pages alone
        share = 0.4 if len(key[0]) >= _LONG and len(pages) >= _LONG else 0.6
        needed = max(2, round(share * len(pages)))
        count = len(seen[key] | seen[(key[0], key[1] + 1)] | seen[(key[0], key[1] - 1)])
        # text that begins like a question is no header, however often it comes back
        label = parse_label(row.text)
        if (
            count >= needed
            and len(pages) > 1
            and (label is None or label.is_weak)
            and not OPTION.match(row.text)
        ):
            row.is_furniture = True


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
    """Mark the rows whose sentence continues in the next row.

    It does where the next row's first word had no room any more.
    """
    edges: dict[float, float] = {}
    for page in pages:
        widest = sorted(row.right for row in page.rows if not row.is_furniture)[-2:]
        if widest:
            edges[page.width] = max(edges.get(page.width, 0.0), widest[0])
    for page in pages:
        rows = [row for row in page.rows if not row.is_furniture]
        border = _find_border(rows, page.width) if len(rows) > 8 else None
        left = min((row.left for row in rows), default=0.0)
        for row, following in pairwise(rows):
            edge = _column_edge(row, page, border, edges)
            is_next = following.top < row.top + row.size * 0.3 and row.bottom - following.top < row.size * 1.6
            is_wide = border is not None or row.right - row.left > 0.5 * (edge - left)
            is_full = row.right + first_word_width(following) > edge - 0.5 * row.size
            row.wraps = (
                is_wide
                and is_full
                and is_next
                and following.left < row.left + 4 * row.size
                and not starts_anew(following.text)
                and not is_picture(row.text)
            )


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
    """Whether a row begins something new.

    It does with a number, an option label or the word for an answer at its beginning.
    """
    if OPTION.match(text) or _ANSWER.match(text):
        return True
    label = parse_label(text)
    return label is not None and not label.is_weak


def _column_edge(row: Row, page: Page, border: float | None, edges: dict[float, float]) -> float:
    """The right edge of the text area.

    It is that of the column on a two-column page, else the widest of all such pages.
    """
    if border is None:
        return edges.get(page.width, page.width)
    if row.right < border + 10:
        return max(other.right for other in page.rows if other.right < border + 10)
    return max(other.right for other in page.rows)
