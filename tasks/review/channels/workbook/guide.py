"""The sheets beside the review sheet: how to fill it in, and formulas as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from schemas.ledger.review import GuidelineVersion
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.card import compute_height
from tasks.review.channels.workbook.cells import CUT_MARK, render_answer, render_options
from tasks.review.channels.workbook.mathematics import render_mathematics
from tasks.review.channels.workbook.sheet import Formats, write_text
from tasks.review.decisions import Item
from tasks.review.marking import fit_cell
from tasks.review.words import Language
from tasks.texts import read_texts

_WORDING: Final[dict[str, Any]] = read_texts("tasks.review.channels.workbook", "guide.yaml")
_STEPS: dict[Language, list[str]] = _WORDING["steps"]
_EXAMPLE: dict[Language, list[list[str]]] = _WORDING["example"]
_TITLES: dict[Language, list[str]] = _WORDING["titles"]
_CHANGES: dict[Language, str] = _WORDING["changes"]
_MOST_CHANGES = 5
_FORMULA_HEADERS = {
    "en": ("No.", "Field", "As written, with LaTeX"),
    "zh": ("序号", "字段", "原样（含 LaTeX）"),
}
_WIDTHS = (60, 12, 16, 26, 14)


def write_guide(
    book: Any,
    formats: Formats,
    language: Language,
    batch_id: str,
    annotator: str,
    versions: Sequence[GuidelineVersion] = (),
) -> None:
    """The sheet with instructions, what changed last in the guidelines, and an example."""
    sheet = book.add_worksheet(layout.INSTRUCTIONS_SHEET)
    for place, width in enumerate(_WIDTHS):
        sheet.set_column(place, place, width)
    title, example = _TITLES[language]
    changes = [
        line
        for one in reversed(versions[-_MOST_CHANGES:])
        for line in (
            _CHANGES[language].format(one.version, one.published_at[:10]),
            (one.changes_zh if language == "zh" else None) or one.changes,
        )
    ]
    lines = (title.format(batch_id, annotator), *_STEPS[language], *changes, example)
    steps = 1 + len(_STEPS[language])
    for row, line in enumerate(lines):
        is_title = row in (1, len(lines) - 1, *range(steps, steps + len(changes), 2))
        sheet.set_row(row, compute_height([(line, sum(_WIDTHS))]) + (4 if is_title else 0))
        sheet.merge_range(row, 0, row, len(_WIDTHS) - 1, line, formats.title if is_title else formats.wrapped)
    for number, cells in enumerate(_EXAMPLE[language]):
        row = len(lines) + number
        sheet.set_row(row, compute_height(list(zip(cells, _WIDTHS, strict=True))))
        for place, text in enumerate(cells):
            shown = formats.card if place == 0 else formats.input
            write_text(sheet, row, place, text, formats.header if number == 0 else shown)
    sheet.protect()
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)


def write_formulas(book: Any, formats: Formats, language: Language, items: Iterable[Item]) -> None:
    """The sheet with texts whose formulas cards show otherwise, to copy from; none without any."""
    rows = []
    for number, item in enumerate(items, start=1):
        content = item.content
        texts = {
            "material": content.material or "",
            "stem": content.stem,
            "options": render_options(content.options),
            "answer": render_answer(content.answer, content.question_type),
            "explanation": content.explanation or "",
        }
        rows += [
            (number, name, fit_cell(text, CUT_MARK))
            for name, text in texts.items()
            if text and render_mathematics(text) != text
        ]
    if not rows:
        return
    sheet = book.add_worksheet(layout.FORMULAS_SHEET)
    headers = {column.name: column.header for column in layout.list_columns(language)}
    for place, (header, width) in enumerate(zip(_FORMULA_HEADERS[language], (6, 16, 110), strict=True)):
        sheet.set_column(place, place, width)
        sheet.write_string(0, place, header, formats.header)
    for row, (number, name, text) in enumerate(rows, start=1):
        sheet.set_row(row, compute_height([(text, 110)]))
        sheet.write_number(row, 0, number, formats.number)
        sheet.write_string(row, 1, headers[f"new_{name}"], formats.shown)
        sheet.write_string(row, 2, text, formats.wrapped)
    sheet.freeze_panes(1, 0)
    sheet.protect()
