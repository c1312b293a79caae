"""Fitting the confidence on questions of which it is known whether they were read right.

Papers of one source fail together. So each question is weighed by what its paper counts, and what the sums are worth is
told from papers whose source had no part in the fit.

Nothing here is drawn at random: the same papers give the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks.ingest.confidence.evidence import Evidence
from tasks.ingest.confidence.judging import Fit, interpolate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

# A paper counts as so many questions, however many of it are known; those of one paper fail together.
PAPER = 8.0
# How strongly a weight is drawn to nothing. The name of a note or of a contract is met in few papers.
_RIDGE = 6.0
_RIDGE_NAMED = 40.0
_NAMED = ("note_", "contract_")
_RIDGE_PAPER = 2.0
# What a weight is drawn to where little evidence speaks for another: what is known without counting.
_AT_HAND = {
    "": 2.5,
    "doubt": -2.0,
    "is_doubted": -0.5,
    "residue": -1.5,
    "residue_share": -1.5,
    "contracts_broken": -2.0,
    "section_broken": -0.5,
    "breach_inside": -1.0,
    "text_unclaimed": -1.0,
    "answer_missing": -0.3,
    "answers_mixed": -0.5,
    "options_mixed": -0.5,
    "odd_length": -0.5,
}
_AT_HAND_PAPER = {"": -2.0, "sure_mean": 5.0, "contracts_broken": -2.0, "text_unclaimed": -1.0}
# What tells of a paper's share that is right; `sure_mean` is how sure its questions are.
_OF_PAPER = (
    "sure_mean",
    "contracts_broken",
    "text_unclaimed",
    "few_questions",
    "doubted_share",
    "residue_share",
    "margin_small",
    "answers_missing",
    "type_inferred_share",
    "is_scan",
)
# Questions in a step of the calibration, and the wrong ones that are added to each: how much worse a new source may be.
_STEP = 50.0
_PESSIMISM = 1.5
_ROUNDS = 40
_BINS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)
# Sources that are left out at once for the steps.
_GROUPS = 8


@dataclass(frozen=True)
class Known:
    """A question of which it is known whether all its fields were read right."""

    evidence: Evidence
    is_right: bool


@dataclass(frozen=True)
class KnownPaper:
    """A paper of which some questions are known.

    `missed` counts those that are known to be in it and were not found at all. `weight` is how much it counts: less where
    the rules were written with a look at it, for it then tells little of other papers.
    """

    name: str
    source: str
    evidence: Evidence
    known: Sequence[Known]
    missed: int = 0
    weight: float = 1.0

    @property
    def right_share(self) -> float:
        """Share of what is known of it that was read right."""
        count = len(self.known) + self.missed
        return sum(one.is_right for one in self.known) / count if count else 0.0


class TriedQuestion(NamedTuple):
    """A known question, and what a fit without its source makes of it."""

    paper: str
    confidence: float
    is_right: bool


class TriedPaper(NamedTuple):
    """A known paper, and what a fit without its source expects of it."""

    paper: str
    expected: float
    right_share: float
    question_count: int


@dataclass(frozen=True)
class ConfidenceTrials:
    """Known questions and papers, each judged by a fit that saw nothing of its source."""

    questions: Sequence[TriedQuestion]
    papers: Sequence[TriedPaper]

    def select(self, names: Iterable[str]) -> ConfidenceTrials:
        """The same of some papers alone."""
        wanted = set(names)
        return ConfidenceTrials(
            [one for one in self.questions if one.paper in wanted],
            [one for one in self.papers if one.paper in wanted],
        )

    def count_wrong(self, least: float, most: float = 2.0) -> tuple[int, int]:
        """Questions of this confidence, and how many of them are wrong."""
        inside = [one for one in self.questions if least <= one.confidence < most]
        return len(inside), sum(not one.is_right for one in inside)

    def render(self, title: str, least_right: float) -> str:
        """The table of bins as Markdown, and what holding papers is worth."""
        lines = [title, "", "| confidence | questions | wrong | mean confidence |", "|---|---|---|---|"]
        for low, high in pairwise(_BINS):
            count, wrong = self.count_wrong(low, high)
            if count:
                told = [one.confidence for one in self.questions if low <= one.confidence < high]
                lines.append(
                    f"| {low:.2f}-{min(high, 1):.2f} | {count} | {wrong} ({wrong / count:.0%}) | {sum(told) / count:.2f} |"
                )
        sure, wrong = self.count_wrong(0.9)
        share = wrong / max(1, sure)
        lines += [
            "",
            f"At 0.9 or more: {sure} of {len(self.questions)} questions, {wrong} wrong ({share:.1%}).",
        ]
        held = [one for one in self.papers if one.expected < least_right]
        passed = [one for one in self.papers if one.expected >= least_right]
        for word, some in (("Held", held), ("Passed", passed)):
            count = sum(one.question_count for one in some)
            off = count - sum(round(one.right_share * one.question_count) for one in some)
            bad = sum(one.right_share < 0.5 for one in some)
            lines.append(
                f"{word}: {len(some)} of {len(self.papers)} papers, {bad} of them less than half right; of their {count} known "
                f"questions {off} are wrong or missing ({off / max(1, count):.0%})."
            )
        return "\n".join(lines)


def fit_confidence(papers: Sequence[KnownPaper], made: Mapping[str, Any] | None = None) -> Fit:
    """The weights by all papers, the steps by papers whose source was left out."""
    # One without weight would still move which sources are left out together, and the steps with them.
    papers = [one for one in papers if one.weight > 0 and (one.known or one.missed)]
    names = _list_names(one.evidence for paper in papers for one in paper.known)
    left_out = _leave_out(papers, names)
    steps = _calibrate(papers, left_out)
    question = _fit_questions(papers, names)
    means = _compute_means(papers, left_out, steps)
    return Fit(question, _fit_papers(papers, means), steps, dict(made or {}))


def try_left_out(papers: Sequence[KnownPaper]) -> ConfidenceTrials:
    """Every known question and paper under a fit of all other sources, steps included."""
    papers = [one for one in papers if one.known or one.missed]
    questions: list[TriedQuestion] = []
    wholes: list[TriedPaper] = []
    for source in sorted({paper.source for paper in papers}):
        fit = fit_confidence([paper for paper in papers if paper.source != source])
        for paper in (paper for paper in papers if paper.source == source):
            own = [fit.expect_right(one.evidence) for one in paper.known]
            questions += [
                TriedQuestion(paper.name, sure, one.is_right)
                for sure, one in zip(own, paper.known, strict=True)
            ]
            mean = sum(own) / len(own) if own else 0.0
            expected = fit.expect_share({**paper.evidence, "sure_mean": mean})
            wholes.append(
                TriedPaper(paper.name, expected, paper.right_share, len(paper.known) + paper.missed)
            )
    return ConfidenceTrials(questions, wholes)


def _list_names(evidence: Iterable[Evidence]) -> list[str]:
    return sorted({name for one in evidence for name in one})


def _leave_out(papers: Sequence[KnownPaper], names: Sequence[str]) -> dict[str, list[float]]:
    """For every paper the shares that a fit without its source gives to its questions."""
    sources = sorted({paper.source for paper in papers})
    groups = [sources[first::_GROUPS] for first in range(min(_GROUPS, len(sources)))]
    found: dict[str, list[float]] = {}
    for group in groups:
        fit = Fit(_fit_questions([paper for paper in papers if paper.source not in group], names), {})
        for paper in papers:
            if paper.source in group:
                found[paper.name] = [fit.expect_right(known.evidence) for known in paper.known]
    return found


def _fit_questions(papers: Sequence[KnownPaper], names: Sequence[str]) -> dict[str, float]:
    import numpy as np

    known = [(one, paper.weight * PAPER / len(paper.known)) for paper in papers for one in paper.known]
    if not known:
        return {"": 0.0}
    table = np.zeros((len(known), len(names) + 1))
    table[:, 0] = 1.0
    columns = {name: place for place, name in enumerate(names, start=1)}
    for row, (one, _) in enumerate(known):
        for name, value in one.evidence.items():
            if name in columns:
                table[row, columns[name]] = value
    right = np.array([float(one.is_right) for one, _ in known])
    counts = np.array([count for _, count in known])
    ridge = np.array([0.1, *(_RIDGE_NAMED if name.startswith(_NAMED) else _RIDGE for name in names)])
    at_hand = np.array([_AT_HAND.get(name, 0.0) for name in ["", *names]])
    weights = _solve(table, right, counts, ridge, at_hand)
    return {name: round(float(weight), 4) for name, weight in zip(["", *names], weights, strict=True)}


def _fit_papers(papers: Sequence[KnownPaper], means: Mapping[str, float]) -> dict[str, float]:
    import numpy as np

    evidence = [{**paper.evidence, "sure_mean": means[paper.name]} for paper in papers]
    table = np.array([[1.0, *(one.get(name, 0.0) for name in _OF_PAPER)] for one in evidence])
    right = np.array([paper.right_share for paper in papers])
    counts = np.array([paper.weight * PAPER / 2 for paper in papers])
    at_hand = np.array([_AT_HAND_PAPER.get(name, 0.0) for name in ["", *_OF_PAPER]])
    weights = _solve(table, right, counts, np.array([0.1, *[_RIDGE_PAPER] * len(_OF_PAPER)]), at_hand)
    return {name: round(float(weight), 4) for name, weight in zip(["", *_OF_PAPER], weights, strict=True)}


def _solve(table: Numbers, right: Numbers, counts: Numbers, ridge: Numbers, at_hand: Numbers) -> Numbers:
    """Logistic regression by Newton's method; a ridge draws the weights to those at hand.

    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2nd edition, 4.4.1.
    """
    import numpy as np

    weights = at_hand.copy()
    for _ in range(_ROUNDS):
        share = 1 / (1 + np.exp(-np.clip(table @ weights, -30, 30)))
        slope = table.T @ (counts * (right - share)) - ridge * (weights - at_hand)
        bend = (table.T * (counts * share * (1 - share))) @ table + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-6:
            break
    return weights


def _calibrate(
    papers: Sequence[KnownPaper], left_out: Mapping[str, Sequence[float]]
) -> tuple[tuple[float, float], ...]:
    """What a share by the sum turned out to be: means of neighbours, never falling."""
    told = sorted(
        (share, float(one.is_right), paper.weight * PAPER / len(paper.known))
        for paper in papers
        for share, one in zip(left_out[paper.name], paper.known, strict=True)
    )
    pools: list[list[float]] = []  # count, sum of shares, sum that was right
    count = shares = right = 0.0
    for place, (share, is_right, weight) in enumerate(told):
        count, shares, right = count + weight, shares + weight * share, right + weight * is_right
        if count >= _STEP or place == len(told) - 1:
            pools.append([count, shares, right])
            count = shares = right = 0.0
    if len(pools) > 1 and pools[-1][0] < _STEP / 2:
        pools[-2:] = [[first + second for first, second in zip(pools[-2], pools[-1], strict=True)]]
    merged: list[list[float]] = []
    for pool in pools:
        merged.append(pool)
        while len(merged) > 1 and _tell_right(merged[-2]) >= _tell_right(merged[-1]):
            last = merged.pop()
            merged[-1] = [first + second for first, second in zip(merged[-1], last, strict=True)]
    return tuple((round(pool[1] / pool[0], 4), round(_tell_right(pool), 4)) for pool in merged)


def _tell_right(pool: Sequence[float]) -> float:
    """The share of a pool that was right, with the wrong ones that are added."""
    return pool[2] / (pool[0] + _PESSIMISM)


def _compute_means(
    papers: Sequence[KnownPaper],
    left_out: Mapping[str, Sequence[float]],
    steps: Sequence[tuple[float, float]],
) -> dict[str, float]:
    """How sure the questions of each paper are without its source."""
    found = {}
    for paper in papers:
        own = [interpolate(steps, share) for share in left_out[paper.name]]
        found[paper.name] = sum(own) / len(own) if own else 0.0
    return found
