"""What is right in the simulation: the answer key, and the stars that a response is worth.

The key leads from the hash of a question's text to its answer. It is made from a bank for demonstrations and tests;
only the simulated server reads it, and no real exam needs one. The stars are those that an errorless marker would give.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from schemas import patterns as re
from schemas.errors import UsageError
from schemas.lazy import pl
from tasks.exam import extract_answer
from tasks.questions import BareQuestion, Option, QuestionContent
from tasks.questions.forms import render_question
from tasks.texts import read_texts

_SPACE = re.compile(r"\s+")
# The simulated candidates' explanations: what they say tells how good they are. Several of each, so that answers differ.
EXPLANATIONS: Final[dict[str, dict[str, list[str]]]] = read_texts("deployments.model_server", "key.yaml")
_JUNK = re.compile(r"[\s，。；、：,.;:!?！？“”\"'（）()]+")


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

    @classmethod
    def read(cls, question: QuestionContent) -> KnownQuestion:
        """What is known of a question whose answer is given."""
        return cls(
            hash=hash_question(render_question(question.bare)),
            question_type=question.question_type,
            language=question.language,
            discipline=question.discipline or "",
            answer=tuple(question.answer),
            labels=tuple(option.label for option in question.options),
            explanation=question.explanation,
            pictures=tuple(picture.sha256 for picture in question.bare.pictures),
        )


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
        entry = asdict(KnownQuestion.read(QuestionContent.from_row(row)))
        if not entry["pictures"]:
            del entry["pictures"]
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


class ErrorlessMarker:
    """Marks simulated responses to questions of a bank as an errorless person would."""

    def __init__(self, bank: pl.DataFrame) -> None:
        self._key = parse_answer_key(build_answer_key(bank))

    def mark(self, question: BareQuestion, response: str) -> int | None:
        """0 to 3 stars; null for a question that the bank does not have."""
        entry = self._key.find(render_question(question))
        return None if entry is None else compute_true_stars(entry, response)


def is_right(entry: KnownQuestion, response: str) -> bool:
    """Whether a response gives the key: labels, truth value, or every reference answer."""
    if not entry.answer:
        return False
    if entry.question_type in ("multiple_choice", "true_false"):
        options = tuple(Option(label, "") for label in entry.labels)
        found = extract_answer(BareQuestion(entry.question_type, entry.language, "", None, options), response)
        if entry.question_type == "true_false":
            return found == entry.answer[0]
        return found == "".join(label for label in entry.labels if label in entry.answer)
    text = _normalise(response)
    return all(_normalise(answer) in text for answer in entry.answer)


def find_quality(response: str) -> str:
    """`reasonable`, `partial` or `wrong`: how good the explanation of a simulated response is."""
    for texts in EXPLANATIONS.values():
        for quality in ("wrong", "partial"):
            if any(text in response for text in texts[quality]):
                return quality
    return "reasonable"


def compute_true_stars(entry: KnownQuestion, response: str) -> int:
    """Stars by the scale of LLMEval-Fair; 0 for a blank one, no third star without a reason."""
    if not response.strip():
        return 0
    if not _has_reason(entry, response):
        return 2 if is_right(entry, response) else 0
    quality = find_quality(response)
    if is_right(entry, response):
        return 3 if quality == "reasonable" else 2
    return 0 if quality == "wrong" else 1


def _has_reason(entry: KnownQuestion, response: str) -> bool:
    reasons = [text for texts in EXPLANATIONS.values() for known in texts.values() for text in known]
    return any(reason in response for reason in (*reasons, *filter(None, [entry.explanation])))


def _normalise(text: str) -> str:
    return _JUNK.sub("", unicodedata.normalize("NFKC", text)).casefold()
