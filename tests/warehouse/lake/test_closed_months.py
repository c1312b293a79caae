"""What is frozen of closed months is what reading everything gives, whatever comes later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from schemas.settings import Settings
from schemas.tables import TABLES, get_table
from tests.benchmarks.history_rows import History, land_month, publish_month
from tests.fresh import copy_home, open_new_lake
from warehouse.lake import Lake, open_lake, open_narrow_lake
from warehouse.lake.reading import LakeReader, find_query
from warehouse.lake.reading.months import find_values, list_frozen
from warehouse.lake.reading.queries import bind_parameters
from warehouse.lake.upkeep import close_months, compact_lake

pytestmark = pytest.mark.slow
FIRST, SECOND = "2025-01", "2025-02"
LATER = datetime(2026, 1, 1, tzinfo=UTC)
PUBLISHED = [table.name for table in TABLES.values() if table.is_frozen]
# What the judges gave, what nobody could read, and a query that reads what is frozen: all go one way.
SOME = ("judge_agreement", "unparsed_judgements", "disputed_responses")
READ = (*(query.name for query in list_frozen()), "disputed_responses", "judge_disagreements")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two published months, the first closed.

    In each one response can be read by nobody, and another by the second judge alone.
    """
    settings = Settings(home=tmp_path_factory.mktemp("closed") / "home")
    history = History(3, 30)
    with open_new_lake(settings) as lake:
        for number, month in enumerate((FIRST, SECOND)):
            frames = history.list_frames(number, month)
            by_nobody = (pl.col("session_id") == f"{month}-c01-zero_shot") & (pl.col("seq") == 1)
            by_one = (pl.col("session_id") == f"{month}-c02-few_shot") & (pl.col("seq") == 2)
            is_hidden = by_nobody | (by_one & (pl.col("judge") == "judge-a"))
            frames["judgements"] = frames["judgements"].with_columns(
                stars=pl.when(is_hidden).then(None).otherwise("stars"),
                parse_status=pl.when(is_hidden).then(pl.lit("unparsed")).otherwise("parse_status"),
            )
            land_month(lake, frames, LATER)
            # Of so few answers one is above every limit that a setting may have.
            lenient = settings.model_copy(update={"unparsed_gate": 1.0})
            publish_month(lake, lenient, month, is_equated=False)
            if month == FIRST:
                assert close_months(lake) == 1
    return settings.home


@pytest.fixture
def lake(made: Path, tmp_path: Path) -> Iterator[Lake]:
    settings = Settings(home=tmp_path / "home")
    copy_home(made, settings)
    with open_lake(settings) as opened:
        yield opened


def find_open(lake: Lake) -> tuple[object, object]:
    found = find_values(lambda sql: lake.query(sql).rows(), ("open_from",))
    return found["open_from"], found["open_to"]


def check_same(
    lake: Lake, month: str | None = None, names: Sequence[str] = SOME
) -> dict[str, list[tuple[object, ...]]]:
    """Analyses as the lake runs them, and as what reads everything; of all months, or of one.

    Returns the rows of each.
    """
    rows = {}
    for name in names:
        query, given = find_query(name), {"month": month}
        whole = lake.query(query.body, bind_parameters(query, given))
        found = lake.run_named(name, given)
        assert (found.columns, found.rows()) == (whole.columns, whole.rows()), (name, month)
        rows[name] = found.rows()
    return rows


def test_every_frozen_analysis_has_a_table_of_its_columns(lake: Lake) -> None:
    for query in list_frozen():
        table = get_table(query.frozen_table)
        found = lake.query(f"FROM ({query.body.strip().rstrip(';')}\n) LIMIT 0", bind_parameters(query, {}))
        assert [column.name for column in table.own_columns] == found.columns
        assert all(found.schema[one.name] == table.polars_schema[one.name] for one in table.own_columns)


