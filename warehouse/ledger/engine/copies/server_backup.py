"""A ledger on a PostgreSQL server as the two files of an embedded one, and back.

One form of backup whatever the ledger lies on: it is read as of one moment (one REPEATABLE READ transaction, rows streamed by COPY)
while others write, and can be put back on a server or, where there is none, embedded. `pg_dump` would need a program of the
server's version, hold roles and passwords, and be of no use without a server. Roles and grants are not copied: tables come back by
the migrations, and the exam API's role by `proctor exam database --role NAME`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import StoreError, UsageError
from warehouse.ledger.engine.copies.files import create_files, promote, restore_ledger
from warehouse.ledger.engine.sides import EXAM_TABLES, name_exam_file

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

_AT_ONCE: Final = 5_000


def copy_server_ledger(url: str, target: Path) -> None:
    """Copy a ledger on a server to the new file `target`, and its exam's file beside it.

    The copy is as of one moment. Raises StoreError.
    """
    from warehouse.ledger.engine.migrate import HEAD
    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.engine.tables import metadata

    with open_ledger(url) as ledger, ledger.read() as connection:
        if not create_files(target, HEAD):
            raise StoreError(f"There is a ledger at {target} already. Name a new folder for the backup.")
        exam = name_exam_file(target)
        promote(exam)
        for path, is_exam in ((exam, True), (target, False)):
            with _open_whole(path) as file:
                for table in metadata.sorted_tables:
                    if (table.name in EXAM_TABLES) is is_exam:
                        _copy_rows(connection, file, table)


def check_copied_form(copy: Path) -> None:
    """Pass for a backup's ledger that this code can read, writing nothing; raises StoreError."""
    from warehouse.ledger.engine.migrate import HEAD, is_form_known

    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?immutable=1", uri=True)) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if row is not None and not is_form_known(str(row[0])):
        raise StoreError(
            f"The backup in {copy.parent} holds a ledger of another version of Proctor (its form is {row[0]!r}, this one has {HEAD!r}). "
            "Restore it with that version."
        )


def fill_server_ledger(source: Path, url: str, staging: Path) -> None:
    """Put a copied ledger into the empty database at `url`, in one transaction.

    A copy of an earlier form is brought up to date first.

    `staging` is a new folder for files in between. Raises UsageError for a database whose ledger has rows, StoreError.
    """
    from sqlalchemy.exc import DBAPIError

    from warehouse.ledger.engine.opening import open_ledger
    from warehouse.ledger.engine.tables import metadata

    staging.mkdir(mode=0o700, parents=True)
    copy = staging / source.name
    restore_ledger(source, copy)
    open_ledger(f"sqlite:///{copy}").close()
    with open_ledger(url) as ledger, ledger.engine.connect() as connection:
        connection.exec_driver_sql("BEGIN")
        try:
            check_empty(connection)
            for table in reversed(metadata.sorted_tables):
                connection.exec_driver_sql(f'DELETE FROM "{table.name}"')
            for table in metadata.sorted_tables:
                file = name_exam_file(copy) if table.name in EXAM_TABLES else copy
                _insert_rows(connection, file, table)
            connection.exec_driver_sql("COMMIT")
        except DBAPIError as error:
            connection.exec_driver_sql("ROLLBACK")
            raise _explain(error.orig) from None
        except _driver_error() as error:
            connection.exec_driver_sql("ROLLBACK")
            raise _explain(error) from None
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise


def check_empty(connection: Connection) -> None:
    """Raise UsageError unless a ledger on a server has no rows but those that every new one has."""
    from sqlalchemy import func, select

    from warehouse.ledger.engine.tables import metadata

    for table in metadata.sorted_tables:
        count = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if count > len(table.info.get("first_rows", ())):
            raise UsageError(
                f"The ledger that PROCTOR_LEDGER_URL names has rows already ({table.name}); a backup is restored into an empty "
                "database. Make a new one, or drop what an interrupted restore left, and restore again."
            )


class _open_whole:  # noqa: N801 (a context manager, named as what it does)
    """A SQLite file that is filled in one transaction; durable when the block ends."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)

    def __enter__(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def __exit__(self, kind: object, *_: object) -> None:
        with closing(self._connection):
            if kind is None:
                self._connection.execute("COMMIT")


def _copy_rows(connection: Connection, file: sqlite3.Connection, table: Table) -> None:
    names = [column.name for column in table.columns]
    # JSON as its text: a null in it is not the null of the column.
    chosen = ", ".join(
        f'"{name}"{"::text" if kind == "text" else ""}' for name, kind in _list_kinds(table).items()
    )
    file.execute(f'DELETE FROM "{table.name}"')
    insert = f'INSERT INTO "{table.name}" ({_quote(names)}) VALUES ({", ".join("?" * len(names))})'
    with (
        _driver(connection).cursor() as cursor,
        cursor.copy(f'COPY (SELECT {chosen} FROM "{table.name}") TO STDOUT') as copy,
    ):
        copy.set_types(list(_list_kinds(table).values()))
        file.executemany(insert, copy.rows())


def _insert_rows(connection: Connection, path: Path, table: Table) -> None:
    kinds = _list_kinds(table)
    truths = [number for number, kind in enumerate(kinds.values()) if kind == "bool"]
    with closing(sqlite3.connect(path)) as file, _driver(connection).cursor() as cursor:
        with cursor.copy(f'COPY "{table.name}" ({_quote(kinds)}) FROM STDIN') as copy:
            for row in _read_rows(file, table.name, kinds):
                values = list(row)
                for number in truths:
                    values[number] = None if values[number] is None else bool(values[number])
                copy.write_row(values)
        for name in (name for name, kind in kinds.items() if kind == "int8"):
            # What numbers itself continues after the last row.
            cursor.execute(
                f'SELECT setval(serial::regclass, (SELECT max("{name}") FROM "{table.name}")) '
                "FROM pg_get_serial_sequence(%s::text, %s::text) AS serial "
                f'WHERE serial IS NOT NULL AND EXISTS (SELECT 1 FROM "{table.name}")',
                (table.name, name),
            )


def _read_rows(file: sqlite3.Connection, name: str, columns: dict[str, str]) -> Iterator[tuple[Any, ...]]:
    cursor = file.execute(f'SELECT {_quote(columns)} FROM "{name}"')
    while rows := cursor.fetchmany(_AT_ONCE):
        yield from rows


def _list_kinds(table: Table) -> dict[str, str]:
    """Column → the type by which PostgreSQL's values of it are read."""
    from sqlalchemy import Boolean, Float, Integer

    kinds = {}
    for column in table.columns:
        kinds[column.name] = next(
            (
                name
                for kind, name in ((Boolean, "bool"), (Integer, "int8"), (Float, "float8"))
                if isinstance(column.type, kind)
            ),
            "text",
        )
    return kinds


def _quote(names: Any) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


def _driver_error() -> type[Exception]:
    import psycopg

    return psycopg.Error


def _explain(error: object) -> StoreError:
    return StoreError(
        f"The ledger's server did not take what was restored ({type(error).__name__}); nothing of it was written. Check that its "
        "role may write, and the server's disk."
    )
