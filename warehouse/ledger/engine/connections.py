"""Connections to the ledger, embedded (SQLite in WAL mode) or on a server (PostgreSQL)."""

from __future__ import annotations

import logging
import os
import sqlite3
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, make_url

from schemas.errors import StoreError, is_interruption
from warehouse.ledger.engine.commits import WatchedConnection, WatchedFile, watch_files
from warehouse.ledger.engine.sides import EXAM_SCHEMA, find_ledger_file, is_exam_file
from warehouse.stores.away import CONNECT_TIMEOUT_S
from warehouse.stores.files import FileWatch
from warehouse.stores.installation import exam_file, ledger_file


def create_ledger_engine(url: str, *, attached: Path | None = None, busy_s: float | None = None) -> Engine:
    """An engine in driver autocommit; `attached` is the exam's file, `busy_s` every wait."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        if address.database:
            _create_closed(Path(address.database))
        engine = create_engine(
            address,
            hide_parameters=True,
            connect_args={"timeout": 60, "factory": WatchedConnection},
            pool_timeout=busy_s or 30,
        )
        event.listen(engine, "connect", partial(_prepare_sqlite, busy_s or 60.0))
        event.listen(engine, "connect", partial(_keep_temporary_files, address.database))
        if attached is not None:
            event.listen(engine, "connect", partial(_attach_exam, attached))
        watch_files(engine, _list_watched(url, attached))
        # Ctrl-C while a connection is being closed is an interruption, and not a fault with a traceback.
        logging.getLogger("sqlalchemy.pool.impl.QueuePool").addFilter(_is_fault)
        return engine
    if address.get_backend_name() == "postgresql":
        from warehouse.ledger.engine.pipelines import PipelineCursor

        address = address.set(drivername="postgresql+psycopg")
        engine = create_engine(
            address,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",
            connect_args={"cursor_factory": PipelineCursor}
            | ({} if "connect_timeout" in address.query else {"connect_timeout": CONNECT_TIMEOUT_S}),
            pool_pre_ping=True,
            pool_timeout=busy_s or 30,
        )
        if busy_s is not None:
            event.listen(engine, "connect", partial(_prepare_postgresql, busy_s))
        return engine
    raise StoreError(
        f"The ledger cannot live on {address.get_backend_name()!r}: use sqlite:///… or postgresql://…."
    )


def _is_fault(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not is_interruption(error)


def _prepare_postgresql(busy_s: float, connection: Any, _record: Any) -> None:
    """No statement waits longer for a row that somebody else holds."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {int(busy_s * 1000)}")
    connection.commit()


def _prepare_sqlite(busy_s: float, connection: Any, _record: Any) -> None:
    """WAL so that readers never wait; FULL so that an acknowledged answer survives a power cut."""
    connection.isolation_level = None
    cursor = connection.cursor()
    # KiB: with the usual 2 MB a batch of a whole bank would write the same pages of its indexes again and again.
    cursor.execute("PRAGMA cache_size = -65536")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute(f"PRAGMA busy_timeout={int(busy_s * 1000)}")
    cursor.close()


def _keep_temporary_files(database: str | None, connection: Any, _record: Any) -> None:
    """Let temporary tables and a VACUUM, which hold texts, write their files beside the ledger."""
    if not database or database == ":memory:":
        return
    folder = str(Path(database).resolve().parent)
    cursor = connection.cursor()
    # It is the whole process's. Who may not write there uses the system's, as does an SQLite that cannot be told.
    if cursor.execute("PRAGMA temp_store_directory").fetchone() != (folder,):
        with suppress(sqlite3.OperationalError):
            cursor.execute("PRAGMA temp_store_directory = '{}'".format(folder.replace("'", "''")))
    cursor.close()


def _attach_exam(path: Path, connection: Any, _record: Any) -> None:
    """The same for the exam's file, which must be there: attaching would make an empty one."""
    if not path.exists():
        raise StoreError(
            f"The exam's database {path} is missing. Restore it and the ledger from one backup (`proctor restore`)."
        )
    cursor = connection.cursor()
    cursor.execute(f"ATTACH DATABASE ? AS {EXAM_SCHEMA}", (str(path),))
    cursor.execute(f"PRAGMA {EXAM_SCHEMA}.cache_size = -65536")
    cursor.execute(f"PRAGMA {EXAM_SCHEMA}.synchronous=FULL")
    cursor.close()


def _create_closed(path: Path) -> None:
    """Make the file, and its folder, for its owner alone; what is there already stays.

    SQLite gives its log the same mode. It comes to its name with no descriptor of ours open: a process that closes a
    descriptor of a file loses every lock that it holds on that file, SQLite's among them, and the next process that ends
    takes the write-ahead log from under it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        return
    # Who may not make it hears of it when SQLite tries.
    with suppress(OSError):
        descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
        os.close(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
        Path(draft).unlink()


def _list_watched(url: str, attached: Path | None) -> list[WatchedFile]:
    """The files of an embedded ledger that a connection opens, its own first."""
    opened = find_ledger_file(url)
    own = None if opened is None else exam_file(url) if is_exam_file(opened) else ledger_file(url)
    if own is None:
        return []
    found = [WatchedFile("main", own.table, FileWatch(own.name, own.path))]
    other = None if attached is None else exam_file(url)
    if other is not None:
        found.append(WatchedFile(EXAM_SCHEMA, other.table, FileWatch(other.name, other.path)))
    return found
