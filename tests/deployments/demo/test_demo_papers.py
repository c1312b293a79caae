"""The sample papers say what their sources say, and are read so."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pypdfium2
import pytest
import yaml
from lxml import etree

from schemas.vocabulary import EXAMINED_DISCIPLINES, QUESTION_TYPES
from tasks.ingest import IngestOptions, parse_document
from tests.deployments.demo.sources import (
    PAPERS_FOLDER,
    QUESTIONS_FOLDER,
    REVIEW_FILE,
    Paper,
    SourceQuestion,
    read_papers,
)

PAPERS = {paper.name: paper for paper in read_papers()}
DECISIONS = yaml.safe_load((QUESTIONS_FOLDER / REVIEW_FILE).read_text(encoding="utf-8"))
REJECTIONS, EDITS = DECISIONS["rejections"], DECISIONS["edits"]
LEAST_SHARE_READ = 0.92
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def papers_of(suffix: str) -> list[Any]:
    return [pytest.param(paper, id=name) for name, paper in PAPERS.items() if paper.file.endswith(suffix)]


def question_of(paper: str, number: int) -> SourceQuestion:
    return PAPERS[paper].questions[number - 1]


def bare(text: str) -> str:
    """The text without white space: papers break lines where they must."""
    return re.sub(r"\s", "", text)


def paragraphs_of(path: Path) -> list[Any]:
    with zipfile.ZipFile(path) as archive:
        return list(etree.fromstring(archive.read("word/document.xml")).iter(W + "p"))


def text_of(paragraph: Any) -> str:
    return "".join(
        node.text or "\t" for node in paragraph.iter(W + "t", W + "tab") if node.getparent().tag == W + "r"
    )


def pdf_text(content: bytes) -> str:
    document = pypdfium2.PdfDocument(content)
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def without_running_lines(paper: Paper, text: str) -> str:
    running = paper.layout.get("running_header", "")
    lines = [line.strip() for line in text.splitlines()]
    return bare("".join(line for line in lines if line != running and not re.fullmatch(r"第 ?\d+ ?页", line)))


def phrases_of(paper: Paper, question: SourceQuestion) -> list[str]:
    """What must stand in the paper, in this order, from the question's stem to its options."""
    stem = question.stem
    if paper.layout.get("answers") == "in_brackets" and question.question_type == "multiple_choice":
        stem = stem.replace("（ ）", f"（{''.join(question.answer)}）")
    subs = [sub.stem for sub in question.sub_questions]
    return [bare(phrase) for phrase in (stem, question.material, *subs, *question.options) if phrase]


def assert_in_order(text: str, phrases: list[str]) -> int:
    position = 0
    for phrase in phrases:
        found = text.find(phrase, position)
        assert found >= 0, f"not found after character {position}: {phrase}"
        position = found + len(phrase)
    return position


def assert_says_what_its_source_says(paper: Paper, text: str) -> None:
    assert_in_order(text, [phrase for question in paper.questions for phrase in phrases_of(paper, question)])
    for question in paper.questions:
        if question.question_type not in ("multiple_choice", "true_false"):
            answers = [*question.answer, *(sub.answer for sub in question.sub_questions)]
            assert_in_order(text, [bare(answer) for answer in answers])
        assert bare(question.explanation) in text


def test_every_examined_discipline_keeps_sixteen_questions_after_the_rejections() -> None:
    rejected = {(row["paper"], row["number"]) for row in REJECTIONS}
    kept = Counter(
        question.discipline
        for name, paper in PAPERS.items()
        for question in paper.questions
        if (name, question.number) not in rejected
    )
    assert {
        discipline: kept[discipline] for discipline in EXAMINED_DISCIPLINES if kept[discipline] < 16
    } == {}


def test_stems_are_unique_except_the_declared_duplicates() -> None:
    copies = {(row["paper"], row["number"]) for row in REJECTIONS if "duplicate_of" in row}
    contents = Counter(
        bare(question.stem + question.material)
        for name, paper in PAPERS.items()
        for question in paper.questions
        if (name, question.number) not in copies
    )
    assert [stem for stem, count in contents.items() if count > 1] == []


def test_a_declared_duplicate_is_an_exact_copy_in_another_paper() -> None:
    duplicates = [row for row in REJECTIONS if "duplicate_of" in row]
    assert len(duplicates) == 2
    for row in duplicates:
        copy, original = question_of(row["paper"], row["number"]), question_of(**row["duplicate_of"])
        assert row["paper"] != row["duplicate_of"]["paper"]
        assert (copy.stem, copy.options, copy.answer) == (original.stem, original.options, original.answer)
        assert copy.discipline == original.discipline


@pytest.mark.parametrize("row", REJECTIONS + EDITS, ids=lambda row: f"{row['paper']}-{row['number']}")
def test_a_review_decision_names_a_question_by_its_position_and_first_words(row: Any) -> None:
    assert question_of(row["paper"], row["number"]).stem.startswith(row["stem"])
    assert row["comment"]


