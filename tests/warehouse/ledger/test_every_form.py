"""A ledger of every form that was released, with rows in every table, is opened.

All of the rows are still there. `forms/FORM/` keeps what made its tables then: `ledger.sql` and `exam.sql` for the two files of an
embedded ledger, `postgresql.sql` for a server. A new step comes with a folder of its own, which `write_form` writes; what is there
is never written again.
"""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, event, inspect, select

from schemas.errors import StoreError
from tests.warehouse.ledger.filled import fill_tables
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from warehouse.ledger.engine import migrate
from warehouse.ledger.engine.connections import create_ledger_engine
from warehouse.ledger.engine.migrate import HEAD, MIGRATIONS, upgrade_ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.sides import name_exam_file
from warehouse.ledger.engine.tables import metadata

ROOT = Path(__file__).parents[3]
FOLDER = Path(__file__).parent / "forms"
FORMS = [step.revision for step in reversed(list(ScriptDirectory(str(MIGRATIONS)).walk_revisions()))]
PAIR = 7
# The form of a release to come: both sides get something, the ledger's in two parts.
TO_COME = "9000"
STEP = """
import os
import signal

import sqlalchemy as sa
from alembic import op

from warehouse.ledger.engine.sides import on_side

revision = "{revision}"
down_revision = "{before}"


def die_in(part):
    if part == "{dies_in}":
        os.kill(os.getpid(), signal.SIGKILL)


def upgrade():
    if on_side("ledger"):
        op.create_table("to_come", sa.Column("name", sa.String(40), primary_key=True))
        die_in("ledger")
        op.add_column("reviews", sa.Column("to_come", sa.Integer(), nullable=True))
    if on_side("exam"):
        op.add_column("sessions", sa.Column("to_come", sa.Integer(), nullable=True))
        die_in("exam")
"""
UPGRADE = """
import sys
from pathlib import Path
from warehouse.ledger.engine import migrate
from warehouse.ledger.engine.opening import open_ledger

migrate.MIGRATIONS, migrate.HEAD, url = Path(sys.argv[1]), *sys.argv[2:]
open_ledger(url).close()
"""

Rows = dict[str, list[dict[str, Any]]]

# What says who was at work when a ledger of the form was left: nobody is when it is opened.
LEFT: Mapping[str, Mapping[str, set[str]]] = {
    "1001": {"jobs": {"holder", "host", "process_id", "expires_at"}},
}


def write_form(form: str, server: PostgresqlServer, folder: Path) -> None:
    """Keep the tables of the code as those of that form: for whoever adds a step."""
    path = folder / "ledger.sqlite"
    open_ledger(f"sqlite:///{path}").close()
    (FOLDER / form).mkdir(parents=True)
    for name, file in (("ledger", path), ("exam", name_exam_file(path))):
        (FOLDER / form / f"{name}.sql").write_text(dump_file(file), "utf-8")
    (FOLDER / form / "postgresql.sql").write_text(dump_server(server), "utf-8")


