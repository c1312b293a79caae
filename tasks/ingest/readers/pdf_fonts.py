"""Fonts that print one thing and say another: text that no language writes.

Old typesetting keeps Chinese in fonts of 256 characters without a table of what they are; a copy of such a page reads
`ÍÆâÆÆâ)2021—2022Æc1Æœ5V«ÿ6œ`. Some programs count part of a font's characters from a wrong place: `考试ᯩ式` for `考试方式`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from schemas import patterns as re
from tasks.ingest.readers.scripts import WINGDINGS

# Fewer letters say nothing of a font.
LEAST_LETTERS = 100
# Of the letters of a document so many may be odd, and of a page in such a document: mathematics has fewer.
MOST_ODD, MOST_ODD_PAGE = 0.1, 0.05
# Signs of Latin-1 that texts use beside letters.
_USUAL_SIGNS = frozenset("¬·×÷°±²³¹¼½¾§©®™µ«»¿¡£¥¢…–—‘’“”•′″")
_CHINESE_CODES = ("gb2312", "big5", "shift_jis")
# Letters with accents; a word hardly ever has two side by side, and capitals at its beginning only.
_ACCENTED = frozenset(chr(code) for code in range(0xC0, 0x100) if chr(code).isalpha())


def count_odd(texts: Sequence[str]) -> tuple[int, int]:
    """How many characters of a page are those of no text, and how many letters it has."""
    counts = Counter(texts)
    letters = sum(count for text, count in counts.items() if text.isalnum())
    odd = sum(count for text, count in counts.items() if _is_odd(text))
    return odd + (_count_clashes(texts) if _ACCENTED & counts.keys() else 0), letters


def find_garbled(pages: Sequence[tuple[int, int]]) -> set[int]:
    """The pages that say something else than they show, by odd characters and letters."""
    odd, letters = sum(page[0] for page in pages), sum(page[1] for page in pages)
    if letters < LEAST_LETTERS or odd <= MOST_ODD * letters:
        return set()
    return {place for place, page in enumerate(pages) if page[0] > MOST_ODD_PAGE * page[1]}


@lru_cache(maxsize=8192)
def _is_odd(text: str) -> bool:
    """Whether texts hold a character hardly ever."""
    code = ord(text)
    if code < 0x80:
        return code < 0x20 or code == 0x7F
    kind = unicodedata.category(text)
    if kind in ("Cc", "Cn"):
        return True
    if code < 0x100:
        return (kind[0] in "SP" and text not in _USUAL_SIGNS) or text in "ªº"
    if 0x2B0 <= code < 0x300:  # accents that stand alone
        return True
    if 0x4E00 <= code < 0xA000:
        return not _is_in_use(text)
    return 0x3400 <= code < 0x4DC0


def _is_in_use(text: str) -> bool:
    for code in _CHINESE_CODES:
        try:
            text.encode(code)
        except UnicodeEncodeError:
            continue
        return True
    return False


def _count_clashes(texts: Sequence[str]) -> int:
    """How many letters with accents follow another, or are capitals after a small letter."""
    found = 0
    before = ""
    for text in texts:
        if text in _ACCENTED and (before in _ACCENTED or (text.isupper() and before.islower())):
            found += 1
        before = text
    return found


# Scripts that stand in no Chinese paper, accented Latin among them that no European language but Vietnamese and Welsh has.
_FOREIGN = ((0x0500, 0x1F00), (0x2C00, 0x2E00), (0xA000, 0xAC00))
_HAN = (0x4E00, 0xA000)
# So many different characters leave one place from which they were counted: of a hundred random ones eighteen are common.
LEAST_SHIFTED = 12
# All but so few of them are common then; a paper names rare things.
MOST_RARE = 0.1


def list_foreign(texts: Sequence[str]) -> Counter[str]:
    """The characters of scripts that stand in no Chinese paper, and how often each does."""
    foreign = {text for text in set(texts) if any(low <= ord(text[0]) < high for low, high in _FOREIGN)}
    return Counter(text for text in texts if text in foreign) if foreign else Counter()


def find_shift(foreign: Sequence[str]) -> dict[int, int]:
    """What foreign characters of a Chinese paper stand for: all at one distance, or {}."""
    codes = sorted(ord(text[0]) for text in foreign)
    if len(codes) < LEAST_SHIFTED:
        return {}
    most_rare = MOST_RARE * len(codes)
    best: tuple[int, int] | None = None
    for shift in range(_HAN[0] - codes[0], _HAN[1] - codes[-1]):
        rare = 0
        for code in codes:
            rare += not _is_common(code + shift)
            if rare > most_rare:
                break
        else:
            best = min(best or (rare, shift), (rare, shift))
    return {} if best is None else {code: code + best[1] for code in codes}


@lru_cache(maxsize=1 << 15)
def _is_common(code: int) -> bool:
    """Whether a character is among the 3,755 in most use."""
    try:
        return chr(code).encode("gb2312")[0] <= 0xD7
    except UnicodeEncodeError:
        return False


def is_chinese(letters: int, texts: Sequence[str]) -> bool:
    """Whether a good part of a text's letters is Chinese."""
    return 4 * sum(1 for text in texts if _HAN[0] <= ord(text[0]) < _HAN[1]) > letters


