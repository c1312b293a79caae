"""Statements that are sent to a server together, and waited for together.

The writer's connection to PostgreSQL is a pipeline: a statement whose result nobody asks for yet is only sent. Whoever reads a
result waits, once, for all that was sent before it. What went wrong is heard of at the next wait and not where it was done; so a
batch with a fault is undone and carried out once more, `patient`, with a wait after each statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from psycopg.errors import PipelineAborted

_OPEN: WeakKeyDictionary[psycopg.Connection[Any], Pipeline] = WeakKeyDictionary()


class Pipeline:
    """What a connection has sent and not waited for.

    Attributes:
        is_patient: whether each statement is waited for.
        is_broken: whether a statement has failed: the one that says so may be a later one. What was sent after it was never looked at,
            and the driver may take a statement for prepared that is not: the connection is good for a ROLLBACK, and then for nothing.
    """

    def __init__(self, driver: psycopg.Connection[Any]) -> None:
        self.is_patient = self.is_broken = False
        self._driver = driver
        self._mode = driver.pipeline()
        self._sent = self._mode.__enter__()
        self._callbacks: list[Callable[[], None]] = []
        _OPEN[driver] = self

    def wait(self) -> None:
        """Wait for everything that was sent; raises the first error of the driver among it."""
        with self.noticing():
            self._sent.sync()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    @contextmanager
    def noticing(self) -> Iterator[None]:
        """Know of a server's fault heard of here; what the driver refuses to send breaks nothing."""
        try:
            yield
        except psycopg.Error as error:
            if error.sqlstate is not None or isinstance(error, psycopg.OperationalError):
                self.is_broken = True
            raise

    def call_after(self, callback: Callable[[], None]) -> None:
        """Call it after the next wait, unless that fails."""
        self._callbacks.append(callback)

    def forget(self) -> None:
        """Let go of what was sent, and of its errors: the transaction is to be undone."""
        with suppress(psycopg.Error):
            self._sent.sync()
        self._callbacks = []

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Wait for each statement meanwhile; nothing is then sent after one that failed."""
        self.is_patient = True
        try:
            yield
            self.is_broken = False
        finally:
            self.is_patient = False

    def close(self) -> None:
        """Let the connection be as others are."""
        self.forget()
        with suppress(psycopg.Error):
            self._mode.__exit__(None, None, None)
        _OPEN.pop(self._driver, None)


class PipelineCursor(psycopg.Cursor[Any]):
    """A cursor that waits for its result, as SQLAlchemy expects it, unless it only sends."""

    def execute(self, *words: Any, **options: Any) -> PipelineCursor:
        """Execute a statement, and wait for it."""
        pipeline = _OPEN.get(self.connection)
        with nullcontext() if pipeline is None else pipeline.noticing():
            super().execute(*words, **options)
        self.settle()
        return self

    def executemany(self, *words: Any, **options: Any) -> None:
        """Execute a statement for each row, and wait for all."""
        pipeline = _OPEN.get(self.connection)
        with nullcontext() if pipeline is None else pipeline.noticing():
            super().executemany(*words, **options)
        if pipeline is not None:
            pipeline.wait()

    def send(self, sql: str, values: Any) -> None:
        """Send a statement, its result there after `settle`; an earlier one's error may be raised."""
        pipeline = _OPEN.get(self.connection)
        with nullcontext() if pipeline is None else pipeline.noticing():
            super().execute(sql, values)
        if pipeline is not None and pipeline.is_patient:
            pipeline.wait()

    def settle(self) -> None:
        """Wait until the result is there."""
        if self.pgresult is None and (pipeline := _OPEN.get(self.connection)) is not None:
            pipeline.wait()


def is_aftermath(error: BaseException | None) -> bool:
    """Whether an error of the driver only says that a statement before has failed."""
    return isinstance(error, PipelineAborted)


def find_pipeline(driver: Any) -> Pipeline | None:
    """The pipeline of a connection that does not wait for each statement; null for any other."""
    pipeline = _OPEN.get(driver)
    return None if pipeline is None or pipeline.is_patient else pipeline
