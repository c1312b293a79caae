"""The sample papers are read as their sources have them; the review knows their questions."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any

import pytest
import yaml

from schemas.vocabulary import EXAMINED_DISCIPLINES, QUESTION_TYPES
from tasks.ingest import IngestOptions, parse_document
from tests.deployments.demo.sources import (
    PAPERS_FOLDER,
    QUESTIONS_FOLDER,
    REVIEW_FILE,
    SourceQuestion,
    read_papers,
)

PAPERS = {paper.name: paper for paper in read_papers()}
DECISIONS = yaml.load((QUESTIONS_FOLDER / REVIEW_FILE).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
REJECTIONS, EDITS = DECISIONS["rejections"], DECISIONS["edits"]
LEAST_SHARE_READ = 0.92


def question_of(paper: str, number: int) -> SourceQuestion:
    return PAPERS[paper].questions[number - 1]


def bare(text: str) -> str:
    """The text without white space: papers break lines where they must."""
    return re.sub(r"\s", "", text)


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
        folded(stem) in asked and folded(answer) in answered for stem, answer in question.sub_questions
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
