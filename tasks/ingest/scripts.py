"""Superscripts and subscripts as plain text: Unicode where every character has one, else TeX marks."""

from __future__ import annotations

_SUPER = str.maketrans("0123456789+-=()ni−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ⁻")
_SUB = str.maketrans("0123456789+-=()−", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋")
_SUPER_KNOWN = set("0123456789+-=()ni−")
_SUB_KNOWN = set("0123456789+-=()−")


def raise_text(text: str) -> str:
    """Write `text` as a superscript: 10 + '3' reads 10³, x + 'ab' reads x^{ab}. White space is kept."""
    return _mark(text, "^", _SUPER_KNOWN, _SUPER)


def lower_text(text: str) -> str:
    """Write `text` as a subscript: H + '2' reads H₂, x + 'max' reads x_{max}. White space is kept."""
    return _mark(text, "_", _SUB_KNOWN, _SUB)


def _mark(text: str, sign: str, known: set[str], table: dict[int, int]) -> str:
    core = text.strip()
    if not core or len(core) > 40:
        return text
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if all(character in known for character in core):
        return lead + core.translate(table) + tail
    if any("一" <= character <= "鿿" for character in core) or core[0] in "[（(【①②③④⑤⑥⑦⑧⑨⑩":
        return text
    return lead + (f"{sign}{core}" if len(core) == 1 else f"{sign}{{{core}}}") + tail
