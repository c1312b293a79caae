"""Statements of the hot path.

They are built with SQLAlchemy, compiled once per dialect, and sent as driver SQL.

SQLAlchemy's own execution costs several times what SQLite takes for a row; compiled text keeps both engines and their
errors (`sqlalchemy.exc`) without it. Values pass the driver as they are: no type of SQLAlchemy converts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import ClauseElement, Connection
from sqlalchemy.exc import DBAPIError

T = TypeVar("T")

# SQLite allows 32,766 parameters in a statement; lists of names stay far below.
_MOST_NAMES: Final = 500


class HotStatement:
    """One statement; `run` takes the values of its bind parameters by name, all of them."""

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> DriverResult:
        """Execute the statement on a connection's driver, past SQLAlchemy.

        SQLAlchemy's handling of a statement costs more than the statement itself.
        """
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
        return DriverResult(_execute(connection, sql, _order(values, names)))

    def run_all(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute it once for each row, as one call of the driver."""
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
        if names is None:
            connection.exec_driver_sql(sql, [dict(row) for row in rows])
        else:
            connection.exec_driver_sql(sql, [tuple([row[name] for name in names]) for row in rows])

    def fetch_first(self, connection: Connection, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Execute a query and take its first row as a plain tuple; null when there is none."""
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
        first: tuple[Any, ...] | None = _execute(connection, sql, _order(values, names)).fetchone()
        return first

    def _compile(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        compiled = self._statement.compile(dialect=connection.dialect)
        positions = getattr(compiled, "positiontup", None)
        found = (str(compiled), None if positions is None else tuple(positions))
        self._compiled[connection.dialect.name] = found
        return found


class DriverResult:
    """What the driver gave, with the part of SQLAlchemy's results that hot statements use.

    Rows are plain tuples.
    """

    __slots__ = ("_cursor", "rowcount")

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.rowcount: int = cursor.rowcount

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._cursor)

    def first(self) -> tuple[Any, ...] | None:
        """The first row; null when there is none."""
        row: tuple[Any, ...] | None = self._cursor.fetchone()
        self._cursor.close()
        return row

    def close(self) -> None:
        """Let go of what was not read."""
        self._cursor.close()


def send_statement(connection: Connection, sql: str) -> None:
    """Execute a statement without values and rows, such as a savepoint, past SQLAlchemy."""
    _execute(connection, sql, None)


def _order(values: Mapping[str, Any], names: tuple[str, ...] | None) -> Sequence[Any] | dict[str, Any]:
    """The values as the driver takes them.

    They go by position where the statement has positions, else by name.
    """
    return dict(values) if names is None else [values[name] for name in names]


def _execute(connection: Connection, sql: str, values: Sequence[Any] | dict[str, Any] | None) -> Any:
    """The driver's cursor after a statement.

    The driver's errors are raised as SQLAlchemy's, without the values.

    A connection that was lost with its server is given up, as SQLAlchemy does, so that the next transaction has another.
    """
    driver: Any = connection.connection.dbapi_connection
    errors = connection.dialect.loaded_dbapi.Error
    try:
        return driver.execute(sql) if values is None else driver.execute(sql, values)
    except errors as error:
        is_lost = connection.dialect.is_disconnect(error, driver, None)
        if is_lost:
            connection.invalidate(error)
        raise DBAPIError.instance(
            sql,
            None,
            error,
            errors,
            hide_parameters=True,
            connection_invalidated=is_lost,
            dialect=connection.dialect,
        ) from error


def parse_json(value: Any) -> Any:
    """A JSON column as the driver gave it: text from SQLite, the value itself from PostgreSQL."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def iter_chunks(names: Sequence[T]) -> Iterator[Sequence[T]]:
    """The names in lists that are short enough for an `IN` of one statement."""
    for start in range(0, len(names), _MOST_NAMES):
        yield names[start : start + _MOST_NAMES]
