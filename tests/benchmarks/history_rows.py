"""What every built history has in common.

It has numbered questions, stars by a graded model, and months that are landed and published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from unittest import mock

import numpy as np
import polars as pl

from schemas.settings import Settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.editions import publish as publishing
from tasks.editions.equating import equate_nothing
from tests.tasks.editions.kit import Edition, Revision, publish_run
from tests.tasks.judging.control_rows import make_control_frame
from warehouse.lake import Lake

# Where, in logits, an answer gains its first, second and third star.
THRESHOLDS = np.array([-0.8, 0.0, 0.8])


def number_uuid(number: int) -> str:
    """The UUID of a numbered question."""
    return f"00000000-0000-4000-8000-{number:012d}"


def give_stars(random: np.random.Generator, place: np.ndarray) -> np.ndarray:
    """Stars 0 to 3 of answers by their place: discrimination times ability less difficulty."""
    drawn = place + random.logistic(size=len(place))
    stars: np.ndarray = (drawn[:, None] > THRESHOLDS).sum(axis=1)
    return stars


def land_month(lake: Lake, frames: Mapping[str, pl.DataFrame], landed_at: datetime) -> None:
    """Write rows that name their landing units, and the landings, in one transaction.

    `Lake.land` checks every row and hashes it, which would take most of the time of a built history.
    """
    with lake.transaction() as connection:
        for table, frame in {**frames, "landings": list_landings(frames, landed_at)}.items():
            connection.register("rows", frame.to_arrow())
            connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM rows")
            connection.unregister("rows")


def publish_month(
    lake: Lake, settings: Settings, run_id: str, *, is_equated: bool, overridden: Sequence[str] = ()
) -> Edition:
    """Publish a run, with or without the fits that put it on the scale of earlier months.

    Without them it takes seconds less. Its judges have shown that they can judge.
    """
    land_controls(lake, run_id)
    asked = Revision(overridden=overridden, reason="it is built" if overridden else None)
    if is_equated:
        return publish_run(lake, settings, run_id, EXAMINED_DISCIPLINES, asked)
    with mock.patch.object(publishing, "equate_edition", lambda *_, **__: equate_nothing()):
        return publish_run(lake, settings, run_id, EXAMINED_DISCIPLINES, asked)


def land_controls(lake: Lake, run_id: str) -> None:
    """What each judge of the run gave its control answers: what they are worth."""
    run = lake.read("edition_run", {"run_id": run_id}).row(0, named=True)
    month, is_simulated = str(run["month"]), bool(run["is_simulated"])
    judges = lake.read("edition_judges", {"run_id": run_id, "month": month, "least_ratings": 0})
    for judge, wording in judges.select("judge", "prompt_wording").iter_rows():
        if not judge.startswith("person:"):
            rows = make_control_frame(run_id, month, judge, f"{wording}/en", is_simulated=is_simulated)
            lake.land("judge_controls", f"controls/{run_id}/{judge}/prompt-{wording}", rows)


def list_landings(frames: Mapping[str, pl.DataFrame], landed_at: datetime) -> pl.DataFrame:
    """Rows of `landings` for frames that name their landing units."""
    return pl.concat(
        [
            frame.group_by("landing_unit")
            .agg(row_count=pl.len().cast(pl.Int64))
            .select(
                table_name=pl.lit(table),
                unit=pl.col("landing_unit"),
                row_count="row_count",
                rejected_count=pl.lit(0, dtype=pl.Int64),
                content_hash=pl.lit("built"),
                code_version=pl.lit("built"),
                landed_at=pl.lit(landed_at),
                landing_unit=pl.concat_str(pl.lit(table), "landing_unit", separator="/"),
            )
            for table, frame in frames.items()
        ]
    )
