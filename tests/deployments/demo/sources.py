"""The demo's questions as written by hand: YAML sources, read into plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import deployments.demo

_DEMO = Path(deployments.demo.__file__).parent
QUESTIONS_FOLDER = _DEMO / "questions"
PAPERS_FOLDER = _DEMO / "papers"
REVIEW_FILE = "review.yaml"


@dataclass(frozen=True)
class SubQuestion:
    """One question about a material, with its reference answer."""

    stem: str
    answer: str


@dataclass(frozen=True)
class SourceQuestion:
    """One question as its author wrote it.

    `number` is the position in the paper (from 1). `answer` holds labels for a choice, `true` or `false`, one
    text for each blank, or one reference answer; a material's answers are those of its `sub_questions`.
    """

    number: int
    question_type: str
    discipline: str
    stem: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    explanation: str
    material: str
    sub_questions: tuple[SubQuestion, ...]

    @property
    def labels(self) -> str:
        """The labels of the options, `ABCD` for four."""
        return "ABCDEFGH"[: len(self.options)]


@dataclass(frozen=True)
class PaperSection:
    """Questions of one type that stand under one heading (no heading in a workbook)."""

    heading: str
    questions: tuple[SourceQuestion, ...]


@dataclass(frozen=True)
class Paper:
    """One sample paper: what it says, and the layout in which it is set."""

    name: str
    file: str
    title: str
    language: str
    source_kind: str
    layout: Mapping[str, str]
    sections: tuple[PaperSection, ...]

    @property
    def questions(self) -> tuple[SourceQuestion, ...]:
        """All questions in the order of the paper."""
        return tuple(question for section in self.sections for question in section.questions)


def read_papers() -> list[Paper]:
    """Every paper of the demo, by the name of its source."""
    return [_read_paper(path) for path in sorted(QUESTIONS_FOLDER.glob("*.yaml")) if path.name != REVIEW_FILE]


def _read_paper(path: Path) -> Paper:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    sections: list[PaperSection] = []
    number = 0
    for raw in content["sections"]:
        questions = []
        for entry in raw["questions"]:
            number += 1
            discipline = raw.get("discipline", content.get("discipline", ""))
            questions.append(_source_question(number, raw["type"], discipline, entry))
        sections.append(PaperSection(raw.get("heading", ""), tuple(questions)))
    return Paper(
        name=path.stem,
        file=content["file"],
        title=content["title"],
        language=content["language"],
        source_kind=content["source_kind"],
        layout=content["layout"],
        sections=tuple(sections),
    )


def _source_question(
    number: int, question_type: str, discipline: str, entry: dict[str, Any]
) -> SourceQuestion:
    return SourceQuestion(
        number=number,
        question_type=question_type,
        discipline=discipline,
        stem=entry["stem"],
        options=tuple(entry.get("options", ())),
        answer=tuple(entry.get("answer", ())),
        explanation=entry.get("explanation", ""),
        material=entry.get("material", ""),
        sub_questions=tuple(
            SubQuestion(sub["stem"], sub["answer"]) for sub in entry.get("sub_questions", ())
        ),
    )
