from __future__ import annotations

import inspect
import json
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import duckdb
import polars as pl
import pytest
from filelock import FileLock
from polars.testing import assert_frame_equal

from schemas.errors import ContractError, StoreError, UsageError
from schemas.settings import Settings
from schemas.table import DUCKDB_TYPES
from schemas.tables import TABLES, get_table
from tests.fresh import open_new_lake
from tests.hunts import some, tries
from tests.warehouse.interrupts import interrupt_everywhere
from tests.warehouse.sample_rows import (
    SECRET_STEM,
    allocation_frame,
    make_question,
    make_session,
    make_uuid,
    question_frame,
    session_frame,
)
from warehouse.lake import Batch, Lake, Landing, attach, hash_rows, open_lake, store
from warehouse.lake.connecting import connect_duckdb, find_extension, load_extensions
from warehouse.lake.fetching import DEAR_S, FEW, fetch_few
from warehouse.lake.files.object_store import create_s3_secret
from warehouse.lake.reading.queries import read_queries


def test_no_variable_is_a_table_and_no_signal_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    # DuckDB looks for a variable of an unknown table's name in our frames, and forgets what a signal raises in there.
    looks = []
    strangers = pl.DataFrame({"a": [1]})
    monkeypatch.setattr(inspect, "currentframe", lambda: looks.append(strangers))
    with connect_duckdb() as connection, pytest.raises(duckdb.CatalogException, match="strangers"):
        connection.execute("SELECT * FROM strangers")
    assert looks == []


def test_every_table_exists_from_the_first_day_with_its_comments(settings: Settings) -> None:
    # No copy: those lack the comments of columns.
    with open_lake(settings) as lake:
        columns = lake.query(
            "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE database_name = 'exam' "
            "AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE database_name = 'exam')"
        )
        expected = {(t.name, c.name, c.about) for t in TABLES.values() for c in t.columns}
        assert set(columns.rows()) == expected
        grains = dict(
            lake.query("SELECT table_name, comment FROM duckdb_tables() WHERE database_name = 'exam'").rows()
        )
        assert all(grains[table.name].startswith(table.grain) for table in TABLES.values())


def test_every_mart_and_staging_query_is_a_view_with_its_question(empty_lake: Lake) -> None:
    queries = {**read_queries("marts"), **read_queries("staging")}
    comments = dict(
        empty_lake.query(
            "SELECT view_name, comment FROM duckdb_views() WHERE database_name = 'exam' AND NOT internal"
        ).rows()
    )
    assert comments.keys() == queries.keys()
    assert all(comments[name].startswith(query.question) for name, query in queries.items())


def test_what_was_landed_is_read_back_the_same(lake: Lake) -> None:
    frame = question_frame(
        [make_question(1), make_question(2, options=[], answer=None, explanation="因为\t“…”")]
    )

    landing = lake.land("questions", "document-1", frame)

    assert landing == Landing("questions", "document-1", 2, 0, False)
    found = lake.query("SELECT * EXCLUDE (landing_unit) FROM questions ORDER BY position")
    assert found.equals(frame)
    assert lake.query("SELECT DISTINCT landing_unit FROM questions")["landing_unit"].to_list() == [
        "document-1"
    ]


def test_a_landing_is_recorded_with_its_counts_and_version(lake: Lake) -> None:
    lake.land("sessions", "s-1", session_frame(3), flow_run_id="flow-9")

    [row] = lake.query("SELECT * FROM landings").to_dicts()
    assert row["landed_at"] <= datetime.now(UTC)
    assert len(row["content_hash"]) == len(row["rows_hash"]) == 64
    assert {k: v for k, v in row.items() if k not in ("landed_at", "content_hash", "rows_hash")} == {
        "table_name": "sessions",
        "unit": "s-1",
        "row_count": 3,
        "rejected_count": 0,
        "flow_run_id": "flow-9",
        "code_version": "0.1.0",
        "landing_unit": "sessions/s-1",
    }


def test_landing_the_same_content_again_changes_nothing(lake: Lake) -> None:
    frame = session_frame(5)
    lake.land("sessions", "s-1", frame)
    snapshots = lake.query("SELECT count(*) FROM ducklake_snapshots('exam')").item()

    again = lake.land("sessions", "s-1", frame.reverse())

    assert again == Landing("sessions", "s-1", 5, 0, True)
    assert lake.query("SELECT count(*) FROM ducklake_snapshots('exam')").item() == snapshots


