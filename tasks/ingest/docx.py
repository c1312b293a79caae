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
from tasks.ingest.archives import open_package, read_part
from tasks.ingest.extraction import Extraction, Line
from tasks.ingest.formulas import render_omml
from tasks.ingest.numbering import Numbering, find_child, local_name, read_attribute, read_integer
from tasks.ingest.scripts import SYMBOL_FONT, lower_text, raise_text

WALKER_VERSION = "1"

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


class _Walker:
    def __init__(self, package: zipfile.ZipFile) -> None:
        self.package = package
        self.names = set(package.namelist())
        self.lines: list[Line] = []
        self.warnings: list[str] = []
        self.unknown_symbols = 0
        self.embedded_formulas = 0
        self.fields: list[list[str]] = []
        self.pending_boxes: list[etree._Element] = []
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
                f"{self.embedded_formulas} embedded formula objects cannot be read; they appear as [公式]."
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
            style = _Style(based_on=read_attribute(find_child(element, "basedOn"), "val"))
            number = find_child(find_child(element, "pPr"), "numPr")
            if number is not None:
                style.number_id = read_attribute(find_child(number, "numId"), "val")
                style.level = read_integer(find_child(number, "ilvl"))
            run = find_child(element, "rPr")
            style.is_hidden = _read_switch(run, "vanish")
            style.script = read_attribute(find_child(run, "vertAlign"), "val")
            style.underline = read_attribute(find_child(run, "u"), "val")
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
        label, text = self._read_paragraph(element)
        self._emit(label, text, kind)
        boxes, self.pending_boxes = self.pending_boxes, []
        for box in boxes:
            self._walk_blocks(box, "box")

    def _emit(self, label: str, text: str, kind: str) -> None:
        for index, piece in enumerate((label + text).split("\n")):
            self.lines.append(Line(piece, kind=kind, label_length=len(label) if index == 0 else 0))

    def _read_paragraph(self, element: etree._Element) -> tuple[str, str]:
        properties = find_child(element, "pPr")
        style = read_attribute(find_child(properties, "pStyle"), "val")
        text = self._read_runs(element, style)
        label = self._label(properties, style) if text.strip() or self._holds_object(element) else ""
        if label and text and not text[0].isspace():
            label += " "
        return label, text

    def _holds_object(self, element: etree._Element) -> bool:
        return any(local_name(node) in ("drawing", "pict", "object") for node in element.iter())

    def _label(self, properties: etree._Element | None, style: str | None) -> str:
        number = find_child(properties, "numPr")
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
        rows: list[list[list[tuple[str, str]]]] = []
        nested: list[tuple[int, etree._Element]] = []
        for row in _descend(element, "tr"):
            if find_child(find_child(row, "trPr"), "del") is not None:
                continue
            cells: list[list[tuple[str, str]]] = []
            for holder in _descend(row, "tc"):
                merged = find_child(find_child(holder, "tcPr"), "vMerge")
                if merged is not None and read_attribute(merged, "val") != "restart":
                    cells.append([])
                    continue
                paragraphs: list[tuple[str, str]] = []
                for block in _blocks(holder):
                    if local_name(block) == "tbl":
                        nested.append((len(rows), block))
                    else:
                        paragraphs.append(self._read_paragraph(block))
                cells.append([pair for pair in paragraphs if (pair[0] + pair[1]).strip()])
            rows.append(cells)
        boxes, self.pending_boxes = self.pending_boxes, []
        # A table with one column, or with several paragraphs in most rows, lays out text: read it as lines.
        columns = max((len(row) for row in rows), default=0)
        filled = [row for row in rows if any(row)]
        tall = sum(1 for row in filled if max(len(cell) for cell in row) > 3)
        is_layout = columns <= 1 or (bool(filled) and tall * 2 > len(filled))
        for index, line in enumerate(rows):
            if is_layout:
                for paragraphs in line:
                    for label, text in paragraphs:
                        self._emit(label, text, "body")
            elif any(line):
                texts = [" ".join((label + text).replace("\n", " ") for label, text in cell) for cell in line]
                self.lines.append(Line(" | ".join(texts), kind="table"))
            for place, inner in nested:
                if place == index:
                    self._walk_table(inner)
        for box in boxes:
            self._walk_blocks(box, "box")

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
        properties = find_child(run, "rPr")
        if self._resolve(properties, paragraph_style, "is_hidden"):
            return ""
        script = self._resolve(properties, paragraph_style, "script")
        underline = self._resolve(properties, paragraph_style, "underline")
        parts: list[str] = []
        for child in run:
            parts.append(self._read_run_child(child, properties, paragraph_style))
        text = "".join(parts)
        if self.fields and self.fields[-1][0] == "code":
            return ""
        if underline not in (None, "none") and text and not text.strip() and "\n" not in text:
            return "_" * max(4, min(len(text.replace("\t", "    ")), 12))
        if script == "superscript":
            return raise_text(text)
        if script == "subscript":
            return lower_text(text)
        return text

    def _read_run_child(
        self, child: etree._Element, properties: etree._Element | None, style: str | None
    ) -> str:
        name = local_name(child)
        if name == "instrText":
            if self.fields:
                self.fields[-1][1] += child.text or ""
            return ""
        if name == "fldChar":
            return self._step_field(read_attribute(child, "fldCharType"))
        if self.fields and self.fields[-1][0] == "code":
            return ""
        if name == "t":
            return child.text or ""
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
            return "[公式]"
        return ""

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
            if field == "is_hidden":
                direct = _read_switch(properties, "vanish")
            else:
                direct = read_attribute(
                    find_child(properties, "vertAlign" if field == "script" else "u"), "val"
                )
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


def _read_switch(properties: etree._Element | None, name: str) -> bool | None:
    element = find_child(properties, name)
    if element is None:
        return None
    return (read_attribute(element, "val") or "1") not in ("0", "false", "off")


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
