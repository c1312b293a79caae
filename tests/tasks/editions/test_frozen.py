"""What was published never changes: later facts make later rows."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from threading import Thread
from typing import Any

import polars as pl
import pytest
from threadpoolctl import threadpool_info

from schemas.errors import ContractError, GateError, StoreError, UsageError
from schemas.tables import TABLES
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.editions import publish as publish_module
from tasks.editions.basis import read_basis
from tasks.editions.publish import Edition, Revision, freeze_edition, publish_run
from tasks.statistics import on_one_thread
from tests.tasks.editions.season import land_frames
from tests.tasks.report.synthetic import REFERENCE, build_season
from warehouse.lake import Batch, Lake, hash_rows
from warehouse.lake.upkeep import read_unit

JUNE, JULY = "run-2025-06", "run-2025-07"
FROZEN = sorted(table.name for table in TABLES.values() if table.is_frozen)


def publish(lake: Lake, run_id: str, revision: Revision | None = None) -> Edition:
    return publish_run(lake, lake.settings, run_id, EXAMINED_DISCIPLINES, revision)


def read_all(lake: Lake, edition_id: str) -> dict[str, list[tuple[object, ...]]]:
    return {table: sorted(read_unit(lake, table, edition_id).rows(), key=repr) for table in FROZEN}


def leaderboard(lake: Lake, month: str) -> list[dict[str, Any]]:
    return lake.run_named("leaderboard", {"month": month}).to_dicts()


def judge_again(frames: dict[str, pl.DataFrame], judge: str, prompt: str, stars: int) -> pl.DataFrame:
    """The same answers judged by another judge or prompt, who gives everybody the same."""
    return (
        frames["judgements"]
        .filter(pl.col("judge") == "judge-a")
        .with_columns(
            judge=pl.lit(judge),
            prompt_version=pl.lit(prompt),
            stars=pl.lit(stars, dtype=pl.Int64),
            parse_status=pl.lit("parsed"),
            judged_at=pl.lit(dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
        )
    )


def test_nothing_that_comes_later_changes_a_number_of_an_edition(published: Lake) -> None:
    frames = build_season()
    june = publish(published, JUNE)
    before, board = read_all(published, june.edition_id), leaderboard(published, "2025-06")
    # No question of the season has a picture, so there is one series of scores.
    assert {table for table, rows in before.items() if rows} == set(FROZEN) - {"edition_series"}

    # A judge that comes first in the alphabet and agrees best with people; another prompt of the one that counted.
    land_frames(published, {"judgements": judge_again(frames, "aaa", "v1", 3)})
    land_frames(published, {"judgements": judge_again(frames, "judge-a", "v2", 0)})
    controls = frames["judge_controls"].filter(pl.col("judge") == "judge-a")
    land_frames(published, {"judge_controls": controls.with_columns(judge=pl.lit("aaa"))})
    calibration = (
        frames["calibration"]
        .filter(pl.col("judge") == "judge-a")
        .with_columns(
            judge=pl.lit("aaa"),
            occasion=pl.lit("2026-01"),
            kappa=pl.lit(0.99),
            pair_count=pl.lit(900, dtype=pl.Int64),
        )
    )
    land_frames(published, {"calibration": calibration})
    # The reference sits the same sets again, and the month is run again.
    again = build_season(months=("2025-06",), seed=99)
    # By two candidates, which is enough.
    few = {
        "model": pl.col("model").is_in([REFERENCE, "east-7b"]),
        "session_id": pl.col("session_id").str.contains(f"/({REFERENCE}|east-7b)/"),
    }
    renamed = {
        table: frame.filter(*(is_one for name, is_one in few.items() if name in frame.columns)).with_columns(
            *(
                pl.col(name).str.replace(JUNE, f"{JUNE}-again", literal=True)
                for name in ("run_id", "session_id", "call_key")
                if name in frame.columns
            ),
            *([pl.col("planned_at").dt.offset_by("1d")] if table == "runs" else []),
        )
        for table, frame in again.items()
        if table not in ("sets", "calibration")
    }
    land_frames(published, renamed)
    land_frames(published, {"judgements": judge_again(renamed, "aaa", "v1", 3)})
    repeated = renamed["judge_controls"].filter(pl.col("judge") == "judge-a")
    land_frames(published, {"judge_controls": repeated.with_columns(judge=pl.lit("aaa"))})
    # Rows of June itself are judged anew, with another outcome.
    first = frames["judgements"].filter((pl.col("run_id") == JUNE) & (pl.col("judge") == "judge-a"))
    unit = first["session_id"][0]
    published.land(
        "judgements",
        f"{unit}/judge-a/v1",
        first.filter(pl.col("session_id") == unit).with_columns(stars=pl.lit(3, dtype=pl.Int64)),
    )
    publish(published, JULY)
    repetition = publish(published, f"{JUNE}-again")

    assert read_all(published, june.edition_id) == before
    now = leaderboard(published, "2025-06")
    assert [row for row in now if row["run_id"] == JUNE] == board
    # The second run of the month stands beside the first, below it, and says so.
    assert [row["is_repetition"] for row in now] == [False] * len(board) + [True] * 2
    assert {row["edition_id"] for row in now[len(board) :]} == {repetition.edition_id}
    assert publish(published, JUNE).is_outdated

    revised = publish(published, JUNE, Revision(is_wanted=True, reason="a session was judged anew"))
    assert revised.edition_id == f"{JUNE}/2"
    assert read_all(published, june.edition_id) == before
    shown = [row for row in leaderboard(published, "2025-06") if row["run_id"] == JUNE]
    assert {row["edition_id"] for row in shown} == {f"{JUNE}/2"}
    assert {row["model"]: row["score"] for row in shown} != {row["model"]: row["score"] for row in board}
    assert {row["judge"] for row in shown} == {"aaa"}
    editions = published.run_named("editions_published").filter(pl.col("run_id") == JUNE).sort("revision")
    assert editions["replaces"].to_list() == [None, june.edition_id]
    assert editions["reason"].to_list() == [None, "a session was judged anew"]
    assert editions["is_current"].to_list() == [False, True]


def test_publishing_again_changes_nothing_a_correction_needs_a_reason_and_a_frozen_unit_never_changes(
    published: Lake,
) -> None:
    before = published.query("SELECT max(landed_at) AS at, count(*) AS n FROM landings").rows()
    again = publish(published, JUNE)
    assert (again.is_new, again.is_outdated, again.edition_id) == (False, False, f"{JUNE}/1")
    assert published.query("SELECT max(landed_at) AS at, count(*) AS n FROM landings").rows() == before
    with pytest.raises(UsageError, match="needs its reason"):
        publish(published, JUNE, Revision(is_wanted=True))
    with pytest.raises(UsageError, match="Nothing that run-2025-06/1 rests on has changed"):
        publish(published, JUNE, Revision(is_wanted=True, reason="to be sure"))

    # A frozen unit is never landed with other content.
    rows = read_unit(published, "edition_scores", again.edition_id)
    assert published.land("edition_scores", again.edition_id, rows).is_unchanged
    with pytest.raises(StoreError, match=r"edition_scores/run-2025-06/1 was published and is frozen"):
        published.land_together(
            [Batch("edition_scores", again.edition_id, rows.with_columns(score=pl.col("score") * 0.5))]
        )
    assert read_unit(published, "edition_scores", again.edition_id).sort(pl.all()).equals(rows.sort(pl.all()))
    # An edition's root is made of what its landings keep: the rows are hashed once, for both.
    kept = dict(
        published.query(
            "SELECT table_name, rows_hash FROM landings WHERE unit = $unit", {"unit": again.edition_id}
        ).iter_rows()
    )
    found = {
        table: hash_rows(read_unit(published, table, again.edition_id))
        for table in kept
        if table.startswith("edition")
    }
    assert set(found) == set(FROZEN)
    assert found == {table: kept[table] for table in FROZEN}


def test_an_edition_of_which_a_row_would_be_put_aside_is_not_published_and_publishers_at_once_publish_one(
    season: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = publish_module._prepare

    def spoil(*arguments: Any, **options: Any) -> Edition:
        edition = prepare(*arguments, **options)
        scores = edition.frames["edition_scores"].with_columns(score_se=pl.lit(1e25))
        return replace(edition, frames={**edition.frames, "edition_scores": scores})

    with monkeypatch.context() as patch:
        patch.setattr(publish_module, "_prepare", spoil)
        with pytest.raises(ContractError, match=r"rows of edition_scores/run-2025-06/1 .*range: score_se"):
            publish(season, JUNE)
    assert season.query("SELECT count(*) FROM editions").item() == 0

    found: list[Edition] = []
    threads = [Thread(target=lambda: found.append(publish(season, JUNE))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(edition.is_new for edition in found) == [False, False, False, True]
    assert {edition.edition_id for edition in found} == {f"{JUNE}/1"}


def test_a_run_that_is_not_there_or_not_judged_is_named(season: Lake) -> None:
    with pytest.raises(UsageError, match="There is no run 'other'"):
        publish(season, "other")
    frames = build_season()
    new, named = frames["runs"].head(1).with_columns(run_id=pl.lit("new")), {"run_id": pl.lit("new")}
    answered = frames["responses"].filter(pl.col("run_id") == JUNE).head(1).with_columns(**named)
    season.land_together([Batch("runs", "new", new), Batch("responses", "new", answered)])
    with pytest.raises(UsageError, match="Nothing of run new has been judged"):
        publish(season, "new")


def test_a_closed_run_that_nobody_answered_is_not_sent_to_the_judges(season: Lake) -> None:
    empty = build_season()["runs"].head(1).with_columns(run_id=pl.lit("empty"))
    season.land_together([Batch("runs", "empty", empty)])
    with pytest.raises(GateError, match="Nobody answered a question of run empty"):
        publish(season, "empty")


@pytest.mark.long
def test_who_did_not_sit_stands_by_its_last_edition(published: Lake) -> None:
    absent = "south-chat"
    for table in ("sessions", "responses", "judgements", "allocations"):
        units = published.query(
            f"SELECT DISTINCT landing_unit AS unit FROM {table} WHERE session_id LIKE '{JULY}/{absent}/%'"
        )
        with published.transaction() as connection:
            for unit in units["unit"]:
                connection.execute(f"DELETE FROM {table} WHERE landing_unit = ?", [unit])
    publish(published, JULY)
    assert absent not in {row["model"] for row in leaderboard(published, "2025-07")}
    standing = published.run_named("standings").filter(pl.col("model") == absent).row(0, named=True)
    assert (standing["sat_month"], standing["sat_edition_id"]) == ("2025-06", f"{JUNE}/1")
    # Both months sat the same two sets: the questions link them.
    assert standing["comparability"] == "anchors"
    assert standing["rank"] is not None
    assert standing["standing_low"] < standing["standing_score"] < standing["standing_high"]


def test_a_run_with_an_open_session_is_not_published(season: Lake) -> None:
    # As it lands: of an open session nothing is in the lake, and its run is open there.
    run = read_unit(season, "runs", JULY, "2025-07")
    season.land("runs", JULY, run.with_columns(status=pl.lit("open")))
    with pytest.raises(GateError, match=r"incomplete: sessions of it are open, and nothing of them is here"):
        publish(season, JULY)
    assert season.read("run_revisions", {"run_id": JULY}).is_empty()


def test_an_edition_of_which_nothing_could_be_read_has_no_stars_and_no_place_on_the_scale(
    season: Lake,
) -> None:
    basis = read_basis(season.read, JUNE, EXAMINED_DISCIPLINES)
    unread = basis.answers.with_columns(
        stars=pl.lit(None, dtype=pl.Int8),
        score_status=pl.lit("unparsed").cast(basis.answers.schema["score_status"]),
    )
    found = freeze_edition(season.read, replace(basis, answers=unread), now=dt.datetime.now(dt.UTC)).frames
    assert set(found["edition_scores"]["score"]) == {0.0}
    assert set(found["edition_fits"]["withheld"]) == {"questions"}


@pytest.mark.long
def test_a_calibration_that_comes_later_is_a_change_that_a_correction_may_rest_on(season: Lake) -> None:
    with season.transaction() as connection:
        connection.execute("DELETE FROM calibration")
    provisional = publish(season, JUNE)
    assert provisional.frames["editions"]["is_provisional"].item()
    calibration = build_season()["calibration"].with_columns(occasion=pl.lit("later"))
    land_frames(season, {"calibration": calibration})
    assert publish(season, JUNE).is_outdated
    revised = publish(season, JUNE, Revision(is_wanted=True, reason="judges were calibrated"))
    head = revised.frames["editions"].row(0, named=True)
    assert (revised.edition_id, head["is_provisional"], head["mean_kappa"]) == (f"{JUNE}/2", False, 0.9)
    assert not publish(season, JUNE).is_outdated


def test_products_of_matrices_run_on_one_thread_and_as_before_afterwards() -> None:
    before = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    with on_one_thread():
        inside = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    after = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    assert before and set(inside) == {1}
    assert after == before
