"""Scores corrected for the judge stand beside S.

They rest on the ratings they name, and never change.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.judging.calibration.calibrate import calibrate_judges
from tasks.judging.calibration.correction import correct_edition
from tasks.judging.calibration.ratings.rounds import export_ratings, import_ratings
from tasks.judging.calibration.ratings.sample import draw_calibration
from tasks.models.registry import read_registry
from tests.tasks.editions.kit import publish_run
from tests.tasks.judging.calibration.conftest import Room
from tests.tasks.judging.calibration.rated_run import RUN, fill_workbook
from tests.tasks.judging.calibration.test_rounds import REQUEST, rate_round

THEN, LATER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


def test_people_correct_a_published_run_beside_its_scores(room: Room, tmp_path: Path) -> None:
    settings, ledger, lake = room
    publish_run(lake, settings, RUN, EXAMINED_DISCIPLINES)
    before = lake.query("select * from edition_scores order by all")
    assert correct_edition(lake, RUN) == 0
    assert correct_edition(lake, "run-1999-01") == 0
    draw_calibration(ledger, lake, REQUEST)
    rate_round(room, tmp_path)
    registry = read_registry(settings.registry_path)
    calibrate_judges(lake, registry)
    # Six candidates, three styles, two estimators; some have fewer than two ratings in a style.
    count = correct_edition(lake, RUN, now=THEN)
    assert 30 <= count <= 36
    assert correct_edition(lake, RUN, now=LATER) == count
    found = lake.query("select * exclude (landing_unit) from corrected_scores order by all")
    assert found.height == count
    assert set(found["corrected_at"]) == {THEN}
    assert lake.query("select * from edition_scores order by all").equals(before)

    # One star less in every fifth row of one of three raters: 1/15 of a star, 2.2 points.
    shown = lake.run_named("corrected_leaderboard")
    own = shown.filter(pl.col("estimator") == "family_effects")
    assert own.height == 6
    assert own["correction"].mean() == pytest.approx(-2.2, abs=1.5)
    assert own["score"].to_list() == pytest.approx(
        [
            before.filter(
                (pl.col("model") == model)
                & (pl.col("prompt_style") == "zero_shot")
                & (pl.col("discipline") == "all")
            )["score"][0]
            for model in own["model"]
        ]
    )
    for row in found.iter_rows(named=True):
        assert row["corrected_low"] <= row["corrected_score"] <= row["corrected_high"], row

    # A later rating makes rows of its own; those that were there stay.
    path = tmp_path / "ann.xlsx"
    export_ratings(ledger, lake, path, "ann")
    fill_workbook(path, lambda _, row: 1 if row < 6 else None)
    import_ratings(ledger, lake, path, "ann")
    calibrate_judges(lake, registry)
    assert correct_edition(lake, RUN, now=LATER) > 0
    after = lake.query(
        "select * exclude (landing_unit) from corrected_scores where corrected_at = $then order by all",
        {"then": THEN},
    )
    assert after.equals(found)
    assert set(lake.run_named("corrected_leaderboard")["corrected_at"]) == {LATER}
