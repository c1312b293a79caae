"""Tables in a text, as lines or markup, found and cut out as rows of cells. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from schemas import patterns as re

LEAST_ROWS = 2
MOST_COLUMNS = 60
_MARKED = re.compile(
    r"(?P<html><table\b[^>]*>.*?</table\s*>)|(?P<latex>\\begin\{(?P<name>tabular|array)\}.*?\\end\{(?P=name)\})",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextCell:
    """A cell's text and how many columns and rows it takes."""

    text: str
    columns: int = 1
    rows: int = 1


@dataclass(frozen=True, slots=True)
class TextTable:
    """Rows of cells; the first row is a header where the text says so."""

    rows: tuple[tuple[TextCell, ...], ...]
    has_header: bool = False


Part = str | TextTable


def part_tables(text: str) -> list[Part]:
    """The text in order, stretches and tables, with none of its words lost."""
    return [
        piece
        for part in _part_marked(text)
        for piece in (_part_lines(part) if isinstance(part, str) else [part])
        if not isinstance(piece, str) or piece.strip()
    ]


def _part_marked(text: str) -> Iterator[Part]:
    """Tables in HTML and in LaTeX outside of formulas; `array` in a formula belongs to it."""
    position = 0
    for found in _MARKED.finditer(text):
        is_formula = found["latex"] and (
            found["name"].lower() == "array" or text[: found.start()].count("$") % 2 == 1
        )
        table = None if is_formula else (_read_html(found[0]) if found["html"] else _read_tabular(found[0]))
        if table is None:
            continue
        yield text[position : found.start()]
        yield table
        position = found.end()
    yield text[position:]


def _part_lines(text: str) -> Iterator[Part]:
    """Runs of lines whose cells are parted by ` | ` or by tabs."""
    waiting: list[str] = []
    rows: list[tuple[list[str], str]] = []
    split: Callable[[str], list[str] | None] = _split_bars
    for line in [*text.split("\n"), None]:
        cells = split(line) if line is not None and rows else None
        if cells is None and line is not None:
            if rows:
                yield from _close(waiting, rows)
                rows = []
            for split in (_split_bars, _split_tabs):
                cells = split(line)
                if cells is not None:
                    break
        if cells is not None and line is not None:
            rows.append((cells, line))
            continue
        if rows:
            yield from _close(waiting, rows)
            rows = []
        if line is not None:
            waiting.append(line)
    if waiting:
        yield "\n".join(waiting)


def _close(waiting: list[str], rows: Sequence[tuple[list[str], str]]) -> Iterator[Part]:
    """The table of a run of rows, behind what stood before it; too short a run stays text."""
    cells = [row for row, _ in rows if not _is_rule(row)]
    if len(cells) < LEAST_ROWS:
        waiting.extend(line for _, line in rows)
        return
    if waiting:
        yield "\n".join(waiting)
        waiting.clear()
    width = max(len(row) for row in cells)
    has_header = len(rows) > 1 and _is_rule(rows[1][0])
    yield TextTable(
        tuple(tuple(TextCell(text) for text in [*row, *[""] * (width - len(row))]) for row in cells),
        has_header,
    )


def _split_bars(line: str) -> list[str] | None:
    """The cells of `a | b` or `| a | b |`; null for no row, as set notation or a program."""
    bare = line.strip()
    is_framed = len(bare) > 2 and bare.startswith("|") and bare.endswith("|") and not bare.startswith("||")
    if is_framed:
        cells = [cell.strip() for cell in bare[1:-1].split("|")]
    elif " | " in line or bare.endswith(" |"):
        cells = [
            cell.strip()
            for cell in re.split(r" \|(?: |$)", line.rstrip() + (" " if bare.endswith("|") else ""))
        ]
    else:
        return None
    is_row = 2 <= len(cells) <= MOST_COLUMNS and all(_is_whole(cell) for cell in cells)
    return cells if is_row else None


def _split_tabs(line: str) -> list[str] | None:
    if line[:1].isspace():
        return None  # a program's line: it is indented
    cells = [cell.strip() for cell in line.rstrip().split("\t")]
    is_row = 2 <= len(cells) <= MOST_COLUMNS and all(_is_whole(cell) for cell in cells)
    return cells if is_row else None


def _is_whole(cell: str) -> bool:
    """Whether the cell cuts no bracket or formula in two, and is no statement of a program."""
    pairs = (("(", ")"), ("[", "]"), ("{", "}"), ("（", "）"))
    return (
        all(cell.count(left) == cell.count(right) for left, right in pairs)
        and cell.count("$") % 2 == 0
        and not cell.endswith((";", "{"))
        and not cell.startswith(("|", "#include"))
    )


def _is_rule(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r":?-+:?", cell) for cell in cells) and any(len(cell) > 1 for cell in cells)


def _read_tabular(source: str) -> TextTable | None:
    """A LaTeX table; rules are left out, a cell over several columns keeps its width."""
    body = re.sub(r"^\\begin\{\w+\}(?:\[\w\])?\s*\{(?:[^{}]|\{[^{}]*\})*\}|\\end\{\w+\}$", "", source)
    body = re.sub(r"\\(?:hline|toprule|midrule|bottomrule)\b|\\c(?:line|midrule)\s*\{[^{}]*\}", "", body)
    rows: list[tuple[TextCell, ...]] = []
    for line in re.split(r"\\\\(?:\[[^\]]*\])?", body):
        if line.strip():
            rows.append(tuple(_read_latex_cell(cell.strip()) for cell in re.split(r"(?<!\\)&", line)))
    return TextTable(tuple(rows)) if rows else None


def _read_latex_cell(source: str) -> TextCell:
    wide = re.fullmatch(r"\\multicolumn\s*\{\s*(\d{1,2})\s*\}\s*\{[^{}]*\}\s*\{(.*)\}", source, re.DOTALL)
    if wide is not None:
        return TextCell(wide[2].strip(), columns=max(int(wide[1]), 1))
    tall = re.fullmatch(r"\\multirow\s*\{[^{}]*\}\s*\{[^{}]*\}\s*\{(.*)\}", source, re.DOTALL)
    return TextCell(tall[1].strip() if tall is not None else source)


def _read_html(source: str) -> TextTable | None:
    reader = _TableReader()
    reader.feed(source)
    reader.close()
    rows = tuple(tuple(row) for row in reader.rows if row)
    return TextTable(rows, has_header=reader.has_header) if rows else None


class _TableReader(HTMLParser):
    """The cells of one HTML table as text: tags are dropped, `<br>` breaks the line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[TextCell]] = []
        self.has_header = False
        self._cell: list[str] | None = None
        self._span = (1, 1)

    def set_cdata_mode(self, *_: object, **__: object) -> None:
        """Read on: a script that is not closed would hide the cells behind it."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._finish()
            self.rows.append([])
        elif tag in ("td", "th"):
            self._finish()
            if not self.rows:
                self.rows.append([])
            self.has_header |= tag == "th" and len(self.rows) == 1
            given = dict(attrs)
            self._cell, self._span = [], (_read_span(given.get("colspan")), _read_span(given.get("rowspan")))
        elif tag == "br" and self._cell is not None:
            self._cell.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._finish()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _finish(self) -> None:
        if self._cell is not None and len(self.rows[-1]) < MOST_COLUMNS:
            self.rows[-1].append(TextCell("".join(self._cell).strip(), *self._span))
        self._cell = None


def _read_span(value: str | None) -> int:
    return int(value) if value and re.fullmatch(r"[1-9]\d?", value, re.ASCII) else 1
