from __future__ import annotations

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.statistics.spearman import Spearman, compute_external_correlations, compute_spearman


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
