"""The released tables of League of LLMs.

They are read by the import and recomputed by the project's own statistics.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from schemas.settings import Settings
from tasks.league.statistics.importing import ImportedLeague, ImportRequest, import_scores
from tasks.league.statistics.landing import write_statistics
from tasks.league.statistics.tables import StatisticsRequest
from tests.fresh import open_new_lake
from warehouse.lake import Lake

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[5] / "shared" / "data"))
LEAGUE = SHARED / "league"

pytestmark = pytest.mark.skipif(
    not LEAGUE.is_dir(), reason="needs the released tables beside the checkout (or PROCTOR_SHARED_DATA)"
)

QUICK = StatisticsRequest(resamples=200, repeats=10)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, ImportedLeague]]:
    """The table of scores, read and computed: once, and only asked."""
    with open_new_lake(Settings(home=tmp_path_factory.mktemp("published") / "home")) as lake:
        imported = import_scores(lake, [LEAGUE / "score.xlsx"], ImportRequest("lol", "programming"))
        assert write_statistics(lake, "lol", QUICK).is_new
        yield lake, imported


def read_sheet(file: str, sheet: str) -> list[tuple[object, ...]]:
    book = openpyxl.load_workbook(LEAGUE / file, data_only=True)
    return list(book[sheet].iter_rows(values_only=True))


def test_the_first_sheet_of_scores_follows_from_the_second(read: tuple[Lake, ImportedLeague]) -> None:
    printed = {str(row[0]): row[1:3] for row in read_sheet("score.xlsx", "Sheet1")[1:]}
    lake, imported = read

    assert imported.score_counts == {"score.xlsx": 3 * 8 * 7}
    assert imported.sheets_left == {"score.xlsx": ["Sheet1"]}
    found = {
        next(name for name in printed if row["model"].startswith(name)): (row["score"], row["setting_score"])
        for row in lake.run_named("league_ranking", {"league_id": "lol"}).iter_rows(named=True)
    }
    assert found.keys() == printed.keys()
    for name, values in printed.items():
        assert found[name] == pytest.approx(values, abs=1e-6)


def test_solving_and_setting_correlate_as_computed_from_the_released_scores(
    read: tuple[Lake, ImportedLeague],
) -> None:
    found = (
        read[0]
        .run_named("league_agreement", {"league_id": "lol"})
        .select("compared_with", "method", "correlation", "p_value", "candidate_count")
    )

    assert found.rows() == [
        ("setting", "spearman", pytest.approx(-0.714, abs=5e-4), pytest.approx(0.047, abs=5e-4), 8),
        ("setting", "pearson", pytest.approx(-0.767, abs=5e-4), pytest.approx(0.026, abs=5e-4), 8),
    ]


def test_what_the_files_do_not_say_is_null(read: tuple[Lake, ImportedLeague]) -> None:
    lake, _ = read
    marks = lake.query("select * from league_marks")
    assert set(marks["judge"]) == {None}
    assert set(marks["is_imported"]) == {True}
    # No judges: no analysis of single scores, no favour of families, no lists to overlap, no cells.
    assert set(lake.query("select unit from league_anova")["unit"]) == {"answer"}
    for name in ("league_family_bias", "league_consistency", "league_cells"):
        assert lake.query(f"select * from {name}").is_empty()
    row = lake.query(
        "select run_count, run_sd, run_sd_100, family from league_scores where model = 'o1'"
    ).row(0)
    means = [52.1836734693878, 62.51020408163265, 53.12244897959183]  # Total Score of each run
    sd = pytest.approx(np.std(means, ddof=1))
    assert row == (3, sd, sd, None)


def test_every_radar_cell_is_a_whole_number_of_points_over_three_runs_of_seven_judges(lake: Lake) -> None:
    import_scores(lake, [LEAGUE / "Radar.xlsx"], ImportRequest("lol", "mathematics", scale="borda"))
    write_statistics(lake, "lol", QUICK)

    cells = lake.query("select answerer, asker, score, most_points from league_marks")
    assert (cells.height, set(cells["most_points"])) == (56, {6.0})
    assert set(cells["answerer"]) == set(cells["asker"])
    points = cells["score"].to_numpy() * 21
    assert points == pytest.approx(np.round(points), abs=1e-6)
    # The mean of a candidate is that of its seven cells; 1.93 for o3-mini (the paper's table 2 has 3.57: other runs).
    scores = dict(lake.query("select model, score from league_scores").iter_rows())
    assert scores["o3-mini"] == pytest.approx(1.932, abs=5e-4)


def test_the_released_overlaps_have_the_average_of_their_file_and_their_chance_level(lake: Lake) -> None:
    request = ImportRequest("lol", "mathematics", scale="borda")
    import_scores(lake, [LEAGUE / "Radar.xlsx", LEAGUE / "TOP-k.xlsx"], request)
    write_statistics(lake, "lol", QUICK)
    *_, average = read_sheet("TOP-k.xlsx", "Top-k")

    found = lake.run_named("league_top_k", {"league_id": "lol"})

    assert found["k"].to_list() == [2, 3, 4]
    assert found["overlap"].to_list() == pytest.approx(average[1:])
    assert found["overlap"].to_list() == pytest.approx([0.5655, 0.6632, 0.7485], abs=5e-5)
    assert found["chance"].to_list() == pytest.approx([0.279, 0.419, 0.560], abs=1e-3)
    assert found["run_count"].to_list() == [3, 3, 3]
    assert found["overlap_low"].null_count() == 3 and found["round_count"].null_count() == 3
    assert (found["run_low"] <= found["overlap"]).all() and (found["overlap"] <= found["run_high"]).all()


@pytest.mark.long
def test_another_domain_with_other_names_does_not_change_the_chance_level(lake: Lake) -> None:
    import_scores(lake, [LEAGUE / "score.xlsx"], ImportRequest("lol", "programming"))
    import_scores(lake, [LEAGUE / "TOP-k.xlsx"], ImportRequest("lol", "mathematics"))
    write_statistics(lake, "lol", QUICK)
    assert lake.query("select chance from league_consistency")["chance"].null_count() == 3

    import_scores(lake, [LEAGUE / "Radar.xlsx"], ImportRequest("lol", "mathematics", scale="borda"))
    write_statistics(lake, "lol", QUICK)
    chance = lake.query("select chance from league_consistency order by k")["chance"].to_list()
    assert chance == pytest.approx([0.279, 0.419, 0.560], abs=1e-3)
    assert lake.query(
        "select distinct most_points from league_scores where domain = 'mathematics'"
    ).rows() == [(6.0,)]


def test_reading_the_same_files_again_changes_nothing(read: tuple[Lake, ImportedLeague]) -> None:
    lake, first = read
    again = import_scores(lake, [LEAGUE / "score.xlsx"], ImportRequest("lol", "programming"))
    assert (first.is_new, again.is_new) == (True, False)
    assert not write_statistics(lake, "lol", QUICK).is_new
