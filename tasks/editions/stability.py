"""Stability of a published edition: its stars resampled, and ratings as the sample grows.

Nothing of the edition changes. The candidates that sat one set are compared with each other and with the reference, which
sat it, too: on other questions they have nothing in common.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from schemas.errors import GateError, UsageError
from schemas.tables import get_table
from tasks.statistics.ratings import (
    DEFAULT_PLAN,
    CommonStars,
    arrange_stars,
    choose_sizes,
    compute_rating_curves,
    draw_resamples,
)

if TYPE_CHECKING:
    from warehouse.lake import Lake

MOST_QUESTIONS = 100_000
MOST_SAMPLES = 200


@dataclass(frozen=True)
class StabilityRequest:
    """What is drawn.

    Attributes:
        sample_sizes: of the resamples, with replacement; a size named three times is drawn three times.
        curve_sizes: of the samples without replacement; by default 10, 20, 50, … and all questions of the set.
        seed: where the draws start; the same seed gives the same rows.
    """

    prompt_style: str = "zero_shot"
    sample_sizes: Sequence[int] = tuple(size for size, _ in DEFAULT_PLAN)
    curve_sizes: Sequence[int] = ()
    samples: int = 20
    seed: int = 0


@dataclass(frozen=True)
class Stability:
    """What was drawn from one edition under one prompt style.

    Attributes:
        question_counts: set → questions that all its candidates have stars for.
        sets_left_out: sets that lack a discipline of S: there is no S of them to resample.
    """

    edition_id: str
    prompt_style: str
    question_counts: Mapping[str, int]
    sets_left_out: Sequence[str] = ()
    is_new: bool = True
    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict, repr=False)


def write_stability(lake: Lake, run_id: str, request: StabilityRequest) -> Stability:
    """Draw from the last edition of a run and land `bootstrap_scores` and `rating_curves`.

    A later call with another seed or other sizes takes the place of the earlier one. Raises what `compute_stability` does,
    and UsageError for a run that was not published.
    """
    from warehouse.lake import Batch

    found = lake.read("run_revisions", {"run_id": run_id})
    if found.is_empty():
        raise UsageError(
            f"Run {run_id} has no edition: only what is published can be resampled. Run `proctor publish {run_id}` first."
        )
    edition = found.row(-1, named=True)
    stars = lake.read(
        "stars_of_style",
        {
            "edition_id": edition["edition_id"],
            "month": edition["month"],
            "prompt_style": request.prompt_style,
        },
    )
    stability = compute_stability(edition, stars, request)
    unit = f"{stability.edition_id}/{request.prompt_style}"
    landings = lake.land_together(
        [Batch(table, unit, frame) for table, frame in stability.frames.items()], stage="stability"
    )
    is_new = any(not landing.is_unchanged for landing in landings)
    return Stability(
        stability.edition_id,
        stability.prompt_style,
        stability.question_counts,
        stability.sets_left_out,
        is_new,
        stability.frames,
    )


def compute_stability(
    edition: Mapping[str, Any], stars: pl.DataFrame, request: StabilityRequest
) -> Stability:
    """Every row for one row of `editions` and its stars (`stars_of_style`); writes nothing.

    Raises UsageError for a style that nobody sat, or sizes that cannot be drawn, with the numbers; GateError when no set
    holds all disciplines of S.
    """
    _check_request(request)
    if stars.is_empty():
        raise UsageError(
            f"Edition {edition['edition_id']} has no stars under the prompt style {request.prompt_style!r}. "
            "Name another with --style."
        )
    weights = {name: float(weight) for name, weight in json.loads(edition["weights"]).items() if weight > 0}
    reference = str(edition["reference_model"])
    sets = {
        str(set_id): _take_set(stars, str(set_id), reference) for set_id in stars["set_id"].unique().sort()
    }
    left_out = sorted(name for name, found in sets.items() if set(weights) - set(found.disciplines))
    whole = {name: found for name, found in sets.items() if name not in left_out}
    if not whole:
        raise GateError(
            f"Edition {edition['edition_id']}: no set has questions of all {len(weights)} disciplines of S, so there is no S "
            "to resample."
        )
    _check_curve_sizes(request, whole)
    shared = {
        "edition_id": edition["edition_id"],
        "month": edition["month"],
        "prompt_style": request.prompt_style,
        "seed": request.seed,
        "is_simulated": edition["is_simulated"],
    }
    resamples: list[dict[str, object]] = []
    curves: list[dict[str, object]] = []
    for set_id, found in whole.items():
        of_set = shared | {"set_id": set_id, "question_count": len(found.disciplines)}
        resamples += [of_set | row for row in _list_resamples(found, weights, reference, request)]
        curves += [of_set | row for row in _list_curves(found, weights, request)]
    return Stability(
        edition_id=str(edition["edition_id"]),
        prompt_style=request.prompt_style,
        question_counts={set_id: len(found.disciplines) for set_id, found in whole.items()},
        sets_left_out=left_out,
        frames={
            "bootstrap_scores": get_table("bootstrap_scores").frame(resamples),
            "rating_curves": get_table("rating_curves").frame(curves),
        },
    )


def _check_request(request: StabilityRequest) -> None:
    if not request.sample_sizes:
        raise UsageError("No size of a resample is named. Write --sizes 1000,1000,2000, for example.")
    if wrong := [
        size for size in (*request.sample_sizes, *request.curve_sizes) if not 1 <= size <= MOST_QUESTIONS
    ]:
        raise UsageError(f"A sample holds 1 to {MOST_QUESTIONS:,} questions, not {wrong[0]}.")
    if not 1 <= request.samples <= MOST_SAMPLES:
        raise UsageError(f"Draw 1 to {MOST_SAMPLES} samples of each size, not {request.samples}.")
    if request.seed < 0:
        raise UsageError(f"A seed is a number from 0, not {request.seed}.")


def _take_set(stars: pl.DataFrame, set_id: str, reference: str) -> CommonStars:
    """The stars of a set's candidates on those of its questions that have the reference's."""
    own = stars.filter(pl.col("set_id") == set_id)
    unparsed = own.filter((pl.col("model") == reference) & pl.col("is_unparsed"))["question_uuid"].unique()
    questions = own.filter(~pl.col("question_uuid").is_in(unparsed.implode()))["question_uuid"].unique()
    return arrange_stars(
        stars.filter(
            pl.col("model").is_in(own["model"].unique().implode())
            & pl.col("question_uuid").is_in(questions.implode())
        )
    )


def _check_curve_sizes(request: StabilityRequest, sets: Mapping[str, CommonStars]) -> None:
    smallest, fewest = min(
        ((name, len(found.disciplines)) for name, found in sets.items()), key=lambda one: one[1]
    )
    if too_large := [size for size in request.curve_sizes if size > fewest]:
        raise UsageError(
            f"Samples of {too_large[0]} questions cannot be drawn without replacement from the {fewest} of {smallest}. "
            f"Choose --curve-sizes up to {fewest}."
        )


def _list_resamples(
    stars: CommonStars, weights: Mapping[str, float], reference: str, request: StabilityRequest
) -> list[dict[str, object]]:
    drawn: dict[int, int] = {}
    plan = []
    for size in request.sample_sizes:
        drawn[size] = drawn.get(size, 0) + 1
        plan.append((size, drawn[size]))
    return [
        row
        | {
            "is_larger_than_set": row["sample_size"] > len(stars.disciplines),
            "is_reference": row["model"] == reference,
        }
        for row in draw_resamples(stars, weights, request.seed, plan=plan).iter_rows(named=True)
    ]


def _list_curves(
    stars: CommonStars, weights: Mapping[str, float], request: StabilityRequest
) -> list[dict[str, object]]:
    """None for a set that one candidate sat alone: there is nobody to compare it with."""
    question_count = len(stars.disciplines)
    if len(stars.models) < 2:
        return []
    # Each discipline has its fixed weight, shared by its questions; a question of none has no part in S.
    names, counts = np.unique(stars.disciplines, return_counts=True)
    sizes = dict(zip(names.tolist(), counts.tolist(), strict=True))
    of_question = np.array([weights.get(name, 0.0) / sizes[name] for name in stars.disciplines.tolist()])
    points = compute_rating_curves(
        stars.matrix,
        of_question,
        request.curve_sizes or choose_sizes(question_count),
        samples=request.samples,
        seed=request.seed,
    )
    return [
        {
            "method": point.method,
            "sample_size": point.sample_size,
            "sample_count": request.samples,
            "model": model,
            "rating": float(point.rating[code]),
            "rating_sd": float(point.rating_sd[code]),
            "rank": int(point.rank[code]),
            "full_rank": int(point.full_rank[code]),
            "spearman": point.rho,
            "spearman_sd": point.rho_sd,
        }
        for point in points
        for code, model in enumerate(stars.models)
    ]
