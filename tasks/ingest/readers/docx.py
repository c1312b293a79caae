"""Word documents (.docx, .docm): paragraphs as Word shows them, in reading order.

A walker of our own over the package: no library keeps automatic numbers, formulas, text boxes and
superscripts while leaving out hidden and deleted text. Macros are never run.
"""

from __future__ import annotations

import zipfile
from dataclasses import replace

from lxml import etree

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.archives import open_package
from tasks.ingest.readers.docx_elements import (
    CIRCLE_FIELD,
    Cell,
    Paragraph,
    Parts,
    blocks,
    circle,
    descend,
    float_above,
    read_symbols,
    shows_picture,
    stands_above,
    text_above,
    walk_object,
)
from tasks.ingest.readers.docx_styles import Print, Styles, is_shaded
from tasks.ingest.readers.emphasis import mark_text, take_marks, write_blank
from tasks.ingest.readers.equation_fields import EQUATION_FIELD, render_equation_field
from tasks.ingest.readers.extraction import (
    FORMULA,
    IMAGE,
    PICTURE_MARK,
    PLAIN,
    Extraction,
    FoundPicture,
    Line,
)
from tasks.ingest.readers.formulas import render_omml
from tasks.ingest.readers.numbering import (
    Numbering,
    find_child,
    index_children,
    local_name,
    read_attribute,
    read_integer,
)
from tasks.ingest.readers.scripts import find_glyph, lower_text, raise_text
from tasks.ingest.readers.word_drawings import is_drawn, list_holders, list_loose
from tasks.ingest.words.answers import match_answer
from tasks.ingest.words.columns import find_question_header

WALKER_VERSION = "2"
# A picture after the letter of an option is that option, wherever it floats.
_LABELS_OPTION = re.compile(r"(?<![A-Za-z])[A-Ha-h]\s*[.．、)）:：]?\s*$")
_SKIPPED = {"del", "moveFrom", "instrText", "delText", "delInstrText", "annotationRef", "rPr", "pPr", "sectPr",
            "proofErr", "bookmarkStart", "bookmarkEnd", "commentReference", "lastRenderedPageBreak", "fldData"}  # fmt: skip


def read_docx(data: bytes) -> Extraction:
    """Return the paragraphs, table rows and text boxes of a Word package.

    Raises:
        DocumentError: `corrupt`, `encrypted` or `zip_bomb`.
    """
    extraction = _Walker(open_package(data)).walk()
    if extraction.pictures:
        extraction.package = data
    return extraction


def read_pictures(data: bytes) -> list[bytes]:
    """The pictures that a Word package shows, in the order of its text.

    Raises:
        DocumentError: as `read_docx` does.
    """
    return Parts(open_package(data)).read_pictures()


def count_pages(data: bytes) -> int:
    """How many pictures of a Word package are as large as a page.

    Raises:
        DocumentError: as `read_docx` does.
    """
    return Parts(open_package(data)).count_pages()


