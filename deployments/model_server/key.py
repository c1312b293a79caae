"""The answer key of the simulation: from the hash of a question's text to its answer.

It is made from a bank for demonstrations and tests. Only the simulated server reads it; no real exam needs one.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from tasks.questions import QuestionContent
from tasks.questions.forms import render_question

if TYPE_CHECKING:
    import polars as pl

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class KnownQuestion:
    """What the simulation knows of a question."""

    hash: str
    question_type: str
    language: str
    discipline: str
    answer: tuple[str, ...]
    labels: tuple[str, ...] = ()
    explanation: str | None = None
    pictures: tuple[str, ...] = ()


class AnswerKey:
    """Entries by question, and neighbours to take plausible wrong answers from."""

    def __init__(self, entries: Iterable[KnownQuestion] = ()) -> None:
        self.entries = {entry.hash: entry for entry in entries}
        self._neighbours: dict[tuple[str, str, str], list[KnownQuestion]] = defaultdict(list)
        for entry in self.entries.values():
            self._neighbours[(entry.question_type, entry.language, entry.discipline)].append(entry)

    def find(self, question: str) -> KnownQuestion | None:
        """The entry of a question as render_question gives it; null for an unknown one."""
        return self.entries.get(hash_question(question))

    def neighbours(self, entry: KnownQuestion) -> list[KnownQuestion]:
        """Entries of the same type, language and discipline, the entry itself among them."""
        return self._neighbours[(entry.question_type, entry.language, entry.discipline)]


def hash_question(question: str) -> str:
    """SHA-256 of a question's text without regard to width and white space."""
    text = _SPACE.sub("", unicodedata.normalize("NFKC", question))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def build_answer_key(bank: pl.DataFrame) -> bytes:
    """The key as JSON lines, one per question of the bank (columns of the lake table `bank`)."""
    lines: list[str] = []
    for row in bank.iter_rows(named=True):
        question = QuestionContent.from_row(row)
        entry = {
            "hash": hash_question(render_question(question.bare)),
            "question_type": question.question_type,
            "language": question.language,
            "discipline": question.discipline or "",
            "answer": list(question.answer),
            "labels": [option.label for option in question.options],
            "explanation": question.explanation,
        }
        if question.bare.pictures:
            entry["pictures"] = [picture.sha256 for picture in question.bare.pictures]
        lines.append(json.dumps(entry, ensure_ascii=False))
    return ("\n".join(lines) + "\n").encode() if lines else b""


def parse_answer_key(content: bytes) -> AnswerKey:
    """Read a key; raises UsageError naming the line that is not an entry."""
    entries: list[KnownQuestion] = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            entries.append(
                KnownQuestion(
                    hash=fields["hash"],
                    question_type=fields["question_type"],
                    language=fields["language"],
                    discipline=fields["discipline"],
                    answer=tuple(fields["answer"]),
                    labels=tuple(fields.get("labels") or ()),
                    explanation=fields.get("explanation"),
                    pictures=tuple(fields.get("pictures") or ()),
                )
            )
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"Line {number} of the answer key is not an entry of one. Build the key again with build_answer_key."
            ) from None
    return AnswerKey(entries)


def read_answer_key(path: Path | None) -> AnswerKey:
    """The key in a file; an empty one for no file: then every question is unknown."""
    if path is None:
        return AnswerKey()
    try:
        return parse_answer_key(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The answer key {path} cannot be read ({type(error).__name__}).") from None
