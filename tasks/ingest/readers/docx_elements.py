"""The parts of a Word package and the elements of its document, parsed without trust."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.archives import read_part
from tasks.ingest.readers.extraction import PLAIN, Look
from tasks.ingest.readers.numbering import find_child, local_name, read_attribute, read_integer
from tasks.ingest.readers.scripts import find_glyph

# Pictures lower or narrower than this (in English Metric Units, 12,700 to a point) are rules and dots.
MIN_PICTURE_EMU = 5 * 12_700


def parse_xml(data: bytes, part: str) -> etree._Element:
    """Parse one part of a package.

    A document type definition is refused, entities are never expanded.

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


def is_deleted(node: etree._Element) -> bool:
    """Whether a node lies in deleted or moved text."""
    return any(local_name(ancestor) in ("del", "moveFrom") for ancestor in node.iterancestors())


def descend(element: etree._Element, name: str) -> list[etree._Element]:
    """The children with this local name, those in wrappers included."""
    found: list[etree._Element] = []
    for child in element:
        child_name = local_name(child)
        if child_name == name:
            found.append(child)
        elif child_name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            found.extend(descend(child, name))
    return found


def shows_picture(element: etree._Element) -> bool:
    """Whether a drawing shows a picture, chart or diagram, at a size to be read."""
    for node, _ in walk_object(element):
        name = local_name(node)
        if name == "extent" and node.get("cx") and node.get("cy"):
            try:
                if min(int(node.get("cx") or 0), int(node.get("cy") or 0)) < MIN_PICTURE_EMU:
                    return False
            except ValueError:
                continue
        if name in ("blip", "imagedata", "chart", "relIds", "OLEObject"):
            return True
    return False


def walk_object(element: etree._Element) -> Iterator[tuple[etree._Element, bool]]:
    """The elements of a drawing but its text boxes, and whether only older programs show it."""
    stack = [(element, False)]
    while stack:
        node, is_fallback = stack.pop()
        yield node, is_fallback
        name = local_name(node)
        if name != "txbxContent":
            is_fallback = is_fallback or name == "Fallback"
            stack.extend((child, is_fallback) for child in reversed(node))


