"""The two files of an embedded ledger: made together, put in place together, kept together.

Making them runs in the ledger's transaction, which nobody else can write beside. It first makes the exam's file, complete and on
disk but marked as new, so that no server starts with it; then the ledger commits. A kill before that commit leaves no ledger, and
the file is made again; a kill after it leaves two whole files, and the next open takes the mark away (`promote`). At no moment
would a server write to one of two copies.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from warehouse.ledger.engine.sides import EXAM_TABLES, name_exam_file
from warehouse.stores.files import remove_acknowledged_commit

# Before the form of an exam's file whose ledger may not have been committed.
_NEW: Final = "new "
FORM_TABLE: Final = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY)"


@dataclass(frozen=True)
class FileState:
    """How a file of an embedded ledger stands.

    Attributes:
        form: the last step of `migrations/versions` that it has seen; null for none.
        pair: the number that a ledger and its exam's file share; 0 for none.
    """

    form: str | None = None
    pair: int = 0


def read_state(path: Path) -> FileState:
    """The state of a ledger's or an exam's file, as empty where none is. Raises sqlite3.Error."""
    if not path.exists():
        return FileState()
    with _open(path) as connection:
        has_form = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
        row = has_form and connection.execute("SELECT version_num FROM alembic_version").fetchone()
        pair = connection.execute("PRAGMA user_version").fetchone()[0]
    return FileState(None if row is None else str(row[0]), int(pair))


def create_files(path: Path, form: str) -> bool:
    """Make both files of a ledger that does not exist yet, at the present form.

    Returns False when there is something already.

    Raises sqlite3.Error, StoreError where there is an exam's file in use.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _open(path) as ledger:
        ledger.execute("PRAGMA journal_mode=WAL")
        ledger.execute("PRAGMA synchronous=FULL")
        ledger.execute("BEGIN IMMEDIATE")
        if ledger.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
            return False
        with _new_exam_file(name_exam_file(path), form) as (exam, pair):
            for statement in _list_statements(is_exam=True):
                exam.execute(statement)
            _insert_first_rows(exam, is_exam=True)
        for statement in (*_list_statements(is_exam=False), FORM_TABLE):
            ledger.execute(statement)
        _insert_first_rows(ledger, is_exam=False)
        ledger.execute("INSERT INTO alembic_version VALUES (?)", (form,))
        ledger.execute(f"PRAGMA user_version={pair}")
        ledger.execute("COMMIT")
    return True


def check_pair(ledger: Path, pair: int) -> FileState:
    """The state of the exam's file of a ledger; StoreError for none or another ledger's."""
    path = name_exam_file(ledger)
    if not path.exists():
        raise StoreError(
            f"The exam's database {path} is missing; the ledger {ledger} is not whole without it. Restore both from one backup "
            "(`proctor restore`)."
        )
    found = read_state(path)
    if found.pair != pair:
        raise StoreError(
            f"The exam's database {path} belongs to another ledger than {ledger}. Restore both from one backup "
            "(`proctor restore`)."
        )
    return found


def restore_ledger(source: Path, target: Path) -> None:
    """Put a copied ledger and its exam's database in place; one alone would not open."""
    for origin, copy in ((name_exam_file(source), name_exam_file(target)), (source, target)):
        if origin.exists():
            # What was acknowledged of a file that lay here before is not to be looked for in this one.
            remove_acknowledged_commit(copy)
            shutil.copyfile(origin, copy)
            copy.chmod(0o600)


def promote(path: Path) -> None:
    """Let servers use a new exam's file: its ledger is committed."""
    with _open(path) as connection:
        connection.execute(
            "UPDATE alembic_version SET version_num = substr(version_num, ?) WHERE version_num LIKE ? || '%'",
            (len(_NEW) + 1, _NEW),
        )


def is_new(form: str | None) -> bool:
    """Whether an exam's file of that form waits for `promote`."""
    return form is not None and form.startswith(_NEW)


@contextmanager
def _new_exam_file(path: Path, form: str) -> Iterator[tuple[sqlite3.Connection, int]]:
    """An exam's file to be filled in one transaction, with its pair's number; ends as new."""
    _remove_leftover(path)
    pair = secrets.randbelow(2**31 - 1) + 1
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with _open(path) as exam:
        exam.execute("PRAGMA synchronous=FULL")
        exam.execute("BEGIN IMMEDIATE")
        yield exam, pair
        exam.execute(FORM_TABLE)
        exam.execute("INSERT INTO alembic_version VALUES (?)", (_NEW + form,))
        exam.execute(f"PRAGMA user_version={pair}")
        exam.execute("COMMIT")
        exam.execute("PRAGMA journal_mode=WAL")
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_leftover(path: Path) -> None:
    if not path.exists():
        return
    form = read_state(path).form
    if form is not None and not is_new(form):
        raise StoreError(
            f"There is an exam's database in use at {path}, and the ledger beside it is new: they do not belong together. Move one "
            "of them elsewhere, or restore both from one backup."
        )
    for suffix in ("-wal", "-shm", "-journal", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@lru_cache(maxsize=2)
def _list_statements(*, is_exam: bool) -> tuple[str, ...]:
    """What makes the tables of one side as the code has them."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    from warehouse.ledger.engine.tables import metadata

    dialect = sqlite.dialect()
    made: list[str] = []
    for table in metadata.sorted_tables:
        if (table.name in EXAM_TABLES) is is_exam:
            made.append(str(CreateTable(table).compile(dialect=dialect)))
            made.extend(str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes)
    return tuple(made)


def _insert_first_rows(connection: sqlite3.Connection, *, is_exam: bool) -> None:
    """Insert what a new ledger holds from the beginning: `first_rows` in a table's `info`."""
    from warehouse.ledger.engine.tables import metadata

    for table in metadata.sorted_tables:
        if (table.name in EXAM_TABLES) is is_exam:
            for row in table.info.get("first_rows", ()):
                values = ", ".join(f":{name}" for name in row)
                connection.execute(f'INSERT INTO "{table.name}" ({", ".join(row)}) VALUES ({values})', row)


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as connection:
        yield connection
