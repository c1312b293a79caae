"""How much each note should take from the confidence.

The amounts are fitted on papers with truth; each paper is scored with amounts fitted without it.

The model is the one that is used: confidence = 1 − base − the sum of the weights of a question's notes. Weights are
fitted by ridge least squares of "is wrong" on the notes, each paper weighing the same, drawn towards the weights at hand;
a paper is scored with the weights fitted on all others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tasks.ingest import read_notes
from tests.benchmarks.ingest_accuracy import compare, find_counterpart, read_paper, read_truths
from tests.benchmarks.ingest_cache import use_cache

# A paper counts as so many questions, however many of it are listed; the evidence of ten papers moves a weight half way
# from the weight at hand. Questions of one paper fail together: two papers are no reason to trust a note's weight.
PAPER = 8.0
PRIOR = 10 * PAPER
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)


@dataclass(frozen=True)
class Judged:
    """One listed question that was read as something.

    It has its paper, its notes, and whether all its fields are right.
    """

    paper: str
    notes: frozenset[str]
    is_right: bool


def judge_papers(folders: Sequence[Path]) -> list[Judged]:
    """Every listed question that has a counterpart among those read."""
    found: list[Judged] = []
    with use_cache():
        for folder in folders:
            for name, truth in read_truths(folder).items():
                document, questions = read_paper(folder / name)
                for expected in [*truth["first"], *truth["last"], *truth.get("choice_samples", [])]:
                    alone = {**truth, "first": [expected], "last": [], "choice_samples": []}
                    row = compare(document, questions, alone)
                    nearest = find_counterpart(expected, questions, truth)
                    if nearest is not None:
                        found.append(Judged(name, frozenset(nearest["parse_notes"]), row["right_count"] == 1))
    return found


def fit(judged: Sequence[Judged], codes: Sequence[str]) -> dict[str, float]:
    """The weight of each note, from 0 to 0.5.

    A note that was hardly met keeps its present weight.
    """
    prior = np.array([read_notes()[code].weight for code in codes])
    counts = {
        paper: sum(1 for one in judged if one.paper == paper) for paper in {one.paper for one in judged}
    }
    weights = np.array([PAPER / counts[one.paper] for one in judged])
    rows = np.array([[code in one.notes for code in codes] for one in judged], dtype=float)
    wrong = np.array([not one.is_right for one in judged], dtype=float)
    residual = wrong - rows @ prior
    left = (rows * weights[:, None]).T @ rows + PRIOR * np.eye(len(codes))
    solved = prior + np.linalg.solve(left, (rows * weights[:, None]).T @ residual)
    return {code: float(min(0.5, max(0.0, value))) for code, value in zip(codes, solved, strict=True)}


def compute_confidence(one: Judged, weights: dict[str, float]) -> float:
    """As it is computed for a landed question."""
    return round(max(0.0, 1.0 - sum(weights.get(note, 0.0) for note in one.notes)), 2)


def cross_validate(judged: Sequence[Judged]) -> list[tuple[float, bool]]:
    """Confidence and truth of every question, its paper left out of the fit."""
    codes = list(read_notes())
    scored: list[tuple[float, bool]] = []
    for paper in sorted({one.paper for one in judged}):
        weights = fit([one for one in judged if one.paper != paper], codes)
        scored += [(compute_confidence(one, weights), one.is_right) for one in judged if one.paper == paper]
    return scored


def render(scored: Sequence[tuple[float, bool]], title: str) -> str:
    """Reliability: questions and wrong ones by confidence.

    It also gives the two figures that are aimed at.
    """
    lines = [title]
    for low, high in pairwise(BINS):
        inside = [is_right for confidence, is_right in scored if low <= confidence < high]
        if inside:
            lines.append(
                f"  {low:.2f}-{min(high, 1):.2f}: {len(inside):4} read, {inside.count(False):3} wrong ({inside.count(False) / len(inside):.0%})"
            )
    for floor in (0.9, 0.5):
        inside = [is_right for confidence, is_right in scored if confidence >= floor]
        lines.append(
            f"  >= {floor}: {inside.count(False)}/{len(inside)} wrong = {inside.count(False) / max(1, len(inside)):.1%}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the reliability of the present weights and of fitted ones.

    With `--weights` the fitted weights are printed, too.
    """
    shared = Path(
        os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
    )
    judged = judge_papers([shared / "exams", shared / "exams_more"])
    hand = {code: note.weight for code, note in read_notes().items()}
    print(render([(compute_confidence(one, hand), one.is_right) for one in judged], "weights at hand"))
    print(render(cross_validate(judged), "fitted, each paper left out"))
    if "--weights" in arguments:
        for code, weight in fit(judged, list(hand)).items():
            met = [one.is_right for one in judged if code in one.notes]
            if met:
                print(f"  {code}: {hand[code]:.2f} -> {weight:.2f} ({met.count(False)} of {len(met)} wrong)")


if __name__ == "__main__":
    main(sys.argv[1:])
