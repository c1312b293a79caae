"""Whether drawing by what is known of questions saves any, inside a draw that stays sealed.

    python -m tests.benchmarks.informative_draw [--draws 150] [--banks 3] [--questions 200 500]

A bank is answered by 20 candidates, each question by all of them; others are then examined on a few of its questions. Drawn are
simple random sets of each discipline (as S is), or sets in which a question's chance goes with how far its answers may be expected
to vary: Pareto sampling (Rosén 1997), which takes one committed ticket and one committed weight for each question. S is then the
Hájek mean, or a model-assisted difference estimator (Särndal, Swensson and Wretman 1992, chapter 6): expected stars of the whole
bank by a regression on what the 20 had, and of the set what it leaves over. Answers come from the generator of
`validity_edges`, with guessing and passages. For each way: the variance of S and of a difference of two candidates against those of
a simple random set with plain means (.70 would be 30% fewer questions), and how often 95% intervals hold the truth.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from tests.benchmarks.validity_edges import DISCIPLINES, Bank, Case, draw_bank

Floats = NDArray[np.float64]

_CALIBRATORS = 20
_EXAMINED = np.array([-1.5, -0.5, 0.25, 0.5, 1.25, 2.0])
_FRAME = 1_000  # questions of a discipline
CASES = {
    "ordinary": Case(_EXAMINED),
    "guessing .25": Case(_EXAMINED, guessing=0.25),
    "passages of 5, each once": Case(_EXAMINED, passage_size=5, drawn="once"),
    "passages, 0 or 3, guessing": Case(
        _EXAMINED, passage_size=5, is_graded=False, guessing=0.25, drawn="once"
    ),
}


def draw_frame(generator: np.random.Generator, case: Case) -> tuple[Bank, Floats]:
    """A bank of one question a passage, and the mean share of stars of its 20 answers."""
    abilities = np.append(generator.normal(0.4, 1.0, _CALIBRATORS), _EXAMINED)
    whole = draw_bank(generator, Case(**{**case.__dict__, "ability": abilities}))
    place = np.arange(_FRAME) * case.passage_size
    right, reasons = whole.right[:, :, place], np.broadcast_to(whole.reasons, whole.right.shape)[:, :, place]
    answers = draw_stars(generator, case, right[:, :_CALIBRATORS], reasons[:, :_CALIBRATORS])
    sat = slice(_CALIBRATORS, None)
    expected = expect_stars(case, right[:, sat], reasons[:, sat])
    return Bank(right[:, sat], reasons[:, sat], expected), answers.mean(axis=1) / 3


def expect_stars(case: Case, right: Floats, reasons: Floats) -> Floats:
    """Expected stars of answers."""
    knows = (right - case.guessing) / (1 - case.guessing)
    graded = right * (2 + reasons) + (1 - right) * 0.25 * knows
    return np.asarray(graded if case.is_graded else 3 * right)


def draw_stars(generator: np.random.Generator, case: Case, right: Floats, reasons: Floats) -> Floats:
    """One answer to each question."""
    is_right = generator.random(right.shape) < right
    if not case.is_graded:
        return np.asarray(3.0 * is_right)
    knows = (right - case.guessing) / (1 - case.guessing)
    has_more, has_some = generator.random((2, *right.shape))
    return np.asarray(np.where(is_right, 2 + (has_more < reasons), 1.0 * (has_some < 0.25 * knows)))


def shrink(known: Floats) -> Floats:
    """Means of 20 answers towards the discipline's, by how reliable they are."""
    centre = known.mean(axis=1, keepdims=True)
    noise = (known * (1 - known)).mean(axis=1, keepdims=True) / _CALIBRATORS
    spread = known.var(axis=1, keepdims=True)
    return np.asarray(centre + np.clip(1 - noise / spread, 0.1, 1.0) * (known - centre))


def draw_places(generator: np.random.Generator, chance: Floats, count: int) -> NDArray[np.int64]:
    """Pareto sampling of `count` places of each discipline by their chances, discipline × place."""
    ticket = generator.random(chance.shape)
    odds = ticket / (1 - ticket) * (1 - chance) / chance
    return np.argpartition(odds, count, axis=1)[:, :count]


def find_chances(weight: Floats, count: int) -> Floats:
    """Chances of being drawn that go with weights, `count` in all of each discipline."""
    return np.asarray(weight * count / weight.sum(axis=1, keepdims=True))


