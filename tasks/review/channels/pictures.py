"""Pictures of questions under review, for a workbook and for Label Studio."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any, Final

from schemas.errors import StoreError
from tasks.questions import QuestionContent, QuestionPicture
from tasks.questions.pictures import name_media_type, read_picture, write_mark
from tasks.review.decisions import Item
from tasks.review.words import Language

PICTURE_SHEET: Final = "Pictures 图片"
_LOST: Final = {"en": "this picture is lost: reject the question", "zh": "图片已丢失：请退回此题"}
_HEADERS: Final = {"en": ("No.", "In the text", "Picture"), "zh": ("序号", "文中标记", "图片")}
# Pixels of a sheet's picture at most, and points that a row may be high.
_WIDEST, _TALLEST = 480, 360


def list_pictures(content: QuestionContent) -> list[QuestionPicture]:
    """All pictures of a question by number, those of its answer included."""
    return sorted((*content.bare.pictures, *content.hidden_pictures), key=lambda one: one.number)


def write_picture_sheet(book: Any, items: Iterable[Item], archive: Path, language: Language) -> None:
    """Add a sheet with the pictures of the questions by their number, where there are any."""
    held = [
        (number, one) for number, item in enumerate(items, start=1) for one in list_pictures(item.content)
    ]
    if not held:
        return
    sheet = book.add_worksheet(PICTURE_SHEET)
    sheet.protect()
    sheet.set_column(0, 1, 14)
    sheet.set_column(2, 2, _WIDEST / 7)
    for place, header in enumerate(_HEADERS[language]):
        sheet.write_string(0, place, header)
    for row, (number, one) in enumerate(held, start=1):
        sheet.write_number(row, 0, number)
        sheet.write_string(row, 1, write_mark(one.number))
        try:
            data = read_picture(archive, one.sha256)
        except StoreError:
            sheet.write_string(row, 2, _LOST[language])
            continue
        width, height = _measure(data)
        scale = min(1.0, _WIDEST / width, _TALLEST / height)
        sheet.set_row_pixels(row, int(height * scale) + 8)
        sheet.insert_image(
            row,
            2,
            f"{one.sha256}.png",
            {
                "image_data": io.BytesIO(data),
                "x_scale": scale,
                "y_scale": scale,
                "x_offset": 3,
                "y_offset": 3,
                "description": one.alt_text or write_mark(one.number),
            },
        )


def render_pictures(content: QuestionContent, archive: Path, language: Language) -> str:
    """The pictures of a question as HTML that carries them with it; empty without any."""
    return "".join(_render(content, archive, language))


def _render(content: QuestionContent, archive: Path, language: Language) -> Iterator[str]:
    for one in list_pictures(content):
        mark = write_mark(one.number)
        try:
            data = read_picture(archive, one.sha256)
        except StoreError:
            yield f"<p>{mark}: {_LOST[language]}</p>"
            continue
        address = f"data:{name_media_type(data)};base64,{base64.b64encode(data).decode()}"
        yield (
            f'<figure><img src="{address}" alt="{escape(one.alt_text or mark)}" style="max-width:100%">'
            f"<figcaption>{mark}</figcaption></figure>"
        )


def _measure(data: bytes) -> tuple[int, int]:
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
        return image.size
