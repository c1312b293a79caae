"""How many real exam papers are read correctly.

It measures counts, types, and the questions that were read by eye.
"""

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

from tasks.ingest.answer_files import find_companion
from tasks.ingest.reading import read_document
from tasks.ingest.words.lexicon import find_fine_type
from tests.benchmarks.ingest_cache import use_cache

# What the truth files call the types, where it is not the name of a finer type.
_TRUTH_NAMES = {"multiple_choice": "multiple_answer", "fill_blank": "fill_in_the_blank", "program_correction": "programming"}
STEM_LIKENESS = 0.98
SCAN_LIKENESS = 0.9


def read_truths(exams_dir: Path) -> dict[str, dict[str, Any]]:
    """What a person read in the papers, by the name of the paper."""
    return {
        path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((exams_dir / "truth").glob("*.json"))
    }


def read_paper(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read one paper in this process.

    Returns its document and its questions, as they would be landed.
    """
    result = read_landed(path)
    return result["document"], result["questions"]


def read_landed(path: Path) -> dict[str, Any]:
    """Read one paper in this process.

    Returns its `document`, its `text` (or None) and its `questions`.
    """
    document: dict[str, Any] = {
        "document_id": path.name,
        "document_name": path.name,
        "source_path": path.name,
        "source_kind": "other",
        "discipline": None,
        "sub_discipline": None,
        "error": None,
        "warnings": [],
    }
    companion = find_companion(path)
    options = {
        "time_limit_s": 3600.0,
        "use_ocr": True,
        "confidence_threshold": 0.6,
        "companion": str(companion) if companion else None,
    }
    return read_document(path, document, options)


def compute_accuracy(exams_dir: Path, name: str = "") -> list[dict[str, Any]]:
    """Read every paper with a truth file (whose name holds `name`); one row per paper.

    A listed question counts as right when its stem, its options, its answer (where the truth has one) and its
    type are. Rows: file, truth_count, count, listed_count, right_count, stem_count, options_count,
    answer_count, type_count, status, warnings, wrong (labels and the parts that differ), met: for every listed
    question that has a likely counterpart, the counterpart's confidence and whether it is right.
    """
    truths = read_truths(exams_dir)
    rows: list[dict[str, Any]] = []
    with use_cache():
        for file in truths:
            if name in file and (exams_dir / file).exists():
                rows.append(compare(*read_paper(exams_dir / file), truths[file]))
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
    met: list[tuple[float, bool]] = []
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
        nearest = best or find_nearest(expected, questions)
        if nearest is not None:
            met.append((float(nearest["parse_confidence"]), all(verdict.values())))
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
        "warnings": document["warnings"],
        "met": met,
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


def find_counterpart(
    expected: dict[str, Any], questions: Sequence[dict[str, Any]], truth: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the question whose stem is the listed one's, else the one that holds a part of it."""
    likeness = SCAN_LIKENESS if "scan" in truth["file"] else STEM_LIKENESS
    return _find(expected, list(questions), likeness, truth) or find_nearest(expected, questions)


def find_nearest(expected: dict[str, Any], questions: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the question that a listed one was read as, however wrongly.

    It holds the beginning or the end of the listed question's stem.
    """
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


def render(rows: Sequence[dict[str, Any]], *, with_wrong: bool = True) -> str:
    """A table of the papers and, below it, the figures of all, of the texts and of the scans."""
    heads = ["file", "truth", "count", "listed", "right", "stem", "options", "answer", "type", "status"]
    line = "{:36}" + "{:>8}" * 8 + "  {}"
    lines = [line.format(*heads)]
    for row in rows:
        values = [row["file"], row["truth_count"], row["count"], row["listed_count"], row["right_count"]]
        values += [row[f"{name}_count"] for name in ("stem", "options", "answer", "type")]
        lines.append(line.format(*values, row["status"]))
        if with_wrong:
            lines += ["      " + re.sub(r"\s+", " ", wrong) for wrong in row["wrong"]]
    scans = [row for row in rows if "scan" in row["file"]]
    texts = [row for row in rows if row not in scans]
    lines += [summarise(name, some) for name, some in (("texts", texts), ("scans", scans), ("all", rows))]
    return "\n".join(lines)


def summarise(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """One line of figures for a set of papers.

    It has the share of listed questions that are fully right, the count error (summed, and as the mean of papers),
    and the wrong ones by confidence.
    """
    right, listed = (sum(row[key] for row in rows) for key in ("right_count", "listed_count"))
    errors = [abs(row["count"] - row["truth_count"]) for row in rows]
    shares = [min(1.0, error / row["truth_count"]) for error, row in zip(errors, rows, strict=True)]
    parts = [f"{name}: right {right}/{listed} = {right / max(listed, 1):.1%}"]
    total = sum(row["truth_count"] for row in rows)
    parts.append(f"count error {sum(errors)}/{total} = {sum(errors) / max(total, 1):.1%}")
    parts.append(f"{sum(shares) / max(len(shares), 1):.1%} a paper")
    for floor in (0.9, 0.5):
        met = [is_right for row in rows for confidence, is_right in row["met"] if confidence >= floor]
        parts.append(
            f"wrong at >= {floor}: {met.count(False)}/{len(met)} = {met.count(False) / max(len(met), 1):.1%}"
        )
    return "; ".join(parts)


def main(arguments: Sequence[str] = ()) -> None:
    """Print a table for the folders given, or for the shared data.

    A part of a paper's name may follow the folders.
    """
    shared = Path(
        os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    )
    folders = [Path(one) for one in arguments if Path(one).is_dir()] or [
        shared / "exams",
        shared / "exams_more",
    ]
    name = next((one for one in arguments if not Path(one).is_dir()), "")
    rows: list[dict[str, Any]] = []
    for folder in folders:
        found = compute_accuracy(folder, name)
        print(f"## {folder.name}\n{render(found)}\n")
        rows += found
    if len(folders) > 1:
        print("## both\n" + "\n".join(render(rows, with_wrong=False).splitlines()[-3:]))


if __name__ == "__main__":
    main(sys.argv[1:])
