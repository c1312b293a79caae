"""Word documents (.docx, .docm): paragraphs as Word shows them, in reading order.

A walker of our own over the package: no library keeps automatic numbers, formulas, text boxes and
superscripts while leaving out hidden and deleted text. Macros are never run.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from dataclasses import dataclass

from lxml import etree

from schemas.errors import DocumentError
from tasks.ingest.readers.archives import open_package, read_part
from tasks.ingest.readers.emphasis import mark_text, take_marks
from tasks.ingest.readers.extraction import FORMULA, IMAGE, Extraction, Line
from tasks.ingest.readers.formulas import render_omml
from tasks.ingest.readers.numbering import (
    Numbering,
    find_child,
    index_children,
    local_name,
    read_attribute,
    read_integer,
)
from tasks.ingest.readers.scripts import SYMBOL_FONT, lower_text, raise_text
from tasks.ingest.words.headers import find_question_header

WALKER_VERSION = "2"
# Pictures lower or narrower than this (in English Metric Units, 12,700 to a point) are rules and dots.
MIN_PICTURE_EMU = 5 * 12_700

# Tick boxes and arrows that papers set in symbol fonts; every other private glyph is reported.
_SYMBOLS = {
    ("wingdings", 0xFC): "√",
    ("wingdings", 0xFB): "×",
    ("wingdings", 0xFE): "☑",
    ("wingdings", 0xFD): "☒",
    ("wingdings", 0xA8): "□",
    ("wingdings", 0x6F): "□",
    ("wingdings", 0xE0): "→",
    ("wingdings", 0xDF): "←",
    ("wingdings 2", 0x50): "√",
    ("wingdings 2", 0x4F): "×",
    ("wingdings 2", 0x52): "☑",
    ("wingdings 2", 0x54): "☒",
    ("wingdings 2", 0xA3): "□",
    ("wingdings 2", 0x3F): "×",
}
_SKIPPED = {"del", "moveFrom", "instrText", "delText", "delInstrText", "annotationRef", "rPr", "pPr", "sectPr",
            "proofErr", "bookmarkStart", "bookmarkEnd", "commentReference", "lastRenderedPageBreak", "fldData"}  # fmt: skip
_EQUATION_FIELD = re.compile(r"^\s*EQ\s", re.IGNORECASE)
_CIRCLE_FIELD = re.compile(r"\\o\s*\\ac\s*\(\s*[○◯]\s*[,，;；]\s*(\d+)\s*\)", re.IGNORECASE)

# The properties of a run that styles may set, and the elements that say so.
_SWITCHES = {"is_hidden": "vanish", "is_bold": "b"}
_VALUES = {"script": "vertAlign", "underline": "u", "colour": "color"}


def read_docx(data: bytes) -> Extraction:
    """Return the paragraphs, table rows and text boxes of a Word package.

    Raises:
        DocumentError: `corrupt`, `encrypted` or `zip_bomb`.
    """
    package = open_package(data)
    return _Walker(package).walk()


def parse_xml(data: bytes, part: str) -> etree._Element:
    """Parse one part of a package; a document type definition is refused, entities are never expanded.

    Raises:
        DocumentError: `corrupt` when the part is no well-formed XML or declares a document type.
    """
    head = data[:4096]
    if b"<!DOCTYPE" in head or b"<!\x00D\x00O\x00C\x00T\x00Y" in head:
        raise DocumentError(
            "corrupt", f"The part {part} declares a document type, which no office program writes."
        )
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, load_dtd=False)
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError(
            "corrupt", f"The part {part} is no well-formed XML. Save the document again."
        ) from error


@dataclass
class _Style:
    based_on: str | None = None
    number_id: str | None = None
    level: int | None = None
    is_hidden: bool | None = None
    script: str | None = None
    underline: str | None = None
    is_bold: bool | None = None
    colour: str | None = None


@dataclass
class _Paragraph:
    """A paragraph's automatic number, its text, and the stretches of the text that stand out."""

    label: str
    text: str
    emphasis: list[tuple[int, int, str]]

    @property
    def line(self) -> str:
        return self.label + self.text


@dataclass
class _Cell:
    """A cell of a table: its paragraphs, its text (a cell merged with the one above has that one's), its columns."""

    paragraphs: list[_Paragraph]
    text: str
    width: int


def _text_above(rows: list[list[_Cell]], column: int) -> str:
    place = 0
    for cell in rows[-1] if rows else []:
        if place == column:
            return cell.text
        place += cell.width
    return ""


