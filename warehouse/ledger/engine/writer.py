"""Group commit: many small operations, one fsync.

Operations share a transaction, in which each has a savepoint of its own, and are answered only after COMMIT: a caller that
has its reply has a durable row. One writer thread per process; SQLite serialises the processes (BEGIN IMMEDIATE).
On PostgreSQL the batches of two processes lock rows one after the other until they commit: operations that say which row
they lock run in the order of those rows, the same in every process, so that no two batches wait for each other.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from schemas.errors import StoreError, is_interruption
from warehouse.ledger.engine.commits import commit, explain_refusal, mark_transaction, raise_if_away
from warehouse.ledger.engine.logs import gathering, write_gathered
from warehouse.ledger.engine.statements import Later, is_pipelined, send_statement
from warehouse.ledger.engine.wakeups import await_done
from warehouse.stores.away import LEDGER, until_there

if TYPE_CHECKING:
    from warehouse.ledger.engine.pipelines import Pipeline

T = TypeVar("T")
# What it returns may be known only with the commit.
Operation = Callable[[Connection], T | Later[T]]

# An operation takes well under a millisecond; a batch of this size keeps other processes waiting < 0.2 s.
MOST_PER_COMMIT = 256
MOST_TRIES = 5
# How long work that nobody waits for may wait for a commit of others.
LINGER_S = 0.02
_LOST = (
    "The ledger's server (PostgreSQL) kept the last COMMIT, and went away before it said what came of it. Look, or ask again, when the "
    "server is back."
)


@dataclass(frozen=True, order=True)
class LockedRow:
    """The row that an operation locks.

    It is given by its place in the order in which all processes lock rows.

    Attributes:
        rank: what kind of row; the lowest are locked first.
        key: which one.
    """

    rank: int
    key: str


_NO_ROW = LockedRow(0, "")


def name_call_row(call_key: str) -> LockedRow:
    """The row of a paid call."""
    return LockedRow(1, call_key)


def name_budget_row(run_id: str) -> LockedRow:
    """The row of a run's budget: after all calls, since everybody waits for it."""
    return LockedRow(2, run_id)


def name_pace_row(name: str) -> LockedRow:
    """The row of a provider's pace."""
    return LockedRow(3, name)


def name_job_row(kind: str, name: str) -> LockedRow:
    """The row of a job."""
    return LockedRow(4, f"{kind}/{name}")


@dataclass(frozen=True)
class _Work:
    operation: Operation[Any]
    future: Future[Any]
    row: LockedRow
    # Of whoever asked for it: who acts is known by it (`chain.CALLER`).
    context: Context
    is_awaited: bool = True
    # Whether it writes nothing of the exam's side, and no entry of a log.
    is_of_ledger: bool = False


