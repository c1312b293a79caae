"""Calibration: how far each judge agrees with people, and which judge is therefore the primary one.

LLMEval-Fair (section 3.4, appendix F.2): sampled responses are rated in two rounds by people who do not see the judges'
stars; Cohen's kappa is computed for each judge, candidate and round; the judge with the highest agreement is used.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import polars as pl

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.questions.draws import compute_rank
from tasks.statistics.alpha import compute_alpha
from tasks.statistics.kappa import WEIGHTINGS, compute_kappa, compute_percent_agreement

STARS = (0, 1, 2, 3)
SCALE = "stars_0_3"
LEAST_RATERS = 2
FIRST_OCCASION = "first"

_CONSENSUS_SCHEMA = {
    "session_id": pl.String(),
    "seq": pl.Int64(),
    "round": pl.Int64(),
    "stars": pl.Int64(),
    "rater_count": pl.Int64(),
    "rule": pl.String(),
}


def compute_consensus(values: Sequence[int]) -> tuple[int, str]:
    """The raters' consensus on one response, and the rule that gave it.

    `majority`: the stars that more than half of the raters gave; else `median`, rounded down. Two raters who differ
    by a star therefore settle on the lower one.
    """
    stars, number = Counter(values).most_common(1)[0]
    if 2 * number > len(values):
        return stars, "majority"
    return math.floor(median(values)), "median"


def compute_consensuses(ratings: pl.DataFrame, *, least_raters: int = LEAST_RATERS) -> pl.DataFrame:
    """One row per response and round that at least `least_raters` people rated: session_id, seq, round, stars,
    rater_count, rule. `ratings` has the columns of `human_ratings`; other scales than stars are left out.
    """
    rows: list[dict[str, object]] = []
    for key, values in _group_ratings(ratings).items():
        if len(values) >= least_raters:
            stars, rule = compute_consensus(values)
            rows.append(dict(zip(_CONSENSUS_SCHEMA, (*key, stars, len(values), rule), strict=True)))
    return pl.DataFrame(rows, schema=_CONSENSUS_SCHEMA)


def compute_calibration(
    ratings: pl.DataFrame,
    judgements: pl.DataFrame,
    *,
    occasion: str = FIRST_OCCASION,
    least_raters: int = LEAST_RATERS,
) -> pl.DataFrame:
    """Rows of `calibration`: kappa per judge, version of its prompt, candidate, round and weighting, with its pairs' number.

    `occasion` is `first`, or the month of a later one. `prompt_version` is that of the wording, without the language.
    Unparsed judgements and stars given by rule (`attempt` 0) are left out: nobody judged there.
    """
    consensus = compute_consensuses(ratings, least_raters=least_raters)
    judged = judgements.filter(pl.col("stars").is_not_null() & (pl.col("attempt") > 0)).select(
        "session_id",
        "seq",
        "model",
        "judge",
        pl.col("prompt_version").str.split("/").list.first(),
        pl.col("stars").alias("judged_stars"),
    )
    pairs = consensus.join(judged, on=["session_id", "seq"], how="inner").sort(
        "judge", "prompt_version", "model", "round", "session_id", "seq"
    )
    rows: list[dict[str, object]] = []
    groups = pairs.group_by("judge", "prompt_version", "model", "round", maintain_order=True)
    for (judge, prompt_version, model, number), group in groups:
        people, machine = group["stars"].to_list(), group["judged_stars"].to_list()
        for weighting in WEIGHTINGS:
            rows.append(
                {
                    "judge": judge,
                    "prompt_version": prompt_version,
                    "model": model,
                    "occasion": occasion,
                    "round": number,
                    "weighting": weighting,
                    "kappa": compute_kappa(people, machine, STARS, weighting),
                    "pair_count": len(people),
                }
            )
    return get_table("calibration").frame(rows)


def compute_judge_means(calibration: pl.DataFrame) -> pl.DataFrame:
    """Mean kappa per judge, version of its prompt and weighting over candidates, occasions and rounds, best judge first.

    Undefined kappas are left out.
    """
    return (
        calibration.group_by("judge", "prompt_version", "weighting")
        .agg(
            pl.col("kappa").mean().alias("mean_kappa"),
            pl.col("kappa").count().alias("kappa_count"),
            pl.col("pair_count").sum(),
        )
        .sort(
            ["weighting", "mean_kappa", "judge", "prompt_version"],
            descending=[False, True, False, False],
            nulls_last=True,
        )
    )


def choose_primary_judge(calibration: pl.DataFrame) -> str | None:
    """The judge with the highest mean unweighted kappa, then the first by name; null before any calibration."""
    means = compute_judge_means(calibration).filter(
        (pl.col("weighting") == "none") & pl.col("mean_kappa").is_not_null()
    )
    return None if means.is_empty() else str(means["judge"][0])


def compute_rater_agreement(ratings: pl.DataFrame) -> pl.DataFrame:
    """How far the raters agree with each other: one row per round with `response_count` (rated by two or more),
    `agreement_rate` (mean over pairs of raters) and Krippendorff's alpha, nominal and ordinal.
    """
    by_round: dict[int, list[list[int]]] = {}
    for answer, values in _group_ratings(ratings).items():
        if len(values) >= 2:
            by_round.setdefault(answer.round, []).append(values)
    rows = []
    for number, units in sorted(by_round.items()):
        first = [a for values in units for i, a in enumerate(values) for _ in values[i + 1 :]]
        second = [b for values in units for i in range(len(values)) for b in values[i + 1 :]]
        rows.append(
            {
                "round": number,
                "response_count": len(units),
                "agreement_rate": compute_percent_agreement(first, second),
                "alpha_nominal": compute_alpha(units, "nominal"),
                "alpha_ordinal": compute_alpha(units, "ordinal", STARS),
            }
        )
    schema = {
        "round": pl.Int64(),
        "response_count": pl.Int64(),
        "agreement_rate": pl.Float64(),
        "alpha_nominal": pl.Float64(),
        "alpha_ordinal": pl.Float64(),
    }
    return pl.DataFrame(rows, schema=schema)


def draw_rating_sample(
    responses: pl.DataFrame, *, per_model: int, round_number: int, seed: str
) -> pl.DataFrame:
    """Responses for people to rate: `per_model` of each candidate, the same for the same seed and round.

    Only answered and truncated ones: an empty or refused answer has its stars by rule. The order is the draw's, so that
    a rater cannot tell candidates apart by place.
    """
    if per_model < 1:
        raise UsageError("A rating sample needs at least one response per candidate.")
    rateable = responses.filter(pl.col("answer_status").is_in(["answered", "truncated"]))
    luck = [
        compute_rank(f"{seed}/{round_number}/{session_id}/{seq}").hex()
        for session_id, seq in rateable.select("session_id", "seq").iter_rows()
    ]
    return (
        rateable.with_columns(pl.Series("luck", luck, dtype=pl.String()))
        .sort("luck")
        .group_by("model", maintain_order=True)
        .head(per_model)
        .sort("luck")
        .select(responses.columns)
    )


class _RatedAnswer(NamedTuple):
    """A response in a round of ratings."""

    session_id: str
    seq: int
    round: int


def _group_ratings(ratings: pl.DataFrame) -> dict[_RatedAnswer, list[int]]:
    """Star ratings by response and round, in the order of the raters' names."""
    groups: dict[_RatedAnswer, list[int]] = {}
    stars = ratings.filter(pl.col("scale") == SCALE).sort("round", "session_id", "seq", "rater")
    for session_id, seq, number, value in stars.select("session_id", "seq", "round", "value").iter_rows():
        if value not in STARS:
            raise UsageError(
                f"Round {number}, session {session_id}, position {seq}: a rating of {value:g} is not 0, 1, 2 or 3 stars. "
                "Correct the rating and import it again."
            )
        groups.setdefault(_RatedAnswer(session_id, seq, number), []).append(int(value))
    return groups