def test_the_time_at_which_work_was_done_is_not_content(lake: Lake) -> None:
    def documents(at: datetime, name: str = "a.pdf") -> pl.DataFrame:
        row = {
            "document_id": make_uuid(1), "sha256": "0", "document_name": name, "size_bytes": 1,
            "status": "parsed", "question_count": 0, "ingested_at": at,
        }  # fmt: skip
        return get_table("documents").frame([row])

    lake.land("documents", "d", documents(datetime(2026, 1, 1, tzinfo=UTC)))

    assert lake.land("documents", "d", documents(datetime(2026, 2, 1, tzinfo=UTC))).is_unchanged
    assert not lake.land("documents", "d", documents(datetime(2026, 2, 1, tzinfo=UTC), "b.pdf")).is_unchanged
    assert lake.land(
        "documents", "d", documents(datetime(2026, 3, 1, tzinfo=UTC), "c.pdf"), ignore=("document_name",)
    ) == (Landing("documents", "d", 1, 0, False))


def test_landing_a_unit_again_replaces_its_rows_and_no_others(lake: Lake) -> None:
    lake.land("sessions", "a", session_frame(3))
    lake.land("sessions", "b", session_frame(2, first=10))

    lake.land("sessions", "a", session_frame(1, first=1, answered_count=7))

    rows = lake.query("SELECT landing_unit, session_id, answered_count FROM sessions ORDER BY ALL").rows()
    assert rows == [("a", "session-1", 7), ("b", "session-10", 10), ("b", "session-11", 10)]
    assert lake.query("SELECT unit, row_count FROM landings ORDER BY ALL").rows() == [("a", 1), ("b", 2)]


def test_rows_that_break_a_rule_are_quarantined_with_every_rule_they_broke(lake: Lake) -> None:
    frame = session_frame(2).vstack(
        get_table("sessions").frame(
            [make_session(2, month="2026-13", repeat=0), make_session(3, prompt_style="shouting", model=None)]
        )
    )

    landing = lake.land("sessions", "s", frame, stage="rehearse")

    assert landing == Landing("sessions", "s", 2, 2, False)
    rows = lake.query("SELECT table_name, unit, stage, row_key, rule FROM quarantine ORDER BY ALL").rows()
    key = '{"session_id": "session-%d"}'
    assert rows == [
        ("sessions", "s", "rehearse", key % 2, "pattern: month"),
        ("sessions", "s", "rehearse", key % 2, "range: repeat"),
        ("sessions", "s", "rehearse", key % 3, "allowed: prompt_style"),
        ("sessions", "s", "rehearse", key % 3, "required: model"),
    ]
    whole = json.loads(lake.query("SELECT row_json FROM quarantine WHERE rule = 'range: repeat'").item())
    assert whole == {**dict.fromkeys(frame.columns), **make_session(2, month="2026-13", repeat=0)}
    assert lake.query("SELECT session_id FROM sessions ORDER BY 1")["session_id"].to_list() == [
        "session-0",
        "session-1",
    ]


def test_a_hash_that_a_stage_has_of_its_rows_stands_where_all_of_them_are_accepted(lake: Lake) -> None:
    whole = session_frame(2)
    spoilt = whole.vstack(get_table("sessions").frame([make_session(2, month="2026-13")]))
    lake.land_together(
        [
            Batch("sessions", "whole", whole, rows_hash="of the stage"),
            Batch("sessions", "spoilt", spoilt, rows_hash="of all three rows"),
        ]
    )

    kept = dict(lake.query("SELECT unit, rows_hash FROM landings").iter_rows())
    assert kept == {"whole": "of the stage", "spoilt": hash_rows(whole)}


def test_landing_a_corrected_unit_empties_its_quarantine(lake: Lake) -> None:
    lake.land("sessions", "a", session_frame(1, repeat=0))
    lake.land("sessions", "b", session_frame(1, first=5, repeat=0))

    assert lake.land("sessions", "a", session_frame(1)) == Landing("sessions", "a", 1, 0, False)

    assert lake.query("SELECT unit FROM quarantine")["unit"].to_list() == ["b"]


def test_of_rows_with_one_key_the_first_stays(lake: Lake) -> None:
    frame = question_frame([make_question(1, marks=5.0), make_question(2), make_question(1, marks=2.0)])

    assert lake.land("questions", "d", frame).rejected_count == 1

    assert lake.query("SELECT marks FROM questions ORDER BY position")["marks"].to_list() == [5.0, None]
    assert lake.query("SELECT rule FROM quarantine").item() == "unique: question_uuid, revision, document_id"


