"""Statements of the hot path: built with SQLAlchemy, compiled once per dialect, sent as driver SQL.

SQLAlchemy's own execution costs several times what SQLite takes for a row; compiled text keeps both engines and their
errors (`sqlalchemy.exc`) without it. Values pass the driver as they are: no type of SQLAlchemy converts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from sqlite3 import Cursor
from sqlite3 import Error as SQLiteError
from typing import Any, Final

from sqlalchemy import ClauseElement, Connection, CursorResult
from sqlalchemy.exc import DBAPIError

# SQLite allows 32,766 parameters in a statement; lists of names stay far below.
_MOST_NAMES: Final = 500


class HotStatement:
    """One statement; `run` takes the values of its bind parameters by name, all of them."""

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any] | DriverResult:
        """Execute it on a connection's driver; SQLite's past SQLAlchemy, whose handling of a statement costs more than it."""
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
        if connection.dialect.name == "sqlite":
            return DriverResult(_execute(connection, sql, [values[name] for name in names or ()]))
        if names is None:
            return connection.exec_driver_sql(sql, dict(values))
        return connection.exec_driver_sql(sql, tuple([values[name] for name in names]))

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
        """Execute a query and take its first row as a plain tuple; null when there is none.

        SQLite's rows are read past SQLAlchemy, which would describe the columns again for each query.
        """
        if connection.dialect.name != "sqlite":
            row = self.run(connection, values).first()
            return None if row is None else tuple(row)
        try:
            sql, names = self._compiled["sqlite"]
        except KeyError:
            sql, names = self._compile(connection)
        cursor = _execute(connection, sql, [values[name] for name in names or ()])
        first: tuple[Any, ...] | None = cursor.fetchone()
        return first

    def _compile(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        compiled = self._statement.compile(dialect=connection.dialect)
        positions = getattr(compiled, "positiontup", None)
        found = (str(compiled), None if positions is None else tuple(positions))
        self._compiled[connection.dialect.name] = found
        return found


class DriverResult:
    """What SQLite's driver gave, with the part of SQLAlchemy's results that hot statements use; rows are plain tuples."""

    __slots__ = ("_cursor", "rowcount")

    def __init__(self, cursor: Cursor) -> None:
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
    """Execute a statement without values and rows, such as a savepoint; SQLite's past SQLAlchemy."""
    if connection.dialect.name == "sqlite":
        _execute(connection, sql, ())
    else:
        connection.exec_driver_sql(sql)


def _execute(connection: Connection, sql: str, values: Sequence[Any]) -> Cursor:
    """A statement on SQLite's driver; its errors are raised as SQLAlchemy's, without the values."""
    driver: Any = connection.connection.dbapi_connection
    try:
        cursor: Cursor = driver.execute(sql, values)
    except SQLiteError as error:
        raise DBAPIError.instance(sql, None, error, SQLiteError, hide_parameters=True) from error
    return cursor


def parse_json(value: Any) -> Any:
    """A JSON column as the driver gave it: text from SQLite, the value itself from PostgreSQL."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def iter_chunks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """The names in lists that are short enough for an `IN` of one statement."""
    for start in range(0, len(names), _MOST_NAMES):
        yield names[start : start + _MOST_NAMES]
