"""Questions of our own bank as a file in CG-Eval's form, and their references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from schemas import patterns as re
from schemas.errors import UsageError
from tasks.gscore.calculation.final_answer import compute_standard_answer, parse_final_answer
from tasks.gscore.cgeval.files import KIND_BY_CGEVAL_TYPE, QUESTION_HEADERS, QuestionKind, build_id
from tasks.gscore.cgeval.prompts import PROMPT_VERSION, compute_reference_length, render_prompt
from tasks.review import Language, list_words
from tasks.texts import write_safe_csv
from warehouse.stores.whole_files import writing_whole

SCORED_TYPES: Final = ("term_explanation", "short_answer", "calculation")
"""The types of the bank that Gscore scores."""

_TEXT_KINDS: Final[Mapping[str, QuestionKind]] = {
    "term_explanation": "definition",
    "short_answer": "short_answer",
}
_CGEVAL_TYPES: Final = {kind: name for name, kind in KIND_BY_CGEVAL_TYPE.items()}
# What is longer is no result but the way to one, or a text.
_LONGEST_RESULT: Final = 60
_UNKNOWN: Final = "unknown"

_LEAD = re.compile(r"\s*(?:计算|口算|求值|calculate|compute|evaluate|work out|what is)?\s*[:：]?", re.I)
_EXPRESSION = re.compile(
    r"(?:[\d\s.,，+\-−–×÷*/()（）\[\]{}%=＝?？。$]|\\(?:times|div|cdot|d?frac|left|right)(?![A-Za-z]))+"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:/\d+)?%?|-?\\frac\{\d+\}\{\d+\}")
# A number and its unit; a lone letter of those that stand for unknowns is none.
_MEASURE = re.compile(
    r"(?:约|[$¥￥€£])?\s*[-−]?\d[\d.,]*(?:/\d+)?\s*(?:10\^\{?-?\d+\}?)?\s*(?![a-ce-fi-knop-rt-z](?![A-Za-z/·]))"
    r"[A-Za-zΩΩμµ°℃℉%\u4e00-\u9fff][A-Za-zΩΩμµ\u4e00-\u9fff/·²³^0-9\-]*"
)
_BETWEEN = re.compile(r"[,，、;；]")
_PART = re.compile(r"(?:^|(?<=\s))\s*[（(]\d{1,2}[)）]")
# What a paper prints after a step: `（4分）`, `(4 marks)`.
_MARKS = re.compile(r"\s*[（(]\s*\d+(?:\.\d+)?\s*(?:分|marks?|points?|pts?)\s*[)）]\s*$", re.I)


@dataclass(frozen=True)
class WrittenQuestions:
    """What was written of the bank, and why the rest was not.

    Attributes:
        counts: questions by kind, those that stand in both files.
        pictured_count: left out: a picture belongs to them, and a prompt is text.
        unresolved_count: left out: calculations of whose reference it cannot be told what the final answer is.
    """

    counts: Mapping[str, int]
    pictured_count: int
    unresolved_count: int


class _Reference(NamedTuple):
    text: str
    final_answer: str | None


def write_bank_questions(
    questions: pl.DataFrame, question_path: Path, reference_path: Path
) -> WrittenQuestions:
    """Write questions of the bank as `read_cgeval_questions` reads them, and their references.

    `questions` are rows of `bank_entries` of `SCORED_TYPES`, in the order in which they are written. Categories are disciplines,
    subjects sub-disciplines (where there is none, the discipline again), numbers the UUIDs. The column `prompt_version` stands
    after CG-Eval's own. Both files are for their owner alone; the same questions give the same bytes. Raises UsageError where
    nothing could be written; no file is touched then.
    """
    rows: list[list[str]] = []
    references: list[list[str]] = []
    left_out: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for question in questions.iter_rows(named=True):
        if question["pictures"]:
            left_out["pictured"] += 1
            continue
        reference = _read_reference(question)
        if reference.final_answer is None and question["question_type"] not in _TEXT_KINDS:
            left_out["unresolved"] += 1
            continue
        kind = find_kind(question, reference.final_answer)
        row = _make_row(question, kind, reference.text)
        counts[kind] += 1
        rows.append([*row.values(), PROMPT_VERSION])
        references.append([build_id(row), reference.text, reference.final_answer or ""])
    if not rows:
        raise UsageError(
            f"Of {questions.height} questions that may be shown none can be written: {left_out['pictured']} have pictures, and of "
            f"{left_out['unresolved']} calculations it cannot be told what the final answer is."
        )
    _write_csv(question_path, (*QUESTION_HEADERS, "prompt_version"), rows)
    _write_csv(reference_path, ("cgeval_id", "reference", "reference_answer"), references)
    return WrittenQuestions(
        counts=dict(sorted(counts.items())),
        pictured_count=left_out["pictured"],
        unresolved_count=left_out["unresolved"],
    )


def find_kind(question: Mapping[str, Any], final_answer: str | None) -> QuestionKind:
    """The kind of question by which a prompt is chosen and an answer scored.

    A calculation is arithmetic where its stem is an expression in digits and its answer a number, a word problem where every value of
    the answer has a unit, and a derivation otherwise.
    """
    kind = _TEXT_KINDS.get(question["question_type"])
    if kind is not None:
        return kind
    answer, stem = final_answer or "", question["stem"]
    rest = stem[_LEAD.match(stem).end() :]  # type: ignore[union-attr]  # every part of it may be absent
    is_expression = not question["material"] and _EXPRESSION.fullmatch(rest) is not None
    if is_expression and _NUMBER.fullmatch(compute_standard_answer(answer)):
        return "arithmetic"
    parts = [part.strip(" 。.") for part in _BETWEEN.split(answer)]
    return "word_problem" if all(_MEASURE.fullmatch(part) for part in parts) else "derivation"


def find_final_answer(worked: str) -> str | None:
    """The final answer of a reference as the bank has it; None where that cannot be told.

    What is marked as the answer, or boxed, is taken. Without that the last line is, of each numbered part where there are several, and
    what stands after the last sign of a chain of equations; marks that a paper prints there do not belong to it.
    """
    found = parse_final_answer(worked)
    if found.found_by in ("final_answer_marker", "answer_marker", "boxed"):
        results = [found.answer or ""]
    else:
        parts = _PART.split(worked)[1:]
        results = [
            _cut_chain(parse_final_answer(part).answer or "")
            for part in (parts if len(parts) > 1 else [worked])
        ]
    results = [_MARKS.sub("", result).strip().rstrip("。.;；") for result in results]
    if all(result and len(result) <= _LONGEST_RESULT for result in results):
        return ",".join(results)
    return None


def _cut_chain(line: str) -> str:
    """`3Ω` of `R=6/2=3Ω`; solutions and unknowns side by side stay as they are."""
    line = _MARKS.sub("", line)
    is_one = not re.search(r"[,，、;；或]|\bor\b", line)
    return line.rpartition("=")[2] if is_one and line.count("=") > 1 else line


def _read_reference(question: Mapping[str, Any]) -> _Reference:
    texts, explanation = question["answer"], (question["explanation"] or "").strip()
    answer = "\n".join(texts)
    if question["question_type"] in _TEXT_KINDS:
        return _Reference(answer, None)
    found = [find_final_answer(text) for text in texts]
    final = None if None in found else ",".join(str(one) for one in found)
    # A solution that stands as the answer is the worked one; what explains a bare result is it otherwise.
    is_worked = final is None or compute_standard_answer(",".join(texts)) != compute_standard_answer(final)
    return _Reference(answer if is_worked or not explanation else explanation, final)


def _make_row(question: Mapping[str, Any], kind: QuestionKind, reference: str) -> dict[str, str]:
    language: Language = "zh" if question["language"] == "zh" else "en"
    discipline = question["discipline"]
    subject = question["sub_discipline"] or list_words("disciplines", language).get(discipline, _UNKNOWN)
    asked = "\n\n".join(text for text in (question["material"], question["stem"]) if text)
    cells = (
        discipline or _UNKNOWN,
        question["sub_discipline"] or discipline or _UNKNOWN,
        _CGEVAL_TYPES[kind],
        question["question_uuid"],
        asked,
        str(compute_reference_length(reference)),
        render_prompt(kind, language, subject, asked, reference),
    )
    return dict(zip(QUESTION_HEADERS, cells, strict=True))


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    frame = pl.DataFrame(rows, dict.fromkeys(header, pl.String), orient="row")
    # An empty text would be written in quotes, and is read as one.
    frame = frame.with_columns(pl.all().replace("", None))
    with writing_whole(path) as draft:
        draft.write_text(write_safe_csv(frame), encoding="utf-8-sig", newline="")
