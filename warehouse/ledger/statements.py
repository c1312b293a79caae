"""Statements of the hot path: built with SQLAlchemy, compiled once per dialect, sent as driver SQL.

SQLAlchemy's own execution costs several times what SQLite takes for a row; compiled text keeps both engines and their
errors (`sqlalchemy.exc`) without it. Values pass the driver as they are: no type of SQLAlchemy converts them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ClauseElement, Connection, CursorResult

# SQLite allows 32,766 parameters in a statement; lists of names stay far below.
_MOST_NAMES: Final = 500


class HotStatement:
    """One statement; `run` takes the values of its bind parameters by name, all of them."""

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        """Execute it on a connection's driver."""
        try:
            sql, names = self._compiled[connection.dialect.name]
        except KeyError:
            sql, names = self._compile(connection)
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
        driver: Any = connection.connection.dbapi_connection
        first: tuple[Any, ...] | None = driver.execute(sql, [values[name] for name in names or ()]).fetchone()
        return first

    def _compile(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        compiled = self._statement.compile(dialect=connection.dialect)
        positions = getattr(compiled, "positiontup", None)
        found = (str(compiled), None if positions is None else tuple(positions))
        self._compiled[connection.dialect.name] = found
        return found


def parse_json(value: Any) -> Any:
    """A JSON column as the driver gave it: text from SQLite, the value itself from PostgreSQL."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def iter_chunks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """The names in lists that are short enough for an `IN` of one statement."""
    for start in range(0, len(names), _MOST_NAMES):
        yield names[start : start + _MOST_NAMES]
