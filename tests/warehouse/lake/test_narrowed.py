"""What a team sees of the lake names no other's model, whatever view or table is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.table import Table
from schemas.tables import TABLES
from tests.fresh import open_new_lake
from tests.hunts import some
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake import ALIAS, open_narrow_lake, read_sight
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.definitions import create_in_memory, read_views
from warehouse.lake.narrowed import narrow
from warehouse.lake.reading import list_runnable_queries
from warehouse.lake.reading.queries import render_query

# Columns that name a candidate; the models in them are whose the row is.
NAMING = (
    "model", "model_a", "model_b", "reference_model", "base_model", "asker", "answerer", "entrant", "opponent", "generator",
    "group_name", "labeller", "compared_with",
)  # fmt: skip
# What rows of one team share with each other and with nobody else.
OF_A_TEAM = ("session_id", "run_id", "edition_id", "question_uuid", "set_id")


def make_rows(table: Table) -> pl.DataFrame:
    """A row of another team, marked in every text, and one of ours that names the others."""
    sight = read_sight().get(table.name)
    theirs: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    for column in table.columns:
        if column.type != "text":
            continue
        is_secret = sight is not None and column.name in (*sight.hidden, *sight.named)
        theirs[column.name] = "THEIRS"
        ours[column.name] = "THEIRS" if is_secret else "ours" if column.name in NAMING + OF_A_TEAM else "x"
    if table.name == "llm_calls":
        theirs |= {"purpose": "judge", "landing_unit": "THEIRS/THEIRS/prompt-4"}
        ours |= {"purpose": "exam"}
    filled = fill_rows(table, [{}, {}])
    return filled.with_columns(
        *(pl.Series(name, [theirs[name], ours[name]]) for name in theirs if name in filled.columns)
    )


@pytest.fixture(scope="module")
def narrowed() -> Iterator[duckdb.DuckDBPyConnection]:
    """The contract's tables with a row of each team, and the views before them."""
    connection = connect_duckdb()
    connection.execute(f"ATTACH ':memory:' AS {ALIAS}; USE {ALIAS}")
    create_in_memory(connection)
    for name, table in TABLES.items():
        rows = make_rows(table).to_arrow()
        connection.register("given", rows)
        connection.execute(f'INSERT INTO "{name}" BY NAME SELECT * FROM given')
        connection.unregister("given")
    # A judge of ours judged what another team's candidate answered: the call is theirs.
    connection.execute(
        "INSERT INTO llm_calls BY NAME SELECT 'THEIRS' AS call_key, 'judge' AS purpose, 'ours' AS model, 'done' AS status, "
        "'THEIRS/ours/prompt-4' AS landing_unit, 9.0 AS cost_usd, '2025-06' AS month"
    )
    narrow(connection, ["ours"])
    yield connection
    connection.close()


def test_no_row_names_another_teams_model_or_what_is_hidden(narrowed: duckdb.DuckDBPyConnection) -> None:
    found = {
        name: narrowed.execute(f'SELECT * FROM "{name}"').fetchall() for name in (*TABLES, *read_views())
    }
    shown = {name: [row for row in rows if "THEIRS" in repr(row)] for name, rows in found.items()}
    assert {name: rows for name, rows in shown.items() if rows} == {}
    # A table that nobody decided about has no row; of the others the team's own is there.
    assert {name for name in TABLES if found[name]} == set(read_sight())


def test_what_a_team_has_met_is_not_told_as_the_bank(narrowed: duckdb.DuckDBPyConnection) -> None:
    for name in ("bank", "current_bank", "bank_versions"):
        assert narrowed.execute(f"SELECT count(*) FROM {name}").fetchall() == [(0,)], name


