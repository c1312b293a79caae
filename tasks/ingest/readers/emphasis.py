"""Text that stands out by bold, colour, underline or italics, carried to its line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from schemas import patterns as re

# The surest first: a teacher who marks answers reaches for these; bold print also serves other ends.
KINDS = ("highlight", "colour", "underline", "bold")
# Italics mark names and words of other languages, too: no option is a key by them.
ITALIC = "italic"
# Between reader and paragraph a stretch is fenced by private characters: one whose bits name its kinds, one that ends it.
_FIRST, _LAST = 0xF0000, 0xF0020
_FENCE = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_FENCED = re.compile(f"({_FENCE.pattern})")
_BITS = {kind: 1 << place for place, kind in enumerate((*KINDS, ITALIC))}


def mark_text(text: str, kinds: Collection[str]) -> str:
    """Fence a stretch of text that stands out; `take_marks` takes the fences out again."""
    if not kinds or not text.strip():
        return text
    bits = sum(_BITS[kind] for kind in kinds)
    return f"{chr(_FIRST + bits)}{text}{chr(_LAST)}"


def write_blank(text: str) -> str:
    """The blank that underlined white space asks to fill in, no shorter than is read."""
    return "_" * max(4, min(len(text.replace("\t", "    ")), 12))


def take_marks(text: str) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the text without fences, and (first, last, kind) of every stretch that stands out."""
    if not _FENCE.search(text):
        return text, []
    parts: list[str] = []
    spans: list[tuple[int, int, str]] = []
    opened: list[tuple[int, int]] = []
    length = 0
    for part in _FENCED.split(text):
        code = ord(part) if len(part) == 1 else 0
        if code == _LAST:
            if opened:
                first, bits = opened.pop()
                spans += [(first, length, kind) for kind, bit in _BITS.items() if bits & bit]
        elif _FIRST <= code < _LAST:
            opened.append((length, code - _FIRST))
        else:
            parts.append(part)
            length += len(part)
    return "".join(parts), spans


_EMPHATIC = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "mark": "highlight",
}
_COLOUR = re.compile(r"(?<![\w-])color\s*:\s*([^;!]+)")
# what text has by itself: black, or a grey
_ORDINARY = re.compile(r"black|windowtext|gr[ae]y|#([0-9a-f]{1,2})\1\1(?!\w)|rgb\((\d+), ?\2, ?\2\)")
_STYLES = (
    (
        "highlight",
        re.compile(r"(?<![\w-])background(?:-color)?\s*:\s*(?!none|inherit|transparent|white|#fff)"),
    ),
    ("bold", re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)")),
    ("underline", re.compile(r"text-decoration[\w-]*\s*:[^;]*underline")),
)


class Attributes(Protocol):
    """What names the attributes of an element: an element of lxml, or a mapping."""

    def get(self, key: str, /) -> str | None:
        """The value of an attribute; None where there is none."""


def read_kinds(tag: str, attributes: Attributes) -> set[str]:
    """How an element of HTML stands out by its name and style."""
    style = (attributes.get("style") or "").casefold()
    own = {kind for kind, pattern in _STYLES if pattern.search(style)}
    own |= {_EMPHATIC[tag]} if tag in _EMPHATIC else set()
    own |= {"colour"} if read_colour(tag, attributes) else set()
    own |= {"highlight"} if attributes.get("bgcolor") else set()
    return own


def read_colour(tag: str, attributes: Attributes) -> str | None:
    """The colour that an element of HTML gives its text, '' for black or grey, else None."""
    found = _COLOUR.search((attributes.get("style") or "").casefold())
    said = found[1] if found is not None else (attributes.get("color") or "") if tag == "font" else ""
    colour = said.strip().casefold()
    return None if colour in ("", "inherit") else "" if _ORDINARY.match(colour) else colour
