"""Open the ledger, embedded (SQLite in WAL mode) or on a server (PostgreSQL)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url

from schemas.errors import ConflictError, StoreAway, StoreError
from warehouse.away import CONNECT_TIMEOUT_S, LEDGER, until_there
from warehouse.installation import (
    check_held_id,
    check_store_file,
    exam_file,
    find_expected_id,
    ledger_file,
)
from warehouse.ledger.commits import (
    WatchedFile,
    check_files,
    commit,
    explain_refusal,
    is_away,
    mark_transaction,
    raise_if_away,
    roll_back,
    watch_files,
)
from warehouse.ledger.sides import EXAM_SCHEMA, find_ledger_file, is_exam_file, name_exam_file
from warehouse.store_files import FileWatch

if TYPE_CHECKING:
    from warehouse.ledger.writer import GroupCommitWriter

# A read that fixes what is seen of the exam's file until the transaction ends.
_PIN = f"select 1 from {EXAM_SCHEMA}.alembic_version"


# Where a connection gathers the entries of the audit log until its transaction is committed (warehouse.ledger.chain).
PENDING_ENTRIES = "pending_entries"
# The same for those of the public log (warehouse.ledger.public_log).
PENDING_PUBLIC = "pending_public_entries"


def now_text() -> str:
    """The present moment in UTC as ISO text with microseconds: sorts as it reads."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def write_moment(now: float) -> str:
    """A moment (Unix time) in the form of now_text."""
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="microseconds")


