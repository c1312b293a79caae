"""How many real exam papers are read rightly: counts, types, and the questions that were read by eye."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from tasks.ingest.documents import IngestOptions, parse_documents
from tasks.ingest.lexicon import find_fine_type

# What the truth files call the types, where it is not the name of a finer type.
_TRUTH_NAMES = {"multiple_choice": "multiple_answer", "fill_blank": "fill_in_the_blank"}
STEM_LIKENESS = 0.98
SCAN_LIKENESS = 0.9


def read_truths(exams_dir: Path) -> dict[str, dict[str, Any]]:
    """What a person read in the papers, by the name of the paper."""
    return {
        path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((exams_dir / "truth").glob("*.json"))
    }


def compute_accuracy(exams_dir: Path) -> list[dict[str, Any]]:
    """Parse every paper with a truth file; one row per paper.

    A listed question counts as right when its stem, its options, its answer (where the truth has one) and its
    type are. Rows: file, truth_count, count, listed_count, right_count, stem_count, options_count,
    answer_count, type_count, status, wrong (labels and the parts that differ).
    """
    truths = read_truths(exams_dir)
    files = [exams_dir / name for name in truths if (exams_dir / name).exists()]
    rows: list[dict[str, Any]] = []
    for parsed in parse_documents(files, IngestOptions(), workers=2):
        rows.append(compare(parsed.document, parsed.questions, truths[parsed.path.name]))
    return rows


def compare(
    document: dict[str, Any], questions: list[dict[str, Any]], truth: dict[str, Any]
) -> dict[str, Any]:
    """Compare the questions of one paper with its truth file."""
    listed = [*truth["first"], *truth["last"], *truth.get("choice_samples", [])]
    is_scan = "scan" in truth["file"]
    parts = {"stem": 0, "options": 0, "answer": 0, "type": 0}
    right = 0
    wrong: list[str] = []
    for expected in listed:
        best = _find(expected, questions, SCAN_LIKENESS if is_scan else STEM_LIKENESS, truth)
        verdict = {
            "stem": best is not None,
            "options": best is not None and _same_options(expected, best),
            "answer": best is not None and _same_answer(expected, best, truth),
            "type": best is not None and _same_type(expected, best),
        }
        for name, value in verdict.items():
            parts[name] += value
        right += all(verdict.values())
        if not all(verdict.values()):
            wrong.append(
                f"{expected['no']} {expected['section'] or ''}: "
                + ",".join(k for k, v in verdict.items() if not v)
            )
    return {
        "file": truth["file"],
        "status": document["status"],
        "truth_count": truth["n_questions"],
        "count": len(questions),
        "listed_count": len(listed),
        "right_count": right,
        **{f"{name}_count": value for name, value in parts.items()},
        "wrong": wrong,
    }


def fold(text: str) -> str:
    """Fold a text for comparison: NFKC, no white space, no punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if unicodedata.category(character)[0] not in "ZPC")


def _find(
    expected: dict[str, Any], questions: list[dict[str, Any]], likeness: float, truth: dict[str, Any]
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
    if wanted is None:
        has_no_answers = truth["answers_location"] == "none" or truth["file"].startswith("xlsx_softexam")
        return not question["answer"] if has_no_answers else True
    if isinstance(wanted, bool):
        return bool(question["answer"] == [str(wanted).lower()])
    if expected["type"] in ("single_choice", "multiple_choice"):
        return bool("".join(question["answer"]) == wanted)
    if expected["type"] == "true_false":
        return bool(question["answer"] == [{"A": "true", "B": "false"}[wanted]])
    text = fold("".join(question["answer"]))
    if wanted.startswith("starts:"):
        return text.startswith(fold(wanted.removeprefix("starts:")))
    return fold(wanted) in text


def _same_type(expected: dict[str, Any], question: dict[str, Any]) -> bool:
    fine = find_fine_type(_TRUTH_NAMES.get(expected["type"], expected["type"]))
    assert fine is not None, expected["type"]
    return question["question_type"] in (fine.question_type, *fine.accepts)


def main(arguments: Sequence[str] = ()) -> None:
    """Print a table for the folder given, or for the shared data."""
    shared = Path(
        os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    )
    folder = Path(arguments[0]) if arguments else shared / "exams"
    rows = compute_accuracy(folder)
    heads = ["file", "truth", "count", "listed", "right", "stem", "options", "answer", "type", "status"]
    print(("{:36}" + "{:>8}" * 8 + "  {}").format(*heads))
    for row in rows:
        values = [row["file"], row["truth_count"], row["count"], row["listed_count"], row["right_count"]]
        values += [row[f"{name}_count"] for name in ("stem", "options", "answer", "type")]
        print(("{:36}" + "{:>8}" * 8 + "  {}").format(*values, row["status"]))
        for line in row["wrong"]:
            print("      " + re.sub(r"\s+", " ", line))
    truth = sum(row["truth_count"] for row in rows)
    error = sum(abs(row["count"] - row["truth_count"]) for row in rows)
    listed, right = sum(row["listed_count"] for row in rows), sum(row["right_count"] for row in rows)
    print(f"right {right}/{listed} = {right / max(listed, 1):.1%}; ", end="")
    print(f"count error {error}/{truth} = {error / max(truth, 1):.2%}")


if __name__ == "__main__":
    main(sys.argv[1:])