class GroupCommitWriter:
    """Runs operations on one thread and commits them together."""

    def __init__(self, engine: Engine, busy_s: float | None = None, *, counts_commits: bool = True) -> None:
        self._counts_commits = counts_commits
        self._engine = engine
        self._busy_s = busy_s
        self._connection: Connection | None = None
        self._pipeline: Pipeline | None = None
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._closed = False
        # Set by a caller that was interrupted: a server that is away is waited for no longer.
        self._given_up = threading.Event()
        self._is_trying = False
        self._thread = threading.Thread(target=self._serve, name="ledger-writer", daemon=True)
        self._thread.start()

    def submit(
        self,
        operation: Operation[T],
        row: LockedRow = _NO_ROW,
        *,
        is_awaited: bool = True,
        is_of_ledger: bool = False,
    ) -> Future[T]:
        """Queue an operation; the future is done after COMMIT, or holds what the operation raised.

        One that is not `is_awaited` waits a moment for another that is, whose commit it shares. Operations on one row, and
        those that name none, keep their order. Within a batch, those that name none come first. One that `is_of_ledger` writes
        nothing of the exam's side, whose file then need not be written for it.
        """
        if self._closed:
            raise StoreError("The ledger is closed; open it again before writing.")
        future: Future[T] = Future()
        self._queue.put(_Work(operation, future, row, copy_context(), is_awaited, is_of_ledger))
        return future

    def run(self, operation: Operation[T], row: LockedRow = _NO_ROW) -> T:
        """Run one operation and wait until it is durable."""
        future = self.submit(operation, row)
        try:
            return future.result()
        except BaseException as error:
            if is_interruption(error):
                self._give_up()
            raise

    async def run_async(
        self, operation: Operation[T], row: LockedRow = _NO_ROW, *, is_of_ledger: bool = False
    ) -> T:
        """The same for a coroutine: other coroutines' operations join the same commit."""
        try:
            return await await_done(self.submit(operation, row, is_of_ledger=is_of_ledger))
        except asyncio.CancelledError:
            self._give_up()
            raise

    def close(self) -> None:
        """Finish what was queued and stop the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _serve(self) -> None:
        is_open = True
        while is_open:
            batch = [self._queue.get()]
            if batch[0] is not None and not batch[0].is_awaited:
                with suppress(queue.Empty):
                    batch.append(self._queue.get(timeout=LINGER_S))
            batch += self._take_queued(MOST_PER_COMMIT - len(batch))
            work = sorted((item for item in batch if item is not None), key=lambda item: item.row)
            is_open = len(work) == len(batch)
            if work:
                is_open = self._commit(work) and is_open
        self._disconnect()

    def _take_queued(self, most: float = float("inf")) -> list[_Work | None]:
        taken: list[_Work | None] = []
        while len(taken) < most:
            try:
                taken.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return taken

    def _commit(self, work: list[_Work]) -> bool:
        """Commit everything in one transaction.

        A lock that stays held is tried again before any failure is reported. An operation whose caller has gone (a cancelled
        coroutine) is carried out all the same: it may hold a reply that is paid for. Nobody is told of it. Where the ledger
        could not be written, a server's callers that wait by then are told the same. Returns whether the writer goes on: it was
        not closed meanwhile.
        """
        for item in work:
            item.future.set_running_or_notify_cancel()
        wait_s = None if self._busy_s is None else 0.0
        self._is_trying = True
        try:
            outcomes = until_there(
                lambda: self._try_commit(work), stores=(LEDGER,), wait_s=wait_s, ended=self._given_up
            )
        except BaseException as error:  # the thread must outlive any fault, and every caller must hear of it
            self._roll_back()
            # They have waited as long as those before them: nobody waits twice. They are taken before anybody is told, for
            # who asks after a refusal may know that the ledger is free again.
            rest = self._take_queued() if isinstance(error, StoreError) and self._busy_s is not None else []
            refused = [
                *work,
                *(item for item in rest if item is not None and item.future.set_running_or_notify_cancel()),
            ]
            _tell(refused, [(True, error)] * len(refused))
            return None not in rest
        finally:
            self._is_trying = False
        # Whoever was interrupted is gone, or only one piece of the work was: the next absence is waited for again.
        self._given_up.clear()
        _tell(work, outcomes)
        return True

    def _try_commit(self, work: list[_Work]) -> list[tuple[bool, Any]]:
        """What came of each operation; StoreAway where nothing was kept, StoreError for a refusal."""
        began = time.monotonic()
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._run_batch(self._connect(), work)
            except DBAPIError as error:
                self._roll_back()
                raise_if_away(error)
                cause, waited_s = explain_refusal(error), time.monotonic() - began
                if cause is None and not isinstance(error, OperationalError):
                    raise
                is_last = attempt == MOST_TRIES or (self._busy_s is not None and waited_s >= self._busy_s)
                if cause is not None or is_last:
                    cause = cause or f"it failed {attempt} times ({type(error.orig).__name__})"
                    raise StoreError(
                        f"The ledger could not commit: {cause}. Nothing of the last operations was kept; mend that, then run "
                        "the command again."
                    ) from None
                time.sleep(0.05 * 2**attempt)

    def _give_up(self) -> None:
        """Stop waiting for a server that is away, as a caller was interrupted; report at once."""
        if self._is_trying:
            self._given_up.set()

    def _connect(self) -> Connection:
        """The connection of this thread; a new one where the last was lost, or is broken."""
        is_broken = self._pipeline is not None and self._pipeline.is_broken
        if self._connection is not None and (self._connection.invalidated or is_broken):
            # Its COMMIT may have been kept all the same: the next transaction has another one.
            self._disconnect()
        if self._connection is None:
            self._connection = self._engine.connect()
            if not self._is_sqlite:
                self._pipeline = _open_pipeline(self._connection)
        return self._connection

    def _disconnect(self) -> None:
        if self._pipeline is not None:
            self._pipeline.close()
            if self._pipeline.is_broken and self._connection is not None:
                # Nobody else may have it.
                self._connection.invalidate()
            self._pipeline = None
        if self._connection is not None:
            try:
                self._connection.close()
            except DBAPIError:
                self._connection.invalidate()  # The server has ended it: there is nothing to give back.
            self._connection = None

    def _roll_back(self) -> None:
        """Undo what was begun; a connection that cannot is given up for another one."""
        connection = self._connection
        if connection is None:
            return
        try:
            if not connection.invalidated:
                if self._pipeline is not None:
                    self._pipeline.forget()
                connection.exec_driver_sql("ROLLBACK")
                return
        except OperationalError:
            # On SQLite the failed BEGIN left no transaction to undo.
            if self._is_sqlite:
                return
        except Exception:
            connection.invalidate()
        self._disconnect()

    def _run_batch(self, connection: Connection, work: list[_Work]) -> list[tuple[bool, Any]]:
        """What came of each operation, after COMMIT.

        On a server statements are sent and waited for together. Where one of them failed it is not known whose it was: all of it
        is undone, and carried out with a wait after each.
        """
        if self._pipeline is None:
            return self._run_each(connection, work)
        try:
            return self._run_each(connection, work)
        except _UnknownFault:
            pass
        except DBAPIError as error:
            if connection.invalidated or (isinstance(error, OperationalError) and not _is_aftermath(error)):
                raise
        self._roll_back()
        connection = self._connect()
        with self._pipeline.patient():
            return self._run_each(connection, work)

    def _run_each(self, connection: Connection, work: list[_Work]) -> list[tuple[bool, Any]]:
        outcomes: list[tuple[bool, Any]] = []
        # What is known with the commit alone, by the places of the operations.
        awaited: set[int] = set()
        # One alone needs no savepoint: where it fails there is nothing else to keep. On a server it costs nothing to send one.
        is_alone = self._is_sqlite and len(work) == 1
        send_statement(connection, "BEGIN IMMEDIATE" if self._is_sqlite else "BEGIN")
        wait_s = None if self._busy_s is None else 0.0
        if self._counts_commits:
            mark_transaction(connection)
        with gathering(connection) as gathered:
            for item in work:
                count = len(gathered)
                if not is_alone:
                    send_statement(connection, "SAVEPOINT op")
                try:
                    value = item.context.run(item.operation, connection)
                except Exception as error:
                    if isinstance(error, OperationalError) or (
                        isinstance(error, DBAPIError) and explain_refusal(error) is not None
                    ):
                        raise
                    if is_pipelined(connection) and self._pipeline is not None and self._pipeline.is_broken:
                        raise _UnknownFault from error
                    if is_alone:
                        send_statement(connection, "ROLLBACK")
                        return [(True, error)]
                    send_statement(connection, "ROLLBACK TO SAVEPOINT op")
                    del gathered[count:]
                    outcomes.append((True, error))
                else:
                    if isinstance(value, Later) or (value is not None and len(gathered) > count):
                        awaited.add(len(outcomes))
                    outcomes.append((False, value))
                if not is_alone:
                    send_statement(connection, "RELEASE SAVEPOINT op")
            write_gathered(connection)
        is_sent = is_pipelined(connection)
        is_of_ledger = all(item.is_of_ledger for item in work)
        commit(connection, wait_s=wait_s, ended=self._given_up, is_hot=True, is_of_ledger=is_of_ledger)
        if is_sent and connection.invalidated:
            # The server kept it all, and what it answered was lost with the connection: to be asked again, not done again.
            for place in awaited:
                outcomes[place] = (True, StoreError(_LOST))
        return [
            (is_error, value.read() if isinstance(value, Later) else value) for is_error, value in outcomes
        ]


class _UnknownFault(Exception):
    """A statement of a batch failed, and it is not known of which operation."""


def _open_pipeline(connection: Connection) -> Pipeline:
    from warehouse.ledger.engine.pipelines import Pipeline

    driver: Any = connection.connection.dbapi_connection
    return Pipeline(driver)


def _is_aftermath(error: DBAPIError) -> bool:
    from warehouse.ledger.engine.pipelines import is_aftermath

    return is_aftermath(error.orig)


def _tell(work: list[_Work], outcomes: list[tuple[bool, Any]]) -> None:
    """Answer every caller that is still there."""
    for item, (is_error, value) in zip(work, outcomes, strict=True):
        if item.future.cancelled():
            continue
        if is_error:
            item.future.set_exception(value)
        else:
            item.future.set_result(value)
