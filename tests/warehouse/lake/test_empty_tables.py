"""A table without rows is noted as one.

Reading it costs no more than any other, and what lands later is the same.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from schemas.settings import Settings
from tests.warehouse.sample_rows import make_question, question_frame, session_frame
from warehouse.lake import ALIAS, Lake, open_lake
from warehouse.lake.upgrade import note_empty_tables

CATALOG = f"__ducklake_metadata_{ALIAS}"
STATISTICS = f"""
    SELECT table_name, column_name, contains_null, contains_nan, min_value, max_value, record_count
    FROM {CATALOG}.main.ducklake_table
    JOIN {CATALOG}.main.ducklake_table_stats USING (table_id)
    JOIN {CATALOG}.main.ducklake_column AS columns USING (table_id)
    LEFT JOIN {CATALOG}.main.ducklake_table_column_stats USING (table_id, column_id)
    WHERE table_name IN ('sessions', 'questions') AND columns.end_snapshot IS NULL
    ORDER BY ALL
"""


def ask(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return connection.execute(sql).fetchall()


def forget(connection: duckdb.DuckDBPyConnection) -> None:
    """The catalog as DuckLake leaves it: nothing is said of a table before its first row."""
    for table in ("ducklake_table_column_stats", "ducklake_table_stats"):
        connection.execute(
            f"DELETE FROM {CATALOG}.main.{table} WHERE table_id IN "
            f"(SELECT table_id FROM {CATALOG}.main.ducklake_table_stats WHERE record_count = 0)"
        )


def count_questions(lake: Lake, table: str) -> int:
    """What is asked of the catalog while a table is read."""
    ask(lake.connection, "CALL enable_logging('QueryLog', storage = 'memory')")
    lake.query(f"SELECT * FROM {table}")
    (asked,) = ask(
        lake.connection, f"SELECT count(*) FROM duckdb_logs WHERE message LIKE '%FROM \"{CATALOG}\"%'"
    )
    ask(lake.connection, "CALL disable_logging()")
    ask(lake.connection, "CALL truncate_duckdb_logs()")
    return int(str(asked[0]))


def test_a_table_without_rows_is_read_with_as_few_questions_as_one_with_rows(lake: Lake) -> None:
    lake.land("sessions", "session-0", session_frame(1))
    for table in ("sessions", "editions"):
        lake.query(f"SELECT * FROM {table}")
    least = count_questions(lake, "sessions")
    assert 0 < least < 5
    assert count_questions(lake, "editions") == least
    forget(lake.connection)
    lake.query("SELECT * FROM questions")
    assert count_questions(lake, "questions") > 10 * least


def test_what_lands_later_has_the_statistics_that_it_would_have_had(lake: Lake, tmp_path: Path) -> None:
    with open_lake(Settings(home=tmp_path / "other")) as plain:
        forget(plain.connection)
        for one in (lake, plain):
            one.land("sessions", "session-0", session_frame(3))
            one.land("sessions", "session-3", session_frame(2, first=3, organisation="zenith"))
            one.land("questions", "document", question_frame([make_question(n) for n in range(4)]))
        noted, bare = (ask(one.connection, STATISTICS) for one in (lake, plain))
    assert noted == bare
    assert any(row[5] == "zenith" for row in noted)


def test_an_open_lake_goes_on_when_another_notes_it(lake: Lake) -> None:
    """A process that met the table before it was noted writes no second note of it."""
    forget(lake.connection)
    assert lake.query("SELECT count(*) FROM sessions WHERE model IS NULL").item() == 0
    with open_lake(lake.settings) as other:
        note_empty_tables(other.connection)
        note_empty_tables(other.connection)
        lake.land("sessions", "session-0", session_frame(2))
        assert other.query("SELECT count(*) FROM sessions WHERE model IS NOT NULL").item() == 2
    for table, key in (
        ("ducklake_table_stats", "table_id"),
        ("ducklake_table_column_stats", "(table_id, column_id)"),
    ):
        ((rows, different),) = ask(
            lake.connection, f"SELECT count(*), count(DISTINCT {key}) FROM {CATALOG}.main.{table}"
        )
        assert rows == different


def test_a_row_without_a_value_is_found_before_and_after_it_is_kept(lake: Lake) -> None:
    """The note says that no column holds a null; rows that are being written do."""
    with lake.transaction() as connection:
        connection.execute("INSERT INTO sessions BY NAME SELECT 'one' AS session_id")
        assert ask(connection, "SELECT session_id FROM sessions WHERE model IS NULL") == [("one",)]
    assert lake.query("SELECT session_id FROM sessions WHERE model IS NULL").item() == "one"


def test_a_column_that_comes_later_is_noted_too(lake: Lake) -> None:
    lake.connection.execute("ALTER TABLE sessions ADD COLUMN grade DOUBLE")
    note_empty_tables(lake.connection)
    lake.connection.execute("INSERT INTO sessions BY NAME SELECT 'one' AS session_id, 1.5 AS grade")
    assert ("sessions", "grade", False, False, "1.5", "1.5", 1) in ask(lake.connection, STATISTICS)