class Ledger:
    """One process's door to the ledger, or to its exam's side alone (`open_exam_database`).

    `read()` gives a connection for queries, `write()` one transaction for planning and administration, `writer` the
    group-commit writer for the hot path. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        has_exam_attached: bool = False,
        busy_s: float | None = None,
        is_whole: bool = True,
    ) -> None:
        self.engine = engine
        # The exam's side alone has no table in which commits are counted, and its calls are made again by who made them.
        self._counts_commits = is_whole and busy_s is None
        self._has_exam_attached = has_exam_attached
        self._busy_s = busy_s

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

        return GroupCommitWriter(self.engine, self._busy_s, counts_commits=self._counts_commits)

    @property
    def wait_s(self) -> float | None:
        """Seconds that a ledger on a server is waited for: those of the setting (null), or none for servers."""
        return None if self._busy_s is None else 0.0

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one consistent state and writes nothing.

        Over two files the exam's side is seen as of the beginning, and the ledger as of its first use: what the ledger holds is
        written before what the exam's side says of it, so that nothing of it is missing. Raises StoreError when a file is gone,
        and where the ledger is locked or cannot be reached.
        """
        from sqlalchemy.exc import OperationalError, TimeoutError

        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        try:
            with self._begin(begin, check_files) as connection:
                try:
                    if self._has_exam_attached:
                        connection.exec_driver_sql(_PIN).close()
                    yield connection
                finally:
                    if not connection.invalidated:
                        connection.exec_driver_sql("ROLLBACK")
        except (OperationalError, TimeoutError) as error:
            raise_if_away(error)
            raise StoreError(
                f"The ledger cannot be read ({type(error).__name__}). Wait until it is free, and run the command again."
            ) from None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction; durable when the block ends, undone when it raises.

        Raises ConflictError where what was to be written is there already, StoreError when the ledger's file is gone, StoreAway
        where its server went away before anything was kept.
        """
        from sqlalchemy.exc import DBAPIError, IntegrityError

        begin = "BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN"
        with self._begin(begin, mark_transaction if self._counts_commits else _prepare_nothing) as connection:
            # Kept by hand: a connection that was lost gives it no more.
            info = connection.info
            info[PENDING_ENTRIES], info[PENDING_PUBLIC] = [], []
            try:
                yield connection
                write_entries(connection)
                commit(connection, wait_s=self.wait_s)
            except IntegrityError as error:
                roll_back(connection)
                raise ConflictError(
                    f"Another process was first ({type(error.orig).__name__}); nothing was written. Run the command again."
                ) from None
            except DBAPIError as error:
                roll_back(connection)
                raise_if_away(error)
                if (cause := explain_refusal(error)) is None:
                    raise
                raise StoreError(
                    f"The ledger could not commit: {cause}. Nothing of this was written; mend that, then run the command again."
                ) from None
            except BaseException:
                roll_back(connection)
                raise
            finally:
                for name in (PENDING_ENTRIES, PENDING_PUBLIC):
                    info.pop(name, None)

    def _begin(self, begin: str, prepare: Callable[[Connection], None]) -> Connection:
        """A connection with a transaction begun; a server that does not answer is waited for."""
        from sqlalchemy.exc import DBAPIError

        def attempt() -> Connection:
            connection = None
            try:
                connection = self.engine.connect()
                if self.is_sqlite:
                    prepare(connection)
                    connection.exec_driver_sql(begin)
                else:
                    connection.exec_driver_sql(begin)
                    prepare(connection)
            except BaseException as error:
                if connection is not None:
                    connection.close()
                if isinstance(error, DBAPIError):
                    raise_if_away(error)
                raise
            return connection

        return until_there(attempt, stores=(LEDGER,), wait_s=self.wait_s)

    def close(self) -> None:
        """Let the writer finish what it was given, then close every connection."""
        if "writer" in self.__dict__:
            self.writer.close()
        self.engine.dispose()


def _prepare_nothing(_connection: Connection) -> None:
    pass


def write_entries(connection: Connection) -> None:
    """Write what a transaction gathered for the public log and the audit log: the last thing before it is committed."""
    if connection.info[PENDING_PUBLIC]:
        from warehouse.ledger.public_log import flush_public_entries

        flush_public_entries(connection)
    if connection.info[PENDING_ENTRIES]:
        from warehouse.ledger.chain import flush_entries

        flush_entries(connection)


def open_ledger(url: str, *, busy_s: float | None = None) -> Ledger:
    """Open the ledger at `url`, both sides of it, creating or upgrading its tables: for the ledger's owner.

    With `busy_s` a write that waits so long for another process's lock raises StoreError: for servers, whose callers can
    wait themselves. Without it commands wait for minutes.

    Raises StoreError when it cannot be reached for a long time, was written by a newer version, or is not the ledger of its home.
    """
    return until_there(partial(_open_ledger, url, busy_s), stores=(LEDGER,))


def _open_ledger(url: str, busy_s: float | None) -> Ledger:
    expected = find_expected_id(url)
    check_store_file(ledger_file(url), expected)
    check_store_file(exam_file(url), expected)
    engine = create_ledger_engine(url, busy_s=busy_s)
    with _telling_of(url, engine):
        from warehouse.ledger.migrate import read_ledger_version, upgrade_ledger

        if expected is not None and engine.dialect.name != "sqlite":
            _check_server(engine, expected, is_empty=read_ledger_version(engine) is None)
        upgrade_ledger(engine)
    file = find_ledger_file(url)
    if file is None:
        return Ledger(engine, busy_s=busy_s)
    engine.dispose()
    attached = create_ledger_engine(url, attached=name_exam_file(file), busy_s=busy_s)
    return Ledger(attached, has_exam_attached=True, busy_s=busy_s)


def open_exam_database(url: str, *, busy_s: float | None = None) -> Ledger:
    """Open the exam's side alone: its file, or a server by the role of the exam API. Creates and upgrades nothing.

    `busy_s` is that of `open_ledger`.

    Raises StoreError when it is not there, not at the form of the code, or shows more than the exam's side.
    """
    return until_there(partial(_open_exam_database, url, busy_s), stores=(LEDGER,))


def _open_exam_database(url: str, busy_s: float | None) -> Ledger:
    file, expected = find_ledger_file(url), find_expected_id(url)
    if expected is not None:
        check_store_file(exam_file(url), expected)
    if file is not None and not file.exists():
        raise StoreError(
            f"There is no exam database at {file}. Run `proctor exam database`: it makes it, or divides the ledger of an earlier "
            "version; nothing is lost."
        )
    engine = create_ledger_engine(url, busy_s=busy_s)
    with _telling_of(url, engine):
        from warehouse.ledger.exam_role import check_role
        from warehouse.ledger.migrate import HEAD, read_ledger_version

        if engine.dialect.name == "postgresql":
            check_role(engine)
        found = read_ledger_version(engine)
        if found != HEAD:
            raise StoreError(
                f"The exam database is at form {found or 'none'}, and this Proctor needs {HEAD}. Run `proctor exam database`, which "
                "brings it there; nothing is lost."
            )
    return Ledger(engine, busy_s=busy_s, is_whole=False)


@contextmanager
def _telling_of(url: str, engine: Engine) -> Iterator[None]:
    """Errors of opening as sentences; the engine is disposed of."""
    import sqlite3

    from sqlalchemy.exc import DBAPIError, OperationalError

    shown = make_url(url).render_as_string(hide_password=True)
    try:
        yield
    except StoreError:
        engine.dispose()
        raise
    except (OperationalError, sqlite3.OperationalError) as error:
        engine.dispose()
        text = (
            f"The ledger at {shown} cannot be opened ({type(getattr(error, 'orig', error)).__name__}). Check PROCTOR_LEDGER_URL, or that the folder "
            "of PROCTOR_HOME can be written."
        )
        raise (StoreAway(LEDGER, text) if is_away(error) else StoreError(text)) from None
    except (DBAPIError, sqlite3.Error) as error:
        engine.dispose()
        raise StoreError(
            f"The ledger at {shown} is not readable as a ledger ({type(getattr(error, 'orig', error)).__name__}). Restore it "
            "from a backup, or point PROCTOR_LEDGER_URL elsewhere."
        ) from None


def create_ledger_engine(url: str, *, attached: Path | None = None, busy_s: float | None = None) -> Engine:
    """An engine in driver autocommit: transactions are begun by hand, so that SQLite's are IMMEDIATE.

    `attached` is the exam's file of an embedded ledger: its tables are then named like the ledger's own. `busy_s` is how long a
    statement waits for a lock, and a caller for a connection.
    """
    address = make_url(url)
    if address.get_backend_name() == "sqlite":
        if address.database:
            _create_closed(Path(address.database))
        engine = create_engine(
            address,
            hide_parameters=True,
            connect_args={"timeout": 60},
            pool_timeout=busy_s or 30,
        )
        event.listen(engine, "connect", partial(_prepare_sqlite, busy_s or 60.0))
        if attached is not None:
            event.listen(engine, "connect", partial(_attach_exam, attached))
        watch_files(engine, _list_watched(url, attached))
        return engine
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
        engine = create_engine(
            address,
            hide_parameters=True,
            isolation_level="AUTOCOMMIT",
            connect_args={} if "connect_timeout" in address.query else {"connect_timeout": CONNECT_TIMEOUT_S},
            pool_pre_ping=True,
            pool_timeout=busy_s or 30,
        )
        if busy_s is not None:
            event.listen(engine, "connect", partial(_prepare_postgresql, busy_s))
        return engine
    raise StoreError(
        f"The ledger cannot live on {address.get_backend_name()!r}: use sqlite:///… or postgresql://…."
    )


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
    """Make the file, and its folder, for its owner alone; SQLite gives its log the same mode. What is there stays.

    It comes to its name with no descriptor of ours open: a process that closes a descriptor of a file loses every lock that
    it holds on that file, SQLite's among them, and the next process that ends takes the write-ahead log from under it.
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


def _check_server(engine: Engine, expected: str, *, is_empty: bool) -> None:
    """Raise StoreError for a ledger on a server that is empty or somebody else's; an older form is upgraded first."""
    held = None
    if not is_empty and inspect(engine).has_table("installation"):
        with engine.connect() as connection:
            held = connection.exec_driver_sql("SELECT installation_id FROM installation").scalar()
            connection.rollback()
    check_held_id("ledger on its server", None if held is None else str(held), expected)
