"""The characters of a page of a PDF, and those among them that are turned."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Any

from schemas import patterns as re
from tasks.ingest.readers.pdf_fonts import LEVEL_SIGNS, find_signs
from tasks.ingest.readers.pdf_pages import Character, Page, Row, View
from tasks.ingest.readers.scripts import SYMBOL_FONT
from tasks.ingest.words.cleaning import is_cjk

# A face that is bold by name; 微软雅黑 (YaHei) is none.
_HEAVY_FACE = re.compile(r"bold|black|heavy|simhei|stheiti|黑体|(?<!ya)hei\b", re.IGNORECASE)
HEAVY_WEIGHT = 600
# How much of a font's name is asked for.
_NAME_BYTES = 128
_LINE_ENDS = (0x0D, 0x0A)
_BOX = struct.Struct("4f")
# A character begins where its box does unless the box reaches over the one before it by so much of its size.
OVERLAP = 0.3
# So much above its baseline, in sizes, is the axis of a formula.
AXIS = 0.25


def read_characters(page: Any, raw: Any, result: Page) -> list[Character]:
    """The characters of a page in content order; those without a meaning are counted."""
    text_page = page.get_textpage()
    calls = _bind(raw)
    handle = ctypes.cast(text_page.raw, ctypes.c_void_p).value
    x, y = ctypes.c_double(), ctypes.c_double()
    # a box is four floats, read at once: left, top, right, bottom
    held = bytearray(_BOX.size)
    box = (ctypes.c_char * _BOX.size).from_buffer(held)
    read_floats = _BOX.unpack_from
    # every character takes several calls: what they need is looked up and wrapped once
    turn = raw.FS_MATRIX()
    at_x, at_y, at_box, at_turn = map(ctypes.addressof, (x, y, box, turn))
    read_code, read_origin, read_box, find_object = calls.code, calls.origin, calls.box, calls.text_object
    count = broken = coded = 0
    high = 0
    breaks = spaced = False
    found: list[Character] = []
    add = found.append
    fonts: dict[int, tuple[bool, dict[int, str]]] = {}
    signs: dict[int, str] = {}
    ink = [ctypes.c_double() for _ in range(4)]
    at_ink = [ctypes.addressof(one) for one in ink]
    paint = [ctypes.c_uint() for _ in range(4)]
    at_paint = [ctypes.addressof(one) for one in paint]
    last: int | None = -1
    size = angle = before = 0.0
    is_heavy = is_level = is_coloured = False
    for index in range(raw.FPDFText_CountChars(text_page.raw)):
        code = read_code(handle, index)
        if 0x20 < code < 0xD800:
            text = chr(code)
            high = 0
        elif code == 0x20:
            high = 0
            if calls.is_generated(handle, index):
                spaced = True
                continue
            text = " "
        elif code in _LINE_ENDS:
            item = None if calls.is_generated(handle, index) else find_object(handle, index)
            sign = _read_font(calls, item, fonts)[1].get(code) if item else None
            if sign is None:
                breaks = True
                continue
            text, high = sign, 0
        else:
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0
            high = 0
            if code in (0xFFFE, 0x02):
                text = "-"
            else:
                text = "\ufffd" if code in (0, 0xFFFF) else SYMBOL_FONT.get(code - 0xF000) or chr(code)
                broken += _is_unknown(text)
                coded += code >> 8 == _CODED
        count += 1
        item = find_object(handle, index)
        read_box(handle, index, at_box)
        left, top, right, bottom = read_floats(held)
        if item != last or item is None:
            # the characters of one object of the page share size, angle and font
            last = item
            size = calls.size(handle, index)
            angle = -calls.angle(handle, index)
            has_matrix = bool(item) and calls.matrix(item, at_turn)
            if has_matrix:
                size *= math.hypot(turn.c, turn.d)
            is_heavy, signs = _read_font(calls, item, fonts) if item else (False, {})
            is_coloured = bool(item) and bool(calls.colour(item, *at_paint)) and is_bright(paint)
            # and their baseline, which is level where nothing turns them
            is_level = has_matrix and not angle and not turn.b
            read_origin(handle, index, at_x, at_y)
        elif not is_level or left < before - OVERLAP * size:
            read_origin(handle, index, at_x, at_y)
        else:
            x.value = left
        before = right
        if signs and code in signs and code not in _LINE_ENDS:
            broken -= _is_unknown(text)
            coded -= code >> 8 == _CODED
            text = signs[code]
            if text not in LEVEL_SIGNS:
                # such a sign hangs from its origin: it is put on the line of the text beside it
                calls.ink(handle, index, *at_ink)
                y.value = (ink[2].value + ink[3].value) / 2 - AXIS * size
                left, right, bottom, top = (
                    ink[0].value,
                    ink[1].value,
                    y.value - 0.25 * size,
                    y.value + 0.95 * size,
                )
                is_level = False
        add(
            Character(
                text,
                x.value,
                y.value,
                left,
                right,
                bottom,
                top,
                size,
                breaks,
                spaced,
                angle,
                is_heavy,
                is_coloured,
                item or 0,
            )
        )
        breaks = spaced = False
    result.characters += count
    result.broken += max(broken, coded if coded > _MOST_CODED * count else 0)
    text_page.close()
    return _tell_spaces(found)


# Nearer than this, in sizes, characters are of one word or one line of text; so much wider than the usual gap is a space.
_NEAR, _FAR, _WORD_GAP = 0.6, 1.5, 0.15
# So many neighbours of a page, and of them so many, are told apart where its letters are set wide; of these so many
# are of words, as in `1 + 2` and `A B C D` none are.
_LEAST_NEAR, _MOST_TOLD, _LEAST_WORDS = 40, 0.5, 0.4


def _tell_spaces(found: list[Character]) -> list[Character]:
    """Tell spaces by the gaps of a page where most letters are told apart.

    They are set wide, or PDFium takes the lines for columns of single letters.
    """
    if sum(one.spaced or one.breaks for one in found) <= _MOST_TOLD * len(found):
        return found
    beside = {
        at: (right.left - left.right) / right.size
        for at, (left, right) in enumerate(pairwise(found), start=1)
        if right.size > 0
        and abs(right.y - left.y) <= 0.1 * right.size
        and -OVERLAP < (right.left - left.right) / right.size < _FAR
        and not (left.text.isspace() or right.text.isspace())
    }
    gaps = {at: gap for at, gap in beside.items() if gap < _NEAR}
    wide = [at for at in gaps if found[at].spaced or found[at].breaks]
    words = sum(1 for at in wide if _are_of_a_word(*found[at - 1 : at + 1]))
    if len(gaps) < _LEAST_NEAR or len(wide) <= _MOST_TOLD * len(gaps) or words <= _LEAST_WORDS * len(wide):
        return found
    usual = median(gaps.values())
    # words have spaces between them, Chinese has none
    if not any(gap > usual + _WORD_GAP or is_cjk(found[at].text) for at, gap in beside.items()):
        return found
    for at, gap in gaps.items():
        is_space = gap > usual + _WORD_GAP
        found[at] = replace(found[at], spaced=is_space, breaks=False)
        if not is_space:
            found[at - 1] = replace(found[at - 1], right=found[at].left)
    return found


def _are_of_a_word(left: Character, right: Character) -> bool:
    """Whether two characters may be letters of one word."""
    return left.text.isalpha() and right.text.isalpha() and not right.text.isupper()


# Texts of U+F020 to U+F0FF alone are of fonts that say no characters: no page is of symbols.
_CODED, _MOST_CODED = 0xF0, 0.5
# Between the strongest and the weakest of red, green and blue of 255: print in black and grey has none.
_BRIGHT = 0x50


def is_bright(paint: Sequence[ctypes.c_uint]) -> bool:
    """Whether a colour, with its alpha last, is neither black, grey nor white."""
    shares = [one.value for one in paint[:3]]
    return max(shares) - min(shares) >= _BRIGHT


def _is_unknown(text: str) -> bool:
    """Whether a character has no meaning that is known."""
    return text == "\ufffd" or "\ue000" <= text < "\uf900"


def set_aside_turned(characters: list[Character], page: Page, view: View) -> list[Character]:
    """Keep sideways text (the sealed margin of a paper) as furniture of the page."""
    if not view.angle and not any(one.angle for one in characters):
        return characters
    turned = {id(one) for one in characters if abs(math.sin(one.angle - view.angle)) > 0.5}
    aside = [one for one in characters if id(one) in turned]
    letters = [one.text for one in aside if one.text.isalnum()]
    if not aside or len(letters) > 0.5 * sum(1 for one in characters if one.text.isalnum()):
        return characters
    box = (
        min(item.left for item in aside),
        max(item.right for item in aside),
        min(item.bottom for item in aside),
        max(item.top for item in aside),
    )
    text = "".join((" " if item.spaced else "") + item.text for item in aside)
    page.rows.append(Row(text.strip(), *box, aside[0].size, is_furniture=True))
    return [one for one in characters if id(one) not in turned]


# So many characters below each other, left of all text and so far from it in sizes of theirs, are a sealed margin.
_LEAST_MARGIN, _MARGIN_APART = 5, 0.4
_COUNTING = frozenset("一二三四五六七八九十")


def set_aside_margin(characters: list[Character], page: Page) -> list[Character]:
    """Keep what is written downwards left of all text as furniture of the page."""
    shown = [one for one in characters if not one.text.isspace()]
    first = min(shown, key=lambda one: one.left, default=None)
    if first is None or not first.text > "\u2e80":
        return characters
    aside = [one for one in shown if one.left < first.right]
    edge = min((one.left for one in shown if one.left >= first.right), default=0.0)
    if (
        len(aside) < _LEAST_MARGIN
        or any(one.text <= "\u2e80" or one.text in _COUNTING or not one.text.isalpha() for one in aside)
        or edge - max(one.right for one in aside) < _MARGIN_APART * first.size
        or any(
            above.bottom - below.top < 0 for above, below in pairwise(sorted(aside, key=lambda one: -one.y))
        )
    ):
        return characters
    own = {id(one) for one in aside}
    aside.sort(key=lambda one: -one.y)
    low, high = aside[-1].bottom, aside[0].top
    text = "".join(one.text for one in aside)
    page.rows.append(Row(text, first.left, first.right, low, high, first.size, is_furniture=True))
    return [one for one in characters if id(one) not in own]


class _Calls:
    """PDFium's functions for characters, taking plain numbers: twice as quick."""

    def __init__(self, raw: Any) -> None:
        def bind(name: str, answer: Any, *takes: Any) -> Callable[..., Any]:
            address = ctypes.cast(getattr(raw, name), ctypes.c_void_p).value
            call: Callable[..., Any] = ctypes.CFUNCTYPE(answer, *takes)(address or 0)
            return call

        here, at, whole = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int
        self.code = bind("FPDFText_GetUnicode", ctypes.c_uint, here, whole)
        self.is_generated = bind("FPDFText_IsGenerated", whole, here, whole)
        self.origin = bind("FPDFText_GetCharOrigin", whole, here, whole, at, at)
        self.box = bind("FPDFText_GetLooseCharBox", whole, here, whole, at)
        self.size = bind("FPDFText_GetFontSize", ctypes.c_double, here, whole)
        self.angle = bind("FPDFText_GetCharAngle", ctypes.c_float, here, whole)
        self.text_object = bind("FPDFText_GetTextObject", ctypes.c_void_p, here, whole)
        self.font = bind("FPDFTextObj_GetFont", ctypes.c_void_p, here)
        self.matrix = bind("FPDFPageObj_GetMatrix", whole, here, at)
        self.mode = bind("FPDFTextObj_GetTextRenderMode", whole, here)
        self.colour = bind("FPDFPageObj_GetFillColor", whole, here, at, at, at, at)
        self.weight = bind("FPDFFont_GetWeight", whole, here)
        self.font_name = bind("FPDFFont_GetBaseFontName", ctypes.c_size_t, here, at, ctypes.c_size_t)
        # in the order left, right, bottom, top
        self.ink = bind("FPDFText_GetCharBox", whole, here, whole, at, at, at, at)
        self.stroked = raw.FPDF_TEXTRENDERMODE_FILL_STROKE


@functools.cache
def _bind(raw: Any) -> _Calls:
    return _Calls(raw)


def _read_font(
    calls: _Calls, item: int, fonts: dict[int, tuple[bool, dict[int, str]]]
) -> tuple[bool, dict[int, str]]:
    """Whether an object's letters are bold, and what codes without a table show."""
    font = calls.font(item)
    if font and font not in fonts:
        held = ctypes.create_string_buffer(_NAME_BYTES)
        calls.font_name(font, ctypes.addressof(held), _NAME_BYTES)
        name = _decode_name(held.value)
        fonts[font] = calls.weight(font) >= HEAVY_WEIGHT or bool(_HEAVY_FACE.search(name)), find_signs(name)
    is_bold, signs = fonts.get(font, (False, {}))
    return is_bold or calls.mode(item) == calls.stroked, signs


def _decode_name(name: bytes) -> str:
    for encoding in ("utf-8", "gb18030"):
        try:
            return name.decode(encoding)
        except UnicodeDecodeError:
            continue
    return name.decode("latin-1")
