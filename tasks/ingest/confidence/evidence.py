"""What speaks for and against a reading, as numbers between 0 and 1.

All of it is told from rows as they are landed and from the contracts of the paper, so that the evidence of a question can
be gathered again when annotators have decided on it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from schemas import patterns as re
from tasks.ingest.content.notes import read_notes
from tasks.ingest.contracts import Breach, Checked
from tasks.questions.pictures import leave_out_pictures

Row = Mapping[str, Any]
Evidence = dict[str, float]

_FREE = ("short_answer", "calculation", "essay", "material_analysis")
_CLOSED = ("multiple_choice", "true_false")
# A doubt that takes less from a question is a remark.
_LEAST_DOUBT = 0.05
# Text that nothing claims is counted in characters, all else in questions.
_IN_CHARACTERS = ("claimed_text",)


def gather_paper(
    document: Row, questions: Sequence[Row], text: str, checked: Checked, shows_answers: bool = True
) -> Evidence:
    """What the reading of a whole paper shows; most numbers are 0 where all is regular.

    `shows_answers`: the paper may print answers that were not read; else no question lacks one.
    """
    doubts = [weigh_notes(row) for row in questions]
    media = str(document.get("media_type") or "")
    residue = find_residue(questions)
    evidence = {
        "few_questions": 1 / (1 + len(questions) / 10),
        "text_unclaimed": _compute_unclaimed(questions, text),
        "contracts_broken": 1 - checked.score,
        "contracts_any": float(bool(checked.breaches)),
        "contracts_unchecked": 1 / (1 + checked.kept),
        "margin_small": min(1.0, max(0.0, 1 - checked.margin)),
        "doubt_mean": min(1.0, _mean(doubts)),
        "doubted_share": _mean([doubt > _LEAST_DOUBT for doubt in doubts]),
        "type_inferred_share": _mean(["type_inferred" in row["parse_notes"] for row in questions]),
        "answers_unprinted": float(not shows_answers),
        "answers_missing": _mean(
            [shows_answers and not row["answer"] for row in questions if row["question_type"] in _CLOSED]
        ),
        "answers_mixed": _compute_mixture(questions, lambda row: bool(row["answer"])),
        "options_mixed": _compute_mixture(
            [row for row in questions if row["question_type"] == "multiple_choice"],
            lambda row: len(row["options"]),
        ),
        "longest_question": _compute_longest(questions),
        "residue_share": len(residue) / max(1, len(questions)),
        "is_scan": float(any("ocr" in row["parse_notes"] for row in questions)),
        "ocr_unsure_share": _mean(["ocr_unsure" in row["parse_notes"] for row in questions]),
        "readings_differ_share": _mean(["readings_differ" in row["parse_notes"] for row in questions]),
        "is_pdf": float("pdf" in media),
        "is_table": float(any(word in media for word in ("sheet", "excel", "csv", "json"))),
    }
    for breach in checked.breaches:
        name = f"contract_{breach.contract}"
        share = 1.0 if breach.contract in _IN_CHARACTERS else breach.size / max(1, len(questions))
        evidence[name] = min(1.0, evidence.get(name, 0.0) + share)
    return evidence


def gather_questions(paper: Evidence, questions: Sequence[Row], breaches: Sequence[Breach]) -> list[Evidence]:
    """What each question shows, its paper's evidence with it."""
    residue = find_residue(questions)
    usual = _find_usual_lengths(questions)
    places = sorted(breach.place for breach in breaches)
    sections = {breach.section for breach in breaches if breach.section is not None}
    return [
        {
            **paper,
            **{f"note_{note}": 1.0 for note in row["parse_notes"]},
            "doubt": min(1.0, weigh_notes(row)),
            "is_doubted": float(weigh_notes(row) > _LEAST_DOUBT),
            "answer_missing": float(not row["answer"]) * (1 - paper.get("answers_unprinted", 0.0)),
            "is_closed": float(row["question_type"] in _CLOSED),
            "is_free": float(row["question_type"] in _FREE),
            "residue": float(row["question_uuid"] in residue),
            "section_broken": float(row["section"] in sections),
            "breach_inside": float(_holds_place(row, places)),
            "odd_length": _compute_odd_length(row, usual),
        }
        for row in questions
    ]