def dump_file(path: Path) -> str:
    """What makes the tables of a file, and the rows that a new one has."""
    with closing(sqlite3.connect(path)) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def dump_server(server: PostgresqlServer) -> str:
    """The same of a ledger on a server: the statements that make it."""
    server._create("dumped")
    engine = create_ledger_engine(server.url("dumped"))
    sent: list[str] = []

    def note(_connection: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement.lstrip().startswith(("CREATE", "ALTER", "COMMENT", "INSERT", "UPDATE", "DROP")):
            whole = psycopg.ClientCursor(cursor.connection).mogrify(statement, values or None)
            sent.append(whole.strip() + ";")

    event.listen(engine, "before_cursor_execute", note)
    upgrade_ledger(engine)
    engine.dispose()
    return "\n".join(sent) + "\n"


def read_form(form: str, name: str) -> str:
    return (FOLDER / form / f"{name}.sql").read_text("utf-8")


def make_files(form: str, path: Path) -> None:
    """The two files of an embedded ledger of that form."""
    for name, file in (("ledger", path), ("exam", name_exam_file(path))):
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(read_form(form, name))
            connection.execute(f"PRAGMA user_version={PAIR}")


@contextmanager
def writing(url: str) -> Iterator[Connection]:
    engine = create_ledger_engine(url)
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        yield connection
        connection.exec_driver_sql("COMMIT")
    engine.dispose()


def fill_and_read(address: str) -> Rows:
    """Rows for every table, and all of them as they are then; JSON as its text."""
    with writing(address) as connection:
        fill_tables(connection)
    return read_rows(address)


def read_rows(address: str) -> Rows:
    found: Rows = {}
    with writing(address) as connection:
        tables = MetaData()
        tables.reflect(connection)
        for table in tables.sorted_tables:
            if table.name != "alembic_version":
                rows = [dict(row) for row in connection.execute(select(table)).mappings()]
                found[table.name] = sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
    return found


def describe(address: str) -> dict[str, Any]:
    """What a database says of its tables: columns in their order, keys, indexes, conditions."""
    with writing(address) as connection:
        found = inspect(connection)
        return {
            name: (
                [
                    (column["name"], str(column["type"]), column["nullable"], column["default"])
                    for column in found.get_columns(name)
                ],
                found.get_pk_constraint(name),
                *(
                    sorted(map(spell, read(name)))
                    for read in (
                        found.get_foreign_keys,
                        found.get_unique_constraints,
                        found.get_check_constraints,
                        found.get_indexes,
                    )
                ),
            )
            for name in found.get_table_names()
        }


def spell(found: Mapping[str, Any]) -> str:
    """A key, condition or index as text; a partial index's condition is shared by none."""
    options = {name: str(value) for name, value in found.get("dialect_options", {}).items()}
    return repr({**found, "dialect_options": options})


def find_losses(before: Rows, after: Rows, left: Mapping[str, set[str]] = {}) -> list[str]:
    """Tables whose rows of before are not there as they were.

    Columns may have been added, or be `left` out.
    """
    losses = []
    for name, rows in before.items():
        kept = [{key: row[key] for key in row.keys() - left.get(name, set())} for row in rows]
        if not all(any(row.items() <= found.items() for found in after.get(name, [])) for row in kept):
            losses.append(name)
    return losses


def write_step(folder: Path, dies_in: str = "") -> Path:
    """Steps as they are with one after them, which may kill its process half-way."""
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    step = STEP.format(revision=TO_COME, before=HEAD, dies_in=dies_in)
    (folder / "versions" / f"{TO_COME}_to_come.py").write_text(step, "utf-8")
    return folder


@contextmanager
def next_release(steps: Path) -> Iterator[None]:
    """The code as it would be with that step, but for the tables that it adds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "MIGRATIONS", steps)
        patch.setattr(migrate, "HEAD", TO_COME)
        yield


def read_forms(*addresses: str) -> list[str]:
    found = []
    for address in addresses:
        with writing(address) as connection:
            found.append(connection.exec_driver_sql("select version_num from alembic_version").scalar_one())
    return found


def test_every_form_is_kept_and_the_last_is_that_of_the_code() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == FORMS
    assert FORMS[-1] == HEAD


@pytest.mark.parametrize("form", FORMS)
def test_a_ledger_of_every_form_is_opened_with_every_row(tmp_path: Path, form: str) -> None:
    path = tmp_path / "ledger.sqlite"
    make_files(form, path)
    new = tmp_path / "new.sqlite"
    open_ledger(f"sqlite:///{new}").close()
    before: Rows = {}
    for file in (path, name_exam_file(path)):
        before |= fill_and_read(f"sqlite:///{file}")
    assert [name for name, rows in before.items() if not rows] == []
    open_ledger(f"sqlite:///{path}").close()
    after = {**read_rows(f"sqlite:///{path}"), **read_rows(f"sqlite:///{name_exam_file(path)}")}
    assert after.keys() == metadata.tables.keys()
    assert find_losses(before, after, LEFT.get(form, {})) == []
    for file, other in ((path, new), (name_exam_file(path), name_exam_file(new))):
        assert describe(f"sqlite:///{file}") == describe(f"sqlite:///{other}")
    # The comparison would have found something.
    assert find_losses(before, after | {"users": after["users"][1:]}, LEFT.get(form, {})) == ["users"]


def check_step(before: Rows, *addresses: str) -> None:
    """What the step adds is there, and every row; the code of today leaves it alone."""
    assert read_forms(*addresses) == [TO_COME] * len(addresses)
    after: Rows = {}
    for address in addresses:
        after |= read_rows(address)
    assert find_losses(before, after) == []
    assert after["to_come"] == []
    assert {row["to_come"] for name in ("reviews", "sessions") for row in after[name]} == {None}
    with pytest.raises(StoreError, match="another version of Proctor"):
        open_ledger(addresses[0])


@pytest.mark.parametrize(
    ("dies_in", "left"),
    [
        ("", [HEAD, HEAD]),
        ("ledger", [HEAD, HEAD]),
        pytest.param("exam", [TO_COME, HEAD], marks=pytest.mark.long),
    ],
)
def test_a_step_to_come_keeps_every_row_and_a_kill_in_it_leaves_each_file_whole(
    tmp_path: Path, dies_in: str, left: list[str], warm_python: str
) -> None:
    path = tmp_path / "ledger.sqlite"
    make_files(HEAD, path)
    sides = [f"sqlite:///{path}", f"sqlite:///{name_exam_file(path)}"]
    before: Rows = {}
    for side in sides:
        before |= fill_and_read(side)
    if dies_in:
        steps = write_step(tmp_path / "dying", dies_in)
        killed = subprocess.run([warm_python, "-c", UPGRADE, str(steps), TO_COME, sides[0]], cwd=ROOT)
        assert killed.returncode == -signal.SIGKILL
    assert read_forms(*sides) == left
    with next_release(write_step(tmp_path / "steps")):
        open_ledger(sides[0]).close()
    check_step(before, *sides)


@pytest.mark.service
def test_a_ledger_of_every_form_on_postgresql_is_opened_with_every_row(tmp_path: Path) -> None:
    with start_postgresql() as server:
        new = describe(server.new_ledger_url())
        for form in FORMS:
            server._create(f"form_{form}")
            url = server.url(f"form_{form}")
            with writing(url) as connection:
                connection.exec_driver_sql(read_form(form, "postgresql").replace("%", "%%"))
            before = fill_and_read(url)
            open_ledger(url).close()
            after = read_rows(url)
            assert after.keys() == metadata.tables.keys()
            assert find_losses(before, after, LEFT.get(form, {})) == []
            assert describe(url) == new
        with next_release(write_step(tmp_path / "steps")):
            open_ledger(url).close()
        check_step(before, url)
