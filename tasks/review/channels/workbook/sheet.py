"""How the sheets of a review workbook are formatted, protected and printed; their lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tasks.review.channels.workbook import layout
from tasks.review.words import Language, Topic, list_words

_LISTS: tuple[tuple[str, Topic], ...] = (
    ("decision", "decisions"),
    ("reject_reason", "reasons"),
    ("new_question_type", "question_types"),
    ("new_discipline", "disciplines"),
)
# What an annotator reads next to a cell that does not take what was typed.
_NOT_LISTED = {
    "en": "This is not one of the list. Keep it all the same? Usual words such as ok, yes, no are understood.",
    "zh": "不在下拉列表中。仍要保留吗？“同意”“不通过”“√”“ok”等常用写法也能识别。",
}
_PROMPTS = {
    "decision": {"en": "Accept, Edit or Reject", "zh": "通过、修改或退回"},
    "reject_reason": {"en": "Only with Reject", "zh": "仅在退回时填写"},
}


class Formats:
    """The formats of a workbook, made once for it."""

    def __init__(self, book: Any) -> None:
        text: dict[str, Any] = {"text_wrap": True, "valign": "top", "font_size": 11, "num_format": "@"}
        line = {"bottom": 1, "bottom_color": "#B8C4D0"}
        self.header = book.add_format(
            {"bold": True, "text_wrap": True, "valign": "vcenter", "bg_color": "#DDE6F0", "border": 1}
        )
        self.header_input = book.add_format(
            {"bold": True, "text_wrap": True, "valign": "vcenter", "bg_color": "#FFE699", "border": 1}
        )
        self.card = book.add_format(text | {"top": 1, "top_color": "#8497B0"})
        self.card_continued = book.add_format(text)
        self.shown = book.add_format({"valign": "top", "font_color": "#808080"})
        self.input = book.add_format(
            text | line | {"locked": False, "bg_color": "#FFFBEB", "top": 1, "top_color": "#8497B0"}
        )
        self.input_quoted = book.add_format(
            text
            | line
            | {"locked": False, "bg_color": "#FFFBEB", "top": 1, "top_color": "#8497B0", "quote_prefix": True}
        )
        self.fault = book.add_format(text | {"font_color": "#C00000"})
        self.number = book.add_format(
            {"valign": "top", "num_format": "0", "bold": True, "top": 1, "top_color": "#8497B0"}
        )
        # The number of a part sorts after its question; what is seen is an arrow.
        self.continued = book.add_format({"valign": "top", "num_format": '"↳"', "align": "right"})
        self.heading = book.add_format({"bold": True, "font_color": "#1F4E79", "font_size": 11})
        self.doubt = book.add_format({"bold": True, "font_color": "#C55A11", "font_size": 11})
        self.head = book.add_format({"font_color": "#6B7280", "font_size": 10})
        self.plain = book.add_format({"font_size": 11})
        self.wrapped = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
        self.title = book.add_format({"bold": True, "font_size": 13, "text_wrap": True, "valign": "top"})


def write_text(sheet: Any, row: int, place: int, value: str | int, cell: Any) -> None:
    """Write text as text whatever it begins with, even when edited later, and a number as one."""
    if isinstance(value, int):
        sheet.write_number(row, place, value, cell)
    elif value:
        sheet.write_string(row, place, value, cell)
    elif cell is not None:
        sheet.write_blank(row, place, None, cell)


def set_up_page(sheet: Any, columns: Sequence[layout.SheetColumn], end: int, language: Language) -> None:
    """Panes, filter, protection, lists and print of the review sheet, up to row `end` (from 0)."""
    places = {column.name: place for place, column in enumerate(columns)}
    sheet.freeze_panes(1, 2)
    sheet.autofilter(0, 0, end - 1, len(columns) - 1)
    sheet.protect("", {"format_columns": True, "format_rows": True, "autofilter": True, "sort": True})
    for list_number, (name, topic) in enumerate(_LISTS):
        letter = layout.name_column(list_number + 1)
        count = len(list_words(topic, language))
        options: dict[str, Any] = {
            "validate": "list",
            "source": f"='{layout.LISTS_SHEET}'!${letter}$1:${letter}${count}",
            # Words as people write them are understood, so another word is a question, not a refusal.
            "error_type": "warning",
            "error_title": "Proctor",
            "error_message": _NOT_LISTED[language],
        }
        if name in _PROMPTS:
            options["input_message"] = _PROMPTS[name][language]
        place = places[name]
        sheet.data_validation(1, place, end - 1, place, options)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.5)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    sheet.print_area(0, 0, end - 1, places["comment"])
    sheet.set_footer("&C&P / &N")
    sheet.set_selection(1, places["decision"], 1, places["decision"])
    sheet.activate()


def add_lists(book: Any, language: Language) -> None:
    """The hidden sheet from which the cells to choose in take their words."""
    sheet = book.add_worksheet(layout.LISTS_SHEET)
    sheet.very_hidden()
    for place, (_, topic) in enumerate(_LISTS):
        for row, word in enumerate(list_words(topic, language).values()):
            sheet.write_string(row, place, word)
