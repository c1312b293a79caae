"""Group commit: many small operations, one fsync.

Each operation runs in its own savepoint inside a shared transaction and is answered only after COMMIT: a caller that
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
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from schemas.errors import StoreError
from warehouse.ledger.chain import CALLER, Caller, flush_entries, name_caller
from warehouse.ledger.engine import PENDING_ENTRIES

T = TypeVar("T")
Operation = Callable[[Connection], T]

# An operation takes well under a millisecond; a batch of this size keeps other processes waiting < 0.2 s.
MOST_PER_COMMIT = 256
MOST_TRIES = 5


@dataclass(frozen=True, order=True)
class LockedRow:
    """The row that an operation locks, by its place in the order that all processes lock rows in.

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


@dataclass(frozen=True)
class _Work:
    operation: Operation[Any]
    future: Future[Any]
    row: LockedRow
    caller: Caller


class GroupCommitWriter:
    """Runs operations on one thread and commits them together."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._is_sqlite = engine.dialect.name == "sqlite"
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="ledger-writer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation[T], row: LockedRow = _NO_ROW) -> Future[T]:
        """Queue an operation; the future is done after COMMIT, or holds what the operation raised.

        Operations on one row, and those that name none, keep their order. Within a batch, those that name none come first.
        """
        if self._closed:
            raise StoreError("The ledger is closed; open it again before writing.")
        future: Future[T] = Future()
        self._queue.put(_Work(operation, future, row, CALLER.get()))
        return future

    def run(self, operation: Operation[T]) -> T:
        """Run one operation and wait until it is durable."""
        return self.submit(operation).result()

    async def run_async(self, operation: Operation[T], row: LockedRow = _NO_ROW) -> T:
        """The same for a coroutine: other coroutines' operations join the same commit."""
        return await asyncio.wrap_future(self.submit(operation, row))

    def close(self) -> None:
        """Finish what was queued and stop the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _serve(self) -> None:
        with self._engine.connect() as connection:
            is_open = True
            while is_open:
                batch = [self._queue.get()]
                while len(batch) < MOST_PER_COMMIT:
                    try:
                        batch.append(self._queue.get_nowait())
                    except queue.Empty:
                        break
                work = sorted((item for item in batch if item is not None), key=lambda item: item.row)
                is_open = len(work) == len(batch)
                if work:
                    self._commit(connection, work)

    def _commit(self, connection: Connection, work: list[_Work]) -> None:
        """One transaction for all; a lock that stays held is tried again before anybody is told of a failure.

        An operation whose caller has gone (a cancelled coroutine) is carried out all the same: it may hold a reply that is
        paid for. Nobody is told of it.
        """
        for item in work:
            item.future.set_running_or_notify_cancel()
        for attempt in range(1, MOST_TRIES + 1):
            try:
                outcomes = self._run_batch(connection, work)
                break
            except OperationalError as error:
                _rollback(connection)
                if attempt == MOST_TRIES:
                    failure = StoreError(
                        f"The ledger could not commit after {MOST_TRIES} tries ({type(error.orig).__name__}). "
                        "Nothing of the last operations was kept; run the command again."
                    )
                    _tell(work, [(True, failure)] * len(work))
                    return
                time.sleep(0.05 * 2**attempt)
            except (
                BaseException
            ) as error:  # the thread must outlive any fault, and every caller must hear of it
                _rollback(connection)
                _tell(work, [(True, error)] * len(work))
                return
        _tell(work, outcomes)

    def _run_batch(self, connection: Connection, work: list[_Work]) -> list[tuple[bool, Any]]:
        outcomes: list[tuple[bool, Any]] = []
        connection.exec_driver_sql("BEGIN IMMEDIATE" if self._is_sqlite else "BEGIN")
        entries: list[Any] = []
        connection.info[PENDING_ENTRIES] = entries
        for item in work:
            count = len(entries)
            connection.exec_driver_sql("SAVEPOINT op")
            try:
                value = item.operation(connection)
            except OperationalError:
                raise
            except Exception as error:
                connection.exec_driver_sql("ROLLBACK TO SAVEPOINT op")
                del entries[count:]
                outcomes.append((True, error))
            else:
                outcomes.append((False, value))
                if len(entries) > count:
                    name_caller(entries[count:], item.caller)
            connection.exec_driver_sql("RELEASE SAVEPOINT op")
        flush_entries(connection)
        connection.exec_driver_sql("COMMIT")
        return outcomes


def _tell(work: list[_Work], outcomes: list[tuple[bool, Any]]) -> None:
    """Answer every caller that is still there."""
    for item, (is_error, value) in zip(work, outcomes, strict=True):
        if item.future.cancelled():
            continue
        if is_error:
            item.future.set_exception(value)
        else:
            item.future.set_result(value)


def _rollback(connection: Connection) -> None:
    try:
        connection.exec_driver_sql("ROLLBACK")
    except OperationalError:
        return  # the failed BEGIN left no transaction to undo
