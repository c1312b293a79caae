"""HTML pages as sheets and lines; lists get the numbers that a browser shows."""

from __future__ import annotations

import base64
import contextlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.emphasis import KINDS, mark_text, read_colour, read_kinds, take_marks, write_blank
from tasks.ingest.readers.extraction import IMAGE, Extraction, FoundPicture, Line, Marked, Sheet
from tasks.ingest.readers.json_records import find_script_records
from tasks.ingest.readers.numbering import format_number
from tasks.ingest.readers.plain_text import decode
from tasks.ingest.readers.quiz_pages import settle_reviews
from tasks.ingest.readers.scripts import lower_text, raise_text, write_levels
from tasks.ingest.words.grammar import answer_mark
from tasks.ingest.words.points import POINTS

_TABLE_MARK = "\ue0f1"


def read_html(data: bytes, folder: Path | None = None) -> Extraction:
    """Return the questions in a web page's scripts, its tables as sheets, or its text as lines.

    The text is returned where the file has neither such questions nor tables that are wide. Pictures are those in the page
    itself, and files below `folder`, where it lies; what stands at an address is never fetched.
    """
    from lxml import etree, html

    text, encoding = decode(data)
    declared = re.search(r"charset=[\"']?([\w-]+)", text[:2000], re.IGNORECASE)
    extraction = Extraction(converter="html", converter_version=declared.group(1) if declared else encoding)
    text = write_levels(re.sub(r"^\s*<\?xml[^>]*\?>", "", _NO_CHARACTERS.sub("", text)))
    try:
        root: Any = html.document_fromstring(text)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError("corrupt", "The HTML cannot be parsed. Save the page again.") from error
    records = find_script_records([script.text or "" for script in root.iter("script")])
    if records:
        extraction.records = records
        return extraction
    for element in list(root.iter("script", "style", "head")):
        element.drop_tree()
    _write_within(root)
    if _KEEPS_LINES.search(text) is None:
        _join_source_lines(root)
    settle_reviews(root)
    for element in root.iter("input"):
        if (element.get("type") or "").lower() in ("radio", "checkbox"):
            sign = "☑" if element.get("checked") is not None else "□"
            element.tail = f"{sign} {(element.tail or '').strip()}"
    for element in list(root.iter("textarea")):
        element.drop_tree()  # what somebody wrote
    _write_selects(root)
    for element in root.iter("img"):
        if not any(True for _ in element.iterancestors("header", "footer", "nav")) and not _closes(element):
            mark = _mark_picture(element, folder, extraction)
            beside = _find_beside(element)
            beside = _find_opened(element) if beside is None else beside
            if beside is None:
                element.tail = f"{mark}{element.tail or ''}"
            elif len(beside):
                beside[-1].tail = f"{beside[-1].tail or ''}\n{mark}"
            else:
                beside.text = f"{beside.text or ''}\n{mark}"
    _mark_emphasis(root)
    for element in root.iter("br"):
        element.tail = "\n" + (element.tail or "")
    tables = [table for table in root.iter("table") if not any(True for _ in table.iterancestors("table"))]
    grids = [_read_html_table(table) for table in tables]
    wide = [index for index, rows in enumerate(grids) if rows and (len(rows[0]) > 2 or _is_numbered(rows))]
    if wide and not _has_text_beside(root, [tables[index] for index in wide]):
        extraction.sheets = [
            _make_sheet(f"table {place}", grids[at]) for place, at in enumerate(wide, start=1)
        ]
        return extraction
    wide += [index for index, rows in enumerate(grids) if index not in wide and _is_matching(rows)]
    for index in wide:
        mark = tables[index].makeelement("p")
        mark.text = f"{_TABLE_MARK}{index}"
        tables[index].addprevious(mark)
        tables[index].drop_tree()
    _write_list_marks(root)
    blocks = {"p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "td", "table", "ul", "ol", "summary", "details",
              "section", "article", "figure", "figcaption", "fieldset", "legend", "blockquote", "pre", "dl", "dt", "dd", "form"}  # fmt: skip
    for element in root.iter():
        if element.tag in blocks:
            _part_spans(element)
            element.text = "\n" + (element.text or "")
            element.tail = "\n" + (element.tail or "")
    # a box whose label stands in an element of its own: both are one line
    for line in _BOX_ALONE.sub(r"\1 ", str(root.text_content())).split("\n"):
        if not line.strip().startswith(_TABLE_MARK):
            text, spans = take_marks(line)
            lead = len(text) - len(text.lstrip())
            emphasis = tuple([(max(first - lead, 0), last - lead, kind) for first, last, kind in spans])
            extraction.lines.append(Line(text.strip(), emphasis=emphasis))
            continue
        index = int(line.strip()[len(_TABLE_MARK) :])
        for row in grids[index]:
            text, spans = take_marks(" | ".join(cell.replace("\n", " ") for cell in row))
            cells = tuple([take_marks(cell)[0] for cell in row])
            extraction.lines.append(
                Line(text, kind="table", cells=cells, table=index + 1, emphasis=tuple(spans))
            )
    return extraction


