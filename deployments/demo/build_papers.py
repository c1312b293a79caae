"""Build the demo's sample papers from their sources.

Run it as `python -m deployments.demo.build_papers`. Sample papers as Excel workbooks with different header
rows.
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from deployments.demo.sources import PAPERS_FOLDER, Paper, SourceQuestion, read_papers
from deployments.demo.word_papers import pack_zip, render_docx, render_pdf

_HEADERS = {
    "zh": ["序号", "学科", "题型", "题干", "选项A", "选项B", "选项C", "选项D", "答案", "解析"],
    "zh_short": ["编号", "所属学科", "试题类型", "题目", "选项", "参考答案", "答案解析"],
    "en": [
        "No.",
        "Discipline",
        "Type",
        "Question",
        "Option A",
        "Option B",
        "Option C",
        "Option D",
        "Answer",
        "Explanation",
    ],
}
_TYPES = {
    "zh": {
        "true_false": "判断题",
        "fill_in_the_blank": "填空题",
        "short_answer": "简答题",
        "term_explanation": "名词解释",
        "material_analysis": "材料分析题",
        "calculation": "计算题",
        "essay": "论述题",
    },
    "en": {
        "true_false": "True/False",
        "fill_in_the_blank": "Fill in the Blank",
        "short_answer": "Short Answer",
        "term_explanation": "Term Explanation",
        "material_analysis": "Material Analysis",
        "calculation": "Calculation",
        "essay": "Essay",
    },
}
_CHOICES = {"zh": ("单选题", "多选题"), "en": ("Single Choice", "Multiple Choice")}
_DISCIPLINES = {
    "Education": "教育学",
    "Literature": "文学",
    "Philosophy": "哲学",
    "Arts": "艺术学",
    "Agronomy": "农学",
    "Management": "管理学",
    "Law": "法学",
    "Medicine": "医学",
}
_TRUTHS = {"zh": ("正确", "错误"), "zh_short": ("对", "错"), "en": ("True", "False")}


def render_xlsx(paper: Paper) -> bytes:
    """Render the paper as a workbook of one sheet; the same paper gives the same bytes."""
    import openpyxl
    from openpyxl.styles import Font

    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = paper.title
    for row in render_rows(paper):
        sheet.append(row)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.column_dimensions["D"].width = 60
    sheet.freeze_panes = "A2"
    buffer = io.BytesIO()
    workbook.save(buffer)
    return _without_times(buffer.getvalue())


def render_rows(paper: Paper) -> list[list[str | int]]:
    """The rows of the sheet, the header first."""
    header = list[str | int](_HEADERS[paper.layout["header"]])
    return [header, *(_row(paper, question) for question in paper.questions)]


def _row(paper: Paper, question: SourceQuestion) -> list[str | int]:
    language = paper.language
    discipline = _DISCIPLINES[question.discipline] if language == "zh" else question.discipline
    if question.question_type == "multiple_choice":
        kind = _CHOICES[language][len(question.answer) > 1]
    else:
        kind = _TYPES[language][question.question_type]
    start: list[str | int] = [question.number, discipline, kind, _stem(question)]
    return [*start, *_options(paper, question), _answer(paper, question), question.explanation]


def _stem(question: SourceQuestion) -> str:
    if not question.material:
        return question.stem
    subs = [f"（{index}）{sub.stem}" for index, sub in enumerate(question.sub_questions, start=1)]
    return "\n".join([question.stem, f"材料：{question.material}", *subs])


def _options(paper: Paper, question: SourceQuestion) -> list[str | int]:
    if paper.layout["options"] == "one_cell":
        pairs = zip(question.labels, question.options, strict=True)
        return ["\n".join(f"{label}.{option}" for label, option in pairs)]
    # A number typed into a sheet is a number there, not a text.
    cells = [int(option) if option.isdigit() else option for option in question.options]
    return [*cells, *[""] * (4 - len(cells))]


def _answer(paper: Paper, question: SourceQuestion) -> str:
    if question.sub_questions:
        return "\n".join(
            f"（{index}）{sub.answer}" for index, sub in enumerate(question.sub_questions, start=1)
        )
    if question.question_type == "multiple_choice":
        return "".join(question.answer)
    if question.question_type == "true_false":
        return _TRUTHS[paper.layout["header"]][question.answer == ("false",)]
    return ("；" if paper.language == "zh" else "; ").join(question.answer)


def _without_times(content: bytes) -> bytes:
    """The same workbook with fixed times, so that building it again gives the same bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    core = members["docProps/core.xml"]
    members["docProps/core.xml"] = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2025-01-01T00:00:00Z", core)
    return pack_zip(members)


_RENDERERS: dict[str, Callable[[Paper], bytes]] = {
    ".docx": render_docx,
    ".xlsx": render_xlsx,
    ".pdf": render_pdf,
}


def write_papers(folder: Path = PAPERS_FOLDER) -> list[Path]:
    """Build every paper, always the same files, into the folder; returns them."""
    return [write_paper(paper, folder) for paper in read_papers()]


def write_paper(paper: Paper, folder: Path) -> Path:
    """Build one paper into the folder, in the sub-folder and the format that its source names."""
    path = folder / paper.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_RENDERERS[path.suffix](paper))
    return path


if __name__ == "__main__":
    for written in write_papers():
        sys.stdout.write(f"{written.relative_to(PAPERS_FOLDER)}  {written.stat().st_size:,} bytes\n")
