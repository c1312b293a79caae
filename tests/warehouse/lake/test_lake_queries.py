from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import TABLES
from tests.fresh import open_new_lake
from tests.warehouse.sample_rows import make_question, make_uuid, question_frame, session_frame
from warehouse.lake import Lake, open_lake
from warehouse.lake.definitions import read_views
from warehouse.lake.reading import (
    LakeReader,
    columns,
    describe_relation,
    find_query,
    queries,
    render_query_list,
    run_checks,
    run_statement,
)
from warehouse.lake.reading.columns import DescribedColumn, describe_relations, read_glossary
from warehouse.lake.reading.queries import (
    KINDS,
    Parameter,
    bind_parameters,
    list_queries,
    order_by_dependency,
    parse_query,
    read_queries,
)
from warehouse.lake.reading.trial import connect_trial

# What a stage gives its reads where there is no default.
GIVEN = {
    "planned_since": "2026-01-01T00:00:00+00:00",
    "folder": "papers/law",
    "last_id": 0,
    "anchor_set": "a",
    "batch_id": "b",
    "benchmark": "mmlu",
    "discipline": "Law",
    "document_id": "d",
    "edition_id": "r/1",
    "keys": ["s 1"],
    "file_name": "marks.csv",
    "first_session_id": "s",
    "from_month": "2025-06",
    "document_ids": ["00000000-0000-5000-8000-000000000001"],
    "hashes": ["0f"],
    "import_id": "0f/m",
    "is_simulated": False,
    "judge": "j",
    "judges": ["j/1"],
    "last_session_id": "s",
    "league_id": "l",
    "limit": 5,
    "least_ratings": 400,
    "models": ["m"],
    "model": "m",
    "month": "2026-01",
    "months": ["2025-06"],
    "most": 5,
    "name": "n",
    "numbers": [1],
    "occasion": "first",
    "offset": 0,
    "organisation": "o",
    "organisations": ["o"],
    "part": 0,
    "part_count": 4,
    "planned_at": "2026-01-01 00:00:00+00",
    "prompt_style": "zero_shot",
    "prompt_version": "1",
    "replay_id": "r",
    "run_id": "r",
    "domain": "law",
    "run_type": "full",
    "round": 1,
    "entrant": "alpha",
    "person": "eve",
    "before": "2026-11-01",
    "sample_id": "s",
    "session_ids": ["s"],
    "set_ids": ["set"],
    "seq": 1,
    "session_id": "s",
    "source": "bank",
    "table_names": ["answers"],
    "text": "t",
    "transient": ["timeout"],
    "unit": "u",
    "units": ["u"],
    "variant_batch_id": "b/paraphrase/m/1",
    "after_version": 2,
    "algorithm": "a",
    "before_version": 1,
    "bank_version": 1,
    "content_keys": ["k"],
    "decision_units": ["u"],
    "document_units": ["u"],
    "lineage_uuid": "l",
    "lineage_uuids": ["l"],
    "question_uuid": "q",
    "question_types": ["calculation"],
    "question_uuids": ["q"],
    "sha256s": ["0" * 64],
    "edition_ids": ["2026-01/1"],
    "disciplines": ["Law"],
    "retirement_units": ["u"],
    "variant_units": ["u"],
    "salt": "s",
}
QUERIES = [query for kind in KINDS for query in read_queries(kind).values()]


@pytest.fixture(scope="module")
def empty() -> Iterator[duckdb.DuckDBPyConnection]:
    """Every table and view without a row, for queries only.

    Making them takes a tenth of a second.
    """
    with connect_trial() as trial:
        yield trial


def test_every_query_says_its_question_its_grain_and_its_parameters(empty: duckdb.DuckDBPyConnection) -> None:
    for query in QUERIES:
        name = f"{query.kind}/{query.name}"
        assert query.question.endswith("?"), name
        assert query.about.startswith("One row per"), name
        kinds = [statement.type for statement in duckdb.extract_statements(query.body)]
        assert kinds == [duckdb.StatementType.SELECT], name
        required = {p.name for p in query.parameters if p.default is None}
        assert not required or query.kind == "reads", name
        values = bind_parameters(query, {name: GIVEN[name] for name in required})
        found = empty.execute(query.body, values) if values else empty.execute(query.body)
        assert found.description, name


