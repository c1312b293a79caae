"""Scores corrected for the judge name their ratings, stand beside S, and never change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.judging.calibration.calibrate import calibrate_judges
from tasks.judging.calibration.correction import correct_edition
from tasks.judging.calibration.ratings.rounds import export_ratings, import_ratings
from tasks.judging.calibration.ratings.sample import draw_calibration
from tasks.judging.calibration.report import describe_calibration, read_calibration
from tasks.models.registry import read_registry
from tests.tasks.editions.kit import publish_run
from tests.tasks.judging.calibration.conftest import Room
from tests.tasks.judging.calibration.rated_run import RUN, fill_workbook
from tests.tasks.judging.calibration.test_rounds import REQUEST, rate_round, read_stars
from warehouse.lake import Batch, Lake

THEN, LATER, LATEST = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3))


def test_people_correct_a_published_run_and_its_judges_are_a_jury_beside_its_scores(
    room: Room, tmp_path: Path
) -> None:
    settings, ledger, lake = room
    registry = read_registry(settings.registry_path)
    publish_run(lake, settings, RUN, EXAMINED_DISCIPLINES)
    before = lake.query("select * from edition_scores order by all")
    assert correct_edition(lake, RUN) == 0
    assert correct_edition(lake, "run-1999-01") == 0
    # Two judges without people do not tell which of them errs.
    assert lake.run_named("jury_leaderboard").is_empty()
    draw_calibration(ledger, lake, REQUEST)
    rate_round(room, tmp_path)
    calibrate_judges(lake, registry)
    # Six candidates, three styles, two estimators; some have fewer than two ratings in a style.
    count = correct_edition(lake, RUN, now=THEN)
    assert 30 <= count <= 36
    tables = ("corrected_scores", "jury_judges", "jury_confusions", "jury_scores", "jury_stars", "style_controlled_scores", "judge_style_effects")  # fmt: skip
    landed = {name: lake.query(f"select * from {name} order by all") for name in tables}
    boards = ("corrected_leaderboard", "style_controlled_leaderboard", "jury_leaderboard")
    first = {name: lake.run_named(name) for name in boards}
    assert correct_edition(lake, RUN, now=LATER) == count
    assert lake.run_named("landings_count_their_rows").is_empty()
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
    published = dict(lake.run_named("leaderboard").select("model", "score").iter_rows())
    weight = check_jury(lake, landed, published)
    check_style(lake, published)
    lines = describe_calibration(read_calibration(lake, "first", 100))
    assert [line.split(" (")[0] for line in lines if "no effect of length or markup" in line] == [
        "judge-a",
        "judge-b",
    ]
    said = [line for line in lines if line.startswith(f"In the jury of {RUN}/1")]
    assert [line.split()[5] for line in said] == ["judge-a", "judge-b"]
    assert f"{weight:.0%} of the weight" in said[0]
    # A simulated judge that people agreed with wholly is none of what is not simulated.
    for table, kappa in (("calibration", {"kappa": 1.0}), ("calibration_pairs", {"is_simulated": True})):
        rows = lake.query(f"select * exclude (landing_unit) from {table} where judge = 'judge-a'")
        trial = {"judge": "sim", "occasion": "2026-03"} | kappa
        lake.land(
            table, "2026-03/1", rows.with_columns(**{name: pl.lit(value) for name, value in trial.items()})
        )
    assert lines == describe_calibration(read_calibration(lake, "first", 100))

    # Asked again they are the same; what a judge gave for form stays when texts that it was found by are erased.
    assert landed["judge_style_effects"]["pair_count"].sum() > 0
    erase_texts(lake, "north-1")
    calibrate_judges(lake, registry)
    for name in tables:
        assert lake.query(f"select * from {name} order by all").equals(landed[name]), name

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

    # Where she takes it back, what there was is the last again, with its numbers.
    given = read_stars(lake, "judge-a")
    fill_workbook(path, lambda key, row: given.get(key, 2) if row < 6 else None)
    import_ratings(ledger, lake, path, "ann")
    calibrate_judges(lake, registry)
    assert correct_edition(lake, RUN, now=LATEST) == count
    for name in boards:
        times = {"corrected_at", "computed_at"}
        assert lake.run_named(name).drop(times, strict=False).equals(first[name].drop(times, strict=False)), (
            name
        )
    assert lake.query("select * from jury_stars order by all").equals(landed["jury_stars"])

    # Erased answers stand behind a correction as they did.
    months = lake.read("edition_sat_months", {"edition_id": f"{RUN}/1"})["month"].to_list()
    asked = {"edition_id": f"{RUN}/1", "months": months}
    behind = lake.read("edition_rateable", asked)
    assert behind["rateable_count"].sum() > 0
    erase_texts(lake)
    assert lake.read("edition_rateable", asked).equals(behind)
    assert correct_edition(lake, RUN) >= 30


def check_jury(lake: Lake, landed: Mapping[str, pl.DataFrame], published: Mapping[str, float]) -> float:
    """What the jury says follows from the ratings; returns the first judge's weight."""
    # People gave what the first judge gave but for one in fifteen stars: it has the weight, and is a little generous.
    weights = lake.run_named("jury_weights")
    assert set(weights["discipline"]) == {"all", *EXAMINED_DISCIPLINES}
    assert weights.group_by("discipline").agg(pl.col("weight").sum())["weight"].to_list() == pytest.approx(
        [1.0] * 11
    )
    first, second = weights.filter(pl.col("discipline") == "all").to_dicts()
    assert (first["judge"], second["judge"]) == ("judge-a", "judge-b")
    assert first["weight"] > 0.6
    assert first["bias"] == pytest.approx(1 / 15, abs=0.06)
    assert first["rated_count"] == landed["jury_stars"]["is_rated"].sum() <= 120
    confusions = lake.run_named("jury_confusion")
    sums = confusions.group_by("judge", "deserved_stars").agg(pl.col("chance").sum())["chance"].to_list()
    assert sums == pytest.approx([1.0] * 8)

    board = lake.run_named("jury_leaderboard")
    assert dict(board.group_by("estimator").len().iter_rows())["jury"] == 6
    assert set(board["judge_count"]) == {2}
    for row in board.iter_rows(named=True):
        assert row["score"] == published[row["model"]]
        assert row["jury_low"] <= row["jury_score"] <= row["jury_high"], row
    # The first judge gave all of its candidates 2.2 points too many.
    by_jury = board.filter(pl.col("estimator") == "jury")
    corrections = by_jury["correction"].to_list()
    assert sum(corrections) / 6 == pytest.approx(-2.2, abs=1.0)
    assert min(corrections) > -4.5
    stars = landed["jury_stars"]
    chances = stars.select(pl.sum_horizontal(*(f"chance_{one}" for one in range(4))))
    assert chances.to_series().to_list() == pytest.approx([1.0] * stars.height)
    rated = lake.query(
        "select s.jury_stars - p.mean_stars as off from jury_stars s join calibration_pairs p using (session_id, seq) "
        "where p.judge = 'judge-a'"
    )
    assert rated["off"].abs().max() == pytest.approx(0, abs=1e-9)
    apart = lake.run_named("jury_responses", {"limit": 5})
    assert apart["distance"].to_list() == sorted(apart["distance"], reverse=True)
    assert apart["distance"][0] > 0.5
    return float(first["weight"])


