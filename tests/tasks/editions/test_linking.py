"""An edition is linked by what was published, and writes what is new."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest

from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.editions import compute_recalibration, equating
from tasks.editions import publish as publish_module
from tasks.editions.equating import expect_chance, name_formats, read_scale
from tasks.editions.publish import Revision, publish_run
from tasks.editions.standings import list_standings
from tasks.statistics.items import fit_graded_response
from tests.tasks.report.synthetic import REFERENCE
from warehouse.lake import Lake

JUNE, JULY = "run-2025-06", "run-2025-07"
DISCIPLINE = EXAMINED_DISCIPLINES[0]


def publish(lake: Lake, run_id: str, revision: Revision | None = None) -> Any:
    return publish_run(
        lake,
        Settings(home=lake.settings.home, judge_ratings_gate=100),
        run_id,
        EXAMINED_DISCIPLINES,
        revision,
    )


def rename_questions(lake: Lake, kept: int) -> None:
    """July asks other questions than June, but for so many of each discipline."""
    names = lake.query(
        f"SELECT DISTINCT question_uuid, discipline FROM allocations WHERE run_id = '{JULY}' ORDER BY ALL"
    ).with_columns(place=pl.int_range(pl.len()).over("discipline"))
    changed = names.filter(pl.col("place") >= kept)["question_uuid"].to_list()
    with lake.transaction() as connection:
        for table in ("allocations", "responses", "judgements"):
            lineage = (
                ", lineage_uuid = 'ffffffff' || substr(lineage_uuid, 9)" if table != "judgements" else ""
            )
            connection.execute(
                f"UPDATE {table} SET question_uuid = 'ffffffff' || substr(question_uuid, 9){lineage} "
                f"WHERE run_id = '{JULY}' AND list_contains(?, question_uuid)",
                [changed],
            )


def read_fits(lake: Lake, edition_id: str) -> dict[str, Any]:
    return lake.query(
        f"SELECT * FROM edition_fits WHERE edition_id = '{edition_id}' ORDER BY discipline"
    ).row(0, named=True)


def check_change_and_standing(lake: Lake) -> None:
    """The month before gives the change and the standing."""
    trend = lake.run_named("monthly_trend").filter(pl.col("month") == "2025-07")
    boards = {
        month: dict(lake.run_named("leaderboard", {"month": month}).select("model", "score").iter_rows())
        for month in ("2025-06", "2025-07")
    }
    for row in trend.iter_rows(named=True):
        model = row["model"]
        # The reference's answers of June serve July: it has answered nothing since.
        if model == REFERENCE:
            assert (row["previous_month"], row["score_change"]) == (None, None)
            continue
        assert row["previous_month"] == "2025-06"
        moved = boards["2025-07"][model] - boards["2025-06"][model]
        assert row["score_change"] == pytest.approx(moved, abs=1e-9)
        assert row["score_change_low"] < row["score_change"] < row["score_change_high"]
    standings = lake.run_named("standings")
    assert set(standings["sat_month"]) == {"2025-07"}
    assert set(standings["comparability"]) == {"same_edition"}


def test_months_of_one_bank_version_are_linked_by_that_and_those_of_another_are_not(
    published: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a chain as long as an examination's: how well a few questions are placed is what is looked at.
    monkeypatch.setattr(equating, "fit_graded_response", fit_graded_response)
    rename_questions(published, kept=7)
    publish(published, JULY)
    with published.transaction() as connection:
        connection.execute(f"UPDATE runs SET bank_version = 2 WHERE run_id = '{JULY}'")
    publish(published, JULY, Revision(is_wanted=True, reason="of a bank of its own"))

    fits = published.query(f"SELECT * FROM edition_fits WHERE edition_id LIKE '{JULY}/%' ORDER BY edition_id")
    assert fits["withheld"].null_count() == fits.height
    assert fits["scale_edition_id"].unique().to_list() == [f"{JUNE}/1"]
    # How well the few new questions are placed: what the bank is like places them, too.
    variances = {"1": 0.0, "2": 0.0}
    for edition_id, covariances in fits.select("edition_id", "link_covariances").iter_rows():
        variances[edition_id[-1]] += json.loads(covariances)[edition_id]
    assert variances["1"] < 0.9 * variances["2"], variances


def test_a_month_without_enough_anchors_is_withheld_with_the_reason(published: Lake) -> None:
    rename_questions(published, kept=1)
    publish(published, JULY)

    fit = read_fits(published, f"{JULY}/1")
    assert (fit["withheld"], fit["is_converged"]) == ("anchors", False)
    assert (
        published.query(f"SELECT count(*) AS n FROM edition_items WHERE edition_id = '{JULY}/1'").item() == 0
    )
    assert (
        published.query(
            f"SELECT count(equated_score) AS n FROM edition_scores WHERE edition_id = '{JULY}/1'"
        ).item()
        == 0
    )
    # Who asks for a question's numbers later still gets June's.
    assert published.run_named("item_statistics", {"month": "2025-07"})["difficulty"].drop_nulls().len() > 0


def test_known_questions_are_not_written_again_and_a_recalibration_is_told_before_a_revision_takes_it(
    published: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = published.query("SELECT * FROM edition_items ORDER BY ALL")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(publish_module, "complete_improvements", Mock(side_effect=KeyboardInterrupt))
        publish(published, JULY)
    # What was not told of the change since the first month is told by publishing again.
    assert published.run_named("improvement_since").is_empty()
    publish(published, JULY)
    assert set(published.run_named("improvement_since")["to_month"]) == {"2025-07"}
    after = published.query("SELECT * FROM edition_items ORDER BY ALL")

    fit = read_fits(published, f"{JULY}/1")
    own = after.filter(edition_id=f"{JULY}/1")
    assert fit["withheld"] is None
    assert fit["scale_edition_id"] == f"{JUNE}/1"
    assert fit["method"] == "chain"
    # Only what moved is there again.
    assert own["is_moved"].all()
    moved = published.query(
        f"SELECT sum(moved_count) AS n FROM edition_fits WHERE edition_id = '{JULY}/1'"
    ).item()
    assert own.height == moved
    assert after.filter(edition_id=f"{JUNE}/1").equals(before)
    scores = published.query(
        f"SELECT equated_score, score FROM edition_scores WHERE edition_id = '{JULY}/1' AND discipline = 'all' "
        "AND prompt_style = 'zero_shot'"
    )
    assert scores["equated_score"].null_count() == 0
    assert set(json.loads(fit["link_covariances"])) == {f"{JUNE}/1", f"{JULY}/1"}

    check_change_and_standing(published)

    frozen = {
        table: published.query(f"SELECT * FROM {table} WHERE edition_id <> '{JULY}/2' ORDER BY ALL")
        for table in ("edition_items", "edition_fits", "edition_scores", "edition_standings")
    }

    found = compute_recalibration(published, JULY)

    assert (found.edition_id, found.edition_count) == (f"{JULY}/1", 2)
    assert found.largest_move is not None
    assert 0 <= (found.mean_move or 0.0) <= found.largest_move < 15
    moves = found.candidates["recalibrated_score"] - found.candidates["equated_score"]
    assert found.candidates["move"].to_list() == pytest.approx(moves.to_list(), nan_ok=True)

    asked = Revision(is_wanted=True, reason="fitted again", is_recalibrated=True)
    publish(published, JULY, asked)
    fit = read_fits(published, f"{JULY}/2")
    assert (fit["withheld"], fit["scale_edition_id"]) == (None, f"{JULY}/2")
    own = published.query(
        f"SELECT model, equated_score FROM edition_scores WHERE edition_id = '{JULY}/2' AND discipline = 'all' "
        "AND prompt_style = 'zero_shot' AND equated_score IS NOT NULL"
    )
    assert dict(own.iter_rows()) == pytest.approx(
        dict(found.candidates.select("model", "recalibrated_score").iter_rows())
    )
    for table, rows in frozen.items():
        assert published.query(f"SELECT * FROM {table} WHERE edition_id <> '{JULY}/2' ORDER BY ALL").equals(
            rows
        ), table


def test_a_scale_is_read_as_its_editions_published_it() -> None:
    names = ("asymptotes", "link_covariances")
    rows = [
        {
            "edition_id": edition,
            "scale_edition_id": "a/1",
            "discipline": DISCIPLINE,
            **{f"threshold_{star}": float(star - 2) for star in range(1, 4)},
            "passage_sd": 0.3,
            **dict(zip(names, map(json.dumps, given), strict=True)),
        }
        for edition, *given in (
            ("a/1", {"choice-4": [0.25, 0.1, 0.02]}, {"a/1": 0.0}),
            ("b/1", {"true_false": [0.5, 0.1, 0.0], "choice-4": [0.9, 0.9, 0.9]}, {"a/1": 0.0, "b/1": 0.04}),
            ("c/1", {}, {"a/1": 0.0, "b/1": 0.02, "c/1": 0.09}),
        )
    ]
    schema = {name: kind for name, kind in get_table("edition_fits").polars_schema.items() if name in rows[0]}
    found = read_scale(pl.DataFrame(rows, schema_overrides=schema), [DISCIPLINE])

    assert found is not None
    assert found.edition_ids == ["a/1", "b/1", "c/1"]
    assert found.shared[0] == pytest.approx(
        np.array([[0, 0, 0], [0, 0.04, 0.02], [0, 0.02, 0.09]]), abs=1e-12
    )
    assert found.thresholds.tolist() == [[-1.0, 0.0, 1.0]]
    # What the scale had first stays.
    assert found.asymptotes == {"choice-4": [0.25, 0.1, 0.02], "true_false": [0.5, 0.1, 0.0]}
    assert read_scale(pl.DataFrame(rows, schema_overrides=schema), [DISCIPLINE, "Law2"]) is None


def test_formats_say_what_there_is_to_guess_among() -> None:
    traits = pl.DataFrame(
        [
            {"question_uuid": "a", "question_type": "multiple_choice", "option_count": 4, "key_count": 1},
            {"question_uuid": "b", "question_type": "multiple_choice", "option_count": 4, "key_count": 2},
            {"question_uuid": "c", "question_type": "true_false", "option_count": 0, "key_count": 1},
            {"question_uuid": "d", "question_type": "essay", "option_count": 0, "key_count": 1},
        ]
    )
    named = dict(name_formats(traits).select("question_uuid", "format").iter_rows())

    assert named == {"a": "choice-4", "b": "choices-4", "c": "true_false", "d": "open"}
    chances = [expect_chance(name) for name in ("choice-4", "choices-4", "true_false", "open")]
    assert chances == pytest.approx([0.25, 1 / 15, 0.5, 0.0])
    assert np.isnan(expect_chance("unknown"))


def test_standings_that_differ_in_the_last_bit_only_share_their_rank() -> None:
    score = [46.5, float(np.nextafter(46.5, 47.0)), 40.0]
    scores = pl.DataFrame({"model": ["a", "b", "c"], "score": score}).with_columns(
        *(pl.lit(None, pl.Float64).alias(name) for name in ("score_low", "score_high", "relative_score")),
        discipline=pl.lit("all"), prompt_style=pl.lit("zero_shot"), organisation=pl.lit("O"),
    )  # fmt: skip
    own = {"sat_edition_id": pl.lit("r/1"), "sat_month": pl.lit("2025-06"), "reference_model": pl.lit("a")}
    earlier = scores.drop("discipline", "prompt_style").with_columns(**own).clear()
    names = {f"equated_{name}": pl.Float64 for name in ("score", "low", "high")}
    equated = pl.DataFrame(schema={"sat_edition_id": pl.String, "model": pl.String, **names})
    basis: Any = SimpleNamespace(run={"month": "2025-06", "reference_model": "a", "is_simulated": False})
    found = list_standings(lambda *_: earlier, basis, "r/1", scores, equated)
    assert found.select("model", "rank").rows() == [("a", 1), ("b", 1), ("c", 3)]
