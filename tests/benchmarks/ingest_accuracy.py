"""How many real exam papers are read correctly.

It measures counts, types, and the questions that were read by eye.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.ingest.answer_files import find_companions
from tasks.ingest.confidence import compare_question, fold, list_truths, read_truths
from tasks.ingest.reading import read_document
from tests.benchmarks.ingest_cache import use_cache

__all__ = [
    "compare",
    "compute_accuracy",
    "fold",
    "read_document",
    "read_landed",
    "read_options",
    "read_paper",
    "read_truths",
    "render",
]


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
    return read_document(path, make_document(path), read_options(path))


def make_document(path: Path) -> dict[str, Any]:
    """A paper's document before it is read."""
    return {
        "document_id": path.name,
        "document_name": path.name,
        "source_path": path.name,
        "source_kind": "other",
        "discipline": None,
        "sub_discipline": None,
        "error": None,
        "warnings": [],
    }


def read_options(path: Path) -> dict[str, Any]:
    """The options of a command, without its limit of time."""
    companions = find_companions(path)
    return {
        "time_limit_s": 3600.0,
        "use_ocr": True,
        "confidence_threshold": 0.6,
        "companion": str(companions[0]) if len(companions) == 1 else None,
    }


def find_paper(path: Path) -> str | None:
    """The paper beside an answer file that is answered from it, as a command names it."""
    beside = (other for other in sorted(path.parent.iterdir()) if other.is_file())
    return next((str(other) for other in beside if find_companions(other) == [path]), None)


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
    listed = list_truths(truth)
    parts = {"stem": 0, "options": 0, "answer": 0, "type": 0}
    right = 0
    wrong: list[str] = []
    met: list[tuple[float, bool]] = []
    for expected in listed:
        found = compare_question(expected, questions, truth)
        for name, value in found.parts.items():
            parts[name] += value
        right += found.is_right
        if found.question is not None:
            met.append((float(found.question["parse_confidence"]), found.is_right))
        if not found.is_right:
            wrong.append(
                f"{expected['no']} {expected['section'] or ''}: "
                + ",".join(k for k, v in found.parts.items() if not v)
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
    shares = [min(1.0, error / max(row["truth_count"], 1)) for error, row in zip(errors, rows, strict=True)]
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