class _Walker:
    def __init__(self, package: zipfile.ZipFile) -> None:
        self.parts = Parts(package)
        self.extraction = Extraction("docx-walker", WALKER_VERSION, warnings=self.parts.warnings)
        self.lines = self.extraction.lines
        self.warnings = self.extraction.warnings
        self.unknown_symbols = 0
        self.tables = 0
        self.question_width = 0
        self.embedded_formulas = 0
        self.fields: list[list[str]] = []
        self.pending_boxes: list[etree._Element] = []
        # the marks of the pictures that float, and whether above all of their paragraph
        self.floating: dict[str, bool] = {}
        # how much text of the paragraph at hand is printed in which size and weight
        self.prints: dict[Print, int] = {}
        # the shapes of the paragraph at hand that are a figure together, and its mark once it was met
        self.loose: list[etree._Element] = []
        self.holders: dict[etree._Element, int] = {}
        self.styles = Styles(self.parts.read("styles.xml"))
        self.numbering = Numbering(self.parts.read("numbering.xml"))
        self.footnotes = self.parts.read_notes("footnotes.xml") | {
            f"e{key}": value for key, value in self.parts.read_notes("endnotes.xml").items()
        }

    def walk(self) -> Extraction:
        root = self.parts.read_main()
        self.holders = {holder: at for at, holder in enumerate(list_holders(root))}
        body = find_child(root, "body")
        if body is None:
            raise DocumentError("corrupt", "The document has no body. Save it again in Word.")
        self._walk_blocks(body, "body")
        _write_numbered_blanks(self.lines)
        if self.embedded_formulas:
            self.warnings.append(
                f"{self.embedded_formulas} embedded formula objects cannot be read; they appear as {FORMULA}."
            )
        if self.unknown_symbols:
            self.warnings.append(f"{self.unknown_symbols} characters of a symbol font have no known meaning.")
        if any(name.endswith("vbaProject.bin") for name in self.parts.names):
            self.warnings.append("The document holds macros; they were not run.")
        return self.extraction

    # Blocks

    def _walk_blocks(self, parent: etree._Element, kind: str) -> None:
        for element in parent:
            name = local_name(element)
            if name == "p":
                self._walk_paragraph(element, kind)
            elif name == "tbl":
                self._walk_table(element)
            elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag", "altChunk"):
                self._walk_blocks(element, kind)
            elif name == "AlternateContent":
                chosen = find_child(element, "Choice")
                chosen = chosen if chosen is not None else find_child(element, "Fallback")
                if chosen is not None:
                    self._walk_blocks(chosen, kind)

    def _walk_paragraph(self, element: etree._Element, kind: str) -> None:
        paragraph = self._read_paragraph(element)
        boxes, self.pending_boxes = self.pending_boxes, []
        above = [box for box in boxes if stands_above(box)]
        for box in above:
            self._walk_blocks(box, "box")
        self._emit_floating(kind, is_above=True)
        self._emit(paragraph, kind)
        self._emit_floating(kind, is_above=False)
        for box in boxes:
            if box not in above:
                self._walk_blocks(box, "box")

    def _emit_floating(self, kind: str, *, is_above: bool) -> None:
        """Write the pictures that float above a paragraph, or beside it, on a line of their own."""
        marks = [mark for mark, above in self.floating.items() if above == is_above]
        for mark in marks:
            del self.floating[mark]
        if marks:
            self.lines.append(Line("".join(marks), kind=kind))

    def _emit(self, paragraph: Paragraph, kind: str) -> None:
        look = paragraph.look if kind != "box" else replace(paragraph.look, frame="box")
        if not paragraph.emphasis and "\n" not in paragraph.line:
            self.lines.append(Line(paragraph.line, kind=kind, label_length=len(paragraph.label), look=look))
            return
        offset = -len(paragraph.label)
        for index, piece in enumerate(paragraph.line.split("\n")):
            emphasis = tuple(
                (max(first - offset, 0), min(last - offset, len(piece)), mark)
                for first, last, mark in paragraph.emphasis
                if last > offset and first < offset + len(piece)
            )
            length = len(paragraph.label) if index == 0 else 0
            self.lines.append(Line(piece, kind=kind, label_length=length, emphasis=emphasis, look=look))
            offset += len(piece) + 1

    def _read_paragraph(self, element: etree._Element, is_cell: bool = False) -> Paragraph:
        properties = index_children(find_child(element, "pPr"))
        style = read_attribute(properties.get("pStyle"), "val")
        self.prints = {}
        self.loose = list_loose(element)
        text, emphasis = take_marks(self._leave_floating(self._read_runs(element, style), is_cell))
        look = self.styles.describe(properties, style, self.prints, "cell" if is_cell else "")
        # Word counts empty paragraphs of a list too; in a table their number is all that the cell shows
        label = self._label(properties.get("numPr"), style)
        if not (text.strip() or is_cell or self._holds_object(element)):
            label = ""
        if label and text and not text[0].isspace():
            label += " "
        return Paragraph(label, text, emphasis, look)

    def _leave_floating(self, text: str, is_cell: bool) -> str:
        """The text without the pictures that float beside it; where it shows no more they stay."""
        if not self.floating:
            return text
        if is_cell or not PICTURE_MARK.sub("", text).strip():
            self.floating.clear()
            return text

        def settle(mark: re.Match[str]) -> str:
            if mark[0] in self.floating and not _LABELS_OPTION.search(text[: mark.start()]):
                return ""
            self.floating.pop(mark[0], None)
            return mark[0]

        return PICTURE_MARK.sub(settle, text)

    def _holds_object(self, element: etree._Element) -> bool:
        return any(local_name(node) in ("drawing", "pict", "object") for node in element.iter())

    def _label(self, number: etree._Element | None, style: str | None) -> str:
        number_id = read_attribute(find_child(number, "numId"), "val")
        level = read_integer(find_child(number, "ilvl"))
        if number_id is None:
            name = style
            for _ in range(20):
                known = self.styles.by_id.get(name or "")
                if known is None:
                    break
                if known.number_id is not None:
                    number_id = known.number_id
                    linked = self.numbering.style_levels.get(name or "")
                    level = level if level is not None else known.level
                    if level is None and linked is not None and linked[0] == number_id:
                        level = linked[1]
                    break
                name = known.based_on
        if number_id in (None, "0"):
            return ""
        return self.numbering.next_label(number_id or "", level or 0)

    def _walk_table(self, element: etree._Element) -> None:
        rows: list[list[Cell]] = []
        nested: list[tuple[int, etree._Element]] = []
        for row in descend(element, "tr"):
            if find_child(find_child(row, "trPr"), "del") is None:
                rows.append(self._read_row(row, rows, nested))
        boxes, self.pending_boxes = self.pending_boxes, []
        self.tables += 1
        number = self.tables
        grid = [[text for cell in row for text in (cell.text, *[""] * (cell.width - 1))] for row in rows]
        width = max((len(row) for row in grid), default=0)
        grid = [[*row, *[""] * (width - len(row))] for row in grid]
        if find_question_header(grid) is not None:
            self.question_width = width
        # A table with one column, or with several paragraphs in most rows, lays out text: read it as lines.
        filled = [row for row in rows if any(cell.paragraphs for cell in row)]
        tall = sum(1 for row in filled if max(len(cell.paragraphs) for cell in row) > 3)
        columns = max((len(row) for row in rows), default=0)
        is_layout = columns <= 1 or (
            bool(filled) and tall * 2 > len(filled) and not (self.question_width == width > 2)
        )
        for index, line in enumerate(rows):
            if is_layout:
                for cell in line:
                    for paragraph in cell.paragraphs:
                        self._emit(paragraph, "body")
            elif any(cell.paragraphs for cell in line):
                self._emit_row(line, tuple(grid[index]), number)
            for place, inner in nested:
                if place == index:
                    self._walk_table(inner)
        for box in boxes:
            self._walk_blocks(box, "box")

    def _read_row(
        self, row: etree._Element, above: list[list[Cell]], nested: list[tuple[int, etree._Element]]
    ) -> list[Cell]:
        cells: list[Cell] = []
        column = 0
        for holder in descend(row, "tc"):
            properties = find_child(holder, "tcPr")
            width = max(read_integer(find_child(properties, "gridSpan")) or 1, 1)
            merged = find_child(properties, "vMerge")
            if merged is not None and read_attribute(merged, "val") != "restart":
                cells.append(Cell([], text_above(above, column), width))
                column += width
                continue
            paragraphs: list[Paragraph] = []
            for block in blocks(holder):
                if local_name(block) == "tbl":
                    nested.append((len(above), block))
                else:
                    paragraphs.append(self._read_paragraph(block, is_cell=True))
            paragraphs = [paragraph for paragraph in paragraphs if paragraph.line.strip()]
            if is_shaded(properties):
                for one in paragraphs:
                    one.emphasis.append((0, len(one.text), "highlight"))
            text = "\n".join(paragraph.line for paragraph in paragraphs)
            cells.append(Cell(paragraphs, text, width))
            column += width
        return cells

    def _emit_row(self, cells: list[Cell], texts: tuple[str, ...], number: int) -> None:
        text = ""
        emphasis: list[tuple[int, int, str]] = []
        looks = [paragraph.look for cell in cells for paragraph in cell.paragraphs]
        for index, cell in enumerate(cells):
            text += " | " if index else ""
            for place, paragraph in enumerate(cell.paragraphs):
                text += " " if place else ""
                shift = len(text) + len(paragraph.label)
                emphasis += [(first + shift, last + shift, kind) for first, last, kind in paragraph.emphasis]
                text += paragraph.line.replace("\n", " ")
        look = looks[0] if looks else PLAIN
        if not all(one.is_bold for one in looks):
            look = replace(look, is_bold=False)
        self.lines.append(
            Line(text, kind="table", cells=texts, table=number, emphasis=tuple(emphasis), look=look)
        )

    # Runs

    def _read_runs(self, parent: etree._Element, style: str | None) -> str:
        parts: list[str] = []
        for child in parent:
            name = local_name(child)
            if name in _SKIPPED or not name:
                continue
            if name == "r":
                parts.append(self._read_run(child, style))
            elif name in ("oMath", "oMathPara"):
                parts.append(render_omml(child))
            elif name == "fldSimple":
                parts.append(self._read_simple_field(child, style))
            elif name == "AlternateContent":
                chosen = find_child(child, "Choice")
                chosen = chosen if chosen is not None else find_child(child, "Fallback")
                if chosen is not None:
                    parts.append(self._read_runs(chosen, style))
            elif name == "ruby":
                parts.append(self._read_object(child, style))
            elif name == "sdt" and find_child(find_child(child, "sdtPr"), "showingPlcHdr") is not None:
                parts.append("____")  # `Click here to enter text`
            else:
                parts.append(self._read_runs(child, style))
        return "".join(parts)

    def _read_simple_field(self, element: etree._Element, style: str | None) -> str:
        circled = CIRCLE_FIELD.search(read_attribute(element, "instr") or "")
        if circled:
            return circle(circled.group(1))
        return self._read_runs(element, style)

    def _read_run(self, run: etree._Element, paragraph_style: str | None) -> str:
        children = [(local_name(child), child) for child in run]
        properties = next((child for name, child in children if name == "rPr"), None)
        is_hidden, script, underline, emphasis, font, printed = self.styles.read_look(
            properties, paragraph_style
        )
        if is_hidden:
            return ""
        parts: list[str] = []
        for name, child in children:
            if name == "t" and not self.fields:
                parts.append(read_symbols(child.text or "", font))
            elif name == "instrText" and self.fields:
                self.fields[-1][1] += _set_script(child.text or "", script)
            elif name != "rPr":
                parts.append(self._read_run_child(name, child, font, paragraph_style))
        text = "".join(parts)
        if self.fields and self.fields[-1][0] == "code":
            return ""
        if self.fields and text.strip():
            self.fields[-1][0] = "shown"
        self.prints[printed] = self.prints.get(printed, 0) + len(text.strip())
        if underline not in (None, "none") and text and not text.strip() and "\n" not in text:
            return write_blank(text)
        return mark_text(_set_script(text, script), emphasis)

    def _read_run_child(self, name: str, child: etree._Element, font: str, style: str | None) -> str:
        if name == "fldChar":
            return self._step_field(read_attribute(child, "fldCharType"))
        if self.fields and self.fields[-1][0] == "code":
            return ""
        if name == "t":
            return read_symbols(child.text or "", font)
        if name in ("tab", "ptab"):
            return "\t"
        if name in ("br", "cr"):
            return "\n"
        if name == "noBreakHyphen":
            return "-"
        if name == "sym":
            return self._read_symbol(child)
        if name in ("footnoteReference", "endnoteReference"):
            key = ("e" if name == "endnoteReference" else "") + (read_attribute(child, "id") or "")
            note = self.footnotes.get(key, "")
            if match_answer(note):
                return f"【{note}】"
            return f"[注：{note}]" if note else ""
        if name in ("drawing", "pict", "object", "AlternateContent", "ruby"):
            return self._read_object(child, style)
        if name in _SKIPPED:
            return ""
        return ""

    def _step_field(self, step: str | None) -> str:
        if step == "begin":
            self.fields.append(["code", ""])
        elif step == "separate" and self.fields:
            self.fields[-1][0] = "result"
        elif step == "end" and self.fields:
            state, code = self.fields.pop()
            circled = CIRCLE_FIELD.search(code)
            if circled:
                return circle(circled.group(1))
            if state != "shown" and EQUATION_FIELD.match(code):
                shown = render_equation_field(code)
                if self.fields and self.fields[-1][0] == "code":
                    self.fields[-1][1] += shown
                return shown
        return ""

    def _read_object(self, element: etree._Element, style: str | None) -> str:
        name = local_name(element)
        if name == "ruby":
            # the sound that is printed above: `慷(kāng)慨`
            base, sound = (
                self._read_runs(part, style) if (part := find_child(element, half)) is not None else ""
                for half in ("rubyBase", "rt")
            )
            return f"{base}({sound})" if sound.strip() else base
        if name == "AlternateContent":
            boxes = len(self.pending_boxes)
            for chosen in (find_child(element, "Choice"), find_child(element, "Fallback")):
                shown = "".join(
                    self._read_object(child, style) for child in (chosen if chosen is not None else ())
                )
                if shown or len(self.pending_boxes) > boxes or _holds_shapes(chosen):
                    return shown
            return ""
        if element in self.loose or is_drawn(element):
            return self._mark_drawn(element)
        is_formula = False
        for node, is_fallback in walk_object(element):
            inner = local_name(node)
            if inner == "txbxContent" and not is_fallback:
                self.pending_boxes.append(node)
            elif inner == "OLEObject":
                program = (node.get("ProgID") or "").lower()
                is_formula = is_formula or program.startswith(("equation", "mathtype"))
        if is_formula:
            return self._mark_formula(element)
        return self._mark_pictures(element) if shows_picture(element) else ""

    def _mark_formula(self, element: etree._Element) -> str:
        """The mark of a formula object, which programs show by the picture that it brings."""
        for part, alt_text in self.parts.list_pictures(element):
            return self.extraction.add_picture(FoundPicture(part=part, alt_text=alt_text, is_formula=True))
        self.embedded_formulas += 1
        return FORMULA

    def _mark_drawn(self, element: etree._Element) -> str:
        """The mark of what shapes draw; of several that are a figure together the first has it."""
        own = self.loose if element in self.loose else [element]
        if element is not own[0]:
            return ""
        drawn = tuple(self.holders[one] for one in own)
        alt_text = next((node.get("descr") for node in element.iter() if node.get("descr")), None)
        mark = self.extraction.add_picture(FoundPicture(drawn=drawn, alt_text=alt_text))
        is_above = float_above(element)
        if is_above is not None:
            self.floating[mark] = is_above
        return mark

    def _mark_pictures(self, element: etree._Element) -> str:
        """The marks of the pictures that a drawing shows, or one for what is not in the package."""
        marks = [
            self.extraction.add_picture(FoundPicture(part=part, alt_text=alt_text))
            for part, alt_text in self.parts.list_pictures(element)
        ]
        is_above = float_above(element)
        if is_above is not None:
            self.floating.update(dict.fromkeys(marks, is_above))
        return "".join(marks) or IMAGE

    def _read_symbol(self, element: etree._Element) -> str:
        font = (read_attribute(element, "font") or "").casefold()
        try:
            code = int(read_attribute(element, "char") or "", 16)
        except ValueError:
            return ""
        known = find_glyph(font, code)
        if known:
            return known
        if code < 0xE000 or code > 0xF8FF:
            return chr(code)
        self.unknown_symbols += 1
        return "□" if "wingdings" in font else "\ufffd"