def test_marts_take_no_parameters() -> None:
    assert [query.name for query in QUERIES if query.kind in ("marts", "staging") and query.parameters] == []


def test_a_header_is_read_as_question_grain_and_parameters() -> None:
    query = parse_query(
        "x",
        "analyses",
        "-- What moved?\n-- One row per day.\n-- Parameters: $month (default null), $n (default 3),\n-- $by\n"
        "-- A null month is the latest.\nSELECT $month, $n, $by -- why\n;\n",
    )

    assert query.question == "What moved?"
    assert query.about == "One row per day. A null month is the latest."
    assert query.parameters == (Parameter("month", "null"), Parameter("n", "3"), Parameter("by", None))
    assert query.body == "SELECT $month, $n, $by -- why"


def test_parameters_take_their_defaults_and_the_kind_of_them() -> None:
    query = parse_query(
        "x", "analyses", "-- Q?\n-- Parameters: $a (default 3), $b (default null), $c\nSELECT 1"
    )

    assert bind_parameters(query, {"c": "2026"}) == {"a": 3, "b": None, "c": "2026"}
    assert bind_parameters(query, {"a": "5", "b": "x", "c": "null"}) == {"a": 5, "b": "x", "c": None}
    with pytest.raises(UsageError, match="needs a value for c"):
        bind_parameters(query, {})
    with pytest.raises(UsageError, match="has no parameter colour; it takes a, b, c"):
        bind_parameters(query, {"c": 1, "colour": "red"})
    with pytest.raises(UsageError, match="a of the query 'x' is a whole number"):
        bind_parameters(query, {"a": "five", "c": 1})


def test_an_unknown_query_lists_what_there_is() -> None:
    with pytest.raises(UsageError, match="leaderboard"):
        find_query("leaderbord")


def test_no_name_is_of_two_queries_or_of_a_query_and_a_table() -> None:
    named = [*TABLES, *(query.name for query in QUERIES)]
    assert sorted(name for name in set(named) if named.count(name) > 1) == []


def test_a_select_from_an_analysis_names_the_view_to_select_from(empty_lake: Lake) -> None:
    with pytest.raises(
        UsageError,
        match=r"leaderboard is an analysis.*`proctor sql leaderboard`.*: current_editions, edition_marks, leaderboards\.",
    ):
        run_statement(empty_lake, "SELECT * FROM leaderboard")
    with pytest.raises(UsageError, match="leaderbord does not exist"):
        run_statement(empty_lake, "SELECT * FROM leaderbord")


def test_views_come_after_those_they_read_and_a_circle_is_refused() -> None:
    def query(name: str, body: str) -> queries.Query:
        return parse_query(name, "marts", body)

    ordered = order_by_dependency(
        {
            "a": query("a", "SELECT * FROM c JOIN b ON true"),
            "b": query("b", "SELECT * FROM c"),
            "c": query("c", "SELECT 1"),
        }
    )
    assert [one.name for one in ordered] == ["c", "b", "a"]
    with pytest.raises(UsageError, match="circle"):
        order_by_dependency({"a": query("a", "FROM b"), "b": query("b", "FROM a")})


