"""What Word draws itself: charts, diagrams and figures of shapes, by LibreOffice.

Such a drawing has no picture of its own. All that the questions of a paper hold of them are laid out in a copy of the
package, one to a page.
"""

from __future__ import annotations

import copy
import hashlib
import io
import posixpath
import zipfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from lxml import etree

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.archives import read_part
from tasks.ingest.readers.docx_elements import Parts, parse_xml, read_number, walk_object
from tasks.ingest.readers.drawings import MOST_DRAWINGS, SECONDS, show_pages
from tasks.ingest.readers.numbering import find_child, local_name, read_attribute, read_integer
from tasks.ingest.readers.picture_form import NormalPicture, UnreadablePictureError, encode_picture

HOLDERS: Final = ("{*}drawing", "{*}pict", "{*}object")
# In points: smaller drawings are brackets and blanks, higher ones the margin that is folded away.
_LEAST, _MOST = 18.0, 500.0
# A label is so long, and all of a figure's together; longer texts are read.
_LONGEST_LABEL, _MOST_LABELS = 24, 240
_EMU: Final = 12_700
_UNITS: Final = {"pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835}
_SIDE = re.compile(r"(?:^|;)\s*(width|height)\s*:\s*(\d*\.?\d+)(pt|in|cm|mm)?")
_SHAPES: Final = frozenset(
    {"wsp", "shape", "line", "oval", "rect", "roundrect", "polyline", "arc", "curve", "cxnSp"}
)
# What frames a text or joins two lines, and draws nothing.
_FRAMES: Final = frozenset(
    {"rect", "leftBrace", "rightBrace", "bracePair", "leftBracket", "rightBracket", "bracketPair"}
)
_OPEN: Final = re.compile("line|arc|Connector|rect$", re.IGNORECASE)
# A caption, the number of a question or an option in a box says that what it shows is no label.
_READ = re.compile(
    r"\s{0,8}(?:[（(]?(?:[A-Ha-h]|\d{1,3})\s?[.．、)）]\s{0,8}\S|.{0,4}第?\s?\d{1,3}\s?题|[（(]?(?:图|(?i:fig))\s?\.?\s?\d)"
)


def is_drawn(element: etree._Element) -> bool:
    """Whether a chart, a diagram or a group of shapes makes what an object of Word shows."""
    nodes = [node for node, is_fallback in walk_object(element) if not is_fallback]
    names = {local_name(node) for node in nodes}
    if not min(size := _measure(nodes)) >= _LEAST or max(size) > _MOST:
        return False
    if "chart" in names or "relIds" in names:
        return True
    return bool(names & {"wgp", "wpc", "group"}) and _is_figure(nodes)


def list_loose(paragraph: etree._Element) -> list[etree._Element]:
    """The shapes that float by themselves in a paragraph, where they are a figure together.

    A group is among them with the labels that a conversion left beside it.
    """
    found = [
        node
        for node in paragraph.iter("{*}drawing")
        if not any(local_name(one) == "Fallback" for one in node.iterancestors())
        and find_child(node, "anchor") is not None
        and any(local_name(one) in ("wsp", "wgp") for one, _ in walk_object(node))
    ]
    nodes = [node for drawing in found for node, _ in walk_object(drawing)]
    if not found or None in map(_place, found) or len({_name_origin(drawing) for drawing in found}) > 1:
        return []
    if any(local_name(node) == "wgp" for node in nodes):
        return found if len(found) > 1 and any(map(is_drawn, found)) and _is_figure(nodes) else []
    shapes = [node for node in nodes if local_name(node) == "wsp"]
    is_text = len(shapes) == 1 and "txbxContent" in {local_name(node) for node in nodes}
    return found if not is_text and any(map(_is_closed, shapes)) and _is_figure(nodes) else []


def _name_origin(drawing: etree._Element) -> tuple[str | None, ...]:
    """From what the place of a floating shape is measured, across and down."""
    anchor = find_child(drawing, "anchor")
    return tuple(
        read_attribute(find_child(anchor, name), "relativeFrom") for name in ("positionH", "positionV")
    )


def _is_figure(nodes: Sequence[etree._Element]) -> bool:
    """Whether shapes are drawn there, with labels and at most one picture."""
    texts = [_read_text(node) for node in nodes if local_name(node) == "txbxContent"]
    if (
        max(map(len, texts), default=0) > _LONGEST_LABEL
        or sum(map(len, texts)) > _MOST_LABELS
        or any(map(_READ.match, texts))
    ):
        return False
    pictures = sum(local_name(node) in ("blip", "imagedata") for node in nodes)
    return pictures <= 1 and any(_is_line(node) for node in nodes if local_name(node) in _SHAPES)


def _is_line(shape: etree._Element) -> bool:
    """Whether a shape is more than a frame for text."""
    inside = list(shape.iter())
    names = {local_name(node) for node in inside}
    if names & {"imagedata", "blip", "textpath"}:
        return False
    form = next((node.get("prst") for node in inside if local_name(node) == "prstGeom"), local_name(shape))
    return form not in _FRAMES and not (form in ("shape", "wsp") and "txbxContent" in names)


def _is_closed(shape: etree._Element) -> bool:
    """Whether a floating shape is an area as large as a figure: no frame, line or arrow."""
    form = next((node.get("prst") or "" for node in shape.iter() if local_name(node) == "prstGeom"), "line")
    size = next((node for node in shape.iter() if local_name(node) == "ext" and node.get("cx")), None)
    sides = [read_integer(size, side) or 0 for side in ("cx", "cy")]
    return _is_line(shape) and not _OPEN.search(form) and min(sides) >= _LEAST * _EMU


def _read_text(box: etree._Element) -> str:
    return "".join(node.text or "" for node in box.iter() if local_name(node) == "t").strip()


def _measure(nodes: Sequence[etree._Element]) -> tuple[float, float]:
    """Width and height of an object in points, as it says; nothing where it says none."""
    for node in nodes:
        if local_name(node) == "extent":
            return (read_integer(node, "cx") or 0) / _EMU, (read_integer(node, "cy") or 0) / _EMU
        sides = {
            name: float(value) * _UNITS[unit or "pt"]
            for name, value, unit in _SIDE.findall(node.get("style") or "")
        }
        if len(sides) == 2:
            return sides["width"], sides["height"]
    return 0.0, 0.0


def _place(drawing: etree._Element) -> tuple[int, int] | None:
    """Where a shape floats, from one corner for all of its paragraph; None where it is aligned."""
    anchor = find_child(drawing, "anchor")
    offsets = [find_child(find_child(anchor, name), "posOffset") for name in ("positionH", "positionV")]
    if any(one is None for one in offsets):
        return None
    return read_number(offsets[0]), read_number(offsets[1])


class WordDrawings:
    """The drawings of a Word package, named by the places of their elements in its text."""

    def __init__(self, package: zipfile.ZipFile) -> None:
        self._parts = Parts(package)
        self._wanted: list[tuple[int, ...]] = []

    def add(self, drawn: tuple[int, ...]) -> None:
        """Name a drawing that will be read; all are to be named before the first is read."""
        self._wanted.append(drawn)

    def read(self, drawn: tuple[int, ...]) -> tuple[NormalPicture | None, str]:
        """The normal form of a drawing, and the hash of what draws it.

        Raises:
            UnreadablePictureError: for what cannot be converted.
        """
        shown = self._shown
        if isinstance(shown, str) or drawn not in shown:
            why = shown if isinstance(shown, str) else ""
            raise UnreadablePictureError(f"a drawing of Word could not be shown{why}; save it as a picture")
        xml = b"".join(etree.tostring(self._elements[at]) for at in drawn)
        return encode_picture(shown[drawn]), hashlib.sha256(xml).hexdigest()

    @cached_property
    def _elements(self) -> list[etree._Element]:
        return list_holders(self._parts.read_main())

    @cached_property
    def _shown(self) -> dict[tuple[int, ...], Any] | str:
        """Each drawing as it is printed, or why none is."""
        from tasks.ingest.readers import office

        wanted = self._wanted[:MOST_DRAWINGS]
        try:
            made = office.convert_with_libreoffice(self._lay_out(wanted), "docx", "pdf", SECONDS)
        except DocumentError as error:
            return f" ({error.code})"
        images = show_pages(made)
        if len(images) != len(wanted):
            return " (they did not fit their pages)"
        return dict(zip(wanted, images, strict=True))

    def _lay_out(self, wanted: Sequence[tuple[int, ...]]) -> bytes:
        """A copy of the package whose text is these drawings, a page each."""
        root = self._parts.read_main()
        elements = list_holders(root)
        body = find_child(root, "body")
        assert body is not None
        space = f"{{{etree.QName(root).namespace}}}"
        pages: list[etree._Element] = []
        for drawn in wanted:
            page = etree.Element(f"{space}p")
            if pages:
                etree.SubElement(etree.SubElement(page, f"{space}pPr"), f"{space}pageBreakBefore")
            run = etree.SubElement(page, f"{space}r")
            run.append(_settle([copy.deepcopy(elements[at]) for at in drawn]))
            pages.append(page)
        body[:] = pages
        section = etree.SubElement(body, f"{space}sectPr")
        etree.SubElement(section, f"{space}pgSz", {f"{space}w": "13000", f"{space}h": "17000"})
        margins = dict.fromkeys(("top", "right", "bottom", "left", "header", "footer", "gutter"), "500")
        etree.SubElement(section, f"{space}pgMar", {f"{space}{side}": size for side, size in margins.items()})
        return self._copy(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))

    def _copy(self, text: bytes) -> bytes:
        """The package with another text, without addresses and pictures that it does not show."""
        own = f"{self._parts.folder}/_rels/{posixpath.basename(self._parts.main)}.rels"
        media = {path for name, path in self._parts.targets.items() if f'"{name}"'.encode() not in text}
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as copied:
            for name in sorted(self._parts.names):
                if name in media and _is_media(name):
                    continue
                data = text if name == self._parts.main else read_part(self._parts.package, name)
                if name.endswith(".rels"):
                    data = _leave_out(data, name, media if name == own else set())
                copied.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        return out.getvalue()


