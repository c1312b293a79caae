"""The leak watch on a published run: who had met what, and where nothing can be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.contamination.leak_watch import describe_leaks, watch_leaks
from tests.fresh import open_new_lake
from tests.tasks.editions.kit import publish_run
from tests.tasks.editions.season import land_frames
from tests.tasks.report.synthetic import build_season
from tests.warehouse.test_sql_cases import fill_rows

RUN = "run-2025-06"


def test_gains_are_told_for_who_had_met_some_of_the_questions(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", judge_ratings_gate=100)
    frames = build_season(months=("2025-06",))
    with open_new_lake(settings) as lake:
        land_frames(lake, frames)
        with pytest.raises(UsageError, match=f"Run {RUN} has no edition"):
            watch_leaks(lake, RUN)
        # An earlier run in which one organisation was put every third lineage.
        lineages = frames["allocations"].select("lineage_uuid", "discipline").unique(maintain_order=True)
        earlier = {"run_id": "earlier", "month": "2025-05", "session_id": "east-before"}
        rows = [
            earlier
            | {"seq": seq, "question_uuid": lineage, "lineage_uuid": lineage, "discipline": discipline}
            for seq, (lineage, discipline) in enumerate(lineages.gather_every(3).iter_rows(), start=1)
        ]
        for table, given in (
            ("runs", [earlier | {"planned_at": "2025-05-01", "status": "closed"}]),
            ("sessions", [earlier | {"model": "east-1", "organisation": "East", "status": "closed"}]),
            ("allocations", rows),
        ):
            columns = {column.name for column in get_table(table).own_columns}
            own = [{name: value for name, value in row.items() if name in columns} for row in given]
            lake.land(table, "earlier", fill_rows(get_table(table), own).drop("landing_unit"))
        publish_run(lake, settings, RUN, EXAMINED_DISCIPLINES)
        found = {row["organisation"]: row for row in watch_leaks(lake, RUN)}
    assert sorted(found) == ["East", "North", "South", "西湖"]
    east = found["East"]
    # Two candidates of the organisation, every third of 80 questions each.
    assert (east["question_count"], east["met_count"]) == (160, 54)
    assert abs(east["gain"]) < 4 * east["gain_se"]
    assert east["least_found"] > 2.8 * east["gain_se"]
    for name in ("North", "South", "西湖"):
        assert (found[name]["met_count"], found[name]["gain"], found[name]["is_found"]) == (0, None, False)
    lines = describe_leaks(list(found.values()))
    assert [line.split(":")[0] for line in lines] == list(found)
    assert sum("nothing to compare" in line for line in lines) == 3
