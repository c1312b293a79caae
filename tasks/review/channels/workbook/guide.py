"""The sheets beside the review sheet: how to fill it in, and formulas as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from schemas.ledger.review import GuidelineVersion
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.card import compute_height
from tasks.review.channels.workbook.cells import CUT_MARK, render_answer, render_options
from tasks.review.channels.workbook.mathematics import render_mathematics
from tasks.review.channels.workbook.sheet import Formats, write_text
from tasks.review.decisions import Item
from tasks.review.marking import fit_cell
from tasks.review.words import Language

_STEPS: dict[Language, tuple[str, ...]] = {
    "en": (
        "How to fill this in",
        "1. Each card is one question: read it, then choose DECISION beside it: Accept (right as it stands), Edit (right once corrected) or Reject (should not be used). Usual words are understood as well: ok, yes, √, no, ×.",
        "2. Reject needs a REASON; with “Other”, say more in COMMENT.",
        "3. Edit: write the whole corrected text into the “New …” columns to the right of COMMENT, only where something changes. To empty a field, such as the explanation, write (none).",
        "4. New options stand one per line: “A. first”, then “B. second” (Alt+Enter begins a line). A new key is letters only, such as AC; true or false is true or false; several blanks have one answer per line.",
        "5. PLEASE CHECK on a card says what was doubtful when the paper was read. A question without an answer cannot be accepted as it stands.",
        "6. A long card continues in the rows below it, marked ↳; decide in its first row. Sorting and filtering do no harm.",
        "7. Formulas are shown in plain characters where that is possible. Keep LaTeX in corrections if you can: the sheet “LaTeX” has each such text as it was written.",
        "8. A row without a decision counts as not read yet. Hand the file in as often as you like: until the batch closes, your last file counts.",
    ),
    "zh": (
        "怎样填写",
        "1. 每张卡片是一道题。读完后在旁边的“结论”列选择：通过（无需改动）、修改（更正后可用）或退回（不应使用）。也可以直接写“同意”“ok”“√”“不通过”“×”等常用写法。",
        "2. 选择“退回”时必须选“退回原因”；原因为“其他”时请在“备注”中说明。",
        "3. 选择“修改”时，在“备注”右侧的“更正…”列中填写更正后的完整内容，只填需要改动的列。要清空某项（如解析），填写 (无)。",
        "4. 更正选项每行一个：“A. 第一项”，换行（Alt+Enter）后“B. 第二项”。更正选择题答案只写字母，多选连写，如 AC；判断题写“对”或“错”；填空题有多个空时每空一行。",
        "5. 卡片上的“请留意”说明读取试卷时的疑点。没有答案的题不能直接通过。",
        "6. 较长的卡片在下方以 ↳ 标出的行中继续；结论填在第一行。排序和筛选不会造成影响。",
        "7. 数学式尽量以普通字符显示。更正时请尽可能保留 LaTeX 写法：工作表“LaTeX”中有这些文字的原样，可供复制。",
        "8. 没有结论的行视为尚未审核。可以多次交回；批次关闭之前，以最后一次为准。",
    ),
}
_EXAMPLE: dict[Language, tuple[tuple[str, ...], ...]] = {
    "en": (
        ("QUESTION", "DECISION", "REASON (if rejected)", "COMMENT", "New answer"),
        ("【QUESTION】At sea level, water boils at ( ) °C.\n【OPTIONS】\nA. 90\nB. 100\n【ANSWER】B", "Accept", "", "", ""),
        ("【QUESTION】2 + 3 × 4 = ( ).\n【OPTIONS】\nA. 14\nB. 20\n【ANSWER】B", "Edit", "", "multiplication first", "A"),
        ("【QUESTION】Which of these is the best?\n【ANSWER】see figure", "Reject", "Unclear", "the figure is missing", ""),
    ),
    "zh": (
        ("题目", "结论", "退回原因", "备注", "更正答案"),
        ("【题干】在海平面上，水的沸点是（ ）℃。\n【选项】\nA. 90\nB. 100\n【答案】B", "通过", "", "", ""),
        ("【题干】2 + 3 × 4 =（ ）。\n【选项】\nA. 14\nB. 20\n【答案】B", "修改", "", "应先算乘法", "A"),
        ("【题干】下列哪一项最好？\n【答案】见图", "退回", "表述不清", "缺图", ""),
    ),
}  # fmt: skip
_TITLES = {"en": ("Review batch {} · annotator {}", "Example"), "zh": ("审核批次：{} · 审核人：{}", "示例")}
_CHANGES = {"en": "What changed in the guidelines (version {}, {})", "zh": "审核规则的改动（第 {} 版，{}）"}
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
