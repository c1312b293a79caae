"""From landed ratings to landed agreement.

The result is the pairs, kappas, groups and differences of an occasion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.judging.calibration.agreement import compute_calibration, compute_consensuses, pair_ratings
from tasks.judging.calibration.groups import compute_differences, compute_groups, name_length_groups
from tasks.judging.calibration.ratings import name_round
from tasks.judging.calibration.style import compute_judge_style, read_styles
from tasks.models.registry import RegisteredModel, Registry
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


@dataclass(frozen=True)
class CalibrationSummary:
    """What an occasion came to.

    Attributes:
        occasion: `first`, or a month.
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


def calibrate_judges(lake: Lake, registry: Registry, occasion: str | None = None) -> CalibrationSummary:
    """Compare every judge with the people of an occasion, and land what comes of it.

    By default it is the occasion drawn last.

    A response counts as soon as its consensus is settled; further ratings replace the rows. Raises UsageError where nothing was
    drawn.
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
    calibration = compute_calibration(pairs, occasion=name)
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
        Batch("judge_style_effects", name, compute_judge_style(pairs, styles)),
    ]
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
    """The runs from which an occasion drew responses; none where nothing was drawn.

    By default it is the occasion drawn last.
    """
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
    """Rows of `calibration_pairs` of one occasion.

    `models` say which family and organisation a judge belongs to.
    """
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