# What a text may hold and a page may not: `\x07` around a word that Word converted.
_NO_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A style sheet that shows the lines of the source; where one ends.
_KEEPS_LINES, _SOURCE_LINE = (
    re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE),
    re.compile(r"\n\s*"),
)
_RUNNING = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "caption", "figcaption", "legend"}


def _join_source_lines(root: Any) -> None:
    """Run the lines of the source together within a text, but for those of `pre`.

    Browsers do so. Between elements they stay where a style sheet may show each of these on a line of its own: outside of paragraphs.
    """
    inside: dict[Any, str] = {None: ""}
    for element in root.iter():
        above = inside[element.getparent()]
        own = "pre" if element.tag == "pre" else "p" if element.tag in _RUNNING else above
        inside[element] = above if above == "pre" else own
        element.text = _join_text(element.text, inside[element])
        element.tail = _join_text(element.tail, above)


def _join_text(text: str | None, block: str) -> str | None:
    if not text or "\n" not in text or block == "pre":
        return text
    first = 0 if block == "p" else len(text) - len(text.lstrip())
    last = len(text) if block == "p" else len(text.rstrip())
    return text[:first] + _SOURCE_LINE.sub(" ", text[first:last]) + text[last:]


def _write_within(root: Any) -> None:
    """Write what is raised or lowered in other elements, and underlined space as blanks."""
    for element in list(root.iter("sup", "sub", "u")):
        text = str(element.text_content())
        if element.tag == "u":
            is_blank = not text.strip() and len(text) >= _SHORTEST_BLANK
            written = write_blank(text) if is_blank else text
        else:
            written = raise_text(text) if element.tag == "sup" else lower_text(text)
        if written != text and element.find(".//img") is None:
            for child in list(element):
                element.remove(child)
            element.text = written


# One underlined space stands between two words.
_SHORTEST_BLANK = 2


def _is_numbered(rows: list[list[str]]) -> bool:
    """Whether each row below a header is a number and what is said of it in a line."""
    below = [row for row in rows[1:] if len(row) == 2]
    return len(below) == len(rows) - 1 > 1 and all(
        number.isdigit() and "\n" not in text for number, text in below
    )


_NUMBER, _LETTER = (
    re.compile(r"\s*\d{1,2}\s*[.．、)）:：]\s*\S"),
    re.compile(r"\s*[（(]?([A-Za-z])\s*[)）.．、:：]"),
)


def _is_matching(rows: list[list[str]]) -> bool:
    """Whether rows of two columns are a number each, beside the letters in their order."""
    below = [row for row in rows if len(row) == 2 and _NUMBER.match(row[0])]
    letters = [match[1].upper() for row in below if (match := _LETTER.match(row[1]))]
    counted = [chr(ord("A") + at) for at in range(len(below))]
    return len(below) > 2 and len(rows) - len(below) <= 1 and letters == counted


_FLOATS = re.compile(r"float\s*:\s*(?:left|right)", re.IGNORECASE)
_OFFERS = re.compile(r"\s*[（(]?[A-Ha-h]\s*[)）.．、:：]")
_TEXT_BLOCKS = {"p", "div", "li", "td", "th", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}


