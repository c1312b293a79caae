"""Why a question has no rows: each table has a command that fills it, which exists."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from deployments.command_line.printing import explain_empty
from deployments.command_line.printing.empty_answers import name_command
from schemas.settings import Settings
from schemas.tables import TABLES
from tests.deployments.test_cli import list_commands
from tests.fresh import open_new_lake
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake.reading import LakeReader, find_query
from warehouse.lake.reading.queries import find_tables_read, list_queries, render_query


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LakeReader]:
    """A lake into which a benchmark was imported, and nothing else was done."""
    settings = Settings(home=tmp_path_factory.mktemp("empty") / "home")
    with open_new_lake(settings) as lake:
        rows = fill_rows(TABLES["external_scores"], [{}]).drop("landing_unit")
        lake.land("external_scores", "case", rows)
    with LakeReader(settings) as reader:
        yield reader


def test_every_table_names_a_command_that_exists() -> None:
    known = {" ".join(("proctor", *path)) for path in list_commands()}
    groups = {name.rpartition(" ")[0] for name in known}
    for table in TABLES:
        command = name_command(table)
        everywhere = command == "every command that lands rows"
        assert everywhere is (TABLES[table].stage == "all"), table
        assert everywhere or command in known | groups, (table, command)


def test_every_named_query_reads_tables_that_are_known(reader: LakeReader) -> None:
    """Also those that DuckDB cannot look at without the types of what they read."""
    for query in list_queries():
        assert find_tables_read(reader.connection, render_query(query, {})), query.name


def test_the_empty_tables_are_named_through_views_with_what_fills_them(reader: LakeReader) -> None:
    assert {"edition_scores", "editions"} <= reader.find_empty_tables("SELECT * FROM leaderboards")
    assert reader.find_empty_tables(render_query(find_query("gscore_ratings"), {})) >= {
        "gscores",
        "human_ratings",
    }
    told = explain_empty(reader, render_query(find_query("gscore_by_category"), {})).render()
    assert told == "No rows: gscores has none yet. Filled by: proctor cgeval score."
    told = explain_empty(reader, "SELECT * FROM leaderboards").render()
    assert "edition_scores" in told
    board = render_query(find_query("leaderboard"), {})
    assert "edition_grades" not in explain_empty(reader, board, because="why").empty_tables
    assert "proctor publish" in told


def test_where_every_table_has_rows_the_choice_of_rows_is_named(reader: LakeReader) -> None:
    sql = render_query(find_query("external_history"), {"benchmark": "another"})
    told = explain_empty(reader, sql, ["benchmark", "model"]).render()
    assert told.startswith("No rows: every table that it reads has rows, but none that is asked for.")
    assert told.endswith("--param benchmark=…, --param model=….")
    told = explain_empty(reader, "SELECT 1 FROM external_scores WHERE false").render()
    assert "none of them is such a one" in told


def test_every_analysis_states_what_must_happen_before_it_has_a_row(reader: LakeReader) -> None:
    known = {" ".join(("proctor", *path)) for path in list_commands()}
    for query in list_queries(("analyses",)):
        assert query.no_rows.endswith("."), query.name
        named = re.findall(r"`(proctor [a-z -]+[a-z])", query.no_rows)
        assert named or "PROCTOR_" in query.no_rows or query.name == "items_to_review", query.name
        for command in named:
            parts = re.sub(r" --.*", "", command).split()
            assert any(" ".join(parts[:count]) in known for count in (2, 3, 4)), (query.name, command)
    query = find_query("gscore_by_category")
    why = explain_empty(reader, render_query(query, {}), because=query.no_rows)
    assert why.render().startswith(f"No rows: {query.no_rows} gscores has none yet.")
    # A table beside may be empty where the choice alone leaves nothing.
    told = explain_empty(reader, render_query(query, {}), ["month"], because=query.no_rows).render()
    assert told.endswith("Filled by: proctor cgeval score. To ask for others: --param month=….")
    assert why.as_dict()["no_rows"] == {
        "because": query.no_rows,
        "empty_tables": ("gscores",),
        "filled_by": ("proctor cgeval score",),
        "parameters": (),
    }
