"""Characters built into rows with spaces, blanks, scripts, and cells of ruled tables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import fmean, median
from unicodedata import category

from schemas import patterns as re
from tasks.ingest.readers.extraction import IMAGE, PICTURE_MARK, FoundPicture, is_picture, read_picture_number
from tasks.ingest.readers.pdf_formulas import BIG_SIGNS, bracket
from tasks.ingest.readers.pdf_lines import first_word_width, starts_anew
from tasks.ingest.readers.pdf_pages import Character, Page, Row, place_row
from tasks.ingest.readers.pdf_rules import TOUCH, Grid, Rule
from tasks.ingest.readers.scripts import lower_text, raise_text
from tasks.ingest.words.answers import ANSWER_MARK
from tasks.ingest.words.cleaning import is_cjk, join_wrapped
from tasks.ingest.words.columns import find_question_header

_ROOTS = {"3": "∛", "4": "∜"}
# Nothing is a script of these.
_OPENS, _CLOSES = ("(", "[", "{", "（"), (")", "]", "}", "）")
# Of so many rows before one it may be the script.
_NEAR = 3
# A row is bold where so much of it is.
BOLD_SHARE = 0.9
# Accents that files write beside the character over which they stand, and how they are written with it.
_SLASH = "\u0338"
_ACCENTS = dict(
    zip("˙ˆ˜¯´¨ˇ˘˚\u0338", "\u0307\u0302\u0303\u0304\u0301\u0308\u030c\u0306\u030a\u0338", strict=True)
)


def build_rows(
    page: Page,
    characters: Sequence[Character],
    grids: Sequence[Grid],
    blanks: Sequence[Rule],
    bars: Sequence[Rule] = (),
) -> None:
    """Fill a page with rows.

    The characters of a table become its rows where its first one stands. `blanks` are the lines that may be blanks, `bars` those of
    fractions.
    """
    reader = _RowBuilder(page, blanks, bars)
    characters = _fill_gaps(characters)
    if not grids:
        for character in characters:
            reader.add(character)
        reader.finish()
        return
    tables: dict[int, dict[tuple[int, int], list[Character]]] = {}
    places: dict[int, int] = {}
    for character in characters:
        x, y = (character.left + character.right) / 2, (character.bottom + character.top) / 2
        number = next((at for at, grid in enumerate(grids) if grid.holds(x, y)), None)
        if number is None:
            reader.add(character)
            continue
        if number not in tables:
            reader.finish()
            tables[number], places[number] = {}, len(page.rows)
        tables[number].setdefault(grids[number].find_cell(x, y), []).append(character)
    reader.finish()
    for number in reversed(tables):  # the last first: what stands before it stays where it is
        rows = _read_cells(grids[number], tables[number], blanks)
        page.rows[places[number] : places[number]] = [replace(row, table=number + 1) for row in rows]


# Of one line are characters on one baseline and of about one size; boxes may reach so far over each other.
_ON_LINE, _ALIKE, _OVERLAP = 0.1, (0.8, 1.25), 0.3


def _fill_gaps(characters: Sequence[Character]) -> list[Character]:
    """Put what a file writes after a line (`①`) into the gaps where it is printed."""
    found: list[Character] = []
    line: list[Character] = []
    is_filling = False
    for item in characters:
        slack = _OVERLAP * item.size
        is_on_line = bool(line) and abs(item.y - line[0].y) <= _ON_LINE * item.size
        if is_on_line and item.left < line[-1].right - slack:
            at = bisect_left(line, item.left, key=lambda one: one.left)
            is_free = at == 0 or line[at - 1].right <= item.left + slack
            is_free = is_free and at < len(line) and item.right <= line[at].left + slack
            is_near = at > 0 or line[0].left - item.right <= item.size
            if is_free and is_near and _ALIKE[0] * item.size <= line[at].size <= _ALIKE[1] * item.size:
                # the spaces told before it and after it are those of the way there and back
                line[at] = replace(line[at], spaced=False, breaks=line[at].breaks and at > 0)
                line.insert(at, replace(item, spaced=False, breaks=at == 0 and line[at].breaks))
                is_filling = True
                continue
        if not is_on_line or item.left < line[-1].right - slack:
            found += line
            line = []
        line.append(replace(item, spaced=False, breaks=False) if is_filling and line else item)
        is_filling = False
    return found + line


def _read_cells(
    grid: Grid, cells: Mapping[tuple[int, int], Sequence[Character]], blanks: Sequence[Rule]
) -> list[Row]:
    lines: dict[tuple[int, int], list[Row]] = {}
    for place, inside in cells.items():
        page = Page(0, 0)
        build_rows(page, inside, (), blanks)
        lines[place] = page.rows
    return read_table(grid, lines)


def read_table(grid: Grid, lines_of: Mapping[tuple[int, int], Sequence[Row]]) -> list[Row]:
    """The rows of a ruled table; a cell that is one with that above repeats its text."""
    rows: list[Row] = []
    columns = range(len(grid.columns) - 1)
    above = [""] * len(columns)
    for index in range(len(grid.rows) - 1):
        inside = [lines_of.get((index, column), ()) for column in columns]
        shown = [_join_cell(inside[column], grid.right_of(index, column)) for column in columns]
        above = [
            above[column] if not shown[column] and grid.is_merged_up(index, column) else shown[column]
            for column in columns
        ]
        lines = [line for cell in inside for line in cell]
        if lines:
            rows.append(
                Row(
                    " | ".join(text.replace("\n", " ") for text in shown),
                    grid.columns[0],
                    grid.columns[-1],
                    grid.rows[index + 1],
                    grid.rows[index],
                    median(line.size for line in lines),
                    cells=tuple(above),
                    is_bold=all(line.is_bold for line in lines),
                    is_coloured=all(line.is_coloured for line in lines),
                    points=lines[-1].points,
                    frame="cell",
                    sure=fmean(line.sure for line in lines),
                )
            )
    return rows


def _join_cell(lines: Sequence[Row], edge: float) -> str:
    text = lines[0].text.strip() if lines else ""
    for before, line in pairwise(lines):
        if before.right + first_word_width(line) > edge - 0.9 * line.size and not starts_anew(line.text):
            text = join_wrapped(text, line.text)
        else:
            text = f"{text}\n{line.text.strip()}"
    return text


def keep_tables(page: Page, characters: Sequence[Character], grids: Sequence[Grid]) -> list[Grid]:
    """Leave out the frames that lay out whole stretches of text: their content has an order."""
    kept: list[Grid] = []
    for grid in grids:
        inside: dict[tuple[int, int], list[Character]] = {}
        for character in characters:
            x, y = (character.left + character.right) / 2, (character.bottom + character.top) / 2
            if grid.holds(x, y):
                inside.setdefault(grid.find_cell(x, y), []).append(character)
        rows = _read_cells(grid, inside, ())
        if not rows:
            continue
        is_tall = grid.rows[0] - grid.rows[-1] > 0.3 * page.height
        heavy = sum(1 for row in rows if max(cell.count("\n") for cell in row.cells) > 3)
        header = find_question_header([list(row.cells) for row in rows])
        if header is not None:
            page.asked = grid.columns, header.names
        # a table of questions that the page before began has its names of columns there
        edges, names = page.asked
        is_next = (
            not kept
            and [*rows[0].cells] != names
            and len(edges) == len(grid.columns)
            and all(abs(one - other) <= TOUCH for one, other in zip(edges, grid.columns, strict=True))
        )
        is_question_table = header is not None or is_next
        if is_question_table or (heavy * 2 <= len(rows) and not (is_tall and heavy)):
            kept.append(grid)
    return kept


@dataclass(slots=True)
class _Script:
    """Small print above or below a line."""

    is_raised: bool
    left: float
    right: float
    text: str = ""


class _RowBuilder:
    """Groups characters, in content order, into rows of one baseline, with their scripts."""

    def __init__(self, page: Page, blanks: Sequence[Rule] = (), bars: Sequence[Rule] = ()) -> None:
        self.page = page
        self.blanks = blanks
        self.near: list[Rule] = []
        self.text: list[str] = []
        self.script: list[_Script] = []
        self.bars = bars
        self.heavy, self.coloured, self.points = 0, 0, 0.0
        # the stretches in bold print and in colour: which parts of the text, the first and the last
        self.marks: list[tuple[int, int, str]] = []
        # what stands on each drawn line: where in the text, and between which places of the row
        self.lined: dict[Rule, list[tuple[int, float, float]]] = {}
        self.baseline = 0.0
        self.size = 0.0
        self.box = [0.0, 0.0, 0.0, 0.0]
        self.last_right = 0.0
        self.last_x = 0.0
        self.gaps: list[tuple[int, float]] = []
        self.signs: list[tuple[int, float, float]] = []
        self.has_space = False
        self.has_break = False

    def add(self, item: Character) -> None:
        """Add the next character to the row it continues, or to a new one."""
        left, right, bottom, top = item.left, item.right, item.bottom, item.top
        height = top - bottom
        size = (height if height > 0.1 else 0.1) / 1.2
        self.has_space = self.has_space or item.spaced
        self.has_break = self.has_break or item.breaks
        if self.blanks and item.text.isspace() and self._is_underlined(item, size):
            self.has_space = True  # the line below it is read as a blank
            return
        if not self.text:
            self._start(item, size)
            return
        own = self.size
        rise = item.y - self.baseline
        gap = left - self.last_right
        # boxes of characters differ from font to font: none in a larger font is small
        is_small = size < 0.86 * own and item.size <= 1.1 * self.points
        before = self.text[-1]
        if (item.text in _ACCENTS or before in _ACCENTS) and abs(rise) <= 0.6 * own and self._compose(item):
            return
        if before == "√" and self._is_under_root(item, rise, gap):
            return
        if (
            -(limit := (0.3 if self.has_break else 0.34) * own) <= rise <= limit
            # full-width brackets reach over their neighbours: the origin tells better than the box
            and (gap >= -0.6 * own or item.x >= self.last_x - 0.1 * own)
            and not (is_small and abs(rise) > 0.1 * own)
            # what began was a script or a part of a fraction
            and not (self.points < 0.86 * item.size and abs(rise) > 0.12 * size and self._hangs())
        ):
            if self.script:
                self._close_script()
            # less than a gap, and nothing that a space or a drawn line calls for
            if self.near or self.has_space or gap > 0.28 * own:
                self._space(gap, item)
            self.text.append(item.text)
            self._note(item)
        elif is_small and 0.08 * own < abs(rise) < 0.85 * own and self._may_script(item, rise > 0):
            if not self.script or self.script[-1].is_raised != (rise > 0):
                self.script.append(_Script(rise > 0, left, right))
            script = self.script[-1]
            script.text += item.text
            script.right = max(script.right, right)
            right = max(right, self.last_right) if len(self.script) > 1 else right
        else:
            self.finish()
            self._start(item, size)
            return
        self.heavy += item.is_heavy
        self.coloured += item.is_coloured
        box = self.box
        if len(self.text) == 2 and self.text[0].isspace():
            box[0] = left  # where its print begins
        if left < box[0]:
            box[0] = left
        if right > box[1]:
            box[1] = right
        if bottom < box[2]:
            box[2] = bottom
        if top > box[3]:
            box[3] = top
        self.last_right, self.last_x = right, item.x
        self.has_space = self.has_break = False

    def _note(self, item: Character) -> None:
        """Note what else than its text a character of the row tells."""
        if self.near:
            self._note_lined(item)
        if item.is_coloured:
            self._note_mark("colour")
        if item.is_heavy:
            self._note_mark("bold")
        if item.text in BIG_SIGNS:
            self.signs.append((len("".join(self.text)), item.left, item.right))

    def _note_lined(self, item: Character) -> None:
        for rule in self.near:
            if rule.low <= (item.left + item.right) / 2 <= rule.high:
                end = len("".join(self.text))
                self.lined.setdefault(rule, []).append((end - len(item.text), item.left, item.right))

    def _find_numbers(self, text: str, before: int) -> tuple[tuple[int, int], ...]:
        """The numbers that stand alone amid a drawn line, `before` characters later in the text."""
        found: list[tuple[int, int]] = []
        for rule, held in self.lined.items():
            first, last = held[0][0] + before, held[-1][0] + before + 1
            room = 0.5 * self.size
            if (
                text[first:last].isdecimal()
                and last - first <= _LONGEST_NUMBER
                and rule.low <= held[0][1] - room
                and rule.high >= held[-1][2] + room
            ):
                found.append((first, last))
        return tuple(found)

    def _note_mark(self, kind: str) -> None:
        """Note the stretch of the row that ends in its last part."""
        first = last = len(self.text) - 1
        place = next((at for at in (-1, -2) if len(self.marks) >= -at and self.marks[at][2] == kind), 0)
        if place:
            begun, before, _ = self.marks[place]
            if not "".join(self.text[before + 1 : last]).strip():
                first = begun
                del self.marks[place]
        self.marks.append((first, last, kind))

    def _is_under_root(self, item: Character, rise: float, gap: float) -> bool:
        """Take what begins under a root, or is its index; the sign itself hangs from nowhere."""
        if item.size < 0.75 * self.points:
            if not 0.2 * self.size < rise < self.size or item.left >= self.last_right:
                return False
            self.text[-1] = _ROOTS.get(item.text, raise_text(item.text) + "√")
            return True
        if abs(rise) > 0.6 * self.size or not -0.6 * self.size <= gap <= 0.3 * self.size:
            return False
        if len(self.text) == 1:
            self.baseline = item.y
        self.text.append(item.text)
        self._widen(item)
        return True

    def _widen(self, item: Character) -> None:
        box = self.box
        box[0], box[1] = min(box[0], item.left), max(box[1], item.right)
        box[2], box[3] = min(box[2], item.bottom), max(box[3], item.top)
        self.last_right, self.last_x = item.right, item.x
        self.heavy += item.is_heavy
        self.coloured += item.is_coloured
        self.has_space = self.has_break = False

    def _compose(self, item: Character) -> bool:
        """Write an accent into the character that it stands over; False where it stands over none."""
        middle = (item.left + item.right) / 2
        before = self.text[-1]
        accent, base = (item.text, before) if item.text in _ACCENTS else (before, item.text)
        may_bear = base[-1:].isalnum() if accent != _SLASH else category(base[-1:] or " ") == "Sm"
        if not may_bear or not self.last_x - 1 <= middle <= self.last_right + 1:
            return False
        if item.text in _ACCENTS:
            self.text[-1] = before + _ACCENTS[item.text]
        else:
            self.text[-1] = item.text + _ACCENTS[before]
            if len(self.text) == 1:
                self.baseline, self.size = item.y, (item.top - item.bottom) / 1.2
            self.last_right, self.last_x = max(self.last_right, item.right), item.x
        self.box[1], self.box[3] = max(self.box[1], item.right), max(self.box[3], item.top)
        self.has_space = self.has_break = False
        return True

    def _space(self, gap: float, item: Character) -> None:
        blank = self._find_blank(self.last_right, item.left, begins=True, ends=True)
        if blank:
            self.text.append(blank)
            return
        if not self.text or item.text.isspace() or (len(self.text) == 1 and self.text[0].isspace()):
            return
        if gap > 1.2 * self.size:
            # a wide gap separates columns or options: keep it visible as several spaces, one of which the file may write
            self.gaps.append((len("".join(self.text).rstrip()), self.last_right))
            written = len(self.text[-1]) - len(self.text[-1].rstrip())
            self.text.append(" " * (min(int(gap / (0.5 * self.size)), 12) - written))
        elif self.text[-1].isspace():
            return
        elif self.has_space or (
            gap > 0.28 * self.size and not (is_cjk(self.text[-1][-1]) and is_cjk(item.text))
        ):
            self.text.append(" ")

    def _is_underlined(self, item: Character, size: float) -> bool:
        return any(
            -0.5 * size <= rule.at - item.y <= 0.12 * size
            and rule.low <= item.left + 0.3 * size
            and rule.high >= item.right - 0.3 * size
            for rule in self.blanks
        )

    def _find_blank(self, first: float, last: float, *, begins: bool, ends: bool) -> str:
        """The blank that a line drawn between two places of the row stands for, or ''.

        It `begins` after the first of them, or `ends` before the last, or both.
        """
        half = 0.5 * self.size
        for rule in self.near:
            edges = [rule.low] * begins + [rule.high] * ends
            if all(first - half <= edge <= last + half for edge in edges):
                return "_" * max(4, min(int((rule.high - rule.low) / half), 12))
        return ""

    def _start(self, item: Character, size: float) -> None:
        self.text = [item.text]
        self.heavy, self.coloured, self.points = int(item.is_heavy), int(item.is_coloured), item.size
        self.baseline, self.size = item.y, size
        # the drawn lines that may be blanks of this row
        self.near = [rule for rule in self.blanks if -0.5 * size <= rule.at - item.y <= 0.12 * size]
        self.box = [item.left, item.right, item.bottom, item.top]
        self.last_right, self.last_x = item.right, item.x
        self.gaps, self.signs, self.marks, self.lined = [], [], [], {}
        self._note(item)
        self.has_space = self.has_break = False

    def _hangs(self) -> bool:
        """Whether the row so far is small print beside one of the last rows."""
        return any(
            self.points < 0.86 * row.points and abs(row.baseline - self.baseline) <= 1.5 * row.size
            for row in self.page.rows[-_NEAR:]
        )

    def _may_script(self, item: Character, is_raised: bool) -> bool:
        """Whether a script goes on here, or begins behind the row or under another script."""
        is_first = not self.script and self.text[-1][-1:] in _OPENS and item.text not in _CLOSES
        if is_first or self.text == ["|"]:
            return False  # the first row of a matrix, what follows a determinant
        left = item.left
        last = self.script[-1] if self.script else None
        may_stack = last is not None and last.is_raised != is_raised and not self.text[-1].startswith(IMAGE)
        if may_stack and last is not None and abs(left - last.left) <= 0.5 * self.size:
            return True
        right = last.right if last is not None and last.is_raised == is_raised else self.last_right
        return -0.5 * self.size <= left - right <= 0.7 * self.size

    def _close_script(self) -> None:
        """Write the scripts: two of which a line parts are a fraction."""
        if not self.script:
            return
        over, under = self.script[0], self.script[-1]
        if len(self.script) == 2 and over.is_raised and self._is_fraction(over, under):
            written = f"{bracket(over.text)}/{bracket(under.text)}"
            self.text.append(f" {written}" if self.text[-1][-1:].isalnum() else written)
        else:
            if self.text[-1][-1:] in BIG_SIGNS:
                self.script.sort(key=lambda one: one.is_raised)
            self.text += [
                raise_text(one.text) if one.is_raised else lower_text(one.text) for one in self.script
            ]
        self.script = []

    def _is_fraction(self, over: _Script, under: _Script) -> bool:
        left, right, slack = min(over.left, under.left), max(over.right, under.right), 0.3 * self.size
        return any(
            abs(bar.low - left) <= slack
            and abs(bar.high - right) <= slack
            and self.baseline <= bar.at <= self.baseline + 0.6 * self.size
            for bar in self.bars
        )

    def finish(self) -> None:
        self._close_script()
        text = "".join(self.text)
        before = 0
        if self.near and text.strip():
            # a blank at the end of a row begins where its text ends, one at the beginning ends where it begins
            left, right, reach = self.box[0], self.last_right, 1.5 * self.size
            blank = self._find_blank(left - reach, left, begins=False, ends=True)
            before = len(blank)
            text = blank + text.rstrip()
            text += self._find_blank(right, right + reach, begins=True, ends=False)
        if text.strip():
            ends = list(accumulate(map(len, self.text), initial=before)) if self.marks else []
            self.page.rows.append(
                Row(
                    text.rstrip(),
                    self.box[0],
                    self.box[1],
                    self.box[2],
                    self.box[3],
                    self.size,
                    points=self.points,
                    baseline=self.baseline,
                    gaps=tuple(self.gaps),
                    signs=tuple(self.signs),
                    is_bold=self.heavy >= BOLD_SHARE * len(text.replace(" ", "")),
                    is_coloured=self.coloured >= BOLD_SHARE * len(text.replace(" ", "")),
                    marks=tuple((ends[first], ends[last + 1], kind) for first, last, kind in self.marks),
                    underlined=self._find_numbers(text, before),
                    shown=text.rstrip(),
                )
            )
        self.text = []


def write_numbered_blanks(pages: Sequence[Page]) -> None:
    """Write the underlined numbers of a cloze as blanks, `__1__`, where they run on."""
    found = [
        (row, *span)
        for page in pages
        for row in page.rows
        if row.text == row.shown
        for span in row.underlined
    ]
    numbers = [int(row.text[first:last]) for row, first, last in found]
    if len(numbers) < _LEAST_NUMBERED or numbers != [*range(numbers[0], numbers[0] + len(numbers))]:
        return
    for row, first, last in reversed(found):
        row.text = f"{row.text[:first]}__{row.text[first:last]}__{row.text[last:]}"


# Fewer underlined numbers are what was filled in.
_LEAST_NUMBERED, _LONGEST_NUMBER = 3, 3


def settle_pictures(page: Page, pictures: Sequence[FoundPicture]) -> None:
    """Move the mark of a picture beside a paragraph to the end of the paragraph.

    That is before the next number, option or room for an answer: one that begins above such a room is the question's. A
    picture below all that was read before it stays where it is.
    """
    rows = page.rows
    for index in range(len(rows) - 1, -1, -1):
        place = index
        mark = PICTURE_MARK.fullmatch(rows[index].text)
        number = read_picture_number(mark) if mark else None
        if number is None:
            continue
        foot = pictures[number].box[3]
        is_beside = False
        while (
            place + 1 < len(rows)
            and not is_picture(rows[place + 1].text)
            and not rows[place + 1].cells
            and not starts_anew(rows[place + 1].text)
            and not _is_answer_mark(rows[place + 1])
        ):
            _, top, _, bottom = place_row(page.frame, rows[place + 1])
            is_beside = (top + bottom) / 2 < foot or (
                is_beside and not _ENDS_SENTENCE.search(rows[place - 1].text)
            )
            if not is_beside:
                break
            rows[place], rows[place + 1] = rows[place + 1], rows[place]
            place += 1
        if place and _is_answer_mark(rows[place - 1]):
            _, top, right, bottom = place_row(page.frame, rows[place - 1])
            left, begin, *_ = pictures[number].box
            if begin < (top + bottom) / 2 and left > right + _APART:
                rows[place - 1], rows[place] = rows[place], rows[place - 1]


def _is_answer_mark(row: Row) -> bool:
    """Whether a row opens the room for an answer and says nothing else."""
    return len(row.text) < 12 and ANSWER_MARK.fullmatch(row.text.strip()) is not None


# In thousandths of a page: what stands so far right of the mark of an answer is no part of its line.
_APART = 100
_ENDS_SENTENCE = re.compile(r"[。.！!？?：:；;）)]\s*$")
