"""S, corrected for how far people's stars for a sample show that a judge leads astray."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl

from schemas.tables import get_table
from tasks.judging.calibration.judged_edition import JudgedEdition, scale_stars
from tasks.judging.calibration.jury import land_jury
from tasks.judging.calibration.style import control_styles
from tasks.statistics.judges import compute_judge_weight, correct_by_families, correct_by_ratings
from warehouse.lake import Lake

LEAST_RATED = 20


def correct_edition(lake: Lake, run_id: str, *, now: datetime | None = None) -> int:
    """Correct the last edition of a run by the existing ratings and by all of its judges.

    Lands `corrected_scores` and returns the number of its rows; beside them scores controlled for style, and what the judges say as a jury.
    Nothing (0) for a run without an edition, or where fewer than 20 responses of a style were rated. The same ratings again change nothing;
    further ones make rows of their own beside the old, and where ratings are again what they were, those rows are the last ones again. S as it was published is never touched.
    """
    found = lake.read("run_revisions", {"run_id": run_id})
    if found.is_empty():
        return 0
    edition = found.row(-1, named=True)
    edition_id = str(edition["edition_id"])
    at = now or datetime.now(UTC)
    rated = lake.read("edition_rated", {"edition_id": edition_id})
    months = lake.read("edition_sat_months", {"edition_id": edition_id})["month"].to_list()
    judged = JudgedEdition(
        edition,
        lake.read("edition_style_scores", {"edition_id": edition_id, "month": edition["month"]}),
        lake.read("edition_rateable", {"edition_id": edition_id, "months": months}),
        rated,
        months,
    )
    last = dict(lake.read("last_states", {"edition_id": edition_id}).iter_rows())
    land_jury(lake, judged, last.get("jury_scores"), now=at)
    if rated.is_empty():
        return 0
    unit = f"{edition_id}/{judged.ratings_hash}"
    # What these ratings came to stays, by whatever version of this code, and whatever was erased since.
    controlled = lake.read("style_controlled_rows", {"unit": unit})
    if controlled.is_empty():
        lake.land("style_controlled_scores", unit, control_styles(lake, judged, now=at))
    elif last["style_controlled_scores"] != unit:
        lake.land("style_controlled_scores", unit, controlled.with_columns(computed_at=pl.lit(at)))
    corrected = lake.read("corrected_rows", {"unit": unit})
    if corrected.is_empty():
        corrected = correct_styles(judged, now=at)
    elif last["corrected_scores"] != unit:
        corrected = corrected.with_columns(corrected_at=pl.lit(at))
    if not corrected.is_empty():
        lake.land("corrected_scores", unit, corrected)
    return corrected.height


def correct_styles(judged: JudgedEdition, *, now: datetime) -> pl.DataFrame:
    """Rows of `corrected_scores`, of a style by ratings of its own responses; writes nothing."""
    shared = {**judged.describe(), "ratings_hash": judged.ratings_hash, "corrected_at": now}
    rows: list[dict[str, object]] = []
    for style in judged.styles:
        own = judged.rated_of(style)
        if own.height < LEAST_RATED:
            continue
        of_style = judged.scores_of(style)
        scores = judged.arrange_scores(style)
        responses = judged.arrange_ratings(style)
        judge_weight = compute_judge_weight(responses)
        of_model = dict(own.group_by("model").len().iter_rows())
        for estimator, corrected in (
            ("prediction_powered", correct_by_ratings(scores, responses, judge_weight)),
            ("family_effects", correct_by_families(scores, responses, judge_weight)),
        ):
            rows += [
                shared
                | {
                    "prompt_style": style,
                    "model": model,
                    "estimator": estimator,
                    "score": score,
                    "judge_weight": judge_weight,
                    "rated_count": of_model.get(model, 0),
                }
                | scale_stars("corrected", corrected, place)
                for place, (model, score) in enumerate(of_style.select("model", "score").iter_rows())
                if not np.isnan(corrected.se[place])
            ]
    return get_table("corrected_scores").frame(rows)
