"""Rewrite the ledger's files, so that no page, log or free space holds what was erased."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

from schemas.errors import StoreError
from warehouse.ledger.engine.connections import create_ledger_engine
from warehouse.ledger.engine.sides import find_ledger_file, name_exam_file

_BUSY_S: Final = 60.0
# On a server: the tables that texts are erased from.
_TABLES: Final = ("responses", "llm_calls")


def purge_ledger(url: str) -> None:
    """Write anew what texts were erased from, and cut the log that held them.

    No connection of this process may be open to an embedded ledger. On a server the two tables are locked meanwhile, seconds for
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


def _purge_server(url: str) -> None:
    from sqlalchemy.exc import DBAPIError

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
