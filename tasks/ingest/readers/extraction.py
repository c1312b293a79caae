"""What every reader hands to the splitter: lines in reading order, and their source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

from schemas import patterns as re
from schemas.counting import say_count

# What stands in the text for a formula object and for a picture: what they show is lost, that they were there is not.
FORMULA = "[formula]"
IMAGE = "[image]"
# Which picture it is says a private character that follows the mark, until questions name their pictures themselves.
_FIRST_PICTURE, _LAST_PICTURE = 0x100000, 0x10FFFD
PICTURE_MARK = re.compile(
    rf"(?P<sign>{re.escape(IMAGE)})(?P<number>[{chr(_FIRST_PICTURE)}-{chr(_LAST_PICTURE)}])?"
)
# The same, and formulas of which the document holds nothing but a picture.
SHOWN_MARK = re.compile(
    PICTURE_MARK.pattern.replace(re.escape(IMAGE), rf"{re.escape(IMAGE)}|{re.escape(FORMULA)}")
)
# A formula that is lost unless its line is cut out.
UNSHOWN_FORMULA = re.compile(rf"{re.escape(FORMULA)}(?![{chr(_FIRST_PICTURE)}-{chr(_LAST_PICTURE)}])")
MOST_PICTURES = _LAST_PICTURE - _FIRST_PICTURE
_NUMBER = re.compile(f"[{chr(_FIRST_PICTURE)}-{chr(_LAST_PICTURE)}]")


def is_picture(text: str) -> bool:
    """Whether a text is the marks of pictures and nothing else."""
    return text.startswith(IMAGE) and not PICTURE_MARK.sub("", text).strip()


def read_picture_number(mark: re.Match[str]) -> int | None:
    """Which picture of `Extraction.pictures` a mark stands for; None for one that was not found."""
    return ord(mark["number"]) - _FIRST_PICTURE if mark["number"] else None


def find_marks(text: str | None) -> Iterator[re.Match[str]]:
    """The marks of pictures in a text, those of formulas included."""
    return SHOWN_MARK.finditer(text) if text and (IMAGE in text or FORMULA in text) else iter(())


def blank_picture_numbers(text: str) -> str:
    """The text as people read it, as long as it was: numbers of pictures are spaces."""
    return _NUMBER.sub(" ", text) if IMAGE in text or FORMULA in text else text


@dataclass(frozen=True)
class FoundPicture:
    """A picture that a reader met, and where its bytes are to be found when a question holds it.

    `data` are its bytes where the reader has them, else `part` names it in the package, else `drawn` the elements of a
    Word text that draw it (by their places among all that hold an object), else it is cut out of the page.
    The package is the extraction's where it names none: that of an answer file, when a paper has taken it over.
    `box` is its place on the page as shown: left, top, right, bottom in thousandths.
    """

    data: bytes = field(default=b"", repr=False)
    part: str = ""
    page: int = 0
    box: tuple[int, ...] = ()
    alt_text: str | None = None
    is_formula: bool = False
    drawn: tuple[int, ...] = ()
    package: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Look:
    """How a line is printed, as far as its format says.

    `size` is that of most of its characters in points, 0 where it is unknown. `is_bold`: nearly all of it is bold, or set
    in a heavy face (黑体). `left` is where its text begins, in points: from the edge of the page (PDF, scans), from the edge
    of the text (Word, the indent of the first line included). `frame` is `cell` or `box`
    for a line inside a table's cell (that of a table read as text, too) or a text box, else ''.
    """

    size: float = 0.0
    is_bold: bool = False
    left: float = 0.0
    frame: str = ""


PLAIN = Look()


@dataclass(frozen=True)
class Line:
    """One line of a document as extracted, before any cleaning.

    `page` counts from 1 (0 where the format has no pages). `kind` is `body`, `table` (a row, cells joined
    by ` | `), `box` (a text box), `furniture` (a repeated header or footer: kept in the text, not split).
    `label_length` is the length of an automatic number that the format supplied at the start of `text`.
    A row of a table has its `cells`, line breaks kept, and the number of its `table` (from 1). `emphasis` lists
    (first, last, kind) for the stretches of `text` that stand out: `bold`, `colour`, `underline`, `highlight`. `box` is where
    the line stands on its page as shown: left, top, right, bottom in thousandths; empty where the format has no pages. `look` is how
    it is printed; `PLAIN` where the format does not say. `sure` is how sure OCR was of a line that it read (0 to 1), `agreed` how far the
    text that a scanner's program laid over the picture says the same; None where there is no such reading.
    """

    text: str
    page: int = 0
    kind: str = "body"
    label_length: int = 0
    cells: tuple[str, ...] = ()
    table: int = 0
    emphasis: tuple[tuple[int, int, str], ...] = ()
    box: tuple[int, ...] = ()
    look: Look = PLAIN
    sure: float | None = None
    agreed: float | None = None


# The stretches of cells that stand out, by row and column; a cell that does as a whole ends nowhere.
Marked = dict[tuple[int, int], list[tuple[int, int]]]
WHOLE_CELL = (0, 1 << 20)


@dataclass(frozen=True)
class Sheet:
    """The used cells of one worksheet (or delimited file) as text, row by row.

    Ragged rows are padded. `marked` holds what stands out, by how it does (`KINDS`): for the (row, column) of a cell,
    from 0, the first and last place of each stretch of its text.
    """

    name: str
    rows: list[list[str]]
    first_row: int = 1
    is_hidden: bool = False
    marked: dict[str, Marked] = field(default_factory=dict)
    # formulas without a saved result, (row, column) from 0; their cells are empty
    unsaved: AbstractSet[tuple[int, int]] = frozenset()


@dataclass
class Extraction:
    """Everything a reader learned of a document.

    A text document fills `lines`, a spreadsheet `sheets`, a file of records (JSON) `records`. `warnings` are sentences without
    any text of the document. `unread` are the pages that only OCR, which is off or not installed, can read.
    """

    converter: str
    converter_version: str
    lines: list[Line] = field(default_factory=list)
    sheets: list[Sheet] = field(default_factory=list)
    page_count: int | None = None
    unread: tuple[int, ...] = ()
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] | None = None
    pictures: list[FoundPicture] = field(default_factory=list)
    # the file that `pictures` are taken from: the Word package, workbook or PDF that was read
    package: bytes = field(default=b"", repr=False)

    def leave_unread(self, kinds: Iterable[str]) -> None:
        """Say of how many questions of each type nothing was read."""
        for kind, count in sorted(Counter(kinds).items()):
            self.warnings.append(f"{say_count(count, 'question')} of the type {kind!r} not read.")

    def add_picture(self, picture: FoundPicture) -> str:
        """Keep a picture; returns the mark that stands for it in the text."""
        sign = FORMULA if picture.is_formula else IMAGE
        if len(self.pictures) >= MOST_PICTURES:
            return sign
        self.pictures.append(picture)
        return f"{sign}{chr(_FIRST_PICTURE + len(self.pictures) - 1)}"

    def take_over(self, other: Extraction) -> None:
        """Have the pictures of an answer file as well; its marks then name them here."""
        first = len(self.pictures)
        self.pictures += [replace(found, package=found.package or other.package) for found in other.pictures]

        def move(text: str) -> str:
            return _NUMBER.sub(lambda mark: _move_number(mark[0], first), text)

        if not first or not other.pictures:
            return
        other.lines[:] = [
            replace(line, text=move(line.text), cells=tuple(map(move, line.cells))) for line in other.lines
        ]
        for sheet in other.sheets:
            sheet.rows[:] = [list(map(move, row)) for row in sheet.rows]


def _move_number(sign: str, by: int) -> str:
    """The sign by which a mark names a picture, so much later; none beyond the last."""
    return chr(ord(sign) + by) if ord(sign) + by <= _LAST_PICTURE else ""


def join_lines(lines: Iterable[Line]) -> tuple[str, list[int], list[int]]:
    """The raw text, the offset of every line in it, and that of every page."""
    parts: list[str] = []
    starts: list[int] = []
    pages: list[int] = []
    position = 0
    last_page = 0
    for line in lines:
        if line.page > last_page:
            pages.extend([position] * (line.page - last_page))
            last_page = line.page
        starts.append(position)
        parts.append(line.text)
        position += len(line.text) + 1
    return "\n".join(parts), starts, pages
