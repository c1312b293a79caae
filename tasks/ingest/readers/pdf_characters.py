"""The characters of a page of a PDF, and those among them that are turned."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from tasks.ingest.readers.pdf_pages import Character, Page, Row
from tasks.ingest.readers.scripts import SYMBOL_FONT


def read_characters(page: Any, raw: Any, result: Page) -> list[Character]:
    """Return the characters of a page in content order; count those that have no meaning."""
    text_page = page.get_textpage()
    handle = text_page.raw
    x, y, box = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    # every character takes several calls: what they need is looked up and wrapped once
    at_x, at_y, at_box = ctypes.pointer(x), ctypes.pointer(y), ctypes.pointer(box)
    read_code, read_origin = raw.FPDFText_GetUnicode, raw.FPDFText_GetCharOrigin
    read_box, read_size, read_angle = (
        raw.FPDFText_GetLooseCharBox,
        raw.FPDFText_GetFontSize,
        raw.FPDFText_GetCharAngle,
    )
    count = broken = 0
    high = 0
    breaks = spaced = False
    found: list[Character] = []
    for index in range(raw.FPDFText_CountChars(handle)):
        code = read_code(handle, index)
        if code in (0x0D, 0x0A):
            breaks = True
            continue
        if code == 0x20:
            if raw.FPDFText_IsGenerated(handle, index):
                spaced, high = True, 0
                continue
            text, high = " ", 0
        elif 0x20 < code < 0xD800:
            text, high = chr(code), 0
        else:
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0
            high = 0
            if 0xF020 <= code <= 0xF0FF and code - 0xF000 in SYMBOL_FONT:
                code = ord(SYMBOL_FONT[code - 0xF000])
            is_hyphen = code in (0xFFFE, 0x02)
            broken += not is_hyphen and (code in (0, 0xFFFD, 0xFFFF) or 0xE000 <= code < 0xF900)
            text = "-" if is_hyphen else ("\ufffd" if code in (0, 0xFFFF) else chr(code))
        count += 1
        read_origin(handle, index, at_x, at_y)
        read_box(handle, index, at_box)
        angle = read_angle(handle, index)
        found.append(
            Character(
                text,
                x.value,
                y.value,
                box.left,
                box.right,
                box.bottom,
                box.top,
                read_size(handle, index),
                breaks,
                spaced,
                angle != 0.0 and abs(math.sin(angle)) > 0.5,
            )
        )
        breaks = spaced = False
    result.characters += count
    result.broken += broken
    text_page.close()
    return found


def set_aside_turned(characters: list[Character], page: Page) -> list[Character]:
    """Take sideways text (the sealed margin of a paper) out of the flow.

    It is kept as furniture of the page.
    """
    turned = [character for character in characters if character.is_turned]
    if not turned or len(turned) > 0.3 * len(characters):
        return characters
    box = (
        min(item.left for item in turned),
        max(item.right for item in turned),
        min(item.bottom for item in turned),
        max(item.top for item in turned),
    )
    text = "".join((" " if item.spaced else "") + item.text for item in turned)
    page.rows.append(Row(text.strip(), *box, turned[0].size, is_furniture=True))
    return [character for character in characters if not character.is_turned]
