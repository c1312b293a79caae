"""Open the ledger, embedded (SQLite in WAL mode) or on a server (PostgreSQL)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url

from schemas.errors import ConflictError, StoreError
from warehouse.installation import check_held_id, check_store_file, find_expected_id, ledger_file
from warehouse.store_files import FileWatch

if TYPE_CHECKING:
    from sqlalchemy.exc import DBAPIError

    from warehouse.ledger.writer import GroupCommitWriter

# What is kept with a connection to SQLite.
_WATCH = "files"
_CHANGES = "changes"
# What SQLite says, and what it means here.
_REFUSALS = {
    "disk is full": "its disk is full",
    "disk i/o error": "its disk takes nothing more, or fails",
    "readonly database": "its file or its disk may only be read",
    "malformed": "its file is damaged (`proctor doctor` says more)",
    "not a database": "its file is damaged (`proctor doctor` says more)",
}


def now_text() -> str:
    """The present moment in UTC as ISO text with microseconds: sorts as it reads."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")


def write_moment(now: float) -> str:
    """A moment (Unix time) in the form of now_text."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f+00:00")


class Ledger:
    """One process's door to the ledger.

    `read()` gives a connection for queries, `write()` one transaction for planning and administration, `writer` the
    group-commit writer for the hot path. Close it, or use it as a context manager.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_sqlite(self) -> bool:
        """Whether the embedded engine is in use."""
        return self.engine.dialect.name == "sqlite"

    @cached_property
    def writer(self) -> GroupCommitWriter:
        """The writer of this process; started on first use."""
        from warehouse.ledger.writer import GroupCommitWriter

        return GroupCommitWriter(self.engine)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one consistent state and writes nothing. Raises StoreError when the file is gone."""
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self.engine.connect() as connection:
            check_files(connection)
            connection.exec_driver_sql(begin)
            try:
                yield connection
            finally:
                connection.exec_driver_sql("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction; durable when the block ends, undone when it raises.

        Raises ConflictError where what was to be written is there already, StoreError when the ledger's file is gone.
        """
        from sqlalchemy.exc import DBAPIError, IntegrityError

        with self.engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
            try:
                yield connection
                commit(connection)
            except IntegrityError as error:
                connection.exec_driver_sql("ROLLBACK")
                raise ConflictError(
                    f"Another process was first ({type(error.orig).__name__}); nothing was written. Run the command again."
                ) from None
            except DBAPIError as error:
                _roll_back(connection)
                if (cause := explain_refusal(error)) is None:
                    raise
                raise StoreError(
                    f"The ledger could not commit: {cause}. Nothing of this was written; mend that, then run the command again."
                ) from None
            except BaseException:
                _roll_back(connection)
                raise

    def close(self) -> None:
        """Let the writer finish what it was given, then close every connection."""
        if "writer" in self.__dict__:
            self.writer.close()
        self.engine.dispose()


def check_files(connection: Connection) -> None:
    """Raise StoreError when the files of an embedded ledger are no longer those that were opened."""
    watch = connection.info.get(_WATCH)
    if watch is not None:
        watch.check()


def commit(connection: Connection) -> None:
    """COMMIT, and return only when it lies where everybody else finds it.

    Raises StoreError when the files of an embedded ledger were deleted or replaced: what this transaction wrote is lost with
    them, and nobody may be told otherwise.
    """
    watch: FileWatch | None = connection.info.get(_WATCH)
    if watch is None:
        connection.exec_driver_sql("COMMIT")
        return
    watch.check()
    try:
        counted = _count_commit(connection, watch)
    except sqlite3.Error as error:
        cause = _name_refusal(error) or f"it failed ({type(error).__name__})"
        raise StoreError(
            f"The ledger could not commit: {cause}. Nothing of this was written; mend that, then run the command again."
        ) from None
    connection.exec_driver_sql("COMMIT")
    watch.check()
    if counted is not None:
        watch.acknowledge(counted)


def explain_refusal(error: DBAPIError) -> str | None:
    """Why an embedded ledger takes nothing, where waiting mends nothing; null for anything else."""
    return _name_refusal(error.orig)


def _name_refusal(error: BaseException | None) -> str | None:
    words = str(error).lower()
    return next((cause for said, cause in _REFUSALS.items() if said in words), None)


