"""The bank of an earlier form, a table that held every version whole, becomes entries without losing a version."""

from __future__ import annotations

import polars as pl

from tests.warehouse.bank_rows import BANK, split_bank
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.definitions import create_in_memory
from warehouse.lake.migrations import list_updates

NAMES = ("00000001", "00000002", "00000003")
# Who is in which version, and what it says there.
HELD = {1: {0: "a", 1: "b"}, 2: {0: "a", 1: "B", 2: "c"}, 3: {1: "B", 2: "c"}, 4: {0: "a", 1: "B", 2: "c"}}


def test_every_version_holds_what_it_held() -> None:
    rows = fill_rows(
        BANK,
        [
            {
                "bank_version": version,
                "question_uuid": f"{NAMES[place]}-0000-4000-8000-000000000000",
                "stem": stem,
                "landing_unit": str(version),
            }
            for version, held in HELD.items()
            for place, stem in held.items()
        ],
    )
    versions = split_bank(rows.drop("landing_unit"))["bank_versions"].with_columns(
        landing_unit=pl.col("bank_version").cast(pl.String)
    )
    connection = connect_duckdb()
    create_in_memory(connection)
    for name, frame in (("rows", rows), ("versions", versions)):
        connection.register(name, frame.to_arrow())
    connection.execute("CREATE TABLE bank_before_form_4 AS SELECT * FROM rows")
    connection.execute("INSERT INTO bank_versions BY NAME SELECT * FROM versions")
    connection.execute(
        "INSERT INTO landings BY NAME SELECT 'bank/' || bank_version AS landing_unit, 'bank' AS table_name, "
        "bank_version::VARCHAR AS unit, count(*) AS row_count, 0 AS rejected_count, '0' AS content_hash, "
        "'1' AS code_version, now() AS landed_at FROM rows GROUP BY bank_version"
    )
    before = connection.execute(
        "SELECT * EXCLUDE landing_unit FROM bank_before_form_4 ORDER BY bank_version, question_uuid"
    ).pl()

    for statement in list_updates(3):
        connection.execute(statement)

    after = connection.execute("SELECT * FROM bank ORDER BY bank_version, question_uuid").pl()
    assert after.select(before.columns).equals(before)
    entries = connection.execute(
        "SELECT left(question_uuid, 8), stem, from_version, until_version FROM bank_entries ORDER BY ALL"
    ).fetchall()
    assert entries == [
        (NAMES[0], "a", 1, 3),
        (NAMES[0], "a", 4, None),
        (NAMES[1], "B", 2, None),
        (NAMES[1], "b", 1, 2),
        (NAMES[2], "c", 2, None),
    ]
    assert connection.execute(
        "SELECT table_name, unit, row_count FROM landings WHERE table_name <> 'bank_versions' ORDER BY ALL"
    ).fetchall() == [
        ("bank_contents", "1", 2),
        ("bank_contents", "2", 2),
        ("bank_contents", "4", 1),
        ("bank_exits", "2", 1),
        ("bank_exits", "3", 1),
    ]
    connection.close()
