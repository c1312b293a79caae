"""Statements of the hot path.

They are built with SQLAlchemy, compiled once per dialect, and sent as driver SQL. SQLAlchemy's own execution costs
several times what SQLite takes for a row; compiled text keeps both engines and their errors (`sqlalchemy.exc`)
without it. Values pass the driver as they are: no type of SQLAlchemy converts them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from sqlalchemy import ClauseElement, Connection
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from warehouse.ledger.engine.pipelines import Pipeline

T = TypeVar("T")

# SQLite allows 32,766 parameters in a statement; lists of names stay far below.
_MOST_NAMES: Final = 500


class HotStatement:
    """One statement; `run` takes the values of its bind parameters by name, all of them."""

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> DriverResult:
        """Execute on the driver, past SQLAlchemy, whose handling costs more than the statement."""
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
        return _execute(connection, sql, _order(values, names))

    def run_all(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute it once for each row, as one call of the driver."""
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
        if names is None:
            connection.exec_driver_sql(sql, [dict(row) for row in rows])
        else:
            driver: Any = connection.connection.dbapi_connection
            with _Translating(connection, sql):
                driver.executemany(sql, [_order(row, names) for row in rows]).close()

    def fetch_first(self, connection: Connection, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Execute a query and take its first row as a plain tuple; null when there is none."""
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
        return _execute(connection, sql, _order(values, names)).first()

    def _compile(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        compiled = self._statement.compile(dialect=connection.dialect)
        positions = getattr(compiled, "positiontup", None)
        found = (str(compiled), None if positions is None else tuple(positions))
        self._compiled[connection.dialect.name] = found
        return found


class DriverResult:
    """What the driver gave, as plain tuples; in a pipeline who reads it waits for it."""

    __slots__ = ("_connection", "_cursor", "_sql")

    def __init__(self, connection: Connection, sql: str, cursor: Any) -> None:
        self._connection = connection
        self._sql = sql
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        """Rows that the statement changed."""
        self._settle()
        return int(self._cursor.rowcount)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        self._settle()
        return iter(self._cursor)

    def first(self) -> tuple[Any, ...] | None:
        """The first row; null when there is none."""
        self._settle()
        row: tuple[Any, ...] | None = self._cursor.fetchone()
        self._cursor.close()
        return row

    def _settle(self) -> None:
        if not isinstance(self._cursor, sqlite3.Cursor) and self._cursor.pgresult is None:
            with _Translating(self._connection, self._sql):
                self._cursor.settle()


class Later(Generic[T]):
    """What an operation returns that is known with its commit, at the latest."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[], T]) -> None:
        self.read = read


def send_statement(connection: Connection, sql: str, values: Sequence[Any] | None = None) -> DriverResult:
    """Execute a statement of one engine, such as a savepoint, past SQLAlchemy."""
    return _execute(connection, sql, values)


def is_pipelined(connection: Connection) -> bool:
    """Whether statements on this connection are sent, and waited for later."""
    return _find_pipeline(connection) is not None


def call_after_wait(connection: Connection, callback: Callable[[], None]) -> None:
    """Call it when the results of what was sent are there; at once outside a pipeline."""
    pipeline = _find_pipeline(connection)
    if pipeline is None:
        callback()
    else:
        pipeline.call_after(callback)


def _find_pipeline(connection: Connection) -> Pipeline | None:
    if connection.dialect.name == "sqlite":
        return None
    from warehouse.ledger.engine.pipelines import find_pipeline

    return find_pipeline(connection.connection.dbapi_connection)


def _order(values: Mapping[str, Any], names: tuple[str, ...] | None) -> Sequence[Any] | dict[str, Any]:
    """The values as the driver takes them: by position where there are any, else by name."""
    return dict(values) if names is None else [values[name] for name in names]


def _execute(connection: Connection, sql: str, values: Sequence[Any] | dict[str, Any] | None) -> DriverResult:
    """The result of a statement, in a pipeline only sent; the driver's errors without values."""
    driver: Any = connection.connection.dbapi_connection
    with _Translating(connection, sql):
        if connection.dialect.name == "sqlite":
            cursor = driver.execute(sql) if values is None else driver.execute(sql, values)
        else:
            cursor = driver.cursor()
            cursor.send(sql, values)
        return DriverResult(connection, sql, cursor)


class _Translating:
    """A block whose driver's errors are raised as SQLAlchemy's; a class, as cheaper."""

    __slots__ = ("_connection", "_sql")

    def __init__(self, connection: Connection, sql: str) -> None:
        self._connection = connection
        self._sql = sql

    def __enter__(self) -> None:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _trace: object) -> None:
        dialect = self._connection.dialect
        errors = dialect.loaded_dbapi.Error
        if not isinstance(error, errors):
            return
        driver: Any = self._connection.connection.dbapi_connection
        is_lost = dialect.is_disconnect(error, driver, None)
        if is_lost:
            self._connection.invalidate(error)
        raise DBAPIError.instance(
            self._sql,
            None,
            error,
            errors,
            hide_parameters=True,
            connection_invalidated=is_lost,
            dialect=dialect,
        ) from error


def parse_json(value: Any) -> Any:
    """A JSON column as the driver gave it: text from SQLite, the value itself from PostgreSQL."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def iter_chunks(names: Sequence[T]) -> Iterator[Sequence[T]]:
    """The names in lists that are short enough for an `IN` of one statement."""
    for start in range(0, len(names), _MOST_NAMES):
        yield names[start : start + _MOST_NAMES]
