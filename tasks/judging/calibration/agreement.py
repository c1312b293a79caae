"""How far each judge agrees with the raters' consensus, and which judge is the primary one.

LLMEval-Fair (section 3.4, appendix F.2): sampled responses are rated in two rounds by people who do not see the judges'
stars; Cohen's kappa is computed for each judge, candidate and round; the judge with the highest agreement is used.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

import polars as pl

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.statistics.agreement import (
    WEIGHTINGS,
    compute_alpha,
    compute_kappa_interval,
    compute_percent_agreement,
    name_bounds,
)

STARS = (0, 1, 2, 3)
SCALE = "stars_0_3"
LEAST_RATERS = 2
FAR_APART = 2
FIRST_OCCASION = "first"

_CONSENSUS_SCHEMA = {
    "session_id": pl.String(),
    "seq": pl.Int64(),
    "round": pl.Int64(),
    "agreed_stars": pl.Int64(),
    "mean_stars": pl.Float64(),
    "rater_count": pl.Int64(),
    "rule": pl.String(),
}


class RatedAnswer(NamedTuple):
    """A response in a round of ratings."""

    session_id: str
    seq: int
    round: int


@dataclass(frozen=True)
class Ratings:
    """The raters' stars for a response in the order of their names, and the adjudicator's."""

    stars: tuple[int, ...]
    settled_stars: int | None = None

    @property
    def is_disputed(self) -> bool:
        """Two raters who differ by two stars or more, and nobody who has settled it."""
        return (
            self.settled_stars is None
            and len(self.stars) == LEAST_RATERS
            and max(self.stars) - min(self.stars) >= FAR_APART
        )


def compute_consensus(values: Sequence[int]) -> tuple[int, str]:
    """The consensus on a response: the majority's stars, else the median rounded down."""
    stars, number = Counter(values).most_common(1)[0]
    if 2 * number > len(values):
        return stars, "majority"
    return math.floor(median(values)), "median"


def compute_consensuses(ratings: pl.DataFrame) -> pl.DataFrame:
    """One row per response and round that is settled.

    Columns: session_id, seq, round, agreed_stars, mean_stars, rater_count, rule. Settled is what at least two
    people rated; two who differ by two stars or more wait for an adjudicator, whose stars are then the
    consensus. `mean_stars` is the mean of all of them. `ratings` has the columns of `human_ratings`; other
    scales than stars are left out. Raises UsageError for a rating that is no whole star.
    """
    rows: list[dict[str, object]] = []
    for key, found in group_ratings(ratings).items():
        if len(found.stars) < LEAST_RATERS or found.is_disputed:
            continue
        stars, rule = compute_consensus(found.stars)
        values = list(found.stars)
        if found.settled_stars is not None:
            stars, rule = found.settled_stars, "adjudicated"
            values.append(stars)
        rows.append(
            dict(
                zip(
                    _CONSENSUS_SCHEMA,
                    (*key, stars, sum(values) / len(values), len(values), rule),
                    strict=True,
                )
            )
        )
    return pl.DataFrame(rows, schema=_CONSENSUS_SCHEMA)


def pair_ratings(consensuses: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """People's consensus beside each judge's stars, by response, round, judge and prompt."""
    return consensuses.join(judgements, on=["session_id", "seq"], how="inner").sort(
        "judge", "prompt_version", "round", "session_id", "seq"
    )


def compute_calibration(
    pairs: pl.DataFrame, *, occasion: str = FIRST_OCCASION, least_ratings: int | None = None
) -> pl.DataFrame:
    """Rows of `calibration`: kappa by judge, prompt, candidate, round and weighting, of `pairs`."""
    rows: list[dict[str, object]] = []
    groups = pairs.sort("judge", "prompt_version", "model", "round", "session_id", "seq").group_by(
        "judge", "prompt_version", "model", "round", maintain_order=True
    )
    for (judge, prompt_version, model, number), group in groups:
        people, machine = group["agreed_stars"].to_list(), group["judged_stars"].to_list()
        for weighting in WEIGHTINGS:
            kappa = compute_kappa_interval(people, machine, len(STARS), weighting)
            rows.append(
                {
                    "judge": judge,
                    "prompt_version": prompt_version,
                    "model": model,
                    "occasion": occasion,
                    "round": number,
                    "weighting": weighting,
                    **name_bounds("kappa", kappa),
                    "pair_count": len(people),
                    "least_ratings": least_ratings,
                }
            )
    return get_table("calibration").frame(rows)


def compute_judge_means(calibration: pl.DataFrame) -> pl.DataFrame:
    """Mean kappa per judge, prompt version and weighting, best first; undefined ones left out."""
    return (
        calibration.group_by("judge", "prompt_version", "weighting")
        .agg(
            pl.col("kappa").mean().alias("mean_kappa"),
            pl.col("kappa").count().alias("kappa_count"),
            pl.col("pair_count").filter(pl.col("kappa").is_not_null()).sum(),
        )
        .sort(
            ["weighting", "mean_kappa", "judge", "prompt_version"],
            descending=[False, True, False, False],
            nulls_last=True,
        )
    )


def choose_primary_judge(calibration: pl.DataFrame, least_ratings: int = 0) -> str | None:
    """The judge with the highest mean kappa on at least `least_ratings` responses, else null."""
    means = compute_judge_means(calibration).filter(
        (pl.col("weighting") == "none")
        & pl.col("mean_kappa").is_not_null()
        & (pl.col("pair_count") >= least_ratings)
    )
    return None if means.is_empty() else str(means["judge"][0])


def compute_rater_agreement(ratings: pl.DataFrame) -> pl.DataFrame:
    """How far raters agree, by round: pairs' `agreement_rate` and Krippendorff's two alphas."""
    by_round: dict[int, list[tuple[int, ...]]] = {}
    for answer, found in group_ratings(ratings).items():
        if len(found.stars) >= LEAST_RATERS:
            by_round.setdefault(answer.round, []).append(found.stars)
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


def group_ratings(ratings: pl.DataFrame) -> dict[RatedAnswer, Ratings]:
    """Star ratings by response and round, in the order of the raters' names."""
    groups: dict[RatedAnswer, list[int]] = {}
    settled: dict[RatedAnswer, int] = {}
    stars = ratings.filter(pl.col("scale") == SCALE).sort("round", "session_id", "seq", "rater")
    columns = ("session_id", "seq", "round", "value", "is_adjudication")
    for session_id, seq, number, value, is_adjudication in stars.select(columns).iter_rows():
        if value not in STARS:
            raise UsageError(
                f"Round {number}, session {session_id}, position {seq}: a rating of {value:g} is not 0, 1, 2 or 3 stars. "
                "Correct the rating and import it again."
            )
        answer = RatedAnswer(session_id, seq, number)
        if is_adjudication:
            settled[answer] = int(value)
        else:
            groups.setdefault(answer, []).append(int(value))
    return {answer: Ratings(tuple(values), settled.get(answer)) for answer, values in groups.items()}
