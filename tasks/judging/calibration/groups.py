"""Where a judge agrees with people and where it does not.

This is shown by discipline, candidate, family, style and length of the response.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import polars as pl

from schemas.tables import get_table
from tasks.judging.calibration.agreement import STARS
from tasks.statistics.agreement import (
    WEIGHTINGS,
    Bounded,
    compute_agreement_difference,
    compute_kappa_interval,
    compute_mean,
    compute_share,
)

ALL_ROUNDS = 0
_SIGNIFICANT = 0.05
_LENGTHS = ("short", "medium", "long")
# Kind of group → column of the pairs.
_KINDS = {
    "all": None,
    "discipline": "discipline",
    "candidate": "model",
    "family": "family",
    "family_of_judge": "relation",
    "prompt_style": "prompt_style",
    "response_length": "length_group",
    "option_place": "option_place",
}


def name_length_groups(samples: pl.DataFrame) -> pl.DataFrame:
    """The samples with `length_group`: thirds of the responses by length.

    Responses of equal length are in one third.
    """
    rank = (pl.col("response_length").rank("average") - 0.5) / pl.len()
    return samples.with_columns(
        length_group=pl.when(rank < 1 / 3)
        .then(pl.lit(_LENGTHS[0]))
        .when(rank < 2 / 3)
        .then(pl.lit(_LENGTHS[1]))
        .otherwise(pl.lit(_LENGTHS[2]))
    )


def compute_groups(pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of `calibration_groups`, for every round and for all of them.

    `pairs` has the columns of `calibration_pairs`.

    A group that is null (a candidate without a family) has no row.
    """
    related = pairs.with_columns(
        relation=pl.when(pl.col("is_own_family"))
        .then(pl.lit("own"))
        .when(~pl.col("is_own_family"))
        .then(pl.lit("other"))
    )
    rows: list[dict[str, object]] = []
    for (judge, wording, occasion), of_judge in related.group_by(
        "judge", "prompt_version", "occasion", maintain_order=True
    ):
        for number in (ALL_ROUNDS, *of_judge["round"].unique().sort()):
            of_round = of_judge if number == ALL_ROUNDS else of_judge.filter(pl.col("round") == number)
            for kind, name, group in _list_groups(of_round):
                rows.append(
                    {
                        "judge": judge,
                        "prompt_version": wording,
                        "occasion": occasion,
                        "round": number,
                        "group_kind": kind,
                        "group_name": name,
                    }
                    | _describe(group)
                )
    return get_table("calibration_groups").frame(rows)


def compute_differences(pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of `judge_differences`: every two judges on the responses that both judged.

    The judge that agrees more comes first.

    One judge with two versions of its prompt is two judges here. Rounds are taken together.
    """
    rows: list[dict[str, object]] = []
    key = ["session_id", "seq", "round"]
    for (occasion,), of_occasion in pairs.group_by("occasion", maintain_order=True):
        judges = of_occasion.select("judge", "prompt_version").unique().sort("judge", "prompt_version").rows()
        agrees = {
            one: of_occasion.filter(
                (pl.col("judge") == one[0]) & (pl.col("prompt_version") == one[1])
            ).select(*key, agrees=pl.col("agreed_stars") == pl.col("judged_stars"))
            for one in judges
        }
        for first, second in combinations(judges, 2):
            both = agrees[first].join(agrees[second], on=key, suffix="_other")
            if both.is_empty():
                continue
            one, other = both["agrees"], both["agrees_other"]
            if other.sum() > one.sum():
                first, second, one, other = second, first, other, one
            found = compute_agreement_difference(
                int((one & ~other).sum()), int((other & ~one).sum()), both.height
            )
            rows.append(
                {
                    "occasion": occasion,
                    "judge_a": first[0],
                    "prompt_version_a": first[1],
                    "judge_b": second[0],
                    "prompt_version_b": second[1],
                    "pair_count": both.height,
                    "agreement_a": one.mean(),
                    "agreement_b": other.mean(),
                    "difference": found.difference.value,
                    "difference_low": found.difference.low,
                    "difference_high": found.difference.high,
                    "p_value": found.p_value,
                    "is_distinguishable": found.p_value <= _SIGNIFICANT,
                }
            )
    return get_table("judge_differences").frame(rows)


def _list_groups(pairs: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    for kind, column in _KINDS.items():
        if column is None:
            yield kind, "all", pairs
            continue
        for name in pairs[column].drop_nulls().unique().sort():
            yield kind, str(name), pairs.filter(pl.col(column) == name)


def _describe(pairs: pl.DataFrame) -> dict[str, object]:
    people, machine = pairs["agreed_stars"].to_list(), pairs["judged_stars"].to_list()
    share = compute_share(sum(a == b for a, b in zip(people, machine, strict=True)), len(people))
    gaps = (pairs["judged_stars"] - pairs["mean_stars"]).to_list()
    bias = compute_mean(gaps)
    described: dict[str, object] = {
        "pair_count": len(people),
        "agreement_rate": share.value,
        "agreement_low": share.low,
        "agreement_high": share.high,
        "bias": sum(gaps) / len(gaps),
        "bias_low": None if bias is None else bias.low,
        "bias_high": None if bias is None else bias.high,
    }
    for weighting in WEIGHTINGS:
        kappa: Bounded | None = compute_kappa_interval(people, machine, len(STARS), weighting)
        described |= {
            f"kappa_{weighting}": None if kappa is None else kappa.value,
            f"kappa_{weighting}_low": None if kappa is None else kappa.low,
            f"kappa_{weighting}_high": None if kappa is None else kappa.high,
        }
    return described
