"""From a draw to landed agreement: two rate, disputes go to a third, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from openpyxl import load_workbook

from schemas.errors import UsageError, WorkbookError
from schemas.tables import get_table
from tasks.judging.calibration.calibrate import calibrate_judges
from tasks.judging.calibration.ratings.rounds import count_ratings, export_ratings, import_ratings, read_round
from tasks.judging.calibration.ratings.sample import DrawRequest, draw_calibration
from tasks.judging.error_samples import draw_failures, export_failures
from tasks.judging.marking import find_work, open_work
from tasks.models.registry import read_registry
from tasks.review.marking import compute_key
from tests.tasks.judging.calibration.conftest import Room
from tests.tasks.judging.calibration.rated_run import PEOPLE, RUN, fill_workbook
from warehouse.lake import Lake

REQUEST = DrawRequest(RUN, "first", 1, 120, PEOPLE)


def read_stars(lake: Lake, judge: str) -> dict[str, int]:
    """Key in the workbook of round 1 → stars of a judge."""
    rows = lake.query(
        "select session_id, seq, stars from judgements where judge = $judge and stars is not null",
        {"judge": judge},
    )
    return {compute_key("first", 1, one, seq): stars for one, seq, stars in rows.iter_rows()}


def rate_round(room: Room, tmp_path: Path) -> None:
    """Everybody gives judge-a's stars (2 where unread), bo one less in every fifth row."""
    _, ledger, lake = room
    known = read_stars(lake, "judge-a")
    for name in PEOPLE:
        path = tmp_path / f"{name}.xlsx"
        export_ratings(ledger, lake, path, name)
        fill_workbook(
            path,
            lambda key, row, name=name: max(0, known.get(key, 2) - (name == "bo" and row % 5 == 0)),  # type: ignore[misc]
        )
        import_ratings(ledger, lake, path, name)