def _find_beside(image: Any) -> Any:
    """The block beside which a browser shows a picture that floats; None for one in the text.

    It is the paragraph that holds the picture and text, else the block after it, which is no option.
    """
    if not _FLOATS.search(image.get("style") or "") and image.get("align") not in ("left", "right"):
        return None
    block = next((one for one in image.iterancestors() if one.tag in _TEXT_BLOCKS), None)
    if block is None or any(child.tag in _TEXT_BLOCKS for child in block):
        following = image.getnext()
        is_text = following is not None and following.tag in _TEXT_BLOCKS
        return following if is_text and not _OFFERS.match(str(following.text_content())) else None
    return block if str(block.text_content()).strip() else None


# So many blocks of one class beside each other are what a page is made of; what closes it says so little.
_LEAST_FRAMES, _MOST_CLOSING = 3, 120


def _closes(image: Any) -> bool:
    """Whether a picture stands below all blocks that a page is made of, beside few words."""
    for block in image.iterancestors("div", "section", "aside", "p"):
        above = list(block.itersiblings(preceding=True))
        kind = _find_frames(above) or (_find_frames(list(reversed(above[0]))) if above else None)
        if kind is not None:
            text = " ".join(str(block.text_content()).split())
            is_own = kind != (block.tag, block.get("class"))
            said = len(text) < _MOST_CLOSING and not _opens(block) and not answer_mark().search(text)
            return is_own and said and all(map(_is_short, block.itersiblings()))
    return False


def _find_frames(above: list[Any]) -> tuple[str, str] | None:
    """The kind of the nearest block above, where a page is made of blocks of it.

    They have several parts each, as questions have.
    """
    kinds = [
        (one.tag, one.get("class"))
        for one in above
        if isinstance(one.tag, str) and sum(1 for _ in one.iter(*_TEXT_BLOCKS)) > _LEAST_FRAMES
    ]
    is_kind = bool(kinds) and kinds[0] == (above[0].tag, above[0].get("class"))
    is_kind = is_kind and (bool(kinds[0][1]) or kinds[0][0] == "li")
    return kinds[0] if is_kind and kinds.count(kinds[0]) >= _LEAST_FRAMES else None


def _is_short(block: Any) -> bool:
    return len(" ".join(str(block.text_content()).split())) < _MOST_CLOSING and not _opens(block)


def _find_opened(image: Any) -> Any:
    """The block of a question that a picture opens, where others of its kind stand beside it."""
    frame = next(
        (one for one in image.iterancestors("div", "section", "article", "li", "fieldset") if _opens(one)),
        None,
    )
    if frame is None or _has_text_before(frame, image):
        return None
    alike = [
        one
        for one in frame.itersiblings(frame.tag, preceding=True)
        if one.get("class") == frame.get("class") and _opens(one)
    ]
    blocks = (one for one in frame.iter(*_TEXT_BLOCKS) if one is not frame and _opens(one))
    return next(blocks, None) if alike else None


def _opens(block: Any) -> bool:
    return _NUMBERED.match(str(block.text_content())) is not None


_NUMBERED = re.compile(r"\s*\d{1,3}\s*[.．、)）]\s*\S")


def _has_text_before(frame: Any, image: Any) -> bool:
    """Whether a frame says anything before a picture in it."""
    for one in frame.iter():
        if one is image:
            return False
        if (one.text or "").strip():
            return True
        if any((child.tail or "").strip() for child in one if child.getnext() is image):
            return True
    return False


def _write_selects(root: Any) -> None:
    """Write what a list offers as `(a / b / c)`; one of several items, once below the last."""
    selects = list(root.iter("select"))
    offered = [
        (_list_offered(select), next(select.iterancestors("table", "ul", "ol", "dl"), None))
        for select in selects
    ]
    for select, own, last, following in zip(
        selects, offered, [None, *offered], [*offered[1:], None], strict=False
    ):
        texts, holder = own
        for option in list(select):
            select.remove(option)
        if holder is None or own not in (last, following):
            select.text = f"({' / '.join(texts)})" if texts else ""
        elif own != following:
            select.text = "\n" + "\n".join(texts) + "\n"