def list_holders(root: etree._Element) -> list[etree._Element]:
    """All elements of a text that hold an object, in its order."""
    return list(root.iter(*HOLDERS))


def _leave_out(relations: bytes, part: str, media: set[str]) -> bytes:
    """Relations without those to addresses, and to pictures that are not copied."""
    root = parse_xml(relations, part)
    names = {"/".join(path.split("/")[-2:]) for path in media if _is_media(path)}
    for one in list(root):
        target = "/".join((one.get("Target") or "").split("/")[-2:])
        if one.get("TargetMode") == "External" or target in names:
            root.remove(one)
    return etree.tostring(root)


def _is_media(path: str) -> bool:
    return "/media/" in path or "/embeddings/" in path


def _settle(drawings: Sequence[etree._Element]) -> etree._Element:
    """Objects as one that stands in its line, wherever they floated."""
    first = drawings[0]
    own = next((node for node in first.iter() if local_name(node) in ("wsp", "wpc", "wgp")), None)
    if own is not None and (len(drawings) > 1 or local_name(own) != "wgp"):
        _group(drawings)
    for node in list(_list_shown(first)):
        if local_name(node) == "anchor":
            space = f"{{{etree.QName(node).namespace}}}"
            kept = [child for child in node if local_name(child) in ("extent", "docPr", "graphic")]
            node.tag = f"{space}inline"
            node.attrib.clear()
            node[:] = kept
        elif node.get("style"):
            sides = _SIDE.findall(node.get("style") or "")
            node.set("style", ";".join(f"{name}:{value}{unit or 'pt'}" for name, value, unit in sides))
    return first


