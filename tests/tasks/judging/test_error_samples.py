"""Failures drawn, labelled by a model and a person: none paid twice or lost, with intervals."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import load_workbook

from schemas.errors import UsageError, WorkbookError
from schemas.judgements import ERROR_CLASSES
from tasks.judging.error_samples import (
    compare_labels,
    draw_failures,
    export_failures,
    import_failures,
    prelabel_failures,
)
from tasks.models.registry import read_registry
from tests.tasks.judging.test_unparsed import QUESTIONS, SOUND, Room, open_room
from warehouse.ledger.trust.users import add_user

# A judge that is always wrong about what is right: its 0 and 1 stars are failures enough.
HARSH = {"kind": "judge", "agreement": 0.4, "leniency": -1.0}


@pytest.fixture(scope="module")
def judged_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the session judged, closed; only copied."""
    folder = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patch, open_room(folder, patch, first_judge=HARSH) as opened:
        with opened.ledger.write() as connection:
            add_user(connection, user_id="ann", role="annotator")
        opened.judge()
    return folder / "home"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judged_home: Path) -> Any:
    with open_room(tmp_path, monkeypatch, closed=judged_home, next_judge=SOUND) as opened:
        yield opened


def prelabel(room: Room, name: str = "next-judge") -> dict[str, Any]:
    labeller = read_registry(room.settings.registry_path).get(name)
    return dict(asyncio.run(prelabel_failures(room.ledger, room.lake, room.settings, labeller)))


def test_only_judged_responses_of_no_or_one_star_are_drawn_once(room: Room) -> None:
    (failed,) = room.read("select count(*) from judgements where stars <= 1 and attempt > 0")[0]
    assert 3 < failed < QUESTIONS + 1
    drawn = draw_failures(room.lake, "run-1", per_model=3)
    assert (drawn.height, set(drawn["failed_count"]), set(drawn["sample_size"])) == (3, {failed}, {3})
    assert draw_failures(room.lake, "run-1", per_model=3).equals(drawn)
    with pytest.raises(UsageError, match="The sample 'run-1' was drawn already: 3 responses"):
        draw_failures(room.lake, "run-1", per_model=4)
    assert draw_failures(room.lake, "run-1", per_model=4, name="more").height == 4
    with pytest.raises(UsageError, match="There is no run 'run-9'"):
        draw_failures(room.lake, "run-9", per_model=4)


@pytest.mark.long
def test_a_kill_before_the_landing_pays_for_no_label_twice(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = draw_failures(room.lake, "run-1", per_model=50)
    landed = room.lake.land_together

    def die(batches: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(room.lake, "land_together", die)
    with pytest.raises(KeyboardInterrupt):
        prelabel(room)
    asked = room.requests["next-judge"]
    assert asked == drawn.height
    monkeypatch.setattr(room.lake, "land_together", landed)
    assert prelabel(room)["labelled"] == drawn.height
    assert prelabel(room)["labelled"] == 0
    assert room.requests["next-judge"] == asked
    assert room.read("select count(*) from llm_calls where purpose = 'error_label'") == [(asked,)]


def test_people_confirm_or_correct_and_their_labels_go_before_a_models(room: Room, tmp_path: Path) -> None:
    drawn = draw_failures(room.lake, "run-1", per_model=50)
    prelabel(room)
    path = tmp_path / "failures.xlsx"
    assert export_failures(room.lake, path, is_blind=True) == drawn.height
    assert {row[5].value for row in load_workbook(path)["answers"].iter_rows(min_row=2)} == {None}
    export_failures(room.lake, path)
    workbook = load_workbook(path)
    sheet = workbook["answers"]
    thought = [str(row[5].value).removeprefix("next-judge: ") for row in sheet.iter_rows(min_row=2)]
    assert set(thought) <= set(ERROR_CLASSES)
    assert {row[4].value for row in sheet.iter_rows(min_row=2)} == {None}
    # All are confirmed but the first, which is corrected; the last is left.
    other = next(name for name in ERROR_CLASSES if name != thought[0])
    given = [other, *thought[1:-1]]
    for row, label in enumerate(given, start=2):
        sheet.cell(row, 5).value = label
    workbook.save(path)
    first = import_failures(room.ledger, room.lake, path, "ann")
    assert (first.new, first.changed, first.unchanged, first.left_empty) == (len(given), 0, 0, 1)
    again = import_failures(room.ledger, room.lake, path, "ann")
    assert (again.new, again.unchanged) == (0, len(given))
    found = compare_labels(room.lake)
    assert (found["drawn"], found["labelled_by_people"]) == (drawn.height, len(given))
    compared = found["labelled_by_models"]["next-judge"]
    assert (compared["labelled"], compared["compared"]) == (drawn.height, len(given))
    assert 0 < compared["kappa"] < 1
    shares = room.lake.run_named("error_shares").to_dicts()
    assert sum(row["human_count"] for row in shares) == len(given)
    assert sum(row["error_share"] for row in shares) == pytest.approx(100)
    for share in shares:
        assert 0 <= share["error_share_low"] <= share["error_share"] <= share["error_share_high"] <= 100
    by_discipline = room.lake.run_named("error_shares_by_discipline").to_dicts()
    assert sum(row["label_count"] for row in by_discipline) == drawn.height
    # A sample of real failures after it: each is told with the shares of its own kind.
    labels = room.lake.query("select * exclude (landing_unit) from error_labels where not is_human")
    later = {"session_id": pl.lit("s2"), "model": pl.lit("real")}
    real = drawn.with_columns(
        **later, sample_id=pl.lit("later"), is_simulated=False, drawn_at=pl.col("drawn_at").dt.offset_by("1d")
    )
    room.lake.land("error_samples", "later", real)
    room.lake.land("error_labels", "later/next-judge", labels.with_columns(**later))
    for sample, model in (("later", "real"), (None, "real"), ("run-1", "sim")):
        assert {row["model"] for row in compare_labels(room.lake, sample)["shares"]} == {model}


def test_a_class_that_is_none_is_refused_by_its_place(room: Room, tmp_path: Path) -> None:
    draw_failures(room.lake, "run-1", per_model=50)
    path = tmp_path / "failures.xlsx"
    export_failures(room.lake, path)
    workbook = load_workbook(path)
    workbook["answers"]["E2"].value = "laziness"
    workbook.save(path)
    with pytest.raises(WorkbookError, match="row 2, column E: the error_class is not disciplinary_knowledge"):
        import_failures(room.ledger, room.lake, path, "ann")
    with pytest.raises(UsageError, match="'eve' is no active user"):
        import_failures(room.ledger, room.lake, path, "eve")
    assert room.read("select count(*) from error_labels") == [(0,)]