def test_a_changed_mart_changes_its_view(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sql = tmp_path / "sql"
    for kind in KINDS:
        (sql / kind).mkdir(parents=True)
    monkeypatch.setattr(queries, "SQL_DIR", sql)
    (sql / "marts" / "answers.sql").write_text("-- How many?\n-- One row.\nSELECT 41 AS answer_count\n")
    (sql / "marts" / "a_sum.sql").write_text(
        "-- How many more?\n-- One row.\nSELECT sum(answer_count) AS n FROM answers\n"
    )
    read_queries.cache_clear()
    try:
        with open_lake(settings) as lake:
            assert lake.query("SELECT n FROM a_sum").item() == 41
        (sql / "marts" / "answers.sql").write_text("-- How many?\n-- One row.\nSELECT 42 AS answer_count\n")
        read_queries.cache_clear()
        with open_lake(settings) as lake:
            assert lake.query("SELECT n FROM a_sum").item() == 42
            assert lake.run_named("answers").rows() == [(42,)]
    finally:
        read_queries.cache_clear()


REFUSED = (
    ("DELETE FROM sessions", "found DELETE"),
    ("INSERT INTO sessions SELECT * FROM sessions", "found INSERT"),
    ("DROP TABLE sessions", "found DROP"),
    ("COPY sessions TO 'x.csv'", "found COPY"),
    ("ATTACH 'x.db'", "found ATTACH"),
    ("SET threads = 1", "found SET"),
    ("CALL ducklake_expire_snapshots('exam', older_than => now())", "refused"),
    ("FROM ducklake_expire_snapshots('exam', older_than => now())", "refused"),
    ("SELECT 1; DELETE FROM sessions", "holds 2"),
    ("", "holds 0"),
    ("SELEC 1", "syntax error"),
)


def test_a_statement_that_reads_is_run_and_one_that_writes_or_is_none_is_refused(lake: Lake) -> None:
    lake.land("sessions", "s", session_frame(2))

    assert run_statement(lake, "FROM sessions SELECT count(*)").item() == 2
    assert (
        run_statement(lake, "SELECT count(*) FROM sessions WHERE month = $m;", {"m": "2026-01"}).item() == 2
    )
    assert "session_id" in run_statement(lake, "DESCRIBE sessions")["column_name"]
    assert not run_statement(lake, "EXPLAIN SELECT 1").is_empty()
    assert "runs" in run_statement(lake, "SHOW TABLES")["name"]
    for statement, complaint in REFUSED:
        with pytest.raises(UsageError, match=complaint):
            run_statement(lake, statement)
    # Explained it would be run; on a lake that is open for writing, too.
    with pytest.raises((UsageError, Exception), match=r"(?i)read|fail|refused"):
        run_statement(lake, "EXPLAIN ANALYZE DELETE FROM sessions")
    assert lake.query("SELECT count(*) FROM sessions").item() == 2


def test_a_lake_without_rows_passes_every_check_and_a_question_without_document_does_not(lake: Lake) -> None:
    results = run_checks(lake)
    assert {result.name for result in results} == set(read_queries("checks"))
    assert [result.name for result in results if not result.is_passed] == []

    lake.land("questions", "document-1", question_frame([make_question(7)]))

    offended = {
        result.name: result.offending.to_dicts() for result in run_checks(lake) if not result.is_passed
    }
    assert offended == {
        "every_question_has_a_document": [
            {"question_uuid": make_uuid(7), "revision": 1, "document_id": make_uuid("document")}
        ]
    }


def test_the_count_of_landings_knows_every_table() -> None:
    body = read_queries("checks")["landings_count_their_rows"].body
    assert [
        name
        for name in TABLES
        if name not in ("landings", "quarantine") and f"'{name}' AS table_name" not in body
    ] == []


def test_the_page_of_queries_names_every_query() -> None:
    page = render_query_list()
    queries = [*list_queries(), *list_queries(("checks",))]
    assert [
        query.name for query in queries if f"\n### `{query.name}`\n\n{query.question}\n" not in page
    ] == []
    assert "Parameters: `$month` (default `null`)" in page
    assert "-- Parameters:" not in page and page.count("\nParameters: ") == sum(
        bool(query.parameters) for kind in ("analyses", "checks") for query in read_queries(kind).values()
    )


def test_every_column_of_every_view_says_what_it_means_and_the_page_repeats_it() -> None:
    """Every column of every view has a sentence of its meaning.

    A renamed column needs its sentence in schemas/columns.py, in the query's header, or in the table it comes from.
    """
    relations = describe_relations()
    silent = [
        f"{name}.{column.name}"
        for name, columns in relations.items()
        for column in columns
        if not column.about
    ]
    assert silent == []
    page = render_query_list()
    for name in read_views():
        assert all(
            f"| `{c.name}` | {c.type} | {c.about.replace('|', chr(92) + '|')} |" in page
            for c in relations[name]
        )


def test_the_glossary_holds_no_name_that_no_view_has() -> None:
    relations = describe_relations()
    names = {
        form
        for view in read_views()
        for column in relations[view]
        for form in (column.name, f"{view}.{column.name}")
    }
    assert set(read_glossary()["views"]) - names == set()


@pytest.fixture(scope="module")
def analysis_columns(empty: duckdb.DuckDBPyConnection) -> dict[str, list[DescribedColumn]]:
    with pytest.MonkeyPatch.context() as patch:
        # Once for all of them: a command asks for one.
        patch.setattr(columns, "connect_trial", empty.cursor)
        return {name: describe_relation(name) for name in read_queries("analyses")}


def test_every_column_of_every_analysis_has_a_sentence(
    analysis_columns: dict[str, list[DescribedColumn]],
) -> None:
    assert [
        f"{name}.{column.name}"
        for name, columns in analysis_columns.items()
        for column in columns
        if not column.about
    ] == []


def test_the_glossary_of_analyses_holds_no_name_that_none_has(
    analysis_columns: dict[str, list[DescribedColumn]],
) -> None:
    names = {
        form
        for name, columns in analysis_columns.items()
        for column in columns
        for form in (column.name, f"{name}.{column.name}")
    }
    assert set(read_glossary()["analyses"]) - names == set()


def test_columns_of_tables_and_views_can_be_asked_for_by_name() -> None:
    assert DescribedColumn("landed_at", "TIMESTAMPTZ", "When.") in describe_relation("landings")
    score = next(column for column in describe_relation("leaderboards") if column.name == "score")
    assert (score.type, score.about[:9]) == ("DOUBLE", "S: stars ")
    with pytest.raises(UsageError, match="no table or view 'leaderbord'"):
        describe_relation("leaderbord")


@pytest.mark.parametrize("name", ["gscore_ratings", "score_by_release_date", "leaderboard"])
def test_columns_of_analyses_can_be_asked_for_by_name(name: str) -> None:
    """The first two cannot be bound without the types of what they read."""
    columns = {column.name: column for column in describe_relation(name)}
    assert columns["model"].about == "The candidate's name in the registry."


def test_indented_lines_of_a_header_are_a_list_on_the_page() -> None:
    section = render_query_list().split("### `judged_allocations`\n")[1].split("### ")[0]
    entries = [line.split("`")[1] for line in section.splitlines() if line.startswith("- `")]
    assert entries == ["scored", "resolved", "unanswered", "error", "unparsed", "unjudged"]


def test_a_query_may_name_the_columns_that_a_narrow_screen_shows_first() -> None:
    query = parse_query(
        "q", "analyses", "-- Which?\n-- One row.\n-- Shown: rank, model\nSELECT 1 AS rank, 'm' AS model"
    )
    assert (query.question, query.about, query.shown) == ("Which?", "One row.", ("rank", "model"))
    named = [query for query in list_queries() if query.shown]
    assert {"leaderboard", "monthly_trend"} <= {query.name for query in named}


def test_a_reader_gives_plain_rows_and_refuses_what_a_lake_refuses(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    open_new_lake(settings).close()
    with LakeReader(settings) as reader:
        rows = run_statement(reader, "SELECT 1 AS n, ['a'] AS texts")
        assert (rows.columns, rows.rows) == (("n", "texts"), [(1, ["a"])])
        assert rows.as_records() == [{"n": 1, "texts": ["a"]}]
        assert reader.query("SELECT $n + 1 AS m", {"n": 1}).scalar() == 2
        assert reader.run_named("leaderboard", {"month": "2026-11"}).rows == []
        for statement in ("DELETE FROM bank", "SELECT * FROM no_such_table"):
            with pytest.raises(UsageError):
                run_statement(reader, statement)


def test_ctrl_c_ends_a_long_query_and_the_reader_answers_the_next(tmp_path: Path) -> None:
    open_new_lake(settings := Settings(home=tmp_path)).close()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with LakeReader(settings) as reader:
            with pytest.raises(KeyboardInterrupt), reader.read_transaction():
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                reader.query("SELECT sum(a.range * b.range) FROM range(100000) AS a, range(200000) AS b")
            assert reader.query("SELECT 1").scalar() == 1
    finally:
        signal.signal(signal.SIGINT, before)