def check_style(lake: Lake, published: Mapping[str, float]) -> None:
    # Answers are rows of one letter: length alone differs between them, and nobody gives stars for it.
    styles = lake.run_named("judge_style", {"occasion": "first"})
    assert styles["judge"].to_list() == ["judge-a"] * 5 + ["judge-b"] * 5
    assert styles.filter(pl.col("effect").is_not_null())["feature"].to_list() == ["length"] * 2
    assert not styles["is_found"].any()
    controlled = lake.run_named("style_controlled_leaderboard")
    assert controlled.height == 6
    for row in controlled.iter_rows(named=True):
        assert row["score"] == published[row["model"]]
        assert row["controlled_low"] <= row["controlled_score"] <= row["controlled_high"], row
        assert abs(row["style_points"]) < 1.5


def erase_texts(lake: Lake, *models: str) -> None:
    """Land the responses again as an erasure leaves them, of these candidates or of all."""
    is_erased = pl.col("model").is_in(models) if models else pl.lit(value=True)
    responses = lake.query("select * exclude (landing_unit), landing_unit as unit from responses")
    erased = responses.with_columns(pl.when(~is_erased).then("response").alias("response"))
    lake.land_together(
        [
            Batch("responses", str(unit), own.drop("unit"))
            for (unit,), own in erased.partition_by("unit", as_dict=True).items()
        ]
    )
