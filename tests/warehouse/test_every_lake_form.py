"""A lake of each form that was released, with rows in every table, is brought up to date: none is lost, none is changed unsaid."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from schemas.settings import Settings
from schemas.tables import TABLES
from tests.warehouse.first_form import unpack_first_home
from warehouse.lake import migrations, open_lake
from warehouse.lake.attach import attach_lake, remember_data_path
from warehouse.lake.definitions import list_missing_definitions
from warehouse.lake.quoting import quote_name, quote_text

pytestmark = pytest.mark.long

FORMS = range(1, migrations.FORM)
ROWS = 3
Rows = dict[str, tuple[list[str], list[tuple[Any, ...]]]]

# Tables that a form added. What the contract has grown by else has no bearing on rows of before.
ADDED: Mapping[int, set[str]] = {4: {"bank_contents", "bank_exits"}}
RENAMED: Mapping[int, Mapping[tuple[str, str], str]] = {
    2: {("access_log", "at"): "accessed_at", ("access_log", "status"): "http_status"}
}
# What a step writes anew: units of judgements name the version of the prompt, the audit log lies in pages, and values of
# columns that rows of before lack.
REWRITTEN: Mapping[int, Mapping[str, set[str]]] = {
    2: {
        "llm_calls": {"landing_unit"},
        "quarantine": {"unit", "landing_unit"},
        "landings": {"unit", "landing_unit"},
        "judgements": {"landing_unit"},
    },
    3: {"access_log": {"landing_unit"}, "judgements": {"occasion"}, "sets": {"is_anchor"}},
    # The bank is a view since, which says nothing of how it was landed.
    4: {"bank": {"landing_unit"}},
}
# Landings of what a step moved: those of days of the audit log, those of whole versions of the bank.
MOVED: Mapping[int, set[str]] = {3: {"access_log"}, 4: {"bank", "bank_contents", "bank_exits"}}


def make_value(name: str, kind: str, number: int) -> str:
    """A literal of that type; null for what is nested."""
    if kind == "VARCHAR":
        return quote_text(f"{name}-{number} 题")
    if kind == "BOOLEAN":
        return "true" if number % 2 else "false"
    if kind in ("BIGINT", "INTEGER", "DOUBLE", "FLOAT"):
        return str(number)
    if kind.startswith("TIMESTAMP"):
        return f"TIMESTAMPTZ '2026-01-0{number} 00:00:00+00'"
    if kind == "DATE":
        return f"DATE '2026-01-0{number}'"
    return "NULL"


def list_columns(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Table → column → type, of the lake's own tables."""
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'exam' AND table_name IN "
        "(SELECT table_name FROM duckdb_tables() WHERE database_name = 'exam')"
    ).fetchall():
        found.setdefault(table, {})[column] = kind
    return found


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    """Put rows into every table that has none; the last has nulls."""
    for table, columns in list_columns(connection).items():
        if connection.execute(f"SELECT count(*) FROM {quote_name(table)}").fetchone() != (0,):
            continue
        # A partition has a name; so has a landing.
        needed = {"landing_unit", "month", getattr(TABLES.get(table), "partition_by", None)}
        rows = [
            ", ".join(
                "NULL" if number == ROWS and name not in needed else make_value(name, kind, number)
                for name, kind in columns.items()
            )
            for number in range(1, ROWS + 1)
        ]
        connection.execute(f"INSERT INTO {quote_name(table)} VALUES {', '.join(f'({row})' for row in rows)}")


def read_rows(settings: Settings) -> Rows:
    connection = attach_lake(settings, read_only=True)
    names = [*list_columns(connection)]
    if "bank" not in names:
        names.append("bank")
    found: Rows = {}
    for name in names:
        result = connection.execute(f"SELECT * FROM {quote_name(name)}")
        columns = [column[0] for column in result.description]
        found[name] = (columns, result.fetchall())
    connection.close()
    return found


def step_up(settings: Settings, form: int) -> None:
    """Bring a lake of the form before to this one, as the version that brought it did: without what later forms added."""
    connection = attach_lake(settings, read_only=False)
    connection.execute("BEGIN")
    for statement in migrations._RENAMES.get(form, ()):
        connection.execute(statement)
    later = {name for number, names in ADDED.items() if number > form for name in names}
    for statement in list_missing_definitions(connection):
        is_view = statement.startswith(("CREATE OR REPLACE VIEW", "COMMENT ON VIEW"))
        if is_view or any(quote_name(name) in statement for name in later):
            continue
        connection.execute(statement)
    for statement in migrations._UPDATES.get(form, ()):
        connection.execute(statement)
    connection.execute(f"COMMENT ON TABLE landings IS 'One row per landing. [form {form}]'")
    connection.execute("COMMIT")
    fill(connection)
    connection.close()


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Settings]:
    """The first form's own lake, and what became of it in each form: rows in every table of each."""
    folder = tmp_path_factory.mktemp("forms")
    settings = unpack_first_home(folder)
    remember_data_path(settings)
    connection = attach_lake(settings, read_only=False)
    fill(connection)
    connection.close()
    made = {}
    for form in FORMS:
        if form > 1:
            step_up(settings, form)
        made[form] = Settings(home=folder / f"form-{form}")
        shutil.copytree(settings.home / "lake", made[form].home / "lake")
        remember_data_path(made[form])
    return made


def find_losses(before: Rows, after: Rows, form: int) -> list[str]:
    losses = []
    steps = range(form + 1, migrations.FORM + 1)
    moved = {name for step in steps for name in MOVED.get(step, set())}
    for table, (columns, rows) in before.items():
        names = list(columns)
        rewritten: set[str] = set()
        for step in steps:
            names = [RENAMED.get(step, {}).get((table, name), name) for name in names]
            rewritten |= REWRITTEN.get(step, {}).get(table, set())
        held, now = after[table]
        if missing := set(names) - set(held) - rewritten:
            losses.append(f"{table} lacks {sorted(missing)}")
            continue
        if table == "landings":
            of = names.index("table_name")
            rows = [row for row in rows if row[of] not in moved]
            now = [row for row in now if row[held.index("table_name")] not in moved]
        kept = [name for name in names if name not in rewritten]
        was = Counter(repr([row[names.index(name)] for name in kept]) for row in rows)
        # A value that a row of before lacked may have been given to it.
        found = Counter(repr([row[held.index(name)] for name in kept]) for row in now)
        if was != found:
            losses.append(f"{table}: {sum((was - found).values())} lost, {sum((found - was).values())} new")
    return losses


@pytest.mark.parametrize("form", FORMS)
def test_a_lake_of_every_earlier_form_is_opened_with_every_row(
    lakes: dict[int, Settings], tmp_path: Path, form: int
) -> None:
    settings = lakes[form]
    before = read_rows(settings)
    assert [name for name, (_, rows) in before.items() if not rows] == []
    open_lake(settings).close()
    after = read_rows(settings)
    losses = find_losses(before, after, form)
    assert losses == []
    # The comparison would have found something.
    columns, rows = after["responses"]
    assert find_losses(before, after | {"responses": (columns, rows[1:])}, form) == [
        "responses: 1 lost, 0 new"
    ]