def _holds_shapes(chosen: etree._Element | None) -> bool:
    """Whether programs show shapes there, and nothing of what only older ones do: no ink."""
    return chosen is not None and any(local_name(node) in ("wsp", "wgp", "wpc") for node in chosen.iter())


def _set_script(text: str, script: object) -> str:
    if script == "superscript":
        return raise_text(text)
    return lower_text(text) if script == "subscript" else text


_NUMBERED_BLANK = re.compile(r"\s+(\d{1,3})\s+")
_LEAST_NUMBERED = 3


def _write_numbered_blanks(lines: list[Line]) -> None:
    """Write the underlined numbers of a cloze as blanks, `__1__`, where they run on."""
    found = [
        (place, span, int(match[1]))
        for place, line in enumerate(lines)
        for span in (line.emphasis if not line.cells else ())
        if span[2] == "underline" and (match := _NUMBERED_BLANK.fullmatch(line.text, *span[:2]))
    ]
    numbers = [number for _, _, number in found]
    if len(found) < _LEAST_NUMBERED or numbers != [*range(numbers[0], numbers[0] + len(found))]:
        return
    for place, span, _ in found:
        first, last, _ = span
        line = lines[place]
        blank = re.sub(r"\s", "_", line.text[first:last])
        lines[place] = replace(
            line,
            text=line.text[:first] + blank + line.text[last:],
            emphasis=tuple(other for other in line.emphasis if other[:2] != span[:2]),
        )
