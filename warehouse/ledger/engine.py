"""Open the ledger, embedded (SQLite in WAL mode) or on a server (PostgreSQL)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url

from schemas.errors import ConflictError, StoreError

if TYPE_CHECKING:
    from warehouse.ledger.writer import GroupCommitWriter


# Where a connection gathers the entries of the audit log until its transaction is committed (warehouse.ledger.chain).
PENDING_ENTRIES = "pending_entries"


def now_text() -> str:
    """The present moment in UTC as ISO text with microseconds: sorts as it reads."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def write_moment(now: float) -> str:
    """A moment (Unix time) in the form of now_text."""
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="microseconds")


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
        """A connection that sees one consistent state and writes nothing."""
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self.engine.connect() as connection:
            connection.exec_driver_sql(begin)
            try:
                yield connection
            finally:
                connection.exec_driver_sql("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction; durable when the block ends, undone when it raises.

        Raises ConflictError where what was to be written is there already.
        """
        from sqlalchemy.exc import IntegrityError

        with self.engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
            connection.info[PENDING_ENTRIES] = []
            try:
                yield connection
                write_entries(connection)
            except IntegrityError as error:
                connection.exec_driver_sql("ROLLBACK")
                raise ConflictError(
                    f"Another process was first ({type(error.orig).__name__}); nothing was written. Run the command again."
                ) from None
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            finally:
                del connection.info[PENDING_ENTRIES]
            connection.exec_driver_sql("COMMIT")

    def close(self) -> None:
        """Let the writer finish what it was given, then close every connection."""
        if "writer" in self.__dict__:
            self.writer.close()
        self.engine.dispose()


def write_entries(connection: Connection) -> None:
    """Write what a transaction gathered for the audit log: the last thing before it is committed."""
    if connection.info[PENDING_ENTRIES]:
        from warehouse.ledger.chain import flush_entries

        flush_entries(connection)


def open_ledger(url: str) -> Ledger:
    """Open the ledger at `url`, creating or upgrading its tables.

    Raises StoreError when it cannot be reached or was written by a newer version.
    """
    from sqlalchemy.exc import DBAPIError, OperationalError

    engine = create_ledger_engine(url)
    try:
        from warehouse.ledger.migrate import upgrade_ledger

        upgrade_ledger(engine)
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
            Path(address.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(address, hide_parameters=True, connect_args={"timeout": 60})
        event.listen(engine, "connect", _prepare_sqlite)
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
