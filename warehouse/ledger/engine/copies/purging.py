"""Rewrite the ledger's files, so that no page, log or free space holds what was erased."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from schemas.errors import StoreError
from warehouse.ledger.engine.connections import create_ledger_engine
from warehouse.ledger.engine.sides import find_ledger_file, name_exam_file
from warehouse.ledger.engine.tables import sessions

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

_BUSY_S: Final = 60.0
# On a server: the tables that texts are erased from. Calls that wait are jobs, with what they ask.
_TABLES: Final = ("responses", "llm_calls", "jobs")
# On a server: the tables that rows of closed runs leave.
_LEFT: Final = ("llm_calls", "allocations", "responses", "access_log")
_PAGES_AT_ONCE: Final = 2_000


def purge_ledger(url: str) -> None:
    """Write anew what texts were erased from, and cut the log that held them.

    No connection of this process may be open to an embedded ledger. On a server the tables are locked meanwhile, seconds for
    a gigabyte; its own archive of the log (WAL) and its backups are out of reach from here. Raises StoreError where somebody else
    holds a file too long: doing it again finishes it.
    """
    file = find_ledger_file(url)
    if file is None:
        _purge_server(url)
        return
    for path in (file, name_exam_file(file)):
        try:
            with closing(sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)) as connection:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("VACUUM")
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error as error:
            raise _held(path.name, type(error).__name__) from None
        if busy:
            raise _held(path.name, "its log is in use")


def return_space(ledger: Ledger) -> None:
    """Give the file system back what rows that left the ledger held.

    SQLite gives pages back some thousand at a time, between which others write; a file that was made before it could is written anew,
    once. A server writes its tables anew where nobody sits; otherwise the rows that come next take the place. Raises StoreError where
    somebody else holds a file too long: nothing is lost, and the next time does it.
    """
    if not ledger.is_sqlite:
        with ledger.read() as connection:
            is_sat = connection.execute(
                select(sessions.c.session_id).where(sessions.c.status == "open").limit(1)
            ).first()
        for table in _LEFT:
            with ledger.engine.connect() as connection:
                connection.exec_driver_sql(f"VACUUM {'(ANALYZE)' if is_sat else '(FULL, ANALYZE)'} {table}")
        return
    file = find_ledger_file(ledger.engine.url)
    assert file is not None, "it is a file"
    for path in (file, name_exam_file(file)):
        try:
            with closing(sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)) as connection:
                is_full = not connection.execute("PRAGMA freelist_count").fetchone()[0]
                if not is_full and not connection.execute("PRAGMA auto_vacuum").fetchone()[0]:
                    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                    connection.execute("VACUUM")
                while connection.execute("PRAGMA freelist_count").fetchone()[0]:
                    connection.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})").fetchall()
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise StoreError(
                f"{path.name} could not give back what is free in it ({type(error).__name__}). What comes next takes that place; the "
                "next `proctor archive` tries again."
            ) from None


def _purge_server(url: str) -> None:
    engine = create_ledger_engine(url)
    try:
        with engine.connect() as connection:
            for table in _TABLES:
                connection.exec_driver_sql(f"VACUUM (FULL) {table}")
    except DBAPIError as error:
        raise _held("the ledger's server", type(error.orig).__name__) from None
    finally:
        engine.dispose()


def _held(where: str, why: str) -> StoreError:
    return StoreError(
        f"{where} could not be written again ({why}): it may still hold erased texts in pages that are free. Wait until nobody "
        "reads it, and run `proctor erase --again`."
    )