def weigh_notes(row: Row) -> float:
    """How heavy the notes of a question are together."""
    known = read_notes()
    return sum(known[note].weight for note in row["parse_notes"] if note in known)


# One case of a kind is an accident; as many alike are how the paper is printed.
_LEAST_ALIKE = 3
_SHARE_ALIKE = 0.1
_TAG = re.compile(r"<[A-Za-z][^<>]{0,80}>")
_TICK = re.compile("[✅✔☑✓√●◉☒]")
_BRACKETED = re.compile(r"[【\[(（〔][^【】\[\]()（）〔〕]{1,24}[】\])）〕]")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_EDGE = 30


def find_residue(questions: Sequence[Row]) -> set[str]:
    """The questions that still hold what the paper prints around questions.

    That is markup that a whole stem or option is wrapped in, marks at options, and bracketed words or last lines that many
    stems have alike.
    """
    shapes = {row["question_uuid"]: _find_edge_shapes(leave_out_pictures(row["stem"])) for row in questions}
    counts = Counter(shape for found in shapes.values() for shape in found)
    least = max(_LEAST_ALIKE, _SHARE_ALIKE * len(questions))
    return {
        row["question_uuid"]
        for row in questions
        if _is_wrapped(row["stem"])
        or any(_TICK.search(option["text"]) or _is_wrapped(option["text"]) for option in row["options"])
        or any(counts[shape] >= least for shape in shapes[row["question_uuid"]])
    }


def _is_wrapped(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith("<") and stripped.endswith(">") and _TAG.match(stripped) is not None


def _find_edge_shapes(stem: str) -> set[str]:
    """The bracketed words at both ends of a stem, their digits alike."""
    edges = (stem[:_EDGE], stem[-_EDGE:])
    found = {
        _DIGITS.sub("0", match[0]).replace(" ", "")
        for edge in edges
        for match in _BRACKETED.finditer(edge)
        if any(character.isalnum() for character in match[0])
    }
    last = stem.rstrip().rsplit("\n", 1)[-1] if "\n" in stem else ""
    if 0 < len(last) <= _EDGE:
        found.add(f"line:{_DIGITS.sub('0', last).replace(' ', '')}")
    return found


def _compute_unclaimed(questions: Sequence[Row], text: str) -> float:
    """The share of the text's letters that stand in no question."""
    total = len("".join(text.split()))
    if not total:
        return 0.0
    claimed = position = 0
    spans = sorted((row["text_start"], row["text_end"]) for row in questions if row["text_end"] is not None)
    for start, end in spans:
        claimed += len("".join(text[max(start, position) : end].split()))
        position = max(position, end)
    return max(0.0, 1 - claimed / total)


def _compute_mixture(questions: Sequence[Row], tell: Callable[[Row], object]) -> float:
    """How far questions of one type differ: 0 where all are alike, 1 where half are other."""
    by_type: dict[str, list[object]] = defaultdict(list)
    for row in questions:
        by_type[row["question_type"]].append(tell(row))
    differing = sum(len(told) - Counter(told).most_common(1)[0][1] for told in by_type.values())
    return min(1.0, 2 * differing / max(1, len(questions)))


def _find_usual_lengths(questions: Sequence[Row]) -> dict[str, float]:
    lengths: dict[str, list[int]] = defaultdict(list)
    for row in questions:
        lengths[row["question_type"]].append(_measure(row))
    return {kind: median(found) for kind, found in lengths.items()}


def _compute_odd_length(row: Row, usual: Mapping[str, float]) -> float:
    """How much longer or shorter than others of its type a question is: 1 for ten times."""
    ratio = _measure(row) / max(1.0, usual[row["question_type"]])
    return min(1.0, abs(math.log10(max(ratio, 0.01))))


def _compute_longest(questions: Sequence[Row]) -> float:
    if not questions:
        return 1.0
    lengths = [_measure(row) for row in questions]
    return min(1.0, math.log10(max(1.0, max(lengths) / max(1.0, median(lengths)))) / 2)


def _measure(row: Row) -> int:
    texts = [row["stem"], *(option["text"] for option in row["options"])]
    return sum(len(leave_out_pictures(text)) for text in texts) or 1


def _holds_place(row: Row, places: Sequence[int]) -> bool:
    start, end = row["text_start"], row["text_end"]
    if start is None or end is None:
        return False
    at = bisect_left(places, start)
    return at < len(places) and places[at] < end


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