def open_ledger(url: str) -> Ledger:
    """Open the ledger at `url`, creating or upgrading its tables.

    Raises StoreError when it cannot be reached, was written by a newer version, or is not the ledger of its home.
    """
    from sqlalchemy.exc import DBAPIError, OperationalError

    expected = find_expected_id(url)
    check_store_file(ledger_file(url), expected)
    engine = create_ledger_engine(url)
    try:
        from warehouse.ledger.migrate import read_ledger_version, upgrade_ledger

        if expected is not None and engine.dialect.name != "sqlite":
            _check_server(engine, expected, is_empty=read_ledger_version(engine) is None)
        upgrade_ledger(engine)
    except StoreError:
        engine.dispose()
        raise
    except OperationalError as error:
        engine.dispose()
        raise StoreError(
            f"The ledger at {make_url(url).render_as_string(hide_password=True)} cannot be opened "
            f"({type(error.orig).__name__}). Check PROCTOR_LEDGER_URL, or that the folder of PROCTOR_HOME can be written."
        ) from None
    except DBAPIError as error:
        engine.dispose()
        raise StoreError(
            f"The ledger at {make_url(url).render_as_string(hide_password=True)} is not readable as a ledger "
            f"({type(error.orig).__name__}). Restore it from a backup, or point PROCTOR_LEDGER_URL elsewhere."
        ) from None
    return Ledger(engine)


def create_ledger_engine(url: str) -> Engine:
    """An engine in driver autocommit: transactions are begun by hand, so that SQLite's are IMMEDIATE."""
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        if address.database:
            _create_closed(Path(address.database))
        engine = create_engine(address, hide_parameters=True, connect_args={"timeout": 60})
        event.listen(engine, "connect", _prepare_sqlite)
        if (file := ledger_file(url)) is not None:
            _watch_files(engine, FileWatch(file.name, file.path))
        return engine
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
        return create_engine(
            address,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",
            pool_pre_ping=True,
        )
    raise StoreError(
        f"The ledger cannot live on {address.get_backend_name()!r}: use sqlite:///… or postgresql://…."
    )


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """WAL so that readers never wait; FULL so that an acknowledged answer survives a power cut."""
    connection.isolation_level = None
    cursor = connection.cursor()
    # KiB: with the usual 2 MB a batch of a whole bank would write the same pages of its indexes again and again.
    cursor.execute("PRAGMA cache_size = -65536")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA busy_timeout=60000")
    cursor.close()


def _create_closed(path: Path) -> None:
    """Make the file, and its folder, for its owner alone; SQLite gives its log the same mode. What is there stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Who may not make it hears of it when SQLite tries.
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))


def _watch_files(engine: Engine, watch: FileWatch) -> None:
    """Every connection of the engine looks at the files that the first one opened; the pool keeps that one open."""

    def begin(connection: Any, record: Any) -> None:
        # Only what reads has the write-ahead log open.
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        watch.begin()
        record.info[_WATCH] = watch

    event.listen(engine, "connect", begin)
    event.listen(engine, "engine_disposed", lambda _engine: watch.close())


def _count_commit(connection: Connection, watch: FileWatch) -> int | None:
    """Count a transaction within itself; null where it wrote nothing, the file has no such table, or no installation yet.

    By the driver's own connection: this is the hot path, and SQLAlchemy would cost more than SQLite.
    """
    driver: sqlite3.Connection = connection.connection.dbapi_connection  # type: ignore[assignment]
    if driver.total_changes == connection.info.get(_CHANGES, 0):
        # What only read costs no write to the disk.
        return None
    if not watch.counts_commits:
        # The first form had no such table, and a database beside the ledger may have none.
        found = driver.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'installation'").fetchone()
        watch.counts_commits = found is not None
    counted: list[tuple[int]] = []
    if watch.counts_commits:
        counted = driver.execute(
            "UPDATE main.installation SET commit_count = commit_count + 1 RETURNING commit_count"
        ).fetchall()
    connection.info[_CHANGES] = driver.total_changes
    return counted[0][0] if counted else None


def _check_server(engine: Engine, expected: str, *, is_empty: bool) -> None:
    """Raise StoreError for a ledger on a server that is empty or somebody else's; an older form is upgraded first."""
    held = None
    if not is_empty and inspect(engine).has_table("installation"):
        with engine.connect() as connection:
            held = connection.exec_driver_sql("SELECT installation_id FROM installation").scalar()
            connection.rollback()
    check_held_id("ledger on its server", None if held is None else str(held), expected)


def _roll_back(connection: Connection) -> None:
    """Undo a transaction; one that is over already has nothing to undo."""
    if connection.connection.dbapi_connection is None or not _is_in_transaction(connection):
        return
    connection.exec_driver_sql("ROLLBACK")


def _is_in_transaction(connection: Connection) -> bool:
    """Whether SQLite has a transaction open; PostgreSQL takes a ROLLBACK at any time."""
    return bool(getattr(connection.connection.dbapi_connection, "in_transaction", True))
