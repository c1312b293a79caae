"""Making text consistent without harming mathematics.

NFC and an explicit map, never NFKC: NFKC turns x² into x2, H₂O into H2O, ① into 1 and ℃ into °C.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import islice

from schemas import patterns as re
from tasks.questions import is_call

_SPACES = dict.fromkeys([0x00A0, 0x3000, 0x202F, 0x205F, *range(0x2000, 0x200B)], " ")
_REMOVED = dict.fromkeys(
    [
        0x00AD,
        0x200B,
        0x200C,
        0x200D,
        0x200E,
        0x200F,
        0x2060,
        0xFEFF,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ]
    + [code for code in range(0x20) if code not in (0x09, 0x0A)]
    + list(range(0x7F, 0xA0)),
    "",
)
_WIDE = {0xFF10 + value: chr(0x30 + value) for value in range(10)}
_WIDE[0xFF3F] = "_"  # the blank of a fill-in question
_WIDE |= {0xFF21 + value: chr(0x41 + value) for value in range(26)}
_WIDE |= {0xFF41 + value: chr(0x61 + value) for value in range(26)}
_NARROW = {0xFF61: "。", 0xFF62: "「", 0xFF63: "」", 0xFF64: "、", 0xFF65: "・"}
# Glyph variants that PDF producers write for ordinary characters.
_VARIANTS = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0x2EA0: "民", 0x2EC5: "见",
             0x2ED3: "长", 0x2ED4: "门", 0x2EE2: "马", 0x2EE9: "黄", 0x2EE4: "鬼", 0x2EEC: "齐", 0x2EEF: "龙", 0x2EF0: "龙",
             0x2EA9: "王", 0x2EB7: "羊", 0x2EC6: "角", 0x2ECB: "车", 0x2ED8: "青", 0x2EDA: "页", 0x2EDB: "风", 0x2EDC: "飞",
             0x2EDD: "食", 0x2EE5: "鱼", 0x2EE6: "鸟", 0x2E9D: "月", 0x2E8C: "小", 0x2E92: "巳", 0x2E9F: "母",
             0x2EC4: "西", 0x2ECC: "辶", 0x2EA6: "丬", 0x2F00: "一"}  # fmt: skip
_VARIANTS |= {
    code: unicodedata.normalize("NFKC", chr(code)) for code in range(0x2F00, 0x2FD6)
}  # Kangxi radicals standing for the characters they look like
_TABLE: dict[int, str] = {**_SPACES, **_REMOVED, **_WIDE, **_NARROW, **_VARIANTS}
# Characters that become none or several: only they move what stands behind them.
_UNEVEN = re.compile(f"[{''.join(re.escape(chr(code)) for code, text in _TABLE.items() if len(text) != 1)}]")

_MAPPED = re.compile(f"[{''.join(re.escape(chr(code)) for code in _TABLE)}]")

_CJK = r"\u3400-\u9fff\uf900-\ufaff"
_GAPS = re.compile(r"[ \t\u3000]{2,}|[\t\u3000]")
_IDLE_SPACE = re.compile(rf"(?<=[{_CJK}]) (?=[，。；：？！、）》”])")
_HAN = re.compile(f"[{_CJK}]")
_HAN_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(r"[A-Za-z]{2,}")
# dots are drawn where nothing is written yet; three leave a text out
_EMPTY_BRACKET = re.compile(r"([（(])[ \t]*(?:\.{4,}|_{2,}|…{2,})?[ \t]*([)）])")


def clean_line(raw: str) -> tuple[str, Sequence[int]]:
    """The cleaned line and, for each of its characters, the index of its source."""
    if raw.isascii() and raw.isprintable():
        return raw, range(len(raw))
    composed = unicodedata.normalize("NFC", raw)
    if len(composed) == len(raw):
        if _MAPPED.search(composed) is None:
            return composed, range(len(raw))
        if _UNEVEN.search(composed) is None:
            return composed.translate(_TABLE), range(len(raw))
    scale = len(raw) / len(composed) if composed else 1.0
    is_same = len(raw) == len(composed)
    characters: list[str] = []
    sources: list[int] = []
    for index, character in enumerate(composed):
        source = index if is_same else min(int(index * scale), len(raw) - 1)
        mapped = _TABLE.get(ord(character), character)
        for piece in mapped:
            characters.append(piece)
            sources.append(source)
    return "".join(characters), sources


def clean_text(text: str, language: str | None) -> str:
    """Collapse white space and settle brackets, line by line; line breaks stay.

    Empty answer brackets become `（）` in Chinese and `( )` in English; a bracket pair of mixed width takes
    the width that the language uses.
    """
    if "\n" in text:
        kept: list[str] = []
        for line in map(_clean_spaces, text.split("\n")):
            if line or (kept and kept[-1]):
                kept.append(line)
        joined = "\n".join(kept).strip()
    else:
        joined = _clean_spaces(text)
    if "(" not in joined and "（" not in joined:
        return joined
    joined = match_brackets(joined, language)
    return _EMPTY_BRACKET.sub(lambda match: _write_blank(joined, match, language), joined)


def _write_blank(text: str, match: re.Match[str], language: str | None) -> str:
    """An empty answer bracket in the language's way; the brackets of a call, `main()`, stay."""
    if is_call(text, match.start()):
        return match.group(0)
    return "（）" if language == "zh" else "( )"