def test_only_the_units_in_hand_are_looked_up(lake: Lake) -> None:
    lake.land_together([Batch("sessions", name, session_frame(1)) for name in ("a", "b", "it's")])
    lake.land("allocations", "c", allocation_frame("c", "2026-01", 1))

    assert lake.landed("sessions", ["a", "it's", "c", "d"]) == {"a", "it's"}
    assert lake.landed("sessions", []) == set()


def test_rows_land_from_a_home_whose_path_looks_like_a_pattern_and_leave_no_file_behind(
    tmp_path: Path,
) -> None:
    settings = Settings(home=tmp_path / "colour=red" / "[a]*?" / "home")
    with open_lake(settings) as lake:
        lake.land("questions", "d", question_frame([make_question(1), make_question(2)]))
        assert lake.query("SELECT count(*) FROM questions").item() == 2
    assert list((settings.home / "duckdb").glob("spill-*")) == []


def test_units_landed_together_are_all_there_or_none(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    from warehouse.lake import landing

    batches = [
        Batch("sessions", "a", session_frame(2)),
        Batch("allocations", "a", allocation_frame("a", "2026-01", 3)),
    ]
    insert = landing._insert

    def fail_at_landings(connection: duckdb.DuckDBPyConnection, table: str, paths: list[Path]) -> None:
        if table == "landings":
            raise duckdb.IOException(f"disk full while writing {SECRET_STEM}")
        insert(connection, table, paths)

    with monkeypatch.context() as patch:
        patch.setattr(landing, "_insert", fail_at_landings)
        with pytest.raises(StoreError, match="nothing of it was written") as failure:
            lake.land_together(batches)
    assert SECRET_STEM not in str(failure.value)
    assert lake.query("SELECT count(*) FROM sessions").item() == 0

    landings = lake.land_together(batches)
    assert landings == [Landing("sessions", "a", 2, 0, False), Landing("allocations", "a", 3, 0, False)]
    assert lake.units("sessions") == {"a"}
    assert lake.units("runs") == set()


def test_a_unit_without_rows_is_remembered_as_landed(lake: Lake) -> None:
    assert lake.land("reviews", "batch-1", get_table("reviews").frame([])) == Landing(
        "reviews", "batch-1", 0, 0, False
    )
    assert lake.units("reviews") == {"batch-1"}
    assert lake.land("reviews", "batch-1", get_table("reviews").frame([])).is_unchanged


def test_a_frame_that_is_not_the_tables_is_refused(empty_lake: Lake) -> None:
    for frame, named in (
        (session_frame(1).drop("month"), "missing columns ['month']"),
        (session_frame(1).with_columns(colour=pl.lit("red")), "unknown columns ['colour']"),
        (session_frame(1).with_columns(repeat=pl.lit("one")), "column repeat is String"),
        (
            session_frame(1).with_columns(opened_at=pl.lit(datetime(2026, 1, 1))),
            "column opened_at is Datetime",
        ),
    ):
        with pytest.raises(ContractError, match=re.escape(named)):
            empty_lake.land("sessions", "s", frame)
        assert empty_lake.units("sessions") == set()
    frame = question_frame([make_question(1)]).with_columns(marks=pl.lit(float("nan")))
    with pytest.raises(ContractError, match="column marks holds NaN") as refusal:
        empty_lake.land("questions", "d", frame)
    assert SECRET_STEM not in str(refusal.value)


def test_harmless_differences_of_type_are_cast(lake: Lake) -> None:
    frame = session_frame(1).with_columns(
        pl.col("repeat").cast(pl.Int8),
        opened_at=pl.lit(None),
        closed_at=pl.lit(datetime(2026, 1, 1, tzinfo=UTC)),
    )

    assert lake.land("sessions", "s", frame.select(reversed(frame.columns))).row_count == 1
    row = lake.query("SELECT repeat, opened_at, closed_at FROM sessions").row(0)
    assert row == (1, None, datetime(2026, 1, 1, tzinfo=UTC))


def test_landings_and_quarantine_are_written_by_landings_alone(empty_lake: Lake) -> None:
    with pytest.raises(ContractError, match="landings"):
        empty_lake.land("landings", "x", get_table("landings").frame([]))


def test_a_missing_lake_names_the_command_that_creates_it(settings: Settings) -> None:
    with pytest.raises(StoreError, match="proctor init"):
        open_lake(settings, read_only=True)
    assert not settings.home.exists()


def test_a_reader_cannot_write(settings: Settings, lake: Lake) -> None:
    with open_lake(settings, read_only=True) as reader:
        with pytest.raises(StoreError, match="reading only"):
            reader.land("sessions", "s", session_frame(1))
        with pytest.raises(StoreError):
            reader.query("DELETE FROM sessions")


def test_a_reader_opened_before_a_landing_sees_it_afterwards(settings: Settings, lake: Lake) -> None:
    with open_lake(settings, read_only=True) as reader:
        assert reader.query("SELECT count(*) FROM sessions").item() == 0
        lake.land("sessions", "s", session_frame(4))
        assert reader.query("SELECT count(*) FROM sessions").item() == 4


def test_queries_of_one_read_transaction_see_one_moment(settings: Settings, lake: Lake) -> None:
    with open_lake(settings, read_only=True) as reader, reader.read_transaction():
        assert reader.query("SELECT count(*) FROM sessions").item() == 0
        lake.land("sessions", "s", session_frame(4))
        assert reader.query("SELECT count(*) FROM sessions").item() == 0


def test_a_writer_that_waits_too_long_says_who_holds_the_lake(settings: Settings, lake: Lake) -> None:
    lake.lock_timeout_s = 0.05
    with FileLock(settings.home / "lake" / "catalog.lock"), pytest.raises(StoreError, match=r"catalog\.lock"):
        lake.land("sessions", "s", session_frame(1))
    assert lake.land("sessions", "s", session_frame(1)).row_count == 1


@pytest.mark.hunt
@pytest.mark.parametrize("kind", ["transaction", "read_transaction", "one_thread"])
def test_a_ctrl_c_at_any_moment_of_a_block_leaves_nothing_held(
    settings: Settings, lake: Lake, kind: str
) -> None:
    """Neither what ends the work waits for what was broken off, nor other threads or processes."""

    def use() -> None:
        with getattr(lake, kind)():
            pass

    file = FileLock(settings.home / "lake" / "catalog.lock")
    (threads,) = lake.query("SELECT current_setting('threads')").row(0)
    # What takes hold and lets go, and not the files' walks between.
    meant = ("store.py", "locks.py", "statements.py", "blocks.py", "contextlib.py", "_api.py", "_unix.py")
    moments = 0
    interrupted = interrupt_everywhere(use, lambda code: code.co_filename.endswith(meant), step=tries(4, 1))
    for moments, _ in enumerate(interrupted, 1):
        with file.acquire(timeout=0), ThreadPoolExecutor(1) as other:
            assert other.submit(lake._lock.acquire, timeout=0).result(), moments
            other.submit(lake._lock.release).result()
        with lake.transaction(["sessions"]):
            pass
        lake.connection.execute(f"SET threads = {threads}")
    assert moments > tries(2, 10)


def test_a_writer_opens_a_finished_lake_while_another_one_writes(settings: Settings, lake: Lake) -> None:
    with (
        FileLock(settings.home / "lake" / "catalog.lock"),
        open_lake(settings, lock_timeout_s=0.05) as second,
    ):
        assert second.units("sessions") == set()


def test_signatures_of_extensions_are_left_unchecked_only_where_all_are_from_wheels(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_new_lake(settings).close()
    seen: list[object] = []

    def look(connection: duckdb.DuckDBPyConnection, _: list[str]) -> None:
        seen.append(
            connection.execute("SELECT current_setting('allow_unsigned_extensions')").fetchall()[0][0]
        )
        raise StoreError("seen")

    monkeypatch.setattr(attach, "load_extensions", look)
    with pytest.raises(StoreError, match="seen"):
        open_lake(settings, read_only=True)
    monkeypatch.setattr(
        attach, "find_extension", lambda name: None if name == "ducklake" else find_extension(name)
    )
    with pytest.raises(StoreError, match="seen"):
        open_lake(settings, read_only=True)
    assert seen == [True, False]


def test_a_moved_home_opens(settings: Settings, tmp_path: Path) -> None:
    with open_new_lake(settings) as lake:
        lake.land("sessions", "s", session_frame(4))
    moved = Settings(home=tmp_path / "elsewhere" / "home")
    moved.home.parent.mkdir()
    settings.home.rename(moved.home)

    with open_lake(moved, read_only=True) as lake:
        assert lake.query("SELECT count(*) FROM sessions").item() == 4
    with open_lake(moved) as lake:
        lake.land("sessions", "t", session_frame(1, first=9))
    # Opened for writing once, the catalog itself knows the new place: plain DuckDB needs no option.
    with plain_duckdb(moved) as analyst:
        assert analyst.execute("SELECT count(*) FROM exam.sessions").fetchall() == [(5,)]


def test_an_analyst_reads_tables_and_marts_with_plain_duckdb_while_a_writer_is_open(
    settings: Settings, lake: Lake
) -> None:
    lake.land("sessions", "s", session_frame(4))
    lake.land("questions", "d", question_frame([make_question(1)]))

    with plain_duckdb(settings) as analyst:
        assert analyst.execute("SELECT count(*) FROM exam.sessions").fetchall() == [(4,)]
        assert analyst.execute("SELECT revision FROM exam.current_questions").fetchall() == [(1,)]
        for name in ("current_responses", "bank_counts", "document_outcomes"):
            analyst.execute(f"SELECT * FROM exam.{name}").fetchall()
        lake.land("sessions", "t", session_frame(3, first=10))
        analyst.execute("USE exam")
        assert analyst.execute("SELECT count(*) FROM sessions").fetchall() == [(7,)]


def plain_duckdb(settings: Settings) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()  # noqa: TID251 - what an analyst does
    load_extensions(connection, ["ducklake", "sqlite_scanner"])
    connection.execute(f"ATTACH 'ducklake:{settings.catalog_address}' AS exam (READ_ONLY)")
    return connection


def test_large_tables_are_split_by_month_and_nothing_is_kept_in_the_catalog(
    settings: Settings, lake: Lake
) -> None:
    lake.land("allocations", "a", allocation_frame("a", "2026-01", 2))
    lake.land("allocations", "b", allocation_frame("b", "2026-02", 2))

    folders = sorted(
        path.name for path in (settings.home / "lake" / "data" / "main" / "allocations").iterdir()
    )
    assert folders == ["month=2026-01", "month=2026-02"]
    catalog = sqlite3.connect(settings.home / "lake" / "catalog.sqlite")
    assert catalog.execute("SELECT count(*) FROM ducklake_inlined_data_tables").fetchone() == (0,)
    assert catalog.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    catalog.close()


def test_a_lake_of_an_earlier_version_gains_new_tables_columns_and_views(settings: Settings) -> None:
    with open_new_lake(settings) as lake:
        lake.land("sessions", "s", session_frame(1))
        with lake.transaction() as connection:
            connection.execute("ALTER TABLE sessions DROP COLUMN closed_at")
            connection.execute("DROP TABLE replays")
            connection.execute("DROP VIEW current_bank")
            connection.execute("COMMENT ON TABLE runs IS 'out of date'")
            connection.execute("CREATE VIEW departed AS SELECT 1 AS one")
            connection.execute("COMMENT ON VIEW departed IS 'A mart that is gone. [definition 0123456789ab]'")
            connection.execute("CREATE VIEW mine AS SELECT 1 AS one")
            connection.execute("CREATE OR REPLACE VIEW current_editions AS SELECT 1 AS one")

    # Who only reads has it all meanwhile.
    with open_lake(settings, read_only=True) as lake:
        assert lake.query("SELECT closed_at FROM sessions").rows() == [(None,)]
        assert lake.run_named("standings").is_empty()
    with open_lake(settings) as lake:
        assert lake.query("SELECT session_id, closed_at FROM sessions").rows() == [("session-0", None)]
        assert lake.query("SELECT count(*) FROM replays").item() == 0
        assert lake.query("SELECT count(*) FROM current_bank").item() == 0
        views = lake.query("SELECT view_name FROM duckdb_views() WHERE database_name = 'exam'")[
            "view_name"
        ].to_list()
        assert "departed" not in views
        assert "mine" in views
        comment = lake.query("SELECT comment FROM duckdb_tables() WHERE table_name = 'runs'").item()
        assert comment.startswith("One row per run.")


def test_long_rows_are_packed_in_small_groups_also_in_a_lake_of_an_earlier_version(
    settings: Settings,
) -> None:
    options = "SELECT scope_entry, value FROM exam.options() WHERE option_name = 'parquet_row_group_size'"
    packed = {("main.archived_rows", "20000"), ("main.bank_contents", "16384")}
    with open_new_lake(settings) as lake:
        assert set(lake.query(options).rows()) == packed
        lake.connection.execute(
            "CALL exam.set_option('parquet_row_group_size', '100000', table_name => 'bank_contents')"
        )
    attach.write_definition_digest(settings, "another version's")
    with open_lake(settings) as lake:
        assert set(lake.query(options).rows()) == packed


def test_rows_are_fed_by_parts(lake: Lake) -> None:
    lake.land("questions", "u", question_frame([make_question(1)]))
    parts: list[list[tuple[object, ...]]] = []
    assert lake.feed("bank_index", parts.append) == len(parts) == 0
    count = lake.feed("landed_row_counts", parts.append, at_once=1)
    assert [row for part in parts for row in part] == lake.read("landed_row_counts").rows()
    assert count == len(parts) > 0


def test_rows_that_were_fed_are_not_fed_again_when_the_store_goes_away(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Result:
        def __init__(self) -> None:
            self.left = [[("first",)]]

        def fetchmany(self, _most: int) -> list[tuple[str]]:
            if not self.left:
                raise duckdb.HTTPException("HTTP Error: HTTP GET error (HTTP 503)")
            return self.left.pop()

    monkeypatch.setattr(store, "execute_statement", lambda _connection, _sql, _params, fetch: fetch(Result()))
    lake.settings = lake.settings.model_copy(update={"store_wait_s": 5.0})
    parts: list[list[tuple[object, ...]]] = []
    with pytest.raises(StoreError, match="does not answer"):
        lake.feed("bank_index", parts.append)
    assert parts == [[("first",)]]


def test_a_column_of_another_type_is_refused(settings: Settings) -> None:
    with open_new_lake(settings) as lake, lake.transaction() as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN set_size")
        connection.execute("ALTER TABLE runs ADD COLUMN set_size VARCHAR")

    with pytest.raises(StoreError, match=r"runs\.set_size is VARCHAR"):
        open_lake(settings)


def test_a_damaged_catalog_is_reported(settings: Settings) -> None:
    catalog = settings.home / "lake" / "catalog.sqlite"
    catalog.parent.mkdir(parents=True)
    catalog.write_bytes(b"not a database" * 100)

    for read_only in (False, True):
        with pytest.raises(StoreError, match="is damaged"):
            open_lake(settings, read_only)


@pytest.mark.parametrize("address", ["mysql:somewhere", "sqlite:", "catalog.sqlite"])
def test_an_unknown_kind_of_catalog_is_refused_without_repeating_it(tmp_path: Path, address: str) -> None:
    with pytest.raises(StoreError, match="PROCTOR_LAKE_CATALOG") as refusal:
        open_lake(Settings(home=tmp_path, lake_catalog=address))
    assert "somewhere" not in str(refusal.value)


def test_a_query_takes_named_parameters_of_every_plain_kind(lake: Lake) -> None:
    lake.land("sessions", "s", session_frame(3))
    rows = lake.query(
        "SELECT session_id, $text AS t, $number AS n, $share AS f, $flag AS b, $nothing::VARCHAR AS v FROM sessions "
        "WHERE session_id = $text OR $nothing IS NOT NULL",
        {"text": "session-1", "number": 7, "flag": True, "nothing": None, "share": 0.5},
    ).rows()
    assert rows == [("session-1", "session-1", 7, 0.5, True, None)]
    moment = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    plain = {"at": moment, "day": moment.date(), "clock": moment.replace(tzinfo=None), "tiny": 1e-300}
    row = lake.query("SELECT $at AS at, $day AS day, $clock AS clock, $tiny AS tiny", plain).row(
        0, named=True
    )
    assert row == plain
    rows = lake.query("SELECT $text AS t, $flag AS b", {"text": "it's; --", "flag": False}).rows()
    assert rows == [("it's; --", False)]
    assert lake.query("SELECT len($names) AS n", {"names": ["a", "b"]}).item() == 2
    plain_lists = {
        "names": ["it's", '"', "\\", "a, b", "NULL", " ", "", "[{题"], "numbers": [-1, 2**60], "none": [],
    }  # fmt: skip
    listed = lake.query("SELECT $names AS names, $numbers AS numbers, $none AS none", plain_lists)
    assert listed.rows(named=True) == [plain_lists]
    assert lake.query("SELECT 2-$less AS n, 2-$part AS f", {"less": -1, "part": -0.5}).rows() == [(3, 2.5)]


def test_a_name_in_a_text_a_comment_or_a_quoted_name_is_no_parameter(empty_lake: Lake) -> None:
    sql = r"""
        SELECT '''$x' AS a, E'\'$x' AS b, $$'$x$$ AS c, $q$"$x$q$ AS d, $x AS "$x" -- $x '
        /* $x " */
    """
    rows = empty_lake.query(sql, {"x": 1}).rows(named=True)
    assert rows == [{"a": "'$x", "b": "'$x", "c": "'$x", "d": '"$x', "$x": 1}]
    wrong: list[dict[str, object]] = [{}, {"y": 1}, {"x": 1, "y": 1}]
    for given in wrong:
        with pytest.raises(StoreError, match="parameters"):
            empty_lake.query(sql, given)


@pytest.mark.parametrize(
    "wrong", ["SELECT $x, nonsense FROM sessions", "SELEC $x", "SELECT $x FROM nonsense"]
)
def test_an_error_about_a_statement_quotes_no_value_of_a_parameter(empty_lake: Lake, wrong: str) -> None:
    for is_held in (False, True):
        held = empty_lake.read_transaction() if is_held else nullcontext()
        with held, pytest.raises(UsageError, match=r"nonsense|SELEC \$x") as failure:
            empty_lake.query(wrong, {"x": SECRET_STEM})
        assert SECRET_STEM not in str(failure.value)
    with pytest.raises(UsageError, match="can only be applied to lists") as failure:
        empty_lake.query("SELECT unnest($x)", {"x": SECRET_STEM})
    assert SECRET_STEM not in str(failure.value)


def test_an_error_of_a_query_explains_the_statement_but_quotes_no_row(lake: Lake) -> None:
    lake.land("questions", "d", question_frame([make_question(1)]))

    with pytest.raises(UsageError, match="questionz"):
        lake.query("SELECT * FROM questionz")
    with pytest.raises(StoreError) as failure:
        lake.query("SELECT stem::BIGINT FROM questions")
    assert SECRET_STEM not in str(failure.value)


def test_extensions_come_from_their_wheels_and_duckdb_keeps_its_files_at_home(settings: Settings) -> None:
    for name in ("ducklake", "sqlite_scanner", "postgres_scanner", "httpfs"):
        path = find_extension(name)
        assert path is not None
        assert "site-packages" in str(path)
    with connect_duckdb(settings.home) as connection:
        for name in ("extension_directory", "secret_directory", "temp_directory"):
            found = connection.execute(f"SELECT current_setting('{name}')").fetchone()
            assert found is not None
            assert str(found[0]).startswith(str(settings.home))
    with connect_duckdb() as connection, pytest.raises(StoreError, match="duckdb-extension-no-such"):
        load_extensions(connection, ["no_such"])


def test_landing_and_reading_import_neither_pandas_nor_pyarrow_nor_great_expectations(tmp_path: Path) -> None:
    """They cost seconds or 50 MB, and every process that lands or reads would pay them."""
    program = (
        "import sys; from pathlib import Path\n"
        "from schemas.settings import Settings; from warehouse.lake.store import open_lake\n"
        "from tests.warehouse.sample_rows import make_question, question_frame\n"
        f"settings = Settings(home=Path({str(tmp_path / 'home')!r}))\n"
        "with open_lake(settings) as lake:\n"
        "    rows = [make_question(1), make_question(1), make_question(2, discipline='Alchemy')]\n"
        "    counts = [lake.land('questions', unit, question_frame(rows[:n])) for unit, n in (('a', 3), ('a', 1), ('b', 1))]\n"
        "    assert [(c.row_count, c.rejected_count) for c in counts] == [(1, 2), (1, 0), (1, 0)]\n"
        "    assert lake.landed('questions', ['a', 'b', 'c']) == {'a', 'b'} == lake.units('questions')\n"
        "with open_lake(settings, read_only=True) as lake:\n"
        "    names = {'month': '2026-01', 'share': 0.5, 'names': ['a'], 'numbers': [1]}\n"
        "    lake.query('SELECT count(*), $share, $names, $numbers FROM runs WHERE month = $month', names)\n"
        "    lake.run_named('leaderboard')\n"
        "print({'great_expectations', 'numpy', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules))"
    )
    open_new_lake(Settings(home=tmp_path / "home")).close()
    root = Path(__file__).resolve().parents[3]
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root
    )
    assert found.stdout.strip() == "set()"


_EVERY_TYPE = """
SELECT * FROM (VALUES
    (1::TINYINT, 2::USMALLINT, 3::INTEGER, 4::BIGINT, 5::HUGEINT, 1.5::FLOAT, (0.1 + 0.2)::DOUBLE, 1.50::DECIMAL(9, 2), true, 'x', 'y'::BLOB,
     DATE '2026-12-01', TIMESTAMP '2026-12-01 01:02:03.000004', TIMESTAMPTZ '2026-12-01 01:02:03+08',
     ['a', NULL], [[1], []], [{'label': 'A', 'texts': ['b']}, NULL], {'n': 1, 'm': {'k': NULL::DOUBLE}}),
    (-1, 0, -3, -4, -99999999999999999999999999999999999999, 'nan', 'inf', -0.01, false, '', '',
     DATE '0001-01-01', TIMESTAMP '1969-12-31', TIMESTAMPTZ '9999-12-31 23:59:59+00',
     [], NULL, [], {'n': NULL, 'm': NULL}),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) AS t(tiny, short, integer, big, huge, single, double, exact, bool, text, bytes, day, moment, zoned, texts, lists, options, struct)
"""


@pytest.mark.hunt
def test_few_rows_are_the_same_without_pyarrow(empty_lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = [
        _EVERY_TYPE,
        *(f"FROM {name}" for name in some([*TABLES, *read_queries("marts")], 30)),
    ]
    wanted = [empty_lake.connection.execute(sql).pl() for sql in statements]
    monkeypatch.delitem(sys.modules, "pyarrow")
    for sql, frame in zip(statements, wanted, strict=True):
        few = fetch_few(empty_lake.connection.execute(sql))
        assert "pyarrow" not in sys.modules, sql
        assert few is not None
        assert_frame_equal(few, frame)


def test_many_rows_and_other_types_come_by_pyarrow(empty_lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(sql: str, spent_s: float = 0.0) -> pl.DataFrame | None:
        with monkeypatch.context() as without:
            without.setattr("warehouse.lake.fetching.sys", SimpleNamespace(modules={}))
            return fetch_few(empty_lake.connection.execute(sql), spent_s)

    few = fetch(f"FROM range({FEW}) AS t(n)")
    assert few is not None
    assert few["n"].to_list() == list(range(FEW))
    many = f"FROM range({FEW + 1}) AS t(n)"
    huge = "-170141183460469231731687303715884105727"
    for lossy in (
        many,
        f"SELECT 2::HUGEINT ** 100, {huge}",
        "SELECT DATE '20000-01-01'",
        "SELECT [DATE '20000-01-01']",
        "SELECT TIMESTAMPTZ '0044-03-15 (BC) 12:00:00+00'",
    ):
        assert fetch(lossy) is None, lossy
    for found in (empty_lake.query(many), fetch(many, DEAR_S + 0.1)):
        assert found is not None
        assert found["n"].to_list() == list(range(FEW + 1))
    for sql, columns, row in (
        ("SELECT MAP {'a': 1} AS counts, 1 AS number", ["counts", "number"], ({"a": 1}, 1)),
        (
            f"SELECT [{{'sum': {huge}}}] AS sums",
            ["sums"],
            ([{"sum": Decimal("-1.7014118346046923173168730371588410573E+38")}],),
        ),
        ("SELECT 1 AS a, 2 AS A", ["a", "A_1"], (1, 2)),
    ):
        other = fetch(sql)
        assert other is not None
        assert (other.columns, other.rows()) == (columns, [row])


def test_the_lake_keeps_every_type_of_the_contract(empty_lake: Lake) -> None:
    found = dict(
        empty_lake.query(
            "SELECT table_name || '.' || column_name, data_type FROM duckdb_columns() WHERE database_name = 'exam'"
        ).rows()
    )
    spelled = {"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}
    for table in TABLES.values():
        for column in table.columns:
            wanted = DUCKDB_TYPES[column.type]
            assert found[f"{table.name}.{column.name}"].replace('"', "") == spelled.get(
                wanted, wanted
            ).replace('"', "")


def test_an_object_store_is_reached_with_the_usual_variables_and_leaves_no_secret_behind(
    settings: Settings,
) -> None:
    environment = {
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "ses'ame",
        "AWS_REGION": "eu-north-1",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9000",
    }
    with connect_duckdb(settings.home) as connection:
        load_extensions(connection, ["httpfs"])
        create_s3_secret(connection, environment)
        row = connection.execute("SELECT persistent, secret_string FROM duckdb_secrets()").fetchone()
    assert row is not None
    is_persistent, shown = row
    assert not is_persistent
    for part in (
        "endpoint=127.0.0.1:9000",
        "use_ssl=0",
        "url_style=path",
        "region=eu-north-1",
        "key_id=someone",
    ):
        assert part in shown.replace("false", "0")
    assert "ses'ame" not in shown
    assert not list(settings.home.rglob("*secret*/*"))