# of a run: hidden, super- or subscript, underline, the ways in which it stands out, its symbol font or ''
_Look = tuple[bool, object, object, list[str], str]


class _Walker:
    def __init__(self, package: zipfile.ZipFile) -> None:
        self.package = package
        self.names = set(package.namelist())
        self.lines: list[Line] = []
        self.warnings: list[str] = []
        self.unknown_symbols = 0
        self.tables = 0
        self.question_width = 0
        self.embedded_formulas = 0
        self.fields: list[list[str]] = []
        self.pending_boxes: list[etree._Element] = []
        self.looks: dict[object, _Look] = {}
        self.main = self._find_main()
        self.folder = posixpath.dirname(self.main)
        self.styles = self._read_styles()
        self.numbering = Numbering(self._part("numbering.xml"))
        self.footnotes = self._read_notes("footnotes.xml") | {
            f"e{key}": value for key, value in self._read_notes("endnotes.xml").items()
        }

    def walk(self) -> Extraction:
        root = parse_xml(read_part(self.package, self.main), self.main)
        body = find_child(root, "body")
        if body is None:
            raise DocumentError("corrupt", "The document has no body. Save it again in Word.")
        self._walk_blocks(body, "body")
        if self.embedded_formulas:
            self.warnings.append(
                f"{self.embedded_formulas} embedded formula objects cannot be read; they appear as {FORMULA}."
            )
        if self.unknown_symbols:
            self.warnings.append(f"{self.unknown_symbols} characters of a symbol font have no known meaning.")
        if any(name.endswith("vbaProject.bin") for name in self.names):
            self.warnings.append("The document holds macros; they were not run.")
        return Extraction(
            converter="docx-walker",
            converter_version=WALKER_VERSION,
            lines=self.lines,
            warnings=self.warnings,
        )

    # Parts of the package

    def _find_main(self) -> str:
        if "_rels/.rels" in self.names:
            root = parse_xml(read_part(self.package, "_rels/.rels"), "_rels/.rels")
            for relation in root:
                if (relation.get("Type") or "").endswith("/officeDocument"):
                    return (relation.get("Target") or "").lstrip("/")
        if "word/document.xml" in self.names:
            return "word/document.xml"
        raise DocumentError("corrupt", "The package has no main document. Save it again in Word.")

    def _part(self, name: str) -> etree._Element | None:
        path = posixpath.join(self.folder, name)
        if path not in self.names:
            return None
        try:
            return parse_xml(read_part(self.package, path), path)
        except DocumentError as error:
            if error.code != "corrupt":
                raise
            self.warnings.append(f"The part {path} is damaged and was left out.")
            return None

    def _read_styles(self) -> dict[str, _Style]:
        styles: dict[str, _Style] = {}
        root = self._part("styles.xml")
        for element in root if root is not None else ():
            if local_name(element) != "style":
                continue
            parts = index_children(element)
            style = _Style(based_on=read_attribute(parts.get("basedOn"), "val"))
            number = find_child(parts.get("pPr"), "numPr")
            if number is not None:
                style.number_id = read_attribute(find_child(number, "numId"), "val")
                style.level = read_integer(find_child(number, "ilvl"))
            run = index_children(parts.get("rPr"))
            style.is_hidden = _read_switch(run.get("vanish"))
            style.script = read_attribute(run.get("vertAlign"), "val")
            style.underline = read_attribute(run.get("u"), "val")
            style.is_bold = _read_switch(run.get("b"))
            style.colour = read_attribute(run.get("color"), "val")
            styles[read_attribute(element, "styleId") or ""] = style
        return styles

    def _read_notes(self, name: str) -> dict[str, str]:
        root = self._part(name)
        notes: dict[str, str] = {}
        for element in root if root is not None else ():
            if read_attribute(element, "type") in (
                "separator",
                "continuationSeparator",
                "continuationNotice",
            ):
                continue
            text = "".join(
                node.text or ""
                for node in element.iter()
                if local_name(node) == "t" and not _is_deleted(node)
            ).strip()
            if text:
                notes[read_attribute(element, "id") or ""] = text
        return notes

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
        self._emit(self._read_paragraph(element), kind)
        boxes, self.pending_boxes = self.pending_boxes, []
        for box in boxes:
            self._walk_blocks(box, "box")

    def _emit(self, paragraph: _Paragraph, kind: str) -> None:
        if not paragraph.emphasis and "\n" not in paragraph.line:
            self.lines.append(Line(paragraph.line, kind=kind, label_length=len(paragraph.label)))
            return
        offset = -len(paragraph.label)
        for index, piece in enumerate(paragraph.line.split("\n")):
            emphasis = tuple(
                (max(first - offset, 0), min(last - offset, len(piece)), mark)
                for first, last, mark in paragraph.emphasis
                if last > offset and first < offset + len(piece)
            )
            length = len(paragraph.label) if index == 0 else 0
            self.lines.append(Line(piece, kind=kind, label_length=length, emphasis=emphasis))
            offset += len(piece) + 1

    def _read_paragraph(self, element: etree._Element, is_cell: bool = False) -> _Paragraph:
        properties = index_children(find_child(element, "pPr"))
        style = read_attribute(properties.get("pStyle"), "val")
        text, emphasis = take_marks(self._read_runs(element, style))
        # Word counts empty paragraphs of a list too; in a table their number is all that the cell shows
        label = self._label(properties.get("numPr"), style)
        if not (text.strip() or is_cell or self._holds_object(element)):
            label = ""
        if label and text and not text[0].isspace():
            label += " "
        return _Paragraph(label, text, emphasis)

    def _holds_object(self, element: etree._Element) -> bool:
        return any(local_name(node) in ("drawing", "pict", "object") for node in element.iter())

    def _label(self, number: etree._Element | None, style: str | None) -> str:
        number_id = read_attribute(find_child(number, "numId"), "val")
        level = read_integer(find_child(number, "ilvl"))
        if number_id is None:
            name = style
            for _ in range(20):
                known = self.styles.get(name or "")
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
        rows: list[list[_Cell]] = []
        nested: list[tuple[int, etree._Element]] = []
        for row in _descend(element, "tr"):
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
        self, row: etree._Element, above: list[list[_Cell]], nested: list[tuple[int, etree._Element]]
    ) -> list[_Cell]:
        cells: list[_Cell] = []
        column = 0
        for holder in _descend(row, "tc"):
            properties = find_child(holder, "tcPr")
            width = max(read_integer(find_child(properties, "gridSpan")) or 1, 1)
            merged = find_child(properties, "vMerge")
            if merged is not None and read_attribute(merged, "val") != "restart":
                cells.append(_Cell([], _text_above(above, column), width))
                column += width
                continue
            paragraphs: list[_Paragraph] = []
            for block in _blocks(holder):
                if local_name(block) == "tbl":
                    nested.append((len(above), block))
                else:
                    paragraphs.append(self._read_paragraph(block, is_cell=True))
            paragraphs = [paragraph for paragraph in paragraphs if paragraph.line.strip()]
            text = "\n".join(paragraph.line for paragraph in paragraphs)
            cells.append(_Cell(paragraphs, text, width))
            column += width
        return cells

    def _emit_row(self, cells: list[_Cell], texts: tuple[str, ...], number: int) -> None:
        text = ""
        emphasis: list[tuple[int, int, str]] = []
        for index, cell in enumerate(cells):
            text += " | " if index else ""
            for place, paragraph in enumerate(cell.paragraphs):
                text += " " if place else ""
                shift = len(text) + len(paragraph.label)
                emphasis += [(first + shift, last + shift, kind) for first, last, kind in paragraph.emphasis]
                text += paragraph.line.replace("\n", " ")
        self.lines.append(Line(text, kind="table", cells=texts, table=number, emphasis=tuple(emphasis)))

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
                base = find_child(child, "rubyBase")
                if base is not None:
                    parts.append(self._read_runs(base, style))
            else:
                parts.append(self._read_runs(child, style))
        return "".join(parts)

    def _read_simple_field(self, element: etree._Element, style: str | None) -> str:
        circled = _CIRCLE_FIELD.search(read_attribute(element, "instr") or "")
        if circled:
            return _circle(circled.group(1))
        return self._read_runs(element, style)

    def _read_run(self, run: etree._Element, paragraph_style: str | None) -> str:
        children = [(local_name(child), child) for child in run]
        properties = next((child for name, child in children if name == "rPr"), None)
        is_hidden, script, underline, emphasis, font = self._read_look(properties, paragraph_style)
        if is_hidden:
            return ""
        parts: list[str] = []
        for name, child in children:
            if name == "t" and not self.fields:
                parts.append(_read_symbols(child.text or "", font))
            elif name != "rPr":
                parts.append(self._read_run_child(name, child, font, paragraph_style))
        text = "".join(parts)
        if self.fields and self.fields[-1][0] == "code":
            return ""
        if underline not in (None, "none") and text and not text.strip() and "\n" not in text:
            return "_" * max(4, min(len(text.replace("\t", "    ")), 12))
        if script == "superscript":
            text = raise_text(text)
        elif script == "subscript":
            text = lower_text(text)
        return mark_text(text, emphasis)

    def _read_look(self, properties: etree._Element | None, paragraph_style: str | None) -> _Look:
        """Return how a run looks; a paper has few looks and many runs, so every look is resolved once."""
        shape = (
            tuple([(child.tag, *child.items()) for child in properties]) if properties is not None else None
        )
        look = self.looks.get((shape, paragraph_style))
        if look is None:
            underline = self._resolve(properties, paragraph_style, "underline")
            look = (
                bool(self._resolve(properties, paragraph_style, "is_hidden")),
                self._resolve(properties, paragraph_style, "script"),
                underline,
                self._find_emphasis(properties, paragraph_style, underline),
                _read_font(properties),
            )
            self.looks[(shape, paragraph_style)] = look
        return look

    def _find_emphasis(
        self, properties: etree._Element | None, paragraph_style: str | None, underline: object
    ) -> list[str]:
        kinds = ["bold"] if self._resolve(properties, paragraph_style, "is_bold") else []
        colour = str(self._resolve(properties, paragraph_style, "colour") or "auto")
        if colour != "auto" and not _is_dark(colour):
            kinds.append("colour")
        if underline not in (None, "none"):
            kinds.append("underline")
        shading = (read_attribute(find_child(properties, "shd"), "fill") or "auto").casefold()
        highlight = read_attribute(find_child(properties, "highlight"), "val") or "none"
        if highlight not in ("none", "white") or shading not in ("auto", "ffffff"):
            kinds.append("highlight")
        return kinds

    def _read_run_child(self, name: str, child: etree._Element, font: str, style: str | None) -> str:
        if name == "instrText":
            if self.fields:
                self.fields[-1][1] += child.text or ""
            return ""
        if name == "fldChar":
            return self._step_field(read_attribute(child, "fldCharType"))
        if self.fields and self.fields[-1][0] == "code":
            return ""
        if name == "t":
            return _read_symbols(child.text or "", font)
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
            note = self.footnotes.get(key)
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
            circled = _CIRCLE_FIELD.search(code)
            if circled:
                return _circle(circled.group(1))
            if state == "code" and _EQUATION_FIELD.match(code):
                return _render_equation_field(code)
        return ""

    def _read_object(self, element: etree._Element, style: str | None) -> str:
        name = local_name(element)
        if name == "ruby":
            base = find_child(element, "rubyBase")
            return self._read_runs(base, style) if base is not None else ""
        if name == "AlternateContent":
            chosen = find_child(element, "Choice")
            chosen = chosen if chosen is not None else find_child(element, "Fallback")
            return "".join(self._read_object(child, style) for child in chosen) if chosen is not None else ""
        for node in element.iter():
            if local_name(node) == "txbxContent" and not any(
                local_name(ancestor) == "Fallback" or (local_name(ancestor) == "txbxContent")
                for ancestor in node.iterancestors()
                if _is_inside(ancestor, element)
            ):
                self.pending_boxes.append(node)
        if any(
            local_name(node) == "OLEObject"
            and (node.get("ProgID") or "").lower().startswith(("equation", "mathtype"))
            for node in element.iter()
        ):
            self.embedded_formulas += 1
            return FORMULA
        return IMAGE if _shows_picture(element) else ""

    def _read_symbol(self, element: etree._Element) -> str:
        font = (read_attribute(element, "font") or "").casefold()
        try:
            code = int(read_attribute(element, "char") or "", 16)
        except ValueError:
            return ""
        low = code & 0xFF if 0xF000 <= code <= 0xF0FF else code
        known = _SYMBOLS.get((font, low)) or (SYMBOL_FONT.get(low) if font == "symbol" else None)
        if known:
            return known
        if font == "symbol" and 0x20 <= low < 0x7F:
            return chr(low)
        if code < 0xE000 or code > 0xF8FF:
            return chr(code)
        self.unknown_symbols += 1
        return "□" if "wingdings" in font else "\ufffd"

    def _resolve(self, properties: etree._Element | None, paragraph_style: str | None, field: str) -> object:
        direct: object = None
        if properties is not None:
            if field in _SWITCHES:
                direct = _read_switch(find_child(properties, _SWITCHES[field]))
            else:
                direct = read_attribute(find_child(properties, _VALUES[field]), "val")
        if direct is not None:
            return direct
        for name in (read_attribute(find_child(properties, "rStyle"), "val"), paragraph_style):
            for _ in range(20):
                style = self.styles.get(name or "")
                if style is None:
                    break
                value = getattr(style, field)
                if value is not None:
                    return value
                name = style.based_on
        return None


