"""What stands around every text of a column and is taken away: markup, numbers, names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schemas import patterns as re
from tasks.ingest.readers.scripts import write_levels
from tasks.ingest.words.columns import Header, fold_header

WRAPPED = re.compile(
    r"<(p|div)\b[^<>]*>[^<>]+(?:<[^<>]+>[^<>]*)*</\1>\s*$|^\s*<(span|h\d|ul|ol|b|strong)\b[^<>]*>[\s\S]*</\2>\s*$",
    re.IGNORECASE,
)
_UNNAMED = re.compile(r"Unnamed: \d+")  # what a program writes where a header has no name
NUMBERED = re.compile(r"\s*(\d{1,4})\s*(?:[（(][^（()）]{1,12}[)）]\s*)?[.．、)）]\s*(?=\D)")
_NAMED = re.compile(r"\s*([^\s:：]{2,8})\s*[:：]\s*(?=\S)")
_SOURCE = re.compile(r"\s*[【\[（(]\s*([^【】\[\]（()）:：]{1,8})[:：][^【】\[\]（()）]{1,30}[】\])）]\s*$")
_PARTED = re.compile(r"([^\sA-Za-z0-9.．、:：)）;；,，|])(?=[B-J]\s*[.．、:：])")


def tidy_columns(rows: Sequence[list[str]], header: Header) -> list[list[str]]:
    """Return the rows without what a whole column has around its texts.

    That is HTML around every cell, numbers and names (`题目：`) before every question, its source after it, and a sign
    of its own between options that share a cell.
    """
    body = [["" if _UNNAMED.fullmatch(cell) else cell for cell in row] for row in rows[header.row + 1 :]]
    stem = header.columns["stem"]
    texts = {stem, *header.options.values()}
    texts |= {header.columns[role] for role in ("options", "answer", "explanation") if role in header.columns}
    if _is_usual(body, stem, WRAPPED.search, 0.5):
        for place in texts:
            _change(body, place, read_markup)
    if _is_usual(body, stem, _is_named, 0.05):
        _change(body, stem, _cut_name)
    if _is_usual(body, stem, NUMBERED.match, 0.7) and "number" not in header.columns:
        header.columns["number"] = max((len(row) for row in body), default=0)
        for row in body:
            row.extend([""] * (header.columns["number"] - len(row)))
            number = NUMBERED.match(row[stem])
            row.append(number.group(1) if number is not None else "")
            row[stem] = row[stem][number.end() :] if number is not None else row[stem]
    sources = [_SOURCE.search(row[stem]) for row in body if stem < len(row)]
    named = [source.group(1) for source in sources if source is not None]
    if named and named.count(named[0]) >= 0.3 * len(body) and len(body) > 2:
        _change(body, stem, lambda cell: _SOURCE.sub("", cell))
    offers = header.columns.get("options")
    if offers is not None:
        signs = [sign for row in body if offers < len(row) for sign in _PARTED.findall(row[offers])]
        if signs and signs.count(signs[0]) >= 0.9 * len(signs) and len(signs) >= 0.7 * len(body):
            parted = re.compile(re.escape(signs[0]) + r"(?=[B-J]\s*[.．、:：])")
            _change(body, offers, lambda cell: parted.sub("\n", cell))
    return [*(list(row) for row in rows[: header.row + 1]), *body]


def _is_usual(
    body: Sequence[Sequence[str]], place: int, holds: Callable[[str], object], share: float
) -> bool:
    filled = [row[place] for row in body if place < len(row) and row[place].strip()]
    found = sum(1 for cell in filled if holds(cell))
    return found >= 2 and found >= share * len(filled)


def _change(body: Sequence[list[str]], place: int, write: Callable[[str], str]) -> None:
    for row in body:
        if place < len(row):
            row[place] = write(row[place])


def _is_named(cell: str) -> bool:
    """Whether a question begins with the name of its column, `题目内容：`."""
    named = _NAMED.match(cell)
    return named is not None and fold_header(named.group(1)) in STEM_NAMES


STEM_NAMES = frozenset(("题目内容", "题干", "题目", "试题内容", "question", "stem", "问题", "试题"))


def _cut_name(cell: str) -> str:
    named = _NAMED.match(cell)
    return cell[named.end() :] if named is not None and _is_named(cell) else cell


def read_markup(cell: str) -> str:
    """The text of a cell written in HTML, one line for each of its blocks."""
    from lxml import etree, html

    if "<" not in cell and "&" not in cell:
        return cell
    try:
        root = html.fragment_fromstring(write_levels(cell), create_parent="div")
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return cell
    for element in root.iter("br", "p", "div", "li", "tr"):
        element.tail = "\n" + (element.tail or "")
    return re.sub(r"\n{2,}", "\n", str(root.text_content())).strip()