def test_review_decisions_are_rejections_with_a_known_reason_or_edits_that_change_something() -> None:
    reasons = Counter(row["reason"] for row in REJECTIONS)
    assert reasons == {
        "duplicate": 2,
        "factual_error": 2,
        "irrelevant_answer": 1,
        "misclassified": 1,
        "unclear": 1,
    }
    assert len(EDITS) == 6
    for row in EDITS:
        question = question_of(row["paper"], row["number"])
        before = {
            "stem": question.stem,
            "answer": list(question.answer),
            "question_type": question.question_type,
        }
        assert all(before[field] != value for field, value in row["fields"].items())
        assert set(row["fields"].get("answer", [])) <= set(question.labels)
        assert row["fields"].get("question_type", "essay") in QUESTION_TYPES


@pytest.mark.parametrize("paper", papers_of(".docx"))
def test_a_word_paper_says_what_its_source_says(paper: Paper) -> None:
    text = bare("".join(text_of(paragraph) for paragraph in paragraphs_of(PAPERS_FOLDER / paper.file)))
    assert_says_what_its_source_says(paper, text)


@pytest.mark.parametrize("paper", papers_of(".pdf"))
def test_a_pdf_paper_says_what_its_source_says(paper: Paper) -> None:
    text = pdf_text((PAPERS_FOLDER / paper.file).read_bytes())
    assert_says_what_its_source_says(paper, without_running_lines(paper, text))


@pytest.mark.parametrize("paper", papers_of(".xlsx"))
def test_a_workbook_says_what_its_source_says(paper: Paper) -> None:
    sheet = openpyxl.load_workbook(PAPERS_FOLDER / paper.file).active
    assert sheet is not None
    rows = list(sheet.iter_rows(min_row=2, values_only=True))
    assert len(rows) == len(paper.questions)
    for question, row in zip(paper.questions, rows, strict=True):
        cells = ["" if cell is None else str(cell) for cell in row]
        assert cells[0] == str(question.number)
        text = bare("".join(cells[3:]))
        answers = [*question.answer, *(sub.answer for sub in question.sub_questions)]
        if question.question_type == "multiple_choice":
            answers = ["".join(question.answer)]
        elif question.question_type == "true_false":
            truths = {"true": ("True", "正确", "对"), "false": ("False", "错误", "错")}
            assert cells[-2] in truths[question.answer[0]]
            answers = [cells[-2]]
        assert_in_order(text, [*phrases_of(paper, question), *map(bare, answers), bare(question.explanation)])


def test_the_committed_papers_are_the_ones_the_sources_name_and_small() -> None:
    found = {
        path.relative_to(PAPERS_FOLDER).as_posix() for path in PAPERS_FOLDER.rglob("*.*") if path.is_file()
    }
    assert found == {paper.file for paper in PAPERS.values()}
    assert [name for name in found if (PAPERS_FOLDER / name).stat().st_size >= 300_000] == []


def folded(text: str | None) -> str:
    """The text without white space, forms of width, blanks and empty brackets."""
    plain = bare(unicodedata.normalize("NFKC", text or ""))
    return re.sub(r"_|\(\)", "", plain).rstrip("。.")


def content_of_source(question: SourceQuestion) -> tuple[Any, ...]:
    options = [(label, folded(text)) for label, text in zip(question.labels, question.options, strict=True)]
    return question.question_type, folded(question.stem), options, [folded(text) for text in question.answer]


def content_of_row(row: dict[str, Any]) -> tuple[Any, ...]:
    options = [(option["label"], folded(option["text"])) for option in row["options"] or []]
    return row["question_type"], folded(row["stem"]), options, [folded(text) for text in row["answer"] or []]


def is_material_read(question: SourceQuestion, rows: list[dict[str, Any]]) -> bool:
    """Whether rows of the right type hold the material, every sub-question and every answer."""
    texts = [folded(row["material"]) + folded(row["stem"]) for row in rows]
    about = [index for index, text in enumerate(texts) if folded(question.material) in text]
    asked = "".join(texts[index] for index in about)
    answered = "".join(folded("".join(rows[index]["answer"] or [])) for index in about)
    return all(rows[index]["question_type"] == "material_analysis" for index in about) and all(
        folded(sub.stem) in asked and folded(sub.answer) in answered for sub in question.sub_questions
    )


def test_ingest_reads_type_stem_options_and_answer_of_the_papers_questions() -> None:
    misread = []
    for name, paper in PAPERS.items():
        parsed = parse_document(PAPERS_FOLDER / paper.file, IngestOptions())
        contents = [content_of_row(row) for row in parsed.questions]
        for question in paper.questions:
            is_read = (
                is_material_read(question, parsed.questions)
                if question.sub_questions
                else content_of_source(question) in contents
            )
            if not is_read:
                misread.append(f"{name}, question {question.number}")
    total = sum(len(paper.questions) for paper in PAPERS.values())
    assert len(misread) <= (1 - LEAST_SHARE_READ) * total, misread
