"""Opening the ledger, and what it refuses."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import inspect, make_url

from schemas.errors import StoreError
from tests.warehouse.interrupts import interrupt_everywhere
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_exam_database, open_ledger
from warehouse.ledger.engine.sides import EXAM_TABLES, find_ledger_file, name_exam_file, show_address
from warehouse.ledger.engine.tables import metadata, read_metadata

ROOT = Path(__file__).parents[3]


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


@pytest.mark.service
def test_the_migration_makes_exactly_the_tables_of_the_code_on_postgresql(
    postgresql: PostgresqlServer,
) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with (
        open_ledger(postgresql.new_ledger_url()) as ledger,
        ledger.engine.connect() as connection,
    ):
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, read_metadata("postgresql")) == []


@pytest.mark.service
@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("25006", "may only be read"),
        ("53100", "disk of its server"),
        ("57014", "QueryCanceled"),
        ("XX001", "damaged"),
    ],
)
def test_a_server_that_takes_nothing_says_why(postgresql: PostgresqlServer, state: str, said: str) -> None:
    with open_ledger(postgresql.new_ledger_url()) as ledger:
        with ledger.write() as connection:
            connection.exec_driver_sql(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql "
                f"AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"
            )
            connection.exec_driver_sql(
                "CREATE TRIGGER refuse BEFORE INSERT ON commit_counts EXECUTE FUNCTION refuse()"
            )
        with pytest.raises(StoreError, match=said), ledger.write():
            pass
        with pytest.raises(StoreError, match=said):
            ledger.writer.run(lambda connection: connection.exec_driver_sql("SELECT 1"))


@pytest.mark.service
def test_a_server_that_lets_nobody_in_any_more_is_quoted_to_who_reads(postgresql: PostgresqlServer) -> None:
    url = postgresql.new_ledger_url()
    with open_ledger(url) as ledger, ledger.write() as connection:
        connection.exec_driver_sql("CREATE ROLE going LOGIN SUPERUSER")
    with open_ledger(url.replace("postgres@", "going@")) as ledger, open_ledger(url) as other:
        with other.write() as connection:
            connection.exec_driver_sql("ALTER ROLE going NOLOGIN")
        ledger.engine.dispose()
        for attempt in (ledger.read, ledger.write):
            with (
                pytest.raises(StoreError, match=r'could not be used: .* \(role "going" is not permitted'),
                attempt(),
            ):
                pass


@pytest.mark.service
def test_a_role_without_rights_is_no_reason_to_restore_a_backup(postgresql: PostgresqlServer) -> None:
    url = postgresql.new_ledger_url()
    with open_ledger(url) as ledger, ledger.write() as connection:
        connection.exec_driver_sql(
            "DO $$ BEGIN CREATE ROLE nobody LOGIN; EXCEPTION WHEN duplicate_object THEN END $$"
        )
    with pytest.raises(StoreError, match=r"lacks the rights.*Mend that, then run again"):
        open_ledger(url.replace("postgres@", "nobody@"))


def test_several_processes_may_open_a_new_ledger_at_once(tmp_path: Path, warm_python: str) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    code = "import sys; from warehouse.ledger.engine.opening import open_ledger; open_ledger(sys.argv[1]).close()"
    processes = [subprocess.Popen([warm_python, "-c", code, url], cwd=ROOT) for _ in range(4)]
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


def test_a_ledger_of_before_the_first_release_is_refused_in_one_sentence(ledger: Ledger) -> None:
    for form in ("0001", "0005", "0012", "0038"):
        with ledger.write() as connection:
            connection.exec_driver_sql(f"update alembic_version set version_num = '{form}'")
        with pytest.raises(
            StoreError, match=f"its form is '{form}', .* before the first release.* begin in a new"
        ):
            open_ledger(str(ledger.engine.url))


def test_an_exams_file_of_another_version_is_not_promised_to_be_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    open_ledger(f"sqlite:///{path}").close()
    for form in ("0001", "0005", "9999"):
        with closing(sqlite3.connect(name_exam_file(path))) as connection:
            connection.execute("update alembic_version set version_num = ?", (form,))
            connection.commit()
        with pytest.raises(StoreError, match=f"its form is '{form}', .* begin in a new"):
            open_exam_database(f"sqlite:///{name_exam_file(path)}")


def test_a_database_of_something_else_is_refused_and_gets_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table notes (line text)")
    with pytest.raises(StoreError, match="other tables than a ledger's"):
        open_ledger(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select name from sqlite_master").fetchall() == [("notes",)]
    assert not name_exam_file(path).exists()


def test_another_engine_is_refused() -> None:
    with pytest.raises(StoreError, match="mysql"):
        open_ledger("mysql://somewhere/ledger")


def test_a_transaction_that_raises_leaves_nothing(ledger: Ledger) -> None:
    from warehouse.ledger.trust import users

    with pytest.raises(RuntimeError), ledger.write() as connection:
        users.add_user(connection, user_id="ada", role="admin")
        raise RuntimeError
    with ledger.read() as connection:
        assert users.list_users(connection) == []


def test_a_ledger_that_another_program_locks_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_ledger(f"sqlite:///{path}", busy_s=0.1) as ledger:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        refused = pytest.raises(StoreError, match="is locked by another program, and nothing was written")
        with refused, ledger.write():
            pass
        other.close()
        with ledger.write():
            pass


@pytest.mark.parametrize(
    "place", ["//owner:QZXW@host/ledger", "//owner@host/ledger?password=QZXW&sslmode=require"]
)
def test_an_address_is_shown_without_its_password_wherever_that_stands(place: str) -> None:
    shown = show_address(f"postgresql:{place}")
    assert "QZXW" not in shown
    assert "@host/ledger" in shown


def test_a_ctrl_c_as_a_transaction_begins_or_ends_leaves_nothing_locked(tmp_path: Path) -> None:
    """What ends the work writes too, and waited a minute for its own process."""
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    meant = ("ledger.py", "commits.py", "gathered.py", "away.py", "blocks.py", "contextlib.py")

    def use() -> None:
        with ledger.write():
            pass

    moments = 0
    with open_ledger(address) as ledger, open_ledger(address, busy_s=0.1) as other:
        for _ in interrupt_everywhere(use, lambda code: code.co_filename.endswith(meant)):
            with other.write():
                moments += 1
    assert moments > 20


@pytest.fixture
def quick_collection() -> Iterator[None]:
    """Let what was there before stay out of collections: a worker of many tests holds gigabytes."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("quick_collection")
def test_a_ctrl_c_as_a_connection_is_opened_makes_no_later_one_a_false_alarm(tmp_path: Path) -> None:
    """It counted as open: the log that went with the last was taken for replaced."""
    kept = count()

    def use() -> None:
        ledger.engine.connect().close()

    def close_all() -> None:
        # A log that is gone leaves its number to the next one, unless it has another name.
        for log in list(tmp_path.glob("*-wal")):
            os.link(log, tmp_path / f"kept-{next(kept)}")
        ledger.engine.pool.dispose()

    moments = 0
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        close_all()
        for interrupted in interrupt_everywhere(
            use, lambda code: code.co_filename.endswith("stores/files.py")
        ):
            # With its traceback goes the connection, and the log with the last one.
            interrupted.__traceback__ = None
            gc.collect()
            for _ in range(2):
                with ledger.write():
                    moments += 1
                close_all()
    assert moments > 10
