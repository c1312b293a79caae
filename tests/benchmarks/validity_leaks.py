"""How often the leak watch finds what was planted, and accuses where nothing was.

    python -m tests.benchmarks.validity_leaks [--exams 400]

One candidate on 1,000 questions, 30% of them met before; of those a share is memorised and answered with all stars.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from tasks.statistics.leaks import expect_stars, find_leak
from tests.tasks.statistics.simulated import THRESHOLDS, draw_bank, draw_chances, draw_stars

MEMORISED = (0.0, 0.1, 0.2, 0.4)


def measure_leaks(
    exams: int, memorised: float, *, questions: int = 1_000, met: float = 0.3, seed: int = 0
) -> float:
    """Share of simulated exams in which a leak is found.

    Difficulties are known with an error, as a fit knows them.
    """
    generator = np.random.default_rng(seed)
    found = 0
    for _ in range(exams):
        a, b = draw_bank(generator, questions, 0.0, 1.8)
        stars = draw_stars(generator, draw_chances(np.array([generator.normal(1.4, 0.6)]), a, b)[0]).astype(
            float
        )
        is_met = generator.random(questions) < met
        stars[is_met & (generator.random(questions) < memorised)] = 3.0
        fitted = b + generator.normal(0, 0.25, questions)
        expected = expect_stars(stars, a, fitted, np.tile(THRESHOLDS, (questions, 1)))
        leak = find_leak(stars, expected, is_met, np.zeros(questions, dtype=np.int64), np.arange(questions))
        found += leak is not None and leak.is_found
    return found / exams


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exams", type=int, default=400)
    chosen = parser.parse_args(arguments)
    for memorised in MEMORISED:
        print(
            f"{memorised:>4.0%} of the questions met before memorised: found in {measure_leaks(chosen.exams, memorised):.3f}"
        )


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