def test_closed_months_are_read_as_they_were_frozen_and_say_the_same(lake: Lake) -> None:
    assert find_open(lake) == (SECOND, SECOND)
    found = check_same(lake, names=READ)
    check_same(lake, FIRST, READ)
    with LakeReader(lake.settings) as reader:
        assert {name: reader.run_named(name).rows for name in READ} == found
    assert {name: len(rows) for name, rows in found.items()} == {
        "disputed_responses": 0,
        "judge_agreement": 2,
        "judge_disagreements": 10,
        "judge_means": 12,
        "resolved_judgements": 2,
        "sessions_left_out": 6,
        "unparsed_judgements": 4,
    }
    assert close_months(lake) == 1
    assert find_open(lake) == ("9999-12", "")
    check_same(lake, names=READ)
    assert close_months(lake) == 0


def test_a_team_reads_closed_months_whole_as_frozen_rows_are_of_every_model(lake: Lake) -> None:
    models = {model for (model,) in lake.query("SELECT DISTINCT model FROM sessions").rows()}
    with open_narrow_lake(lake.settings, models) as own:
        assert {name: own.run_named(name).rows() for name in SOME} == {
            name: lake.run_named(name).rows() for name in SOME
        }


def test_frozen_rows_are_what_is_read(lake: Lake) -> None:
    """Else the comparison would compare a scan with itself."""
    with lake.transaction() as connection:
        connection.execute("DELETE FROM closed_judge_agreement")
    assert set(lake.run_named("judge_agreement")["month"]) == {SECOND}


def judge_late(lake: Lake) -> None:
    rows = lake.query(
        "SELECT * EXCLUDE (landing_unit) FROM judgements WHERE session_id = $id AND seq = 1 AND judge = 'judge-a'",
        {"id": f"{FIRST}-c01-zero_shot"},
    ).with_columns(
        judge=pl.lit("person:eve"), stars=pl.lit(2, pl.Int64), parse_status=pl.lit("parsed"),
        reason=pl.lit("read by eye"), prompt_version=pl.lit("person/en"), occasion=pl.lit("again-1"),
        judged_at=pl.lit(LATER),
    )  # fmt: skip
    lake.land("judgements", f"{FIRST}-c01-zero_shot/person:eve/person", rows)


def judge_late_in_full(lake: Lake) -> None:
    """A third judge, with the whole month, and another version of the first judge's prompt."""
    rows = lake.query(
        "SELECT * EXCLUDE (landing_unit) FROM judgements WHERE month = $month AND judge = 'judge-a'",
        {"month": FIRST},
    ).with_columns(judged_at=pl.lit(LATER), stars=pl.col("stars").fill_null(1))
    lake.land("judgements", "late/judge-c", rows.with_columns(judge=pl.lit("judge-c")))
    lake.land("judgements", "late/judge-a", rows.with_columns(prompt_version=pl.lit("2/zh")))


def open_session_again(lake: Lake) -> None:
    name = f"{FIRST}-c02-zero_shot"
    rows = lake.query("SELECT * EXCLUDE (landing_unit) FROM sessions WHERE session_id = $id", {"id": name})
    lake.land("sessions", name, rows.with_columns(status=pl.lit("open")))


def take_answers_away(lake: Lake) -> None:
    name = f"{FIRST}-c02-zero_shot"
    rows = lake.query("SELECT * EXCLUDE (landing_unit) FROM responses WHERE session_id = $id", {"id": name})
    lake.land("responses", name, rows.filter(pl.col("seq") > 3))


def take_judgements_away(lake: Lake) -> None:
    with lake.transaction() as connection:
        connection.execute(f"DELETE FROM judgements WHERE month = '{FIRST}'")


def calibrate_late(lake: Lake) -> None:
    """The second judge turns out the better one: of what is published it changes nothing."""
    row = {
        "judge": "judge-b", "prompt_version": "1/zh", "model": "all", "occasion": "first", "round": 1, "weighting": "none",
        "kappa": 0.9, "pair_count": 400,
    }  # fmt: skip
    frame = get_table("calibration").frame([row])
    assert not lake.land("calibration", "late", frame).rejected_count