# A box that ends so little below the top of its paragraph stands above it, in EMU (half a line of print).
_HALF_LINE_EMU = 90_000
_EMU_A_POINT = 12_700
# Beside a box so wide no line of its paragraph has room: the text begins below it.
_WIDE_EMU = 300 * _EMU_A_POINT
# No figure is so wide and high as what the margins of a page leave for its picture (12 by 18 cm).
_PAGE_EMU = (340 * _EMU_A_POINT, 510 * _EMU_A_POINT)
_LENGTH = re.compile(
    r"(?:^|;)\s*(?P<name>margin-top|height|mso-position-vertical-relative)\s*:\s*(?P<value>[^;]*)"
)
_POINTS = re.compile(r"(-?\d+(?:\.\d+)?)(pt|in|cm|mm)?")
_UNITS = {"pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835}


def float_above(drawing: etree._Element) -> bool | None:
    """Whether a floating picture is above all of its paragraph; None for one in the text."""
    for node, _ in walk_object(drawing):
        name = local_name(node)
        if name == "anchor":
            top = read_number(find_child(find_child(node, "positionV"), "posOffset"))
            is_own = read_attribute(find_child(node, "positionV"), "relativeFrom") in ("paragraph", "line")
            return is_own and _is_above(top, read_integer(find_child(node, "extent"), "cy") or 0)
        if name == "shape" and "position:absolute" in (node.get("style") or "").replace(" ", ""):
            return _is_shape_above(node.get("style") or "")
    return None


def read_number(element: etree._Element | None) -> int:
    """The whole number that an element holds; 0 where it holds none."""
    text = ((element.text or "") if element is not None else "").strip()
    return int(text) if re.fullmatch(r"-?\d+", text) else 0


def stands_above(box: etree._Element) -> bool:
    """Whether a text box is printed above the paragraph that anchors it."""
    for node in box.iterancestors():
        name = local_name(node)
        if name == "anchor":
            return _stands_above_anchor(node)
        if name == "shape":
            return _is_shape_above(node.get("style") or "")
        if name == "p":
            return False
    return False


def _is_shape_above(style: str) -> bool:
    found = {match["name"]: match["value"].strip() for match in _LENGTH.finditer(style)}
    top, height = _read_points(found.get("margin-top")), _read_points(found.get("height"))
    is_relative = found.get("mso-position-vertical-relative", "text") in ("text", "line")
    return is_relative and top is not None and _is_above(top * _EMU_A_POINT, (height or 0) * _EMU_A_POINT)


def _stands_above_anchor(anchor: etree._Element) -> bool:
    position = find_child(anchor, "positionV")
    offset = find_child(position, "posOffset")
    if read_attribute(position, "relativeFrom") not in ("paragraph", "line") or offset is None:
        return False
    size = find_child(anchor, "extent")
    top = read_number(offset)
    names = {local_name(child) for child in anchor}
    pushes = "wrapTopAndBottom" in names or (
        "wrapSquare" in names and (read_integer(size, "cx") or 0) >= _WIDE_EMU
    )
    return (pushes and top <= _HALF_LINE_EMU) or _is_above(top, read_integer(size, "cy") or 0)


def _is_above(top: float, height: float) -> bool:
    return top < 0 and top + height <= _HALF_LINE_EMU


def _read_points(length: str | None) -> float | None:
    match = _POINTS.fullmatch(length or "")
    return float(match[1]) * _UNITS[match[2] or "pt"] if match is not None else None


def blocks(cell: etree._Element) -> list[etree._Element]:
    """The paragraphs and tables of a cell, also those in wrappers, in order."""
    found: list[etree._Element] = []
    for child in cell:
        name = local_name(child)
        if name in ("p", "tbl"):
            found.append(child)
        elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            found.extend(blocks(child))
    return found


@dataclass
class Paragraph:
    """A paragraph: its automatic number, its text, what stands out in it, how it is printed."""

    label: str
    text: str
    emphasis: list[tuple[int, int, str]]
    look: Look = PLAIN

    @property
    def line(self) -> str:
        """The number and the text together."""
        return self.label + self.text


@dataclass
class Cell:
    """A cell: its paragraphs, text and columns; a merged one has the text above."""

    paragraphs: list[Paragraph]
    text: str
    width: int


def text_above(rows: list[list[Cell]], column: int) -> str:
    """The text of the cell above one that begins in this column of the grid."""
    place = 0
    for cell in rows[-1] if rows else []:
        if place == column:
            return cell.text
        place += cell.width
    return ""


CIRCLE_FIELD = re.compile(r"\\o\s*\\ac\s*\(\s*[○◯]\s*[,，;；]\s*(\d+)\s*\)", re.IGNORECASE)


def read_symbols(text: str, font: str) -> str:
    """Write characters set in Wingdings or Symbol as the signs that these show."""
    if not font:
        return text
    return "".join(find_glyph(font, ord(character)) or character for character in text)


def circle(digits: str) -> str:
    """A number in a circle: ① to ⑳, above them in brackets."""
    value = int(digits)
    return chr(0x2460 + value - 1) if 1 <= value <= 20 else f"({value})"


class Parts:
    """One package. `warnings` says which parts were left out."""

    def __init__(self, package: zipfile.ZipFile) -> None:
        self.package = package
        self.names = set(package.namelist())
        self.warnings: list[str] = []
        self.main = self._find_main()
        self.folder = posixpath.dirname(self.main)

    def read_main(self) -> etree._Element:
        """The main document.

        Raises:
            DocumentError: `corrupt` where it is no well-formed XML.
        """
        return parse_xml(read_part(self.package, self.main), self.main)

    def _find_main(self) -> str:
        if "_rels/.rels" in self.names:
            root = parse_xml(read_part(self.package, "_rels/.rels"), "_rels/.rels")
            for relation in root:
                if (relation.get("Type") or "").endswith("/officeDocument"):
                    return (relation.get("Target") or "").lstrip("/")
        if "word/document.xml" in self.names:
            return "word/document.xml"
        raise DocumentError("corrupt", "The package has no main document. Save it again in Word.")

    def read(self, name: str) -> etree._Element | None:
        """A part beside the main one; None where there is none, or it is damaged (a warning)."""
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

    def read_pictures(self) -> list[bytes]:
        """The pictures that the main document shows at a size to be read, in the order of its text."""
        found: list[bytes] = []
        for element in self.read_main().iter():
            if (
                local_name(element) not in ("drawing", "pict")
                or is_deleted(element)
                or not shows_picture(element)
            ):
                continue
            found += [read_part(self.package, part) for part, _ in self.list_pictures(element)]
        return found

    def count_pages(self) -> int:
        """How many drawings of the main document are as large as a page of it."""
        return sum(
            (read_integer(node, "cx") or 0) >= _PAGE_EMU[0]
            and (read_integer(node, "cy") or 0) >= _PAGE_EMU[1]
            for node in self.read_main().iter()
            if local_name(node) == "extent" and not is_deleted(node)
        )

    def list_pictures(self, element: etree._Element) -> list[tuple[str, str | None]]:
        """The parts that a drawing shows, each with what its author says that it shows."""
        found: list[tuple[str, str | None]] = []
        alt_text: str | None = None
        for node, is_fallback in walk_object(element):
            name = local_name(node)
            if name in ("docPr", "cNvPr"):
                alt_text = node.get("descr") or alt_text
            elif name in ("blip", "imagedata") and not is_fallback:
                path = self.targets.get(read_attribute(node, "embed") or read_attribute(node, "id") or "")
                if path in self.names:
                    found.append((path, alt_text or node.get("alt") or None))
        return found

    @cached_property
    def targets(self) -> dict[str, str]:
        """The parts that the main document names, by the ids under which it does."""
        folder, name = posixpath.split(self.main)
        relations = self.read(f"_rels/{name}.rels")
        return {
            relation.get("Id") or "": posixpath.normpath(
                posixpath.join(folder, relation.get("Target") or "")
            ).lstrip("/")
            for relation in (relations if relations is not None else ())
            if relation.get("TargetMode") != "External"
        }

    def read_notes(self, name: str) -> dict[str, str]:
        """The texts of footnotes or endnotes by their ids."""
        root = self.read(name)
        notes: dict[str, str] = {}
        for element in root if root is not None else ():
            if read_attribute(element, "type") in (
                "separator",
                "continuationSeparator",
                "continuationNotice",
            ):
                continue
            text = "".join(
                node.text or "" for node in element.iter() if local_name(node) == "t" and not is_deleted(node)
            ).strip()
            if text:
                notes[read_attribute(element, "id") or ""] = text
        return notes
