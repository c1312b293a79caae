"""How a run of a Word document looks: its own properties, else those of its styles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lxml import etree

from tasks.ingest.readers.extraction import Look
from tasks.ingest.readers.numbering import (
    find_child,
    index_children,
    local_name,
    read_attribute,
    read_integer,
)


@dataclass
class _Style:
    """A style: the one that it is based on, its list, and what it says of runs and paragraphs."""

    based_on: str | None = None
    number_id: str | None = None
    level: int | None = None
    look: Mapping[str, object] = field(default_factory=dict)


# of a run: its size in points and whether it is bold or set in a heavy face
Print = tuple[float, bool]

# of a run: hidden, super- or subscript, underline, the ways in which it stands out, its symbol font or '', its print
_Look = tuple[bool, object, object, list[str], str, Print]

# Word's own size where a document sets none.
USUAL_SIZE = 10.0
# A line is bold where so much of it is.
BOLD_SHARE = 0.9
_HEAVY_FACES = ("黑体", "simhei", "heiti", "black", "heavy", "bold")


class Styles:
    """The styles of one document, and the looks of its runs."""

    def __init__(self, root: etree._Element | None) -> None:
        """Read `word/styles.xml`; None stands for a document without styles."""
        self.by_id: dict[str, _Style] = {}
        self._looks: dict[object, _Look] = {}
        self._places: dict[object, float] = {}
        default = find_child(find_child(find_child(root, "docDefaults"), "rPrDefault"), "rPr")
        self._usual_size = _read_size(find_child(default, "sz")) or USUAL_SIZE
        self._default_style = ""
        for element in root if root is not None else ():
            if local_name(element) != "style":
                continue
            parts = index_children(element)
            style = _Style(based_on=read_attribute(parts.get("basedOn"), "val"))
            number = find_child(parts.get("pPr"), "numPr")
            if number is not None:
                style.number_id = read_attribute(find_child(number, "numId"), "val")
                style.level = read_integer(find_child(number, "ilvl"))
            set_by = {**index_children(parts.get("pPr")), **index_children(parts.get("rPr"))}
            style.look = {name: read(set_by.get(tag)) for name, (tag, read) in _PROPERTIES.items()}
            name = read_attribute(element, "styleId") or ""
            self.by_id[name] = style
            if read_attribute(element, "type") == "paragraph" and read_attribute(element, "default") == "1":
                self._default_style = name

    def read_look(self, properties: etree._Element | None, paragraph_style: str | None) -> _Look:
        """How a run looks; every look is resolved once."""
        shape = (
            tuple([(child.tag, *child.items()) for child in properties]) if properties is not None else None
        )
        look = self._looks.get((shape, paragraph_style))
        if look is None:
            underline = self._resolve(properties, paragraph_style, "underline")
            look = (
                bool(self._resolve(properties, paragraph_style, "is_hidden")),
                self._resolve(properties, paragraph_style, "script"),
                underline,
                self._find_emphasis(properties, paragraph_style, underline),
                _read_font(properties),
                self._read_print(properties, paragraph_style),
            )
            self._looks[(shape, paragraph_style)] = look
        return look

    def describe(
        self,
        properties: Mapping[str, etree._Element],
        style: str | None,
        prints: Mapping[Print, int],
        frame: str,
    ) -> Look:
        """How a paragraph is printed; `prints` counts characters by their print."""
        indent = properties.get("ind")
        shape = (tuple(indent.items()) if indent is not None else None, style)
        place = self._places.get(shape)
        if place is None:
            own = _read_indent(indent)
            left = own if own is not None else self._inherit(style, "indent")
            place = float(str(left or 0.0))
            self._places[shape] = place
        total = sum(prints.values())
        size = max(prints, key=lambda printed: prints[printed])[0] if total else 0.0
        heavy = sum(count for (_, is_heavy), count in prints.items() if is_heavy)
        return Look(size, total > 0 and heavy >= BOLD_SHARE * total, place, frame)

    def _read_print(self, properties: etree._Element | None, paragraph_style: str | None) -> Print:
        """The size of a run in points, and whether it is bold or in a heavy face."""
        character_style = read_attribute(find_child(properties, "rStyle"), "val")
        size, face = (
            _read_property(properties, name)
            or self._inherit(character_style, name)
            or self._inherit(paragraph_style or self._default_style, name)
            or usual
            for name, usual in (("size", self._usual_size), ("face", ""))
        )
        is_heavy = any(name in str(face) for name in _HEAVY_FACES)
        return float(str(size)), is_heavy or bool(self._resolve(properties, paragraph_style, "is_bold"))

    def _find_emphasis(
        self, properties: etree._Element | None, paragraph_style: str | None, underline: object
    ) -> list[str]:
        kinds = ["bold"] if self._resolve(properties, paragraph_style, "is_bold") else []
        if self._resolve(properties, paragraph_style, "is_italic"):
            kinds.append("italic")
        colour = str(self._resolve(properties, paragraph_style, "colour") or "auto")
        if colour != "auto" and not is_ink(colour):
            kinds.append("colour")
        if underline not in (None, "none"):
            kinds.append("underline")
        highlight = read_attribute(find_child(properties, "highlight"), "val") or "none"
        if highlight not in ("none", "white") or is_shaded(properties):
            kinds.append("highlight")
        return kinds

    def _resolve(self, properties: etree._Element | None, paragraph_style: str | None, name: str) -> object:
        """What a run says of a property itself, else its own style, else its paragraph's."""
        value = _read_property(properties, name)
        for style in (read_attribute(find_child(properties, "rStyle"), "val"), paragraph_style):
            value = self._inherit(style, name) if value is None else value
        return value

    def _inherit(self, name: str | None, looked_for: str) -> object:
        """What a style, or one that it is based on, says of a property."""
        for _ in range(20):
            style = self.by_id.get(name or "")
            if style is None:
                break
            value = style.look[looked_for]
            if value is not None:
                return value
            name = style.based_on
        return None