@pytest.mark.long
@pytest.mark.parametrize(
    "change", [judge_late_in_full, open_session_again, take_answers_away, take_judgements_away]
)
def test_a_later_fact_has_its_month_read_again(lake: Lake, change: Callable[[Lake], None]) -> None:
    change(lake)
    assert find_open(lake)[0] == FIRST
    check_same(lake, FIRST, READ)
    close_months(lake)
    check_same(lake, names=READ)
    check_same(lake, FIRST)


def test_a_later_calibration_changes_nothing_of_a_closed_month(lake: Lake) -> None:
    calibrate_late(lake)
    assert find_open(lake) == (SECOND, SECOND)
    check_same(lake)


def test_a_month_of_which_a_run_is_not_published_is_not_closed(lake: Lake) -> None:
    judgements = lake.query(f"SELECT * EXCLUDE (landing_unit) FROM judgements WHERE month = '{FIRST}'")
    lake.land(
        "judgements",
        "of another run",
        judgements.with_columns(run_id=pl.lit(f"{FIRST}-b"), session_id="b/" + pl.col("session_id")),
    )
    assert close_months(lake) == 1
    assert find_open(lake) == (FIRST, FIRST)
    check_same(lake)
    lake.land("sessions", "none", lake.query("SELECT * EXCLUDE (landing_unit) FROM sessions LIMIT 0"))
    count = "SELECT sum(file_count)::BIGINT FROM ducklake_table_info('exam')"
    before = lake.query(count).item()
    assert close_months(lake) == 0
    # Every flow begins so, as long as the month is not closed: nothing is written anew.
    assert lake.query(count).item() == before


def test_a_month_with_a_later_fact_is_read_and_frozen_again_its_small_files_merged_and_so_after_compaction(
    lake: Lake,
) -> None:
    judge_late(lake)
    count = "SELECT table_name, file_count FROM ducklake_table_info('exam') WHERE table_name IN ('judgements', 'sessions') ORDER BY 1"
    assert lake.query(count).rows() == [("judgements", 3), ("sessions", 2)]
    assert find_open(lake)[0] == FIRST
    check_same(lake, FIRST, READ)
    published = [lake.query(f"FROM {name} ORDER BY ALL") for name in PUBLISHED]
    close_months(lake)
    assert lake.query(count).rows() == [("judgements", 2), ("sessions", 1)]
    assert all(
        lake.query(f"FROM {name} ORDER BY ALL").equals(rows)
        for name, rows in zip(PUBLISHED, published, strict=True)
    )
    assert find_open(lake) == ("9999-12", "")
    check_same(lake, names=READ)
    check_same(lake, FIRST)
    compact_lake(lake, keep_days=0)
    check_same(lake)
    close_months(lake)
    assert find_open(lake) == ("9999-12", "")
    check_same(lake)


@pytest.mark.parametrize("simulated", [[SECOND], [FIRST, SECOND]])
def test_the_latest_month_is_of_real_candidates_where_there_are_any(lake: Lake, simulated: list[str]) -> None:
    """The month of a trial after a real one takes nobody's place."""
    for month in simulated:
        with lake.transaction() as connection:
            connection.execute("UPDATE judgements SET is_simulated = true WHERE month = ?", [month])
    latest = FIRST if simulated == [SECOND] else SECOND
    for name, given, month in (
        ("judge_disagreements", {}, latest),
        ("judge_disagreements", {"simulated": True}, SECOND),
        ("disputed_responses", {"least_distance": 0}, latest),
        ("disputed_responses", {"least_distance": 0, "simulated": True}, SECOND),
    ):
        query = find_query(name)
        found = lake.run_named(name, given)
        assert set(found["month"]) == {month}, (name, given)
        assert found.rows() == lake.query(query.body, bind_parameters(query, given)).rows()
    assert lake.run_named("judge_disagreements", {"simulated": False}).is_empty() == (latest == SECOND)


def test_explained_statements_need_nothing_that_a_lake_finds() -> None:
    for name in READ:
        query = find_query(name)
        assert query.found
        assert not any(f"${found}" in query.body for found in query.found)