def estimate(stars: Floats, chance: Floats, basis: Floats | None) -> tuple[Floats, Floats, float]:
    """S of each candidate, its deviations by question, and degrees of freedom.

    `stars` are candidates × disciplines × places; `basis` is what is known of the questions, less the whole bank's mean:
    disciplines × places × terms.
    """
    count = stars.shape[2]
    weight = 1.0 / chance
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = (stars * share).sum(axis=2)
    rest, lost = stars - mean[:, :, None], 0
    if basis is not None:
        inner = basis - (basis * share[:, :, None]).sum(axis=1, keepdims=True)
        flat = (inner * np.sqrt(share)[:, :, None]).reshape(-1, basis.shape[2])
        wanted = (rest * np.sqrt(share)).reshape(len(stars), -1)
        slope = np.linalg.lstsq(flat, wanted.T, rcond=None)[0]
        mean = mean - ((basis * share[:, :, None]).sum(axis=1) @ slope).T
        rest = rest - (inner @ slope).transpose(2, 0, 1)
        lost = basis.shape[2]
    # With replacement: what is drawn are some hundredths of the bank.
    deviation = rest * share * np.sqrt(count / (count - 1)) * 100 / 3 / DISCIPLINES
    degrees = DISCIPLINES * (count - 1) - lost
    scale = np.sqrt(DISCIPLINES * (count - 1) / degrees)
    return mean.mean(axis=1) * 100 / 3, deviation.reshape(len(stars), -1) * scale, float(degrees)


def measure(case: Case, questions: int, draws: int, banks: int, seed: int) -> dict[str, dict[str, float]]:
    """Way → variances against those of plain means of simple random sets, and coverage."""
    generator = np.random.default_rng([seed, questions])
    share = questions // DISCIPLINES
    squares: dict[str, list[Floats]] = defaultdict(list)
    held: dict[str, list[float]] = defaultdict(list)
    first, second = np.triu_indices(len(_EXAMINED), 1)
    at = np.arange(DISCIPLINES)[:, None]
    for _ in range(banks):
        bank, known = draw_frame(generator, case)
        truth = bank.truth.mean(axis=(0, 2)) * 100 / 3
        guessed = shrink(known)
        even = np.full(known.shape, share / _FRAME)
        uneven = find_chances(np.sqrt(guessed * (1 - guessed) + 0.04), share)
        terms = np.stack([guessed, guessed**2], axis=2)
        terms = terms - terms.mean(axis=1, keepdims=True)
        ways = {
            "simple, plain mean": (even, False),
            "simple, model-assisted": (even, True),
            "informative, Hajek": (uneven, False),
            "informative, model-assisted": (uneven, True),
        }
        for _ in range(draws):
            for name, (chance, is_assisted) in ways.items():
                place = draw_places(generator, chance, share)
                right, reasons = (
                    np.stack([part[d][:, place[d]] for d in range(DISCIPLINES)], axis=1)
                    for part in (bank.right, bank.reasons)
                )
                stars = draw_stars(generator, case, right, reasons)
                value, deviation, degrees = estimate(
                    stars, chance[at, place], terms[at, place] if is_assisted else None
                )
                reach = student.ppf(0.975, degrees)
                error = value - truth
                held[name].append(
                    float((np.abs(error) <= reach * np.sqrt((deviation**2).sum(axis=1))).mean())
                )
                apart = error[first] - error[second]
                spread = np.sqrt(((deviation[first] - deviation[second]) ** 2).sum(axis=1))
                held[f"{name}, difference"].append(float((np.abs(apart) <= reach * spread).mean()))
                squares[name].append(error**2)
                squares[f"{name}, difference"].append(apart**2)
    base = {kind: np.mean(squares[f"simple, plain mean{kind}"]) for kind in ("", ", difference")}
    return {
        name: {
            "S": float(np.mean(squares[name]) / base[""]),
            "S held": float(np.mean(held[name])),
            "difference": float(np.mean(squares[f"{name}, difference"]) / base[", difference"]),
            "difference held": float(np.mean(held[f"{name}, difference"])),
            "error": float(np.sqrt(np.mean(squares[name]))),
        }
        for name in ways
    }


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=150)
    parser.add_argument("--banks", type=int, default=3)
    parser.add_argument("--questions", type=int, nargs="+", default=[200, 500])
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    print(f"{'case':<28}{'N':>6}  {'way':<30}{'Var S':>8}{'held':>8}{'Var diff':>10}{'held':>8}{'error':>8}")
    for name in chosen.case:
        for questions in chosen.questions:
            found = measure(CASES[name], questions, chosen.draws, chosen.banks, chosen.seed)
            for way, one in found.items():
                print(
                    f"{name:<28}{questions:>6}  {way:<30}{one['S']:>8.2f}{one['S held']:>8.3f}"
                    f"{one['difference']:>10.2f}{one['difference held']:>8.3f}{one['error']:>8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