def is_shaded(properties: etree._Element | None) -> bool:
    """Whether the ground of a run or a cell is neither the page's nor white."""
    fill = read_channels(read_attribute(find_child(properties, "shd"), "fill") or "")
    return fill is not None and min(fill) < _PALE


def _read_switch(element: etree._Element | None) -> bool | None:
    if element is None:
        return None
    return (read_attribute(element, "val") or "1") not in ("0", "false", "off")


def _read_size(element: etree._Element | None) -> float | None:
    """Points; Word writes half points."""
    half = read_integer(element)
    return half / 2 if half else None


def _read_indent(element: etree._Element | None) -> float | None:
    """Where the first line begins, in points; Word writes twentieths."""
    if element is None:
        return None
    left = read_integer(element, "left") or read_integer(element, "start") or 0
    return (left + (read_integer(element, "firstLine") or 0) - (read_integer(element, "hanging") or 0)) / 20


def _read_face(element: etree._Element | None) -> str | None:
    """The face of Chinese characters, else that of Latin letters."""
    face = read_attribute(element, "eastAsia") or read_attribute(element, "ascii")
    return face.casefold() if face else None


def _read_value(element: etree._Element | None) -> str | None:
    return read_attribute(element, "val")


# What styles may set: the element that says so, and how it is read.
_PROPERTIES: Mapping[str, tuple[str, Callable[[etree._Element | None], object]]] = {
    "is_hidden": ("vanish", _read_switch),
    "is_bold": ("b", _read_switch),
    "is_italic": ("i", _read_switch),
    "script": ("vertAlign", _read_value),
    "underline": ("u", _read_value),
    "colour": ("color", _read_value),
    "size": ("sz", _read_size),
    "face": ("rFonts", _read_face),
    "indent": ("ind", _read_indent),
}


def _read_property(properties: etree._Element | None, name: str) -> object:
    """What the properties of a run or paragraph say themselves of one of `_PROPERTIES`."""
    tag, read = _PROPERTIES[name]
    return read(find_child(properties, tag))


def _read_font(properties: etree._Element | None) -> str:
    """The symbol font that a run is set in, or ''."""
    fonts = find_child(properties, "rFonts")
    font = (read_attribute(fonts, "ascii") or read_attribute(fonts, "hAnsi") or "").casefold()
    return font if font == "symbol" or font.startswith("wingdings") else ""


# Darker text prints as black, paler ground as white; of a grey all channels are nearly the same.
_DARK, _PALE, _GREY = 0x50, 0xF0, 0x10


def is_ink(colour: str) -> bool:
    """Whether a colour (six hexadecimal digits) marks nothing: black, or the grey of web pages."""
    channels = read_channels(colour)
    return channels is None or max(channels) < _DARK or max(channels) - min(channels) <= _GREY


def read_channels(colour: str) -> tuple[int, ...] | None:
    """Red, green and blue of six hexadecimal digits; None for anything else."""
    try:
        value = int(colour, 16)
    except ValueError:
        return None
    return value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF
