"""The ledger as a process has it: reads of one state, transactions, the hot path's writer."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import cached_property

from sqlalchemy import Connection as Connection
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, TimeoutError

from schemas.errors import ConflictError, StoreError
from warehouse.ledger.engine.commits import (
    check_files,
    commit,
    mark_transaction,
    raise_if_away,
    raise_if_refused,
    roll_back,
)
from warehouse.ledger.engine.logs import gathering, write_gathered
from warehouse.ledger.engine.sides import EXAM_SCHEMA
from warehouse.ledger.engine.writer import GroupCommitWriter
from warehouse.stores.away import LEDGER, until_there
from warehouse.stores.blocks import block

# A read that fixes what is seen of the exam's file until the transaction ends.
_PIN = f"select 1 from {EXAM_SCHEMA}.alembic_version"


class Ledger:
    """One process's door to the ledger, or to its exam's side alone (`open_exam_database`).

    `read()` gives a connection for queries, `write()` one transaction for planning and administration, `writer` the
    group-commit writer for the hot path. Close it, or use it as a context manager.

    Attributes:
        is_whole: whether it is the ledger, and not the exam's side alone.
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
        self.is_whole = is_whole
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
        return GroupCommitWriter(self.engine, self._busy_s, counts_commits=self._counts_commits)

    @property
    def wait_s(self) -> float | None:
        """Seconds to wait for a ledger on a server: the setting's (None), or none for servers."""
        return None if self._busy_s is None else 0.0

    @block
    def read(self, *, may_shadow: bool = False) -> Generator[Connection]:
        """A connection that sees one consistent state and writes nothing.

        With `may_shadow` it may make tables of its own, which are gone with it. Over two files the exam's side is seen as of
        the beginning, and the ledger as of its first use: what the ledger holds is written before what the exam's side says of
        it, so that nothing of it is missing. Raises StoreError when a file is gone, and where the ledger is locked or cannot be
        reached.
        """
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ"
        begin += "" if self.is_sqlite or may_shadow else " READ ONLY"
        try:
            with self._begin(begin, check_files, []) as connection:
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

    @block
    def write(self) -> Generator[Connection]:
        """One transaction; durable when the block ends, undone when it raises.

        Raises ConflictError where what was to be written is there already, StoreError when the ledger's file is gone, StoreAway
        where its server went away before anything was kept.
        """
        begin = "BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN"
        # A Ctrl-C may come between the beginning and the block: what is held is then let go before anything else is written.
        begun: list[Connection] = []
        try:
            prepare = mark_transaction if self._counts_commits else lambda _: None
            connection = self._begin(begin, prepare, begun)
            try:
                with gathering(connection):
                    yield connection
                    write_gathered(connection)
                commit(connection, wait_s=self.wait_s)
            except IntegrityError as error:
                roll_back(connection)
                raise ConflictError(
                    f"Another process was first ({type(error.orig).__name__}); nothing was written. Run the command again."
                ) from None
            except DBAPIError as error:
                roll_back(connection)
                raise_if_away(error)
                raise_if_refused(error)
                raise
            except BaseException:
                roll_back(connection)
                raise
        finally:
            for one in begun:
                one.close()

    def _begin(
        self, begin: str, prepare: Callable[[Connection], None], begun: list[Connection]
    ) -> Connection:
        """A connection with a transaction begun, put into `begun` too; an absence is waited for."""

        def attempt() -> Connection:
            connection = None
            try:
                connection = self.engine.connect()
                begun.append(connection)
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
                    raise_if_refused(error, "be used")
                    if begin == "BEGIN IMMEDIATE" and "locked" in str(error.orig):
                        raise StoreError(
                            "The ledger is locked by another program, and nothing was written. Wait until that has ended, or end it, "
                            "and run the command again."
                        ) from None
                raise
            return connection

        return until_there(attempt, stores=(LEDGER,), wait_s=self.wait_s)

    def close(self) -> None:
        """Let the writer finish what it was given, then close every connection."""
        if "writer" in self.__dict__:
            self.writer.close()
        self.engine.dispose()