def test_where_a_team_stands_is_said_without_the_reference_that_it_is_not_told() -> None:
    """Nobody but the team sat July, and a month was made up for since: others may stand between."""
    connection = connect_duckdb()
    connection.execute(f"ATTACH ':memory:' AS {ALIAS}; USE {ALIAS}")
    create_in_memory(connection)
    own = {"edition_id": "r3/1", "month": "2025-07", "is_simulated": False}
    late = {"edition_id": "r2/1", "month": "2025-06", "is_simulated": False}
    rows: dict[str, list[dict[str, Any]]] = {
        "bank_versions": [{}],
        "editions": [
            {**one, "run_id": one["edition_id"], "reference_model": "theirs", "is_repetition": False, "candidate_count": 1,
                "published_at": f"2025-09-0{day}T00:00:00+00:00"} for day, one in ((1, own), (2, late))
        ],
        "edition_scores": [
            {**one, "model": model, "discipline": "all", "prompt_style": "zero_shot", "score": 80.0}
            for one, model in ((own, "ours"), (late, "late"))
        ],
        "edition_standings": [{**own, "model": "ours", "sat_month": "2025-07", "rank": 7, "comparability": "same_edition"}],
    }  # fmt: skip
    for name, given in rows.items():
        frame = fill_rows(TABLES[name], given).to_arrow()
        connection.register("given", frame)
        connection.execute(f'INSERT INTO "{name}" BY NAME SELECT * FROM given')
    narrow(connection, ["ours", "late"])
    found = connection.execute("SELECT model, rank, comparability FROM current_standings ORDER BY rank")
    assert found.fetchall() == [("ours", 7, "same_edition"), ("late", None, None)]


def test_every_column_that_names_a_model_is_looked_at() -> None:
    """A table with rows for teams keeps rows by the models in it, or hides the column."""
    rows = {"own": {"model"}, "pair": {"model_a", "model_b"}, "call": {"model"}}
    for name, sight in read_sight().items():
        kept = next((columns for word, columns in rows.items() if sight.rows == _rule(word)), set())
        naming = {column.name for column in TABLES[name].columns if column.name in NAMING}
        assert naming <= kept | {*sight.named, *sight.hidden} | (
            {"labeller"} if name == "error_labels" else set()
        )


def _rule(word: str) -> str:
    from warehouse.lake import narrowed as module

    return module._RULES[word]


def test_a_query_that_names_the_lake_itself_is_refused(tmp_path: Any) -> None:
    settings = Settings(home=tmp_path / "home")
    with open_new_lake(settings) as own, own.transaction() as connection:
        connection.execute("CREATE TABLE of_another_version AS SELECT 'theirs' AS model")
    with open_narrow_lake(settings, ["ours"]) as lake:
        assert lake.query("FROM of_another_version").is_empty()
        with pytest.raises(UsageError, match=r"(?i)syntax|parse"):
            lake.query("SELEC 1")
        assert lake.query("SELECT model FROM responses").is_empty()
        assert lake.query("WITH a AS (SELECT unnest([1, 2]) AS n) SELECT n FROM a, range(2)").height == 4
        assert "model" in lake.query("DESCRIBE responses")["column_name"]
        for past in (
            f"SELECT * FROM {ALIAS}.responses",
            f'SELECT * FROM "{ALIAS}" . "responses"',
            "FROM EXAM.main.models",
            f"FROM {ALIAS}/**/.responses",
            f"SELECT 1 WHERE EXISTS (FROM {ALIAS} -- its own\n.responses)",
            "WITH a AS (FROM query('FROM ex' || 'am.responses')) FROM a",
            "FROM query_table('ex' || 'am.responses')",
            "FROM ducklake_list_files('ex' || 'am', 'responses')",
            "FROM duckdb_tables()",
            "FROM __ducklake_metadata_exam.ducklake_data_file",
            f"FROM '{settings.data_address}/main/responses/a.parquet'",
            f"DESCRIBE {ALIAS}.responses",
            f"PIVOT {ALIAS}.responses ON model USING count(*)",
            f"COPY {ALIAS}.responses TO 'rows.parquet'",
            f"SELECT 1; COPY {ALIAS}.responses TO 'rows.parquet'",
            "SET enable_external_access = true",
        ):
            with pytest.raises(UsageError, match="past what a team sees"):
                lake.query(past)


@pytest.mark.hunt
def test_every_analysis_is_answered_over_what_a_team_sees(
    narrowed: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """All are planned over a team's views; in an ordinary run some are run as a team runs them."""
    given = {
        query: {one.name: "x" for one in query.parameters if one.default is None}
        for query in list_runnable_queries()
    }
    for query, values in given.items():
        assert narrowed.execute(f"EXPLAIN {render_query(query, values)}").fetchall(), query.name
    settings = Settings(home=tmp_path / "home")
    open_new_lake(settings).close()
    with open_narrow_lake(settings, ["ours"]) as lake:
        for query in some(list(given), 20):
            assert lake.run_named(query.name, given[query]).columns, query.name