def _list_shown(holder: etree._Element) -> Iterator[etree._Element]:
    """The outermost elements of an object that say where it stands."""
    return (
        node
        for node in holder.iter()
        if local_name(node) == "anchor" or (node.getparent() is holder and node.get("style"))
    )


_WPG: Final = "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"
_MAIN: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"


def _group(drawings: Sequence[etree._Element]) -> None:
    """Put the shapes of a canvas, or that float by themselves, into the first one as a group."""
    places = [_place(drawing) or (0, 0) for drawing in drawings]
    sizes = [next(node for node in drawing.iter() if local_name(node) == "extent") for drawing in drawings]
    left, top = (min(place[side] for place in places) for side in (0, 1))
    wide, tall = (
        max(place[side] + (read_integer(size, name) or 0) for place, size in zip(places, sizes, strict=True))
        - start
        for side, name, start in ((0, "cx", left), (1, "cy", top))
    )
    shapes: list[etree._Element] = []
    for drawing, place in zip(drawings, places, strict=True):
        canvas = next((node for node in drawing.iter() if local_name(node) == "wpc"), None)
        if canvas is not None:
            shapes += [node for node in canvas if local_name(node) in ("wsp", "pic", "wgp", "cxnSp")]
            continue
        shape = next(node for node in drawing.iter() if local_name(node) in ("wsp", "wgp"))
        shapes.append(shape)
        offset = next((node for node in shape.iter() if local_name(node) == "off"), None)
        if offset is not None:
            offset.set("x", str(place[0] - left))
            offset.set("y", str(place[1] - top))
    holder = next(node for node in drawings[0].iter() if local_name(node) == "graphicData")
    holder.set("uri", _WPG)
    group = etree.Element(f"{{{_WPG}}}wgp", nsmap={"wpg": _WPG, "a": _MAIN})
    etree.SubElement(group, f"{{{_WPG}}}cNvGrpSpPr")
    frame = etree.SubElement(etree.SubElement(group, f"{{{_WPG}}}grpSpPr"), f"{{{_MAIN}}}xfrm")
    size, corner = {"cx": str(wide), "cy": str(tall)}, {"x": "0", "y": "0"}
    for name, values in (("off", corner), ("ext", size), ("chOff", corner), ("chExt", size)):
        etree.SubElement(frame, f"{{{_MAIN}}}{name}", values)
    for shape in shapes:
        if local_name(shape) == "wgp":
            shape.tag = f"{{{_WPG}}}grpSp"
        group.append(shape)
    holder[:] = [group]
    for name, side in size.items():
        sizes[0].set(name, side)
