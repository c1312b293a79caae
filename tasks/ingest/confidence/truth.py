"""Questions as a person read them in a paper, and whether the reading gives the same.

A truth file is the JSON `truth/<file>.json` beside papers: `n_questions`, and some listed questions (`first`, `last`,
`choice_samples`) with number, section, type, stem, options and what the paper says is the answer.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from tasks.ingest.confidence.evidence import gather_questions
from tasks.ingest.confidence.judging import parse_reading
from tasks.ingest.confidence.learning import Known, KnownPaper
from tasks.ingest.words.lexicon import find_fine_type
from tasks.questions.pictures import leave_out_pictures

# What the truth files call the types, where it is not the name of a finer type.
_TRUTH_NAMES = {
    "multiple_choice": "multiple_answer",
    "fill_blank": "fill_in_the_blank",
    "program_correction": "programming",
    "table_filling": "problem",
}
# The type of a question whose paper names none: every type that is answered in words is right.
FREE = "free"
FREE_TYPES = ("short_answer", "term_explanation", "calculation", "essay", "material_analysis")
STEM_LIKENESS = 0.98
SCAN_LIKENESS = 0.9


def know_paper(
    document: dict[str, Any], questions: Sequence[dict[str, Any]], truth: dict[str, Any], weight: float = 1.0
) -> KnownPaper:
    """A paper as it was read, with what its truth file says of the listed questions."""
    evidence, checked = parse_reading(document.get("reading"))
    own = gather_questions(evidence, questions, checked.breaches)
    by_question = {row["question_uuid"]: one for row, one in zip(questions, own, strict=True)}
    compared = [compare_question(expected, questions, truth) for expected in list_truths(truth)]
    known = [
        Known(by_question[one.question["question_uuid"]], one.is_right)
        for one in compared
        if one.question is not None
    ]
    return KnownPaper(truth["file"], name_source(truth), evidence, known, len(compared) - len(known), weight)


@dataclass(frozen=True)
class Compared:
    """A listed question, the one it was read as or None, and which of its parts are right."""

    question: dict[str, Any] | None
    parts: dict[str, bool]

    @property
    def is_right(self) -> bool:
        """Whether all of it is right."""
        return all(self.parts.values())


def read_truths(folder: Path) -> dict[str, dict[str, Any]]:
    """What a person read in the papers of a folder, by the name of the paper."""
    return {
        path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((folder / "truth").glob("*.json"))
    }


def list_truths(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """The listed questions of a paper."""
    return [*truth["first"], *truth["last"], *truth.get("choice_samples", [])]


def name_source(truth: dict[str, Any]) -> str:
    """Where a paper comes from, its own name where that is not known."""
    source = truth.get("source")
    return str(source["repo"] if isinstance(source, dict) and source.get("repo") else truth["file"])


def compare_question(
    expected: dict[str, Any], questions: Sequence[dict[str, Any]], truth: dict[str, Any]
) -> Compared:
    """The question that a listed one was read as, its stem, options, answer and type compared."""
    likeness = SCAN_LIKENESS if "scan" in truth["file"] else STEM_LIKENESS
    best = _find(expected, questions, likeness, truth)
    parts = {
        "stem": best is not None,
        "options": best is not None and _same_options(expected, best),
        "answer": best is not None and _same_answer(expected, best, truth),
        "type": best is not None and _same_type(expected, best),
    }
    return Compared(best or find_nearest(expected, questions), parts)


def fold(text: str) -> str:
    """Fold a text for comparison: NFKC, no white space, punctuation or pictures; `x^2` is `x²`."""
    folded = unicodedata.normalize("NFKC", leave_out_pictures(text).translate(_SIGNS)).casefold()
    return "".join(
        character
        for character in folded
        if (category := unicodedata.category(character))[0] not in "ZPC" and category != "Sk"
    )


# A sum and a product may be typed as the Greek letter.
_SIGNS = str.maketrans("∑∏", "ΣΠ")


def _find(
    expected: dict[str, Any], questions: Sequence[dict[str, Any]], likeness: float, truth: dict[str, Any]
) -> dict[str, Any] | None:
    best: tuple[float, dict[str, Any]] | None = None
    is_part = bool(expected.get("sub_parts")) or expected["stem"].rstrip().endswith("…")
    wanted = fold(expected["stem"])
    for question in questions:
        got = fold((question["material"] or "") + question["stem"]) if is_part else fold(question["stem"])
        got = got[: len(wanted)] if is_part else got
        if abs(len(got) - len(wanted)) > 0.2 * len(wanted) + 2:
            continue
        score = 1.0 if got == wanted else SequenceMatcher(None, wanted, got, autojunk=False).ratio()
        if expected.get("options") and _same_options(expected, question):
            score += 0.001
        if best is None or score > best[0]:
            best = (score, question)
    return best[1] if best is not None and best[0] >= likeness else None


def find_nearest(expected: dict[str, Any], questions: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The question that holds the beginning or the end of a listed one's stem."""
    wanted = fold(expected["stem"])
    heads = [head for head in (wanted[:24], wanted[-24:]) if len(head) > 5]
    if not heads:
        return None
    for question in questions:
        shown = [question["material"] or "", question["stem"], *(one["text"] for one in question["options"])]
        text = fold("".join(shown))
        if any(head in text for head in heads):
            return question
    return None


def _same_options(expected: dict[str, Any], question: dict[str, Any]) -> bool:
    wanted = expected.get("options") or {}
    if expected["type"] == "true_false":
        return not question["options"] or len(question["options"]) == 2
    got = {option["label"]: fold(option["text"]) for option in question["options"]}
    return got == {label: fold(text) for label, text in wanted.items()}


def _same_answer(expected: dict[str, Any], question: dict[str, Any], truth: dict[str, Any]) -> bool:
    wanted = expected.get("answer")
    if expected.get("sub_answers"):
        joined = fold("".join(question["answer"]))
        return all(text.startswith("(") or fold(text) in joined for text in expected["sub_answers"])
    if wanted is None and "key_by_format" in question["parse_notes"]:
        return True  # the truth was read in a dump of the text, which shows no colours and no bold print
    if wanted is None:
        has_no_answers = truth["answers_location"] == "none" or truth["file"].startswith("xlsx_softexam")
        return not question["answer"] if has_no_answers else True
    if isinstance(wanted, bool):
        return bool(question["answer"] == [str(wanted).lower()])
    if isinstance(wanted, list):
        return all(fold(str(text)) in fold("".join(question["answer"])) for text in wanted)
    if expected["type"] in ("single_choice", "multiple_choice"):
        return bool("".join(question["answer"]) == wanted.replace(",", ""))
    if expected["type"] == "true_false":
        return bool(question["answer"] == [{"A": "true", "B": "false"}[wanted]])
    text = fold("".join(question["answer"]))
    if wanted.startswith("starts:"):
        return text.startswith(fold(wanted.removeprefix("starts:")))
    return fold(wanted) in text


def _same_type(expected: dict[str, Any], question: dict[str, Any]) -> bool:
    if expected["type"] == FREE:
        return question["question_type"] in FREE_TYPES
    fine = find_fine_type(_TRUTH_NAMES.get(expected["type"], expected["type"]))
    assert fine is not None, expected["type"]
    return question["question_type"] in (fine.question_type, *fine.accepts)
