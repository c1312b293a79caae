"""The demo's questions as written by hand: YAML sources, read into plain records."""

from __future__ import annotations

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
class SourceQuestion:
    """One question as its author wrote it.

    `number` is the position in the paper (from 1). `answer` holds labels for a choice, `true` or `false`, one
    text for each blank, or one reference answer; of a material `sub_questions` has each stem with its answer.
    """

    number: int
    question_type: str
    discipline: str
    stem: str
    options: tuple[str, ...]
    answer: tuple[str, ...]
    material: str
    sub_questions: tuple[tuple[str, str], ...]

    @property
    def labels(self) -> str:
        """The labels of the options, `ABCD` for four."""
        return "ABCDEFGH"[: len(self.options)]


@dataclass(frozen=True)
class Paper:
    """One sample paper: its file, and its questions in order."""

    name: str
    file: str
    questions: tuple[SourceQuestion, ...]


def read_papers() -> list[Paper]:
    """Every paper of the demo, by the name of its source."""
    return [_read_paper(path) for path in sorted(QUESTIONS_FOLDER.glob("*.yaml")) if path.name != REVIEW_FILE]


def _read_paper(path: Path) -> Paper:
    content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    entries = [(section, entry) for section in content["sections"] for entry in section["questions"]]
    questions = (
        SourceQuestion(
            number,
            section["type"],
            section.get("discipline", content.get("discipline", "")),
            entry["stem"],
            tuple(entry.get("options", ())),
            tuple(entry.get("answer", ())),
            entry.get("material", ""),
            tuple((sub["stem"], sub["answer"]) for sub in entry.get("sub_questions", ())),
        )
        for number, (section, entry) in enumerate(entries, start=1)
    )
    return Paper(path.stem, content["file"], tuple(questions))