# the first line of a list to choose from: `Choose...`, `-- Select --`
_PLACEHOLDER = re.compile(
    r"\s*(?:[\w\s]{0,30}(?:\.{2,}|…)|[-–—\s]{2,}|[-–—]+[^-–—]*[-–—]+|请选择|請選擇|"
    r"(?i:choose|select|pick|please|bitte|wählen|choisir|elige|seleccion\w+|scegli|выберите|選択)\b.{0,24})?\s*"
)


def _list_offered(select: Any) -> list[str]:
    """The texts of a list, without the first where it only asks to choose."""
    texts = [" ".join(str(option.text_content()).split()) for option in select.iter("option")]
    is_statement = len(texts) > 1 and all(map(str.isupper, texts))  # `SELECT`, `INSERT`
    return texts[1:] if texts and not is_statement and _PLACEHOLDER.fullmatch(texts[0]) else texts


def _part_spans(block: Any) -> None:
    """Set `Question 1` and `2 / 2 pts` apart, as the style sheet of a platform does."""
    if (
        block.tag == "div"
        and len(block) > 1
        and all(
            child.tag == "span" and child.get("class") and not (child.tail or "").strip() for child in block
        )
        and _POINTS.search(str(block[-1].text_content()))
    ):
        for child in block:
            child.tail = "  "


_POINTS = re.compile(rf"\d\s*/\s*\d|{POINTS}")


# More of a page than this has its usual colour, where that is not black.
_USUAL = 1 / 2


def _mark_emphasis(root: Any) -> None:
    """Fence the texts of elements that stand out by name or style; links do not.

    By its colour a text stands out where most of the page has another one.
    """
    inherited: dict[Any, tuple[frozenset[str], str]] = {None: (frozenset(), "")}
    letters: Counter[str] = Counter()
    for element in root.iter():
        kinds, colour = inherited[element.getparent()]
        letters[colour] += len((element.tail or "").strip())
        if isinstance(element.tag, str):
            kinds |= read_kinds(element.tag, element) - {"colour"}
            own = read_colour(element.tag, element)
            colour = colour if own is None else own
        inherited[element] = (frozenset(), "") if element.tag == "a" else (kinds, colour)
        letters[inherited[element][1]] += len((element.text or "").strip())
    usual = {"", *(colour for colour, count in letters.items() if count > _USUAL * letters.total())}
    for element in root.iter():
        around, beside = (inherited[one] for one in (element, element.getparent()))
        kinds_within, kinds_after = (
            kinds if colour in usual else kinds | {"colour"} for kinds, colour in (around, beside)
        )
        if isinstance(element.tag, str):
            element.text = _fence(element.text, kinds_within)
        element.tail = _fence(element.tail, kinds_after)


def _fence(text: str | None, kinds: Collection[str]) -> str | None:
    return "\n".join(mark_text(line, kinds) for line in text.split("\n")) if text and kinds else text


def _make_sheet(name: str, grid: list[list[str]]) -> Sheet:
    marked: dict[str, Marked] = {kind: {} for kind in KINDS}
    for row, cells in enumerate(grid):
        for column, cell in enumerate(cells):
            cells[column], spans = take_marks(cell)
            for first, last, kind in spans:
                marked[kind].setdefault((row, column), []).append((first, last))
    return Sheet(name, grid, marked=marked)


_BOX_ALONE = re.compile(r"([□☑])[^\S\n]*\n\s*(?=[^\s□☑])")
_DATA_ADDRESS = re.compile(r"\s*data:image/[\w.+-]+;base64,", re.IGNORECASE)
_MOST_FILE_BYTES = 60 * 1024 * 1024


def _mark_picture(element: Any, folder: Path | None, extraction: Extraction) -> str:
    """The mark of an image of the page; one that is at an address alone is marked as not read."""
    source, alt_text = element.get("src") or "", (element.get("alt") or "").strip() or None
    inside = _DATA_ADDRESS.match(source)
    data = b""
    if inside is not None:
        with contextlib.suppress(ValueError):
            data = base64.b64decode(re.sub(r"\s+", "", unquote(source[inside.end() :])), validate=True)
    elif folder is not None and source and not re.match(r"[\w+.-]+:|/|\\", source):
        data = _read_beside(folder, unquote(source.partition("?")[0].partition("#")[0]))
    if not data:
        return IMAGE if source else ""
    return extraction.add_picture(FoundPicture(data=data, alt_text=alt_text))


