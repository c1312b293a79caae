"""Whether the gates `judge_controls` and `keys` know who can judge.

    python -m tests.benchmarks.validity_controls [--runs 1000] [--seed 1]

Judges from perfect to random give stars to the control answers of a run (60, as they are drawn, and the 30 of `proctor models check
--judge`) and to candidates' answers that a key decides (250 questions, seven candidates that are right in 35 to 85% of them, two
answers in a hundred misread). A judge with noise gives a share of the answers one of the four numbers of stars by lot. Printed is
the share of runs in which each gate is shut; a random and a constant judge are to be found in 99%, one with 3% noise is to be let pass in 99%.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.settings import Settings
from tasks.judging.controls import CONTROL_SHARES, count_kinds
from tasks.statistics.agreement import REFERENCE, compute_clustered_share, compute_controls

Stars = NDArray[np.int64]
Judge = Callable[[np.random.Generator, Stars], Stars]

# True stars of control answers by kind: a reference that gives no reason has two of three, a wrong option with a good reason one.
_WORTH: Final[Mapping[str, tuple[float, float, float, float]]] = {
    REFERENCE: (0.0, 0.0, 0.3, 0.7),
    "nonsense": (1.0, 0.0, 0.0, 0.0),
    "other": (0.9, 0.1, 0.0, 0.0),
    "echo": (0.95, 0.05, 0.0, 0.0),
    "wrong_option": (0.2, 0.8, 0.0, 0.0),
}
_QUESTIONS: Final = 250
_RIGHT: Final = (0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.85)
_MISREAD: Final = 0.02


def add_noise(share: float) -> Judge:
    """A judge that gives a share of the answers stars by lot."""

    def judge(luck: np.random.Generator, truth: Stars) -> Stars:
        return np.where(luck.random(truth.shape) < share, luck.integers(0, 4, truth.shape), truth)

    return judge


def give(stars: int) -> Judge:
    """A judge that gives every answer the same."""
    return lambda _, truth: np.full_like(truth, stars)


def lean(by: int) -> Judge:
    """A judge that gives every answer so many stars more."""
    return lambda _, truth: np.clip(truth + by, 0, 3)


JUDGES: Final[Mapping[str, Judge]] = {
    "perfect": add_noise(0.0),
    "3% noise": add_noise(0.03),
    "10% noise": add_noise(0.10),
    "20% noise": add_noise(0.20),
    "30% noise": add_noise(0.30),
    "50% noise": add_noise(0.50),
    "a star more": lean(1),
    "a star less": lean(-1),
    "always 3": give(3),
    "always 2": give(2),
    "always 0": give(0),
    "random": add_noise(1.0),
}


def main(arguments: Sequence[str] = ()) -> None:
    """Print a line for each judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    print(f"{'judge':<14}{'60 controls':>14}{'30 controls':>14}{'keys':>10}")
    for name, judge in JUDGES.items():
        luck = np.random.default_rng([asked.seed, *name.encode()])
        found = [measure_controls(judge, luck, size, asked.runs) for size in (60, 30)]
        keys = measure_keys(judge, luck, max(1, asked.runs // 10))
        print(f"{name:<14}{found[0]:>14.2%}{found[1]:>14.2%}{keys:>10.2%}")


def measure_controls(judge: Judge, luck: np.random.Generator, size: int, runs: int) -> float:
    """The share of runs in which the gate of control answers is shut, at so many answers."""
    counts = {kind: count for kind, count in count_kinds(size).items() if kind in _WORTH}
    most_wrong = Settings.model_fields["control_wrong_gate"].default
    shut = 0
    for _ in range(runs):
        stars: dict[str, Sequence[int | None]] = {
            kind: judge(luck, luck.choice(4, size=count, p=_WORTH[kind])).tolist()
            for kind, count in counts.items()
        }
        shut += not compute_controls(stars, most_wrong).is_fit
    return shut / runs


def measure_keys(judge: Judge, luck: np.random.Generator, runs: int) -> float:
    """The share of runs in which the gate of keys is shut."""
    most = Settings.model_fields["key_disagreement_gate"].default
    shut = 0
    for _ in range(runs):
        chance = np.asarray(_RIGHT) + luck.normal(0, 0.15, (_QUESTIONS, 1))
        is_right = luck.random(chance.shape) < chance
        has_reason = luck.random(chance.shape) < 0.7
        stars = judge(luck, np.where(is_right, 2 + has_reason, 0 + has_reason))
        is_read_right = is_right ^ (luck.random(chance.shape) < _MISREAD)
        apart = (stars >= 2) != is_read_right
        share = compute_clustered_share([(int(one.sum()), one.size) for one in apart])
        shut += share is not None and share.low > most
    return shut / runs


if __name__ == "__main__":
    assert set(_WORTH) <= set(CONTROL_SHARES)
    main(sys.argv[1:])
