"""From landed ratings to an occasion's landed agreement: pairs, kappas, groups, differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from schemas.errors import UsageError
from schemas.organisations import name_families
from schemas.tables import get_table
from tasks.judging.calibration.agreement import STARS, compute_calibration, compute_consensuses, pair_ratings
from tasks.judging.calibration.ratings import name_round
from tasks.judging.calibration.style import compute_judge_style, read_styles
from tasks.models.registry import RegisteredModel, Registry
from tasks.statistics.agreement import (
    WEIGHTINGS,
    compute_agreement_difference,
    compute_kappa_interval,
    compute_mean,
    compute_share,
    name_bounds,
)
from warehouse.lake import Batch, Lake

_SAMPLE_COLUMNS = (
    "round",
    "run_id",
    "month",
    "session_id",
    "seq",
    "model",
    "organisation",
    "family",
    "discipline",
    "prompt_style",
    "response_length",
    "length_group",
    "option_place",
    "is_simulated",
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


@dataclass(frozen=True)
class CalibrationSummary:
    """What an occasion came to.

    Attributes:
        drawn, settled, paired: responses drawn; with a settled consensus; of these judged by some judge.
        judges: judges compared, each as `judge/version of its prompt`.
        run_ids: runs that the responses are of.
        is_new: whether any row differs from what the lake held.
    """

    occasion: str
    drawn: int
    settled: int
    paired: int
    judges: tuple[str, ...]
    run_ids: tuple[str, ...]
    is_new: bool


def calibrate_judges(
    lake: Lake, registry: Registry, occasion: str | None = None, *, least_ratings: int | None = None
) -> CalibrationSummary:
    """Compare every judge with the people of an occasion, and land what comes of it.

    By default it is the occasion drawn last. A response counts as soon as its consensus is settled; further
    ratings replace the rows. `least_ratings` is kept with them: views read no settings. Raises UsageError where nothing was drawn.
    """
    drawn = lake.read("calibration_drawn", {"occasion": occasion})
    if drawn.is_empty():
        raise UsageError(
            "Nothing was drawn for people to rate. `proctor calibrate draw RUN --raters …` draws a round."
        )
    name = str(drawn["occasion"][-1])
    samples = drawn.filter(pl.col("occasion") == name)
    months = samples["month"].unique().sort().to_list()
    consensuses = compute_consensuses(lake.read("calibration_ratings", {"occasion": name}))
    judgements = lake.read("calibration_judgements", {"occasion": name, "months": months})
    pairs = make_pairs(samples, consensuses, judgements, registry.models)
    calibration = compute_calibration(pairs, occasion=name, least_ratings=least_ratings)
    styles = read_styles(lake, name, months)
    batches = []
    for number in samples["round"].unique().sort():
        unit = name_round(name, int(number))
        batches += [
            Batch("calibration_pairs", unit, pairs.filter(pl.col("round") == number)),
            Batch("calibration", unit, calibration.filter(pl.col("round") == number)),
        ]
    batches += [
        Batch("calibration_groups", name, compute_groups(pairs)),
        Batch("judge_differences", name, compute_differences(pairs)),
    ]
    is_readable = pairs.join(styles, on=["session_id", "seq"], how="anti").is_empty()
    # What was found by texts that were erased since stays: of those that are left something else would come.
    if is_readable or not lake.landed("judge_style_effects", [name]):
        batches.append(Batch("judge_style_effects", name, compute_judge_style(pairs, styles)))
    landings = lake.land_together(batches, stage="calibrate")
    judges = pairs.select("judge", "prompt_version").unique().sort("judge", "prompt_version").rows()
    return CalibrationSummary(
        occasion=name,
        drawn=samples.height,
        settled=consensuses.height,
        paired=pairs.select("round", "session_id", "seq").n_unique(),
        judges=tuple(f"{judge}/{wording}" for judge, wording in judges),
        run_ids=tuple(samples["run_id"].unique().sort()),
        is_new=any(not landing.is_unchanged for landing in landings),
    )


def list_runs(lake: Lake, occasion: str | None = None) -> list[str]:
    """The runs from which an occasion, by default the last, drew responses; none for nothing."""
    drawn = lake.read("calibration_drawn", {"occasion": occasion})
    if drawn.is_empty():
        return []
    of_last = drawn.filter(drawn["occasion"] == drawn["occasion"][-1])
    return [str(run_id) for run_id in of_last["run_id"].unique().sort()]


def make_pairs(
    samples: pl.DataFrame,
    consensuses: pl.DataFrame,
    judgements: pl.DataFrame,
    models: Mapping[str, RegisteredModel],
) -> pl.DataFrame:
    """Rows of `calibration_pairs` of one occasion; `models` say a judge's family and owner."""
    described = name_length_groups(samples).select("occasion", *_SAMPLE_COLUMNS)
    found = pair_ratings(consensuses, judgements).join(
        described, on=["round", "session_id", "seq"], how="inner"
    )
    registered = pl.DataFrame(
        [(name, model.family, model.organisation) for name, model in models.items()],
        schema={"judge": pl.String, "judge_family": pl.String, "judge_organisation": pl.String},
        orient="row",
    )
    related = found.join(registered, on="judge", how="left").with_columns(
        is_own_family=pl.when(pl.col("judge_organisation").is_not_null()).then(
            (pl.col("judge_family") == pl.col("family")).fill_null(value=False)
            | (pl.col("judge_organisation") == pl.col("organisation"))
        )
    )
    table = get_table("calibration_pairs")
    return related.select(
        pl.col(column.name).cast(table.polars_schema[column.name]) for column in table.own_columns
    ).sort(table.key)


def name_length_groups(samples: pl.DataFrame) -> pl.DataFrame:
    """The samples with `length_group`: thirds of the responses, equal lengths in one third."""
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
    described = pairs.select("organisation", "family").rows()
    called = name_families(described)
    related = pairs.with_columns(
        pl.Series("family", [called[one] for one in described], pl.String),
        relation=pl.when(pl.col("is_own_family"))
        .then(pl.lit("own"))
        .when(~pl.col("is_own_family"))
        .then(pl.lit("other")),
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
    """Rows of `judge_differences`: every two judges on what both judged, the better one first."""
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
    bias = compute_mean(gaps, STARS[-1])
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
        kappa = compute_kappa_interval(people, machine, len(STARS), weighting)
        described |= name_bounds(f"kappa_{weighting}", kappa)
    return described