def _read_beside(folder: Path, name: str) -> bytes:
    """The bytes of a file below the page's folder; empty for one elsewhere, a link, or none."""
    path = folder / name
    try:
        if path.resolve() != path.absolute() or not path.is_relative_to(folder) or ".." in Path(name).parts:
            return b""
        if not path.is_file() or path.stat().st_size > _MOST_FILE_BYTES:
            return b""
        return path.read_bytes()
    except (OSError, ValueError):
        return b""


# What HTML and CSS call the forms of numbers, and what Word does.
_LIST_FORMS = {
    **dict.fromkeys(("A", "upper-alpha", "upper-latin"), "upperLetter"),
    **dict.fromkeys(("a", "lower-alpha", "lower-latin"), "lowerLetter"),
    **dict.fromkeys(("I", "upper-roman"), "upperRoman"),
    **dict.fromkeys(("i", "lower-roman"), "lowerRoman"),
}
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([\w-]+)")


def _write_list_marks(root: Any) -> None:
    """Write before every item of an ordered list the number that a browser shows."""
    for ordered in root.iter("ol"):
        style = _LIST_STYLE.search(ordered.get("style") or "")
        name = style.group(1) if style else ordered.get("type", "1")
        if name == "none":
            continue
        form = _LIST_FORMS.get(name, "decimal")
        start = ordered.get("start") or "1"
        value = int(start) if start.isdecimal() else 1
        for item in ordered.iterchildren("li"):
            own = item.get("value") or ""
            value = int(own) if own.isdecimal() else value
            # beyond Z there is no letter
            mark = format_number(value, "decimal" if "Letter" in form and value > 26 else form)
            value += 1
            holder = item
            # `<li><p>Where …`: the mark stands on the line of the item's first text
            while (
                not (holder.text or "").strip() and len(holder) and holder[0].tag in ("p", "div", "span", "b")
            ):
                holder = holder[0]
            holder.text = f"{mark}. {(holder.text or '').lstrip()}"


def _read_html_table(table: Any) -> list[list[str]]:
    """The cells of a table: what spans rows is repeated, what spans columns is not."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in table.iter("tr"):
        cells: list[str] = []

        def fill_hanging(cells: list[str] = cells) -> None:
            while len(cells) in hanging:
                left, text = hanging.pop(len(cells))
                if left > 1:
                    hanging[len(cells)] = (left - 1, text)
                cells.append(text)

        for cell in row.iterchildren("td", "th"):
            fill_hanging()
            lines = (" ".join(line.split()) for line in _cell_lines(cell))
            text = "\n".join(line for line in lines if line)
            wide, tall = (_read_span(cell.get(name)) for name in ("colspan", "rowspan"))
            for place in range(wide):
                if tall > 1:
                    hanging[len(cells)] = (tall - 1, text if place == 0 else "")
                cells.append(text if place == 0 else "")
        fill_hanging()
        grid.append(cells)
    width = max((len(row) for row in grid), default=0)
    return [[*row, *[""] * (width - len(row))] for row in grid]


def _cell_lines(cell: Any) -> list[str]:
    for element in cell.iter("p", "div", "li"):
        element.tail = "\n" + (element.tail or "")
    return str(cell.text_content()).split("\n")


def _read_span(value: str | None) -> int:
    return min(int(value), 100) if value is not None and value.isdecimal() and int(value) else 1


def _has_text_beside(root: Any, tables: list[Any]) -> bool:
    """Whether questions stand beside the tables: then the page is a paper, else it is a sheet."""
    inside = sum(len(" ".join(str(table.text_content()).split())) for table in tables)
    outside = len(" ".join(str(root.text_content()).split())) - inside
    return outside > 60 or outside > 0.1 * inside
