"""Opening the ledger, and what it refuses."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import MetaData, inspect, make_url

from schemas.errors import StoreError
from tests.warehouse.ledger.postgresql import start_postgresql
from warehouse.ledger.connections import create_ledger_engine
from warehouse.ledger.engine import Ledger
from warehouse.ledger.migrate import HEAD, make_config, read_ledger_version
from warehouse.ledger.opening import open_ledger
from warehouse.ledger.sides import EXAM_TABLES, find_ledger_file, name_exam_file
from warehouse.ledger.tables import metadata

ROOT = Path(__file__).parents[3]


def test_the_migration_makes_exactly_the_tables_of_the_code(tmp_path: Path) -> None:
    from alembic import command
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    file = tmp_path / "migrated.sqlite"
    engine = create_ledger_engine(f"sqlite:///{file}")
    command.upgrade(make_config(engine), "head")
    open_ledger(f"sqlite:///{file}").close()
    for path, is_exam in ((file, False), (name_exam_file(file), True)):
        code = MetaData(naming_convention=metadata.naming_convention)
        for table in metadata.tables.values():
            if (table.name in EXAM_TABLES) is is_exam:
                table.to_metadata(code)
        with create_ledger_engine(f"sqlite:///{path}").connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": False})
            assert compare_metadata(context, code) == []
            assert read_ledger_version(connection.engine) == HEAD


def test_a_new_ledger_has_the_form_of_a_migrated_one(ledger: Ledger, tmp_path: Path) -> None:
    from alembic import command

    file = tmp_path / "migrated.sqlite"
    engine = create_ledger_engine(f"sqlite:///{file}")
    command.upgrade(make_config(engine), "head")
    open_ledger(f"sqlite:///{file}").close()
    new = find_ledger_file(ledger.engine.url)
    assert new is not None
    assert describe_file(new) == describe_file(file)
    assert describe_file(name_exam_file(new)) == describe_file(name_exam_file(file))


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:////var/proctor/ledger.sqlite",
        "sqlite:///ledger.sqlite",
        "sqlite+pysqlite:////a folder/it's 100%/账.sqlite?timeout=5",
        "sqlite:///:memory:",
        "sqlite:///",
        "sqlite://",
        "postgresql+psycopg://owner:a%2Fb@host:5432/ledger?options=x",
        "postgresql:///ledger",
    ],
)
def test_the_file_of_an_address_is_that_which_sqlalchemy_opens(address: str) -> None:
    url = make_url(address)
    is_file = url.get_backend_name() == "sqlite" and url.database
    assert (
        find_ledger_file(address) == find_ledger_file(url) == (Path(str(url.database)) if is_file else None)
    )


def test_a_new_ledger_has_the_rows_that_its_tables_begin_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {"name": "nothing yet", "marked_at": "", "unit_count": 0}
    monkeypatch.setitem(metadata.tables["landing_marks"].info, "first_rows", [first])
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger, ledger.read() as connection:
        rows = connection.execute(metadata.tables["landing_marks"].select()).mappings().all()
    assert [dict(row) for row in rows] == [first]


def describe_file(path: Path) -> dict[str, list[object]]:
    """By table its columns, foreign keys, indexes and rows, whatever their order."""
    with closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        found: dict[str, list[object]] = {}
        for name in names:
            columns = sorted(row[1:] for row in connection.execute(f"pragma table_info({name})"))
            keys = sorted(row[2:] for row in connection.execute(f"pragma foreign_key_list({name})"))
            indexes = sorted(
                (row[2:], tuple(part[2] for part in connection.execute(f"pragma index_info({row[1]})")))
                for row in connection.execute(f"pragma index_list({name})")
            )
            rows = sorted(connection.execute(f"select * from {name}"), key=repr)
            found[name] = [columns, keys, indexes, rows]
    return found


@pytest.mark.service
def test_the_migration_makes_exactly_the_tables_of_the_code_on_postgresql() -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with (
        start_postgresql() as server,
        open_ledger(server.new_ledger_url()) as ledger,
        ledger.engine.connect() as connection,
    ):
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, metadata) == []


def test_several_processes_may_open_a_new_ledger_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    code = "import sys; from warehouse.ledger.opening import open_ledger; open_ledger(sys.argv[1]).close()"
    processes = [subprocess.Popen([sys.executable, "-c", code, url], cwd=ROOT) for _ in range(4)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0, 0]
    with open_ledger(url) as ledger:
        found = inspect(ledger.engine)
        assert set(found.get_table_names()) == {*metadata.tables, "alembic_version"} - set(EXAM_TABLES)
        assert set(found.get_table_names(schema="exam")) == {*EXAM_TABLES, "alembic_version"}


def test_a_file_that_is_no_ledger_is_refused_by_name_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a ledger, and long enough to be read as a header" * 20)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        open_ledger(f"sqlite:///{path}")
    assert path.read_text().startswith("these are notes")


def test_a_ledger_of_a_newer_version_is_refused(ledger: Ledger) -> None:
    with ledger.write() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '9999'")
    with pytest.raises(StoreError, match="'9999'"):
        open_ledger(str(ledger.engine.url))


def test_another_engine_is_refused() -> None:
    with pytest.raises(StoreError, match="mysql"):
        open_ledger("mysql://somewhere/ledger")


def test_a_transaction_that_raises_leaves_nothing(ledger: Ledger) -> None:
    from warehouse.ledger import users

    with pytest.raises(RuntimeError), ledger.write() as connection:
        users.add_user(connection, user_id="ada", role="admin")
        raise RuntimeError
    with ledger.read() as connection:
        assert users.list_users(connection) == []


@pytest.mark.service
def test_rows_of_the_first_form_are_kept_on_postgresql() -> None:
    from alembic import command
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with start_postgresql() as server:
        url = server.new_ledger_url()
        engine = create_ledger_engine(url)
        command.downgrade(make_config(engine), "0001")
        with engine.connect() as connection:
            connection.exec_driver_sql(
                "insert into sets values ('set', 's', 1, 1, false, '2026-01-01T00:00:00.000000+00:00')"
            )
            connection.exec_driver_sql("insert into set_items values ('set', 'l', 'q', 'Law', '{}')")
            connection.exec_driver_sql(
                "insert into llm_calls (call_key, purpose, unit, endpoint, model, status, attempts, started_at) values "
                "('a', 'judge', 's/j', 'e', 'm', 'done', 1, 'x'), ('b', 'sit', 's', 'e', 'm', 'done', 1, 'x')"
            )
        engine.dispose()

        with open_ledger(url) as ledger, ledger.engine.connect() as connection:
            assert (
                compare_metadata(
                    MigrationContext.configure(connection, opts={"compare_type": False}), metadata
                )
                == []
            )
            rows = connection.exec_driver_sql("select set_id, lineage_uuid from sets").all()
            assert [tuple(row) for row in rows] == [("set", "l")]
            assert connection.exec_driver_sql("select set_number from set_numbers").scalar() == 1
            units = connection.exec_driver_sql("select unit from llm_calls order by call_key").scalars().all()
            assert units == ["s/j/prompt-1", "s"]
