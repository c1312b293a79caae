"""What a played league shows of what was planted in it."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from deployments.model_server.league import is_memorised
from tasks.statistics import compute_spearman
from tests.tasks.league.world import ABILITIES


def measure_bias(evaluations: pl.DataFrame, families: Mapping[str, str]) -> tuple[float, float]:
    """(difference, Welch's t) of in-family and other cells.

    A cell is the mean of judge x answerer less the answerer's mean and the judge's own mean.

    Candidates differ: a cell is compared with what its judge and its answerer have elsewhere, within one domain and scale.
    """
    from scipy import stats

    cells = evaluations.group_by("judge", "answerer").agg(pl.col("score").mean())
    cells = cells.with_columns(
        rest=pl.col("score")
        - pl.col("score").mean().over("answerer")
        - pl.col("score").mean().over("judge")
        + pl.col("score").mean()
    )
    is_own = [families[judge] == families[other] for judge, other in cells.select("judge", "answerer").rows()]
    own = cells.filter(pl.Series(is_own))["rest"].to_numpy()
    others = cells.filter(~pl.Series(is_own))["rest"].to_numpy()
    test = stats.ttest_ind(own, others, equal_var=False)
    return float(own.mean() - others.mean()), float(test.pvalue)


def compute_found(evaluations: pl.DataFrame) -> dict[str, float]:
    """Spearman of the mean scores with the planted abilities, by domain."""
    found: dict[str, float] = {}
    for (domain,), part in evaluations.group_by("domain", maintain_order=True):
        means = dict(part.group_by("answerer").agg(pl.col("score").mean()).rows())
        names = sorted(means)
        truth = [ABILITIES[name][1] for name in names]
        rho = compute_spearman([means[name] for name in names], truth).rho
        assert rho is not None
        found[str(domain)] = rho
    return found


def compute_flagged(answers: pl.DataFrame, flags: pl.DataFrame) -> tuple[int, int, int, int]:
    """(planted, flagged of them, others, flagged of them)."""
    flagged = set(flags.select("league_question_id", "answerer").unique().rows())
    counts = [0, 0, 0, 0]
    for question, answerer, response in answers.select("league_question_id", "answerer", "response").rows():
        place = 0 if is_memorised(response or "") else 2
        counts[place] += 1
        counts[place + 1] += (question, answerer) in flagged
    return counts[0], counts[1], counts[2], counts[3]