def _read_switch(element: etree._Element | None) -> bool | None:
    if element is None:
        return None
    return (read_attribute(element, "val") or "1") not in ("0", "false", "off")


def _read_font(properties: etree._Element | None) -> str:
    """The symbol font that a run is set in, or ''."""
    fonts = find_child(properties, "rFonts")
    font = (read_attribute(fonts, "ascii") or read_attribute(fonts, "hAnsi") or "").casefold()
    return font if font == "symbol" or font.startswith("wingdings") else ""


def _read_symbols(text: str, font: str) -> str:
    """Characters set in a symbol font show its signs: `ü` in Wingdings is a tick, `Ö` in Symbol a root sign."""
    if not font:
        return text
    shown: list[str] = []
    for character in text:
        code = ord(character)
        low = code & 0xFF if 0xF000 <= code <= 0xF0FF else code
        known = SYMBOL_FONT.get(low) if font == "symbol" else _SYMBOLS.get((font, low))
        shown.append(known or character)
    return "".join(shown)


def _is_dark(colour: str) -> bool:
    """Whether a colour (six hexadecimal digits) prints as black."""
    try:
        value = int(colour, 16)
    except ValueError:
        return True
    return max(value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF) < 0x50


def _is_deleted(node: etree._Element) -> bool:
    return any(local_name(ancestor) in ("del", "moveFrom") for ancestor in node.iterancestors())