def test_a_draw_takes_as_many_of_each_candidate_once_and_its_workbook_is_blind(
    room: Room, tmp_path: Path
) -> None:
    _, ledger, lake = room
    drawn = draw_calibration(ledger, lake, REQUEST)
    assert set(drawn.group_by("model").len()["len"]) == {20}
    assert set(drawn.group_by("discipline").len()["len"]) <= set(range(8, 17))
    pool = lake.query("select avg(stars) from judgements where judge = 'judge-a' and attempt > 0").item()
    assert drawn["drawn_stars"].mean() == pytest.approx(pool, abs=0.15)
    assert {len(names) for names in drawn["raters"]} == {2}
    asked = drawn["raters"].explode().value_counts()
    assert set(asked["count"]) == {80}
    assert drawn.select("session_id", "seq").is_unique().all()
    path = tmp_path / "ann.xlsx"
    assert export_ratings(ledger, lake, path, "ann") == 80
    sheet = load_workbook(path)["answers"]
    shown = [[str(cell.value or "") for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert [row[0] for row in shown] == sorted(row[0] for row in shown)
    assert {row[4] for row in shown} == {""}
    words = {word for row in shown for cell in row for word in cell.split()}
    assert not words & {*drawn["model"], *drawn["session_id"], "judge-a", "judge-b"}
    # Drawing again changes nothing, and another round takes other responses.
    assert draw_calibration(ledger, lake, REQUEST).equals(drawn)
    second = draw_calibration(ledger, lake, DrawRequest(RUN, "first", 2, 120, PEOPLE))
    assert drawn.join(second, on=["session_id", "seq"]).is_empty()
    with pytest.raises(UsageError, match="Round 1 of occasion 'first' was drawn already: 120 responses"):
        draw_calibration(ledger, lake, DrawRequest(RUN, "first", 1, 60, PEOPLE))
    run = lake.query("select * exclude (landing_unit) from runs")
    lake.land("runs", "trial", run.with_columns(run_id=pl.lit("trial"), is_simulated=True))
    with pytest.raises(
        UsageError, match="Run trial is simulated, unlike what was drawn for occasion 'first'"
    ):
        draw_calibration(ledger, lake, DrawRequest("trial", "first", 3, 120, PEOPLE))


def test_what_cannot_be_drawn_is_one_sentence(room: Room) -> None:
    _, ledger, lake = room
    for change, says in (
        ({"run_id": "run-1999-01"}, "There is no run 'run-1999-01'"),
        ({"raters": ("ann",)}, "At least two people"),
        ({"raters": ("ann", "nobody")}, "'nobody' is no active user"),
        ({"occasion": "March"}, "write `first`, or the month"),
        ({"size": 3}, "cannot be spread over 6 candidates"),
        ({"size": 60_000}, "fewer than its part of 10000"),
    ):
        with pytest.raises(UsageError, match=says):
            draw_calibration(ledger, lake, DrawRequest(**{**REQUEST.__dict__, **change}))
        assert lake.units("calibration_samples") == set(), says


def test_what_one_candidate_took_back_keeps_nobody_from_what_was_drawn_of_the_others(
    room: Room, tmp_path: Path
) -> None:
    """Weeks may lie between a draw and the last rating; a new draw would ask for all again."""
    _, ledger, lake = room
    drawn = draw_calibration(ledger, lake, REQUEST)
    failed = draw_failures(lake, RUN, per_model=5)
    erased = lake.query(
        "select 'e' as erasure_id, run_id, session_id, model, month, 'withdrawal' as cause, 'r' as reason, 'cora' as erased_by, "
        "now() as erased_at, 1 as answer_count, 'd' as digest from sessions where model = 'north-1'"
    )
    lake.land("erasures", "e", get_table("erasures").frame(erased.to_dicts()))
    own = drawn.filter((pl.col("model") != "north-1") & pl.col("raters").list.contains("ann"))
    assert 0 < own.height < 80
    assert export_ratings(ledger, lake, tmp_path / "ann.xlsx", "ann") == own.height
    assert len(open_work(ledger, lake, "rating", "first/1", "ann").items) == own.height
    # Nor are they told for ever that something is open.
    waiting = {one.kind: one.item_count for one in find_work(ledger, lake, "ann")}
    labels = failed.filter(pl.col("model") != "north-1").height
    assert waiting == {"rating": own.height, "label": labels}
    rated = drawn.filter(pl.col("model") != "north-1")["raters"].explode().value_counts()
    assert count_ratings(lake, read_round(lake))["open_by_rater"] == dict(sorted(rated.iter_rows()))
    assert export_failures(lake, tmp_path / "failures.xlsx") == labels < failed.height


def test_two_rate_a_third_settles_and_every_judge_is_compared(room: Room, tmp_path: Path) -> None:
    settings, ledger, lake = room
    draw_calibration(ledger, lake, REQUEST)
    rate_round(room, tmp_path)
    # One dispute: ann gives 3 where the others gave 0.
    rated = read_round(lake)
    ann = rated.ratings.filter(pl.col("rater") == "ann")
    session_id, seq = ann.filter(pl.col("value") == 0).select("session_id", "seq").row(0)
    path = tmp_path / "ann.xlsx"
    export_ratings(ledger, lake, path, "ann")
    wanted = compute_key("first", 1, session_id, seq)
    cells = {str(row[0].value): row[4].value for row in load_workbook(path)["answers"].iter_rows(min_row=2)}
    fill_workbook(path, lambda key, _: "3" if key == wanted else cells[key])
    changed = import_ratings(ledger, lake, path, "ann")
    assert (changed.new, changed.changed, changed.unchanged) == (0, 1, 79)
    counts = count_ratings(lake, read_round(lake))
    assert (counts["rated_by_two"], counts["in_dispute"], counts["settled"]) == (120, 1, 119)
    assert counts["open_by_rater"] == {"ann": 0, "bo": 0, "cy": 0}
    summary = calibrate_judges(lake, read_registry(settings.registry_path))
    assert (summary.drawn, summary.settled) == (120, 119)

    raters = rated.samples.filter((pl.col("session_id") == session_id) & (pl.col("seq") == seq))["raters"][0]
    third = next(name for name in PEOPLE if name not in raters)
    for name in raters:
        with pytest.raises(UsageError, match="no dispute to settle"):
            export_ratings(ledger, lake, path, name, disputes_only=True)
    assert export_ratings(ledger, lake, path, third, disputes_only=True) == 1
    fill_workbook(path, lambda *_: 0)
    assert import_ratings(ledger, lake, path, third).is_adjudication
    assert count_ratings(lake, read_round(lake))["in_dispute"] == 0
    settled = calibrate_judges(lake, read_registry(settings.registry_path))
    assert (settled.settled, settled.is_new) == (120, True)
    row = lake.query(
        "select * from calibration_pairs where session_id = $id and seq = $seq and judge = 'judge-b'",
        {"id": session_id, "seq": seq},
    ).row(0, named=True)
    assert (row["agreed_stars"], row["mean_stars"], row["rater_count"], row["rule"]) == (
        0,
        1.0,
        3,
        "adjudicated",
    )
    assert calibrate_judges(lake, read_registry(settings.registry_path)).is_new is False

    groups = lake.run_named("judge_groups", {"occasion": "first", "kind": "all"})
    assert groups["judge"].to_list() == ["judge-a", "judge-b"]
    close, far = groups["agreement_rate"].to_list()
    assert close > 0.85 > far
    (difference,) = lake.run_named("judge_choice").to_dicts()
    assert (difference["judge_a"], difference["is_distinguishable"]) == ("judge-a", True)
    kinds = lake.run_named("judge_groups", {"occasion": "first"})
    assert dict(kinds.filter(pl.col("judge") == "judge-a").group_by("group_kind").len().iter_rows()) == {
        "all": 1, "discipline": 10, "candidate": 6, "family": 4, "family_of_judge": 2, "prompt_style": 3, "response_length": 3,
    }  # fmt: skip
    confusion = lake.run_named("judge_confusion")
    shares = confusion.group_by("judge", "agreed_stars").agg(pl.col("share").sum())
    assert shares["share"].to_list() == pytest.approx([1.0] * shares.height)
    # The run is published by the judge that people agree with.
    judges = lake.read("edition_judges", {"run_id": RUN, "month": "2025-06", "least_ratings": 100})
    assert judges["judge"].to_list() == ["judge-a", "judge-b"]
    assert judges["rated_count"][0] >= 100


def test_a_workbook_is_imported_in_parts_and_one_in_another_name_or_of_another_round_is_refused_by_its_row(
    room: Room, tmp_path: Path
) -> None:
    _, ledger, lake = room
    draw_calibration(ledger, lake, REQUEST)
    path = tmp_path / "ann.xlsx"
    export_ratings(ledger, lake, path, "ann")
    fill_workbook(path, lambda _, row: "1" if row <= 31 else None)
    assert import_ratings(ledger, lake, path, "ann").new == 30
    again = import_ratings(ledger, lake, path, "ann")
    assert (again.new, again.unchanged, again.left_empty) == (0, 30, 50)
    # What was given before stands in the next export, and an emptied cell takes nothing back.
    export_ratings(ledger, lake, path, "ann")
    assert sum(row[4].value == "1" for row in load_workbook(path)["answers"].iter_rows(min_row=2)) == 30
    fill_workbook(path, lambda _, row: "2" if row > 31 else None)
    rest = import_ratings(ledger, lake, path, "ann")
    assert (rest.new, rest.changed, rest.left_empty) == (50, 0, 30)
    assert lake.query("select value, count(*) from human_ratings group by 1 order by 1").rows() == [
        (1.0, 30),
        (2.0, 50),
    ]
    export_ratings(ledger, lake, path, "ann")
    with pytest.raises(WorkbookError, match=r"exported for ann: nothing was imported"):
        import_ratings(ledger, lake, path, "bo")
    # A program that drops a workbook's properties takes the name along: then the rows tell.
    nameless = load_workbook(path)
    nameless.properties.keywords = None
    nameless.save(path)
    with pytest.raises(WorkbookError, match=r"row \d+: this response is not bo's to rate, nor to settle"):
        import_ratings(ledger, lake, path, "bo")
    draw_calibration(ledger, lake, DrawRequest(RUN, "first", 2, 60, PEOPLE))
    with pytest.raises(WorkbookError, match="row 2, column A: the key is none of round 2 of 'first'"):
        import_ratings(ledger, lake, path, "ann")
    assert import_ratings(ledger, lake, path, "ann", number=1).unchanged == 80
    fill_workbook(path, lambda *_: 4)
    with pytest.raises(WorkbookError, match="row 2, column E: the stars are not 0, 1, 2 or 3"):
        import_ratings(ledger, lake, path, "ann", number=1)
