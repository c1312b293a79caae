"""Signs of Word documents that are stored as something else.

Characters of symbol fonts, circled numbers and equation fields are given as the signs that they show.
"""

from __future__ import annotations

import re

from tasks.ingest.readers.scripts import SYMBOL_FONT

# Tick boxes and arrows that papers set in symbol fonts; every other private glyph is reported.
SYMBOLS = {
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


EQUATION_FIELD = re.compile(r"^\s*EQ\s", re.IGNORECASE)


CIRCLE_FIELD = re.compile(r"\\o\s*\\ac\s*\(\s*[○◯]\s*[,，;；]\s*(\d+)\s*\)", re.IGNORECASE)


def read_symbols(text: str, font: str) -> str:
    """Write characters set in a symbol font as the signs that it shows.

    `ü` in Wingdings is a tick, `Ö` in Symbol a root sign.
    """
    if not font:
        return text
    shown: list[str] = []
    for character in text:
        code = ord(character)
        low = code & 0xFF if 0xF000 <= code <= 0xF0FF else code
        known = SYMBOL_FONT.get(low) if font == "symbol" else SYMBOLS.get((font, low))
        shown.append(known or character)
    return "".join(shown)


def circle(digits: str) -> str:
    """A number in a circle: ① to ⑳, above them in brackets."""
    value = int(digits)
    return chr(0x2460 + value - 1) if 1 <= value <= 20 else f"({value})"


def render_equation_field(code: str) -> str:
    r"""Turn the commonest EQ fields into LaTeX.

    They are \f fractions and \r roots; other switches lose their marks.
    """
    text = EQUATION_FIELD.sub("", code).strip()
    for _ in range(8):
        changed = re.sub(r"\\f\s*\(([^(),]*),([^(),]*)\)", r"\\frac{\1}{\2}", text, flags=re.IGNORECASE)
        changed = re.sub(r"\\r\s*\(\s*,?([^(),]*)\)", r"\\sqrt{\1}", changed, flags=re.IGNORECASE)
        changed = re.sub(r"\\r\s*\(([^(),]+),([^(),]*)\)", r"\\sqrt[\1]{\2}", changed, flags=re.IGNORECASE)
        if changed == text:
            break
        text = changed
    return re.sub(r"\\(?:s|o|a|b|x|i|l|d)(?:\\[a-z]+\d*)*\s*\(([^()]*)\)", r"\1", text)
