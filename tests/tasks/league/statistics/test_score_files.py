"""What files of scores are read as, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

from schemas.errors import UsageError, WorkbookError
from tasks.league.statistics.importing import ImportRequest, import_scores
from tasks.league.statistics.landing import write_statistics
from tasks.league.statistics.marks import arrange_marks, list_comparisons
from tasks.league.statistics.score_files import Score, TopKOverlap, parse_score_file
from tasks.league.statistics.tables import StatisticsRequest
from warehouse.lake import Lake

BLOCK = [
    ("Model name", "Round 1", "Round 2", "Round 3", "Total Score", None, "Model name", "Round 1", "Round 2", "Round 3"),
    ("a", 0, 50, 70, 60, None, "b", 80, 0, 40),
    ("b", 30, 0, 50, 40, None, "a", 0, 60, 20),
    ("c", 90, 70, 0, 80, None, "c", 70, 50, 0),
    ("Question Average Score", 60, 60, 60, 60),
]  # fmt: skip


def write_book(path: Path, **sheets: list[tuple[Any, ...]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def write_csv(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_are_runs_and_who_holds_zero_asked(tmp_path: Path) -> None:
    found = parse_score_file(write_book(tmp_path / "x.xlsx", Sheet=BLOCK, Other=[("anything", 1)]))

    assert found.sheets_left == ["Other"]
    assert len(found.scores) == 12
    assert found.scores[0] == Score("b", 30.0, league_run=1, round=1, asker="a")
    assert found.scores[-1] == Score("a", 20.0, league_run=2, round=3, asker="c")


def test_a_block_in_which_nobody_or_two_hold_zero_is_refused(tmp_path: Path) -> None:
    rows = [list(row) for row in BLOCK]
    rows[2][1], rows[2][4] = 0, None
    with pytest.raises(UsageError, match=r"x\.xlsx, sheet Sheet, run 1, round 1: 2 candidates hold 0"):
        parse_score_file(write_book(tmp_path / "x.xlsx", Sheet=[tuple(row) for row in rows]))


def test_a_candidate_that_stands_twice_in_a_block_is_refused(tmp_path: Path) -> None:
    rows = [list(row) for row in BLOCK]
    rows[3][6] = "a"
    with pytest.raises(UsageError, match=r"sheet Sheet, row 4: a stands in the run already"):
        parse_score_file(write_book(tmp_path / "x.xlsx", Sheet=[tuple(row) for row in rows]))


def test_a_total_that_does_not_add_up_is_refused(tmp_path: Path) -> None:
    rows = [list(row) for row in BLOCK]
    rows[1][4] = 61
    with pytest.raises(UsageError, match=r"sheet Sheet, row 2: the total is 61, but the mean .* is 60"):
        parse_score_file(write_book(tmp_path / "x.xlsx", Sheet=[tuple(row) for row in rows]))


def test_a_sheet_for_each_answerer_and_a_table_of_overlaps_are_read(tmp_path: Path) -> None:
    book = write_book(
        tmp_path / "x.xlsx",
        a=[("model\xa0name", "b", "c", None), ("final\xa0score", 1.5, 2, None)],
        Top=[("TOP-k", 1, 2), ("run one", 0.5, 0.75), ("Average", 0.5, 0.75)],
    )
    found = parse_score_file(book)
    assert found.scores == [Score("a", 1.5, asker="b"), Score("a", 2.0, asker="c")]
    assert found.overlaps == [TopKOverlap("run one", 1, 0.5), TopKOverlap("run one", 2, 0.75)]


def test_csv_and_parquet_have_a_row_for_each_score(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "x.csv", "\ufefflEAGUE_RUN,round,judge,answerer,score\n1,2, a ,b,7.5\n1,2,c,b,\n"
    )
    expected = [
        Score("b", 7.5, league_run=1, round=2, judge="a"),
        Score("b", None, league_run=1, round=2, judge="c"),
    ]
    assert parse_score_file(path).scores == expected
    frame = pl.DataFrame({"judge": ["a"], "answerer": ["b"], "rank": [1]})
    frame.write_parquet(tmp_path / "x.parquet")
    assert parse_score_file(tmp_path / "x.parquet").scores == [Score("b", None, rank=1, judge="a")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "answerer,points\na,1\n", "does not know the columns points"),
        ("x.csv", "judge,score\na,1\n", "lacks answerer"),
        ("x.csv", "answerer,score\na,one\n", "x.csv, row 1, score: 'one' is no number"),
        ("x.csv", "answerer,score,round\na,1,0\n", "x.csv, row 1, round: '0' is no number from 1"),
        ("x.csv", "answerer,score,round\na,1,inf\n", "x.csv, row 1, round: 'inf' is no number from 1"),
        ("x.csv", "answerer,score\n,1\n", "x.csv, row 1: the answerer is empty"),
        ("x.csv", "answerer,judge,score\na,a,1\n", "a judges itself"),
        ("x.csv", "answerer,asker,score\na,a,1\n", "answers its own question"),
        ("x.csv", "answerer,score\n", "holds no row"),
        ("x.parquet", "no parquet", "cannot be read"),
        ("x.txt", "a", ".txt is not read"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message.replace(".", r"\.")):
        parse_score_file(write_csv(tmp_path / name, text))


def test_a_file_that_is_no_workbook_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkbookError, match=r"x\.xlsx: this is no \.xlsx workbook, but an old \.xls"):
        parse_score_file(write_csv(tmp_path / "x.xlsx", "no workbook"))
    with pytest.raises(WorkbookError, match=r"x\.xlsx: .* damaged or cut off"):
        parse_score_file(write_csv(tmp_path / "x.xlsx", "PK and no more"))
    with pytest.raises(UsageError, match="is not a file"):
        parse_score_file(tmp_path / "none.csv")


def test_ranks_become_borda_points_however_long_the_list(lake: Lake, tmp_path: Path) -> None:
    # Eight candidates: rank r earns 7 - r. The asker ranks seven answers, b ranks six.
    rows = [f"1,1,a,a,{name},{rank}" for rank, name in enumerate("bcdefgh", 1)]
    rows += [f"1,1,a,b,{name},{rank}" for rank, name in enumerate("cdefgh", 1)]
    path = write_csv(tmp_path / "x.csv", "league_run,round,asker,judge,answerer,rank\n" + "\n".join(rows))

    import_scores(lake, [path], ImportRequest("l", "mathematics"))

    points = lake.query("select judge, list(score order by rank) as points, max(most_points) as most from league_marks "
                        "group by judge order by judge")  # fmt: skip
    assert points.rows() == [("a", [6.0, 5, 4, 3, 2, 1, 0], 6.0), ("b", [6.0, 5, 4, 3, 2, 1], 6.0)]


SCORES = "judge,answerer,score\na,b,70\nb,a,90\n"


@pytest.mark.parametrize(
    ("text", "request_", "message"),
    [
        (SCORES, ImportRequest("l"), "its domain is not known"),
        (SCORES, ImportRequest("l/x", "law"), "no name of a league"),
        (SCORES, ImportRequest("l", "law", "half"), "--run-type 'half' is not known"),
        (SCORES, ImportRequest("l", "law", scale="stars"), "--scale 'stars' is not known"),
        (SCORES, ImportRequest("l", "law", scale="borda"), "2 candidates in law earn no Borda points"),
        (
            "judge,answerer,rank\na,b,1\nb,a,1\n",
            ImportRequest("l", "law"),
            "2 candidates in law earn no Borda points",
        ),
        (SCORES + "c,b,70\n", ImportRequest("l", "law", scale="borda"), "70 does not lie between 0 and 1"),
        (SCORES, ImportRequest("l", "law", families={"z": "Z"}), "--family names z"),
        (SCORES + "a,b,60\n", ImportRequest("l", "law"), "a scores b twice"),
        (
            "judge,answerer,rank\na,b,1\na,c,2\n",
            ImportRequest("l", "law", scale="points"),
            "a rank becomes Borda points, and --scale points is for scores of 0 to 100",
        ),
        (
            SCORES,
            ImportRequest("l", "law", names={"a": "b"}),
            "--rename a=b: x.csv names a, b, which would be one",
        ),
        (
            SCORES,
            ImportRequest("l", "law", names={"a": "c", "b": "c"}),
            "x.csv names a, b, which would be one",
        ),
    ],
)
def test_what_the_request_or_the_scores_have_wrong_lands_nothing(
    lake: Lake, tmp_path: Path, text: str, request_: ImportRequest, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        import_scores(lake, [write_csv(tmp_path / "x.csv", text)], request_)
    assert lake.query("select count(*) from leagues").item() == 0
    assert lake.query("select count(*) from imported_league_scores").item() == 0


def test_a_file_of_the_same_name_replaces_and_another_adds(lake: Lake, tmp_path: Path) -> None:
    first = write_csv(tmp_path / "one.csv", SCORES)
    import_scores(lake, [first], ImportRequest("l", "law", families={"a": "A"}))
    import_scores(
        lake, [write_csv(tmp_path / "two.csv", "judge,answerer,score\na,c,10\n")], ImportRequest("l", "law")
    )
    import_scores(lake, [write_csv(first, SCORES.replace("90", "80"))], ImportRequest("l", "law"))

    marks = lake.query("select judge, answerer, score from league_marks order by all")
    assert marks.rows() == [("a", "b", 70.0), ("a", "c", 10.0), ("b", "a", 80.0)]
    members = lake.query("select model, family from league_candidates order by model")
    assert members.rows() == [("a", "A"), ("b", None), ("c", None)]


def test_borda_points_count_the_candidates_of_their_domain(lake: Lake, tmp_path: Path) -> None:
    rank = "judge,answerer,rank\na,b,1\na,c,2\nb,a,1\n"
    import_scores(lake, [write_csv(tmp_path / "law.csv", SCORES + "x,y,5\n")], ImportRequest("l", "law"))
    import_scores(lake, [write_csv(tmp_path / "history.csv", rank)], ImportRequest("l", "history"))

    most = lake.query("select distinct domain, most_points from league_marks order by domain")
    assert most.rows() == [("history", 1.0), ("law", 100.0)]


def test_borda_points_are_the_same_whether_files_come_together_or_one_by_one(
    lake: Lake, tmp_path: Path
) -> None:
    head = "asker,judge,answerer,rank\n"
    first = write_csv(tmp_path / "1.csv", head + "a,a,b,1\na,a,c,2\na,a,d,3\n")
    # d has no answer in the second round: still, who is first of four earns two.
    second = write_csv(tmp_path / "2.csv", head + "b,b,a,1\nb,b,c,2\n")
    for path in (first, second):
        import_scores(lake, [path], ImportRequest("l", "law"))
    points = "select asker, answerer, score, most_points from league_marks order by all"
    assert lake.query(points).rows() == [
        ("a", "b", 2, 2), ("a", "c", 1, 2), ("a", "d", 0, 2), ("b", "a", 2, 2), ("b", "c", 1, 2),
    ]  # fmt: skip
    third = write_csv(tmp_path / "3.csv", head + "c,c,a,1\nc,c,e,2\n")
    with pytest.raises(
        UsageError,
        match=r"1\.csv, and 3\.csv, score 1: the points of law go up to 2 in one and to 3 in the other",
    ):
        import_scores(lake, [third], ImportRequest("l", "law"))
    import_scores(lake, [first, second, third], ImportRequest("l", "law"))
    assert lake.query(points)["most_points"].unique().to_list() == [3]


def test_the_same_scores_under_another_name_are_refused_not_counted_twice(lake: Lake, tmp_path: Path) -> None:
    import_scores(lake, [write_csv(tmp_path / "one.csv", SCORES)], ImportRequest("l", "law"))
    copy = write_csv(tmp_path / "one-corrected.csv", SCORES.replace("90", "80"))
    with pytest.raises(UsageError, match=r"one\.csv, and one-corrected\.csv, score 1: a scores b twice"):
        import_scores(lake, [copy], ImportRequest("l", "law"))
    import_scores(lake, [copy], ImportRequest("l", "history"))
    assert lake.query("select domain, count(*) from league_marks group by all order by all").rows() == [
        ("history", 2), ("law", 2),
    ]  # fmt: skip


def test_what_was_taken_in_twice_before_stops_no_other_file(lake: Lake, tmp_path: Path) -> None:
    one = write_csv(tmp_path / "one.csv", SCORES)
    import_scores(lake, [one], ImportRequest("l", "law"))
    rows = lake.query("select * exclude (landing_unit) from imported_league_scores")
    for name, most in (("copy.csv", 100.0), ("other.csv", 200.0)):
        copied = rows.with_columns(source=pl.lit(name), most_points=pl.lit(most))
        lake.land("imported_league_scores", f"l/{name}", copied)
    assert import_scores(lake, [one.rename(tmp_path / "two.csv")], ImportRequest("l", "history")).is_new


def test_candidates_can_be_given_the_names_that_they_have_elsewhere(lake: Lake, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", SCORES)
    import_scores(lake, [path], ImportRequest("l", "law", names={"a": "alpha"}, families={"alpha": "A"}))

    assert lake.query("select judge, answerer from league_marks order by all").rows() == [
        ("alpha", "b"),
        ("b", "alpha"),
    ]
    with pytest.raises(UsageError, match=r"--rename names z, which no file has\. The files name a, b"):
        import_scores(lake, [path], ImportRequest("l", "law", names={"z": "zeta"}))


def test_a_league_that_was_played_takes_no_imported_scores(
    lake: Lake, tmp_path: Path, land_league: Any
) -> None:
    from tests.tasks.league.statistics.synthetic import Spec

    land_league(Spec(runs=1, domains=("mathematics",)))
    with pytest.raises(UsageError, match="autumn was played here"):
        import_scores(lake, [write_csv(tmp_path / "x.csv", SCORES)], ImportRequest("autumn", "law"))


@pytest.mark.parametrize(
    ("text", "correlations"),
    [
        # Nobody met anybody: there is no comparison to replay.
        ("round,judge,answerer,score\n1,x,a,50\n2,x,b,60\n3,x,c,70\n", []),
        # Neither rounds nor judges are named: candidates are compared by their means, 60, 61 and 40.
        ("answerer,score\na,50\na,70\nb,62\nb,60\nc,10\nc,70\n", [1.0, 1.0]),
    ],
)
def test_replays_are_of_what_a_file_lets_compare(
    lake: Lake, tmp_path: Path, text: str, correlations: list[float]
) -> None:
    import_scores(lake, [write_csv(tmp_path / "x.csv", text)], ImportRequest("l", "law"))
    write_statistics(lake, "l", StatisticsRequest(resamples=100, repeats=2))
    found = lake.query("select spearman from league_replays where share = 1 order by method")
    assert found.to_series().to_list() == pytest.approx(correlations)


def test_means_that_differ_in_the_last_bit_only_are_a_tie(lake: Lake, tmp_path: Path) -> None:
    text = "answerer,score\na,0.1\na,0.2\na,0.3\nb,0.3\nb,0.2\nb,0.1\n"
    import_scores(lake, [write_csv(tmp_path / "x.csv", text)], ImportRequest("l", "law"))
    marks = arrange_marks(lake.read("league_marks_of", {"league_id": "l"}))
    assert list_comparisons(marks).tolist() == [[0.2, 0.2]]