def _clean_spaces(line: str) -> str:
    if "  " in line or "\t" in line or "\u3000" in line:
        line = _GAPS.sub(" ", line)
    line = line.strip()
    # spaces typed inside Chinese words or before Chinese punctuation carry nothing
    return line if " " not in line or line.isascii() else _IDLE_SPACE.sub("", line)


def match_brackets(text: str, language: str | None) -> str:
    """Give both brackets of every innermost mixed pair `(…）` the same width."""
    if not (("(" in text and "）" in text) or ("（" in text and ")" in text)):
        return text
    opened: list[int] = []
    characters = list(text)
    for index, character in enumerate(characters):
        if character in "(（":
            opened.append(index)
        elif character in ")）" and opened:
            start = opened.pop()
            if (characters[start] == "(") != (character == ")"):
                wide = language == "zh" or _HAN.search(text, start, index + 1) is not None
                characters[start], characters[index] = ("（", "）") if wide else ("(", ")")
    return "".join(characters)


def detect_language(text: str) -> str | None:
    """Return 'zh' or 'en' by the letters used, or None when there are too few to tell."""
    chinese = 0 if text.isascii() else sum(map(len, _HAN_RUN.findall(text)))
    if chinese > 1 and chinese * 0.67 >= (len(text) - chinese) / 2:
        return "zh"  # no more words than that fit in
    words = len(_WORD.findall(text)) if chinese else sum(1 for _ in islice(_WORD.finditer(text), 2))
    if chinese + words < 2:
        return "zh" if chinese else ("en" if words else None)
    # A Chinese character weighs about two thirds of an English word.
    return "zh" if chinese * 0.67 >= words else "en"


def is_cjk(character: str) -> bool:
    """True for Chinese characters and full-width punctuation."""
    return (
        "\u3400" <= character <= "\u9fff"
        or "\u3000" <= character <= "\u303f"
        or "\uff00" <= character <= "\uffef"
    )


def join_wrapped(left: str, right: str) -> str:
    """Join two lines that a margin cut, without a space between Chinese and within a blank."""
    left, right = left.rstrip(), right.lstrip()
    if not left or not right:
        return left + right
    if is_cjk(left[-1]) or is_cjk(right[0]) or left[-1] == right[0] == "_":
        return left + right
    if left.endswith("-") and len(left) > 1 and left[-2].isalpha() and right[0].islower():
        return left[:-1] + right
    return f"{left} {right}"