# The big signs of TeX's extension fonts, which files name by their places alone: small ones, large ones, and brackets.
_EXTENSION_FONT = re.compile(
    r"(?:[A-Z]{6}\+)?(?:CMEX|EUEX|MSEX|TXEX|PXEX|LMEX|ESINT)\d*(?:-|$)", re.IGNORECASE
)
_EXTENSION = {
    **dict(zip(range(0x46, 0x62), "⊔⊔∮∮⊙⊙⊕⊕⊗⊗∑∏∫⋃⋂⊎⋀⋁∑∏∫⋃⋂⊎⋀⋁∐∐", strict=True)),
    **dict.fromkeys((0x00, 0x10, 0x12), "("),
    **dict.fromkeys((0x01, 0x11, 0x13, 0x21), ")"),
    **dict.fromkeys((0x02, 0x14, 0x22, 0x68), "["),
    **dict.fromkeys((0x03, 0x15, 0x23, 0x69), "]"),
    **dict.fromkeys((0x08, 0x1A, 0x28, 0x6E), "{"),
    **dict.fromkeys((0x09, 0x1B, 0x29, 0x6F), "}"),
    0x0C: "|",
    **dict.fromkeys(range(0x70, 0x74), "√"),
}
# Two signs of its other fonts have the places of line ends, the circle before an answer to be ticked is one; its root hangs.
_SYMBOL_FONT = re.compile(r"(?:[A-Z]{6}\+)?(?:CMSY|CMBSY|LMMathSymbols)\d*(?:-|$)", re.IGNORECASE)
# Signs whose names are TeX's own come as the letters and digits at their places, which these fonts do not have.
_NAMED = dict(zip(map(ord, "067>bcdehilmoqtuvw"), "′\u0338↦⊤⌊⌋⌈⌉⟨⟩↕⇕≀⨿⊔⊓⊑⊒", strict=True))
_SYMBOLS = {0x0A: "⊗", 0x0D: "○", 0x221A: "√"} | _NAMED
_RELATION_FONT = re.compile(r"(?:[A-Z]{6}\+)?MSAM\d*(?:-|$)", re.IGNORECASE)
_RELATIONS = dict(zip(map(ord, "56=>BCDEF"), "≦≤≧≥⊳⊲⊵⊴★", strict=True))
# A file says of these fonts the codes, from U+F000 on or as letters with accents: `ü` for a tick.
_WINGDINGS_FONT = re.compile(r"(?:[A-Z]{6}\+)?Wingdings(?P<number>-?2)?(?:-|$)", re.IGNORECASE)
_WINGDINGS = {
    font: {code: "✓" if sign == "√" else sign for low, sign in signs.items() for code in (low, 0xF000 + low)}
    for font, signs in WINGDINGS.items()
}
# These stand on the line as letters do; the others hang below it.
LEVEL_SIGNS = frozenset(
    sign for signs in (_NAMED, _RELATIONS, *_WINGDINGS.values()) for sign in signs.values()
)


def find_signs(name: str) -> dict[int, str]:
    """What codes of a font show that it has no table for, or that hang below its line."""
    if _EXTENSION_FONT.match(name):
        return _EXTENSION
    if _RELATION_FONT.match(name):
        return _RELATIONS
    dingbats = _WINGDINGS_FONT.match(name)
    if dingbats is not None:
        return _WINGDINGS["wingdings 2" if dingbats["number"] else "wingdings"]
    return _SYMBOLS if _SYMBOL_FONT.match(name) else {}