def _is_inside(node: etree._Element, root: etree._Element) -> bool:
    return node is root or any(ancestor is root for ancestor in node.iterancestors())


def _descend(element: etree._Element, name: str) -> list[etree._Element]:
    found: list[etree._Element] = []
    for child in element:
        child_name = local_name(child)
        if child_name == name:
            found.append(child)
        elif child_name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            found.extend(_descend(child, name))
    return found


def _shows_picture(element: etree._Element) -> bool:
    """Whether a drawing shows a picture, chart or diagram (not only lines and text boxes), at a size to be read."""
    for node in element.iter():
        name = local_name(node)
        if name == "extent" and node.get("cx") and node.get("cy"):
            try:
                if min(int(node.get("cx") or 0), int(node.get("cy") or 0)) < MIN_PICTURE_EMU:
                    return False
            except ValueError:
                continue
        if name in ("blip", "imagedata", "chart", "relIds", "OLEObject") and not any(
            local_name(ancestor) == "txbxContent"
            for ancestor in node.iterancestors()
            if _is_inside(ancestor, element)
        ):
            return True
    return False


def _blocks(cell: etree._Element) -> list[etree._Element]:
    found: list[etree._Element] = []
    for child in cell:
        name = local_name(child)
        if name in ("p", "tbl"):
            found.append(child)
        elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            found.extend(_blocks(child))
    return found


def _circle(digits: str) -> str:
    value = int(digits)
    return chr(0x2460 + value - 1) if 1 <= value <= 20 else f"({value})"


def _render_equation_field(code: str) -> str:
    r"""Turn the commonest EQ fields into LaTeX: \f fractions and \r roots; other switches lose their marks."""
    text = _EQUATION_FIELD.sub("", code).strip()
    for _ in range(8):
        changed = re.sub(r"\\f\s*\(([^(),]*),([^(),]*)\)", r"\\frac{\1}{\2}", text, flags=re.IGNORECASE)
        changed = re.sub(r"\\r\s*\(\s*,?([^(),]*)\)", r"\\sqrt{\1}", changed, flags=re.IGNORECASE)
        changed = re.sub(r"\\r\s*\(([^(),]+),([^(),]*)\)", r"\\sqrt[\1]{\2}", changed, flags=re.IGNORECASE)
        if changed == text:
            break
        text = changed
    return re.sub(r"\\(?:s|o|a|b|x|i|l|d)(?:\\[a-z]+\d*)*\s*\(([^()]*)\)", r"\1", text)
