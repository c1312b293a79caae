"""How a run of a Word document looks: its own properties, else those of its styles."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from tasks.ingest.readers.numbering import (
    find_child,
    index_children,
    local_name,
    read_attribute,
    read_integer,
)

# The properties of a run that styles may set, and the elements that say so.
_SWITCHES = {"is_hidden": "vanish", "is_bold": "b"}


_VALUES = {"script": "vertAlign", "underline": "u", "colour": "color"}


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


# of a run: hidden, super- or subscript, underline, the ways in which it stands out, its symbol font or ''
_Look = tuple[bool, object, object, list[str], str]


class Styles:
    """The styles of one document, and the looks of its runs."""

    def __init__(self, root: etree._Element | None) -> None:
        """Read `word/styles.xml`; None stands for a document without styles."""
        self.by_id: dict[str, _Style] = {}
        self._looks: dict[object, _Look] = {}
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
            self.by_id[read_attribute(element, "styleId") or ""] = style

    def read_look(self, properties: etree._Element | None, paragraph_style: str | None) -> _Look:
        """Return how a run looks.

        A paper has few looks and many runs, so every look is resolved once.
        """
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
            )
            self._looks[(shape, paragraph_style)] = look
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
                style = self.by_id.get(name or "")
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


def _is_dark(colour: str) -> bool:
    """Whether a colour (six hexadecimal digits) prints as black."""
    try:
        value = int(colour, 16)
    except ValueError:
        return True
    return max(value >> 16 & 0xFF, value >> 8 & 0xFF, value & 0xFF) < 0x50
