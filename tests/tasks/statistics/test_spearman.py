from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.statistics.spearman import (
    Spearman,
    compute_external_correlations,
    compute_pearson,
    compute_spearman,
    compute_spearman_interval,
)


@pytest.mark.parametrize(
    ("theirs", "squared_differences", "rho", "p_value"),
    [([2, 1, 5, 4, 3, 6], 10, 0.714, 0.111), ([2, 1, 4, 6, 3, 5], 12, 0.657, 0.156)],
)
def test_six_candidates_give_the_published_rho_and_p(
    theirs: list[float], squared_differences: int, rho: float, p_value: float
) -> None:
    # LLMEval-3, table 3: AGIEval (EN) .714 with p .111; AGIEval (ZH) and C-Eval .657 with p .156; n = 6.
    ours = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert sum((a - b) ** 2 for a, b in zip(ours, theirs, strict=True)) == squared_differences

    found = compute_spearman(ours, theirs)

    assert (round(found.rho or 0, 3), round(found.p_value or 0, 3), found.pair_count) == (rho, p_value, 6)


def test_too_few_pairs_or_a_constant_list_have_no_rho() -> None:
    assert compute_spearman([1, 2], [2, 1]) == Spearman(None, None, 2)
    assert compute_spearman([1, 1, 1], [1, 2, 3]) == Spearman(None, None, 3)


def test_three_candidates_in_one_order_are_no_certainty() -> None:
    # Of the six orders of three one agrees fully, and one disagrees fully.
    for theirs in ([4, 5, 6], [6, 5, 4]):
        assert compute_spearman([1, 2, 3], theirs).p_value == pytest.approx(1 / 3)
    assert compute_spearman(range(200), range(200)).p_value == pytest.approx(0)


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(UsageError, match="one length"):
        compute_spearman([1, 2, 3], [1, 2])


def test_every_benchmark_has_its_own_correlation() -> None:
    pairs = pl.DataFrame(
        {
            "benchmark": ["B", "A", "A", "A", "B"],
            "score": [1.0, 1.0, 2.0, 3.0, 2.0],
            "external_score": [9.0, 10.0, 20.0, 30.0, 1.0],
        }
    )

    found = compute_external_correlations(pairs)

    assert found.select("benchmark", "spearman_rho", "candidate_count").rows() == [
        ("A", pytest.approx(1.0), 3),
        ("B", None, 2),
    ]
    assert compute_external_correlations(pairs.clear()).is_empty()


def test_the_interval_of_rho_is_fisher_s_with_the_variance_for_ranks() -> None:
    # rho .714 of 8: z = .8954, se = sqrt((1 + .714²/2) / 5) = .5010.
    found = compute_spearman_interval(Spearman(0.714, 0.047, 8))

    assert found.low == pytest.approx(np.tanh(0.89543 - 1.959964 * 0.50104), abs=1e-4)
    assert found.high == pytest.approx(np.tanh(0.89543 + 1.959964 * 0.50104), abs=1e-4)


def test_a_perfect_rho_ends_at_one_and_too_few_pairs_have_no_interval() -> None:
    perfect = compute_spearman_interval(Spearman(1.0, 0.0, 8))
    opposite = compute_spearman_interval(Spearman(-1.0, 0.0, 8))
    assert perfect.high == 1.0 and perfect.low is not None and 0.7 < perfect.low < 1
    assert opposite.low == -1.0
    assert opposite.high == pytest.approx(-perfect.low)
    assert compute_spearman_interval(Spearman(0.5, 0.6, 3)).low is None
    assert compute_spearman_interval(Spearman(None, None, 9)).low is None


def test_the_interval_holds_the_true_rho_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    truth = 6 / np.pi * np.arcsin(0.7 / 2)  # Spearman's rho of a normal pair with correlation .7
    held = 0
    for _ in range(400):
        first = generator.normal(size=20)
        second = 0.7 * first + np.sqrt(1 - 0.49) * generator.normal(size=20)
        found = compute_spearman_interval(compute_spearman(first, second))
        held += int(found.low is not None and found.high is not None and found.low <= truth <= found.high)
    assert 0.92 < held / 400 < 0.98


def test_pearson_has_its_p_and_its_interval() -> None:
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 1.0, 4.0, 3.0, 5.0]
    found = compute_pearson(first, second)
    assert found.r == pytest.approx(0.8)
    assert found.p_value == pytest.approx(0.1041, abs=1e-4)
    assert found.low is not None and found.low == pytest.approx(
        np.tanh(np.arctanh(0.8) - 1.959964 / np.sqrt(2))
    )
    assert compute_pearson([1, 2, 3], [3, 1, 2]).low is None
    assert compute_pearson([1, 2], [2, 1]).r is None
    with pytest.raises(UsageError, match="one length"):
        compute_pearson([1, 2, 3], [1, 2])


def test_what_differs_in_the_last_bits_only_is_tied() -> None:
    scores, external = [46.5, float(np.nextafter(46.5, 47.0)), 50.0, 60.0], [10.0, 10.0, 20.0, 30.0]
    assert compute_spearman(scores, external).rho == pytest.approx(1.0)
    assert compute_spearman(scores[:2] * 2, external).rho is None
    assert compute_pearson(scores[:2] * 2, external).r is None
