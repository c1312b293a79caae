"""Superscripts, subscripts and the glyphs of the Symbol font as plain text."""

from __future__ import annotations

from schemas import patterns as re

_SUPER = str.maketrans("0123456789+-=()ni−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ⁻")
_SUB = str.maketrans("0123456789+-=()−", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋")
_SUPER_KNOWN = set("0123456789+-=()ni−")
_SUB_KNOWN = set("0123456789+-=()−")


def raise_text(text: str) -> str:
    """Write `text` as a superscript: 10 + '3' reads 10³, x + 'ab' reads x^{ab}."""
    return _mark(text, "^", _SUPER_KNOWN, _SUPER)


def lower_text(text: str) -> str:
    """Write `text` as a subscript: H + '2' reads H₂, x + 'max' reads x_{max}."""
    return _mark(text, "_", _SUB_KNOWN, _SUB)


_LEVELLED = re.compile(r"<(su[bp])\b[^<>]{0,200}>([^<>]{1,40})</\1>", re.IGNORECASE)


def write_levels(text: str) -> str:
    """The text of a web page with what it raises and lowers written so, `10<sup>3</sup>` as 10³."""

    def write(found: re.Match[str]) -> str:
        return raise_text(found[2]) if found[1].casefold() == "sup" else lower_text(found[2])

    return _LEVELLED.sub(write, text) if "</su" in text or "</SU" in text else text


_RAISED = re.compile(rf"(?:[{''.join(chr(one) for one in _SUPER.values())}]+|\^\{{([^{{}}]*)\}})\Z")
_LEVEL = {raised: level for level, raised in _SUPER.items() if level != ord("-")}


def split_raised(text: str) -> tuple[str, str]:
    """A text without the superscript at its end, and that one as plain text."""
    found = _RAISED.search(text)
    if found is None:
        return text, ""
    return text[: found.start()], found[1] or found[0].translate(_LEVEL)


def _mark(text: str, sign: str, known: set[str], table: dict[int, int]) -> str:
    core = text.strip()
    if not core or len(core) > 40:
        return text
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if all(character in "′″'’" for character in core):
        return text  # primes stand high by themselves: `2's complement`
    if all(character in known for character in core):
        return lead + core.translate(table) + tail
    if any("一" <= character <= "鿿" for character in core) or core[0] in "[（(【①②③④⑤⑥⑦⑧⑨⑩":
        return text
    return lead + (f"{sign}{core}" if len(core) == 1 else f"{sign}{{{core}}}") + tail


# The Symbol font puts Greek and mathematics on the codes of Latin letters (and, in files, on U+F000 and up).
SYMBOL_FONT = (
    {code: chr(code) for code in range(0x20, 0x7F) if chr(code) not in "CJV"}
    | dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
    | {
        0x44: "Δ", 0x46: "Φ", 0x47: "Γ", 0x4C: "Λ", 0x50: "Π", 0x51: "Θ", 0x53: "Σ", 0x57: "Ω", 0x58: "Ξ", 0x59: "Ψ",
        0xA3: "≤", 0xB3: "≥", 0xB9: "≠", 0xB1: "±", 0xB4: "×", 0xB8: "÷", 0xA5: "∞", 0xAE: "→", 0xAC: "←", 0xDE: "⇒",
        0xDB: "⇔", 0xCE: "∈", 0xCF: "∉", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCD: "⊆", 0xC6: "∅", 0x22: "∀", 0x24: "∃",
        0xD6: "√", 0xB6: "∂", 0xD1: "∇", 0xF2: "∫", 0xE5: "∑", 0xD7: "·", 0xB0: "°", 0xA2: "′", 0xB2: "″", 0xBB: "≈",
        0xBA: "≡", 0xD0: "∠", 0x5E: "⊥", 0x5C: "∴", 0x40: "≅", 0xB5: "∝", 0xD9: "∧", 0xDA: "∨", 0xD8: "¬", 0xB7: "•",
        0xC5: "⊕", 0xC4: "⊗", 0xC9: "⊃", 0xCA: "⊇", 0xCB: "⊄", 0xBC: "…", 0xAB: "↔", 0xDC: "⇐", 0xD5: "∏", 0xAD: "↑",
        0xAF: "↓", 0xE1: "⟨", 0xF1: "⟩", 0x27: "∋", 0x2D: "−",
    }
)  # fmt: skip
# Ticks, boxes, bullets and arrows that papers set in other symbol fonts, by font and code.
WINGDINGS = {
    "wingdings": {
        0xFC: "√", 0xFB: "×", 0xFE: "☑", 0xFD: "☒", 0xA8: "□", 0x6F: "□", 0xE0: "→", 0xDF: "←",
        0x6C: "●", 0x6E: "■", 0x75: "◆", 0x76: "❖", 0xA7: "▪", 0xD8: "➢",
    },
    "wingdings 2": {0x50: "√", 0x4F: "×", 0x52: "☑", 0x54: "☒", 0xA3: "□", 0x3F: "×"},
}  # fmt: skip


def find_glyph(font: str, code: int) -> str | None:
    """The sign that a symbol font shows for a code, also one of U+F000 and up; None if unknown."""
    low = code & 0xFF if 0xF000 <= code <= 0xF0FF else code
    return (SYMBOL_FONT if font == "symbol" else WINGDINGS.get(font, {})).get(low)
