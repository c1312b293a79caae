"""Small simulated exams through the estimators, of full size in `validity_*.py`."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.validity_edges import CASES
from tests.benchmarks.validity_edges import measure_coverage as measure_hard_coverage
from tests.benchmarks.validity_edges import measure_family_error as measure_hard_family_error
from tests.benchmarks.validity_intervals import measure_coverage, measure_family_error


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    tally = measure_coverage(12, candidates=4, questions=200, repeats=1)

    for name in (
        "S",
        "R, on common questions",
        "difference of two candidates, common questions",
        "difference of two candidates, different sets",
        "change from month to month",
        "S, three variants of a lineage, by lineage",
    ):
        assert tally.get_coverage(name) >= 0.8, name
    by_lineage = tally.get_coverage("S, three variants of a lineage, by lineage")
    assert tally.get_coverage("  the same by question (not what we publish)") < by_lineage


def test_equal_candidates_are_seldom_parted() -> None:
    shares = measure_family_error(20, np.full(6, 1.5), questions=200)

    # At most 5% in the long run; more than 3 of 20 would come by chance once in sixty.
    assert max(shares.values()) <= 0.15


def test_candidates_that_differ_are_told_apart() -> None:
    shares = measure_family_error(10, np.array([0.0, 0.0, 3.0, 3.0]), questions=200)

    assert shares["group"] <= 0.1
    assert shares["rank range"] <= 0.1


def test_intervals_hold_the_truth_at_the_ends_of_the_scale() -> None:
    # With t intervals R held it in .73 of cases above, and S in .91 with 200 questions.
    for case, questions in (("theta +4.5", 90), ("theta -4.5, 0 or 3", 200)):
        found = measure_hard_coverage(CASES[case], questions, exams=16, seed=3)
        for kind in ("S", "R", "discipline", "difference"):
            assert found[kind][:, 0].mean() >= 0.88, (case, kind)


def test_passages_that_come_whole_are_one_in_every_error() -> None:
    # By question S held it in .87 of cases, and equals were told apart in .19 of exams.
    case = CASES["passages of 5"]

    found = measure_hard_coverage(case, 90, exams=16, seed=3)
    wrong = measure_hard_family_error(case, [0.0], 90, exams=20, seed=3)

    for kind in ("S", "R", "discipline", "difference"):
        assert found[kind][:, 0].mean() >= 0.88, kind
        assert found[f"{kind} missing"][:, 0].max() == 0
    assert max(wrong.values()) <= 0.15
