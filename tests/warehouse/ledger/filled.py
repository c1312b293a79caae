"""Rows for every table of a ledger, made from what the database says of its columns."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import JSON, Boolean, Connection, Float, Integer, MetaData, inspect, null
from sqlalchemy.sql.sqltypes import TypeEngine

ROWS = 3
_WORDS = re.compile(
    r"\"?(\w+)\"? in \(([^)]*)\)|\(?\"?(\w+)\"?\)?(?:::text)? = any ?\(+array\[([^\]]*)\]", re.IGNORECASE
)


def fill_tables(connection: Connection) -> dict[str, int]:
    """Put rows into every empty table, the last with NULL wherever it may; returns counts."""
    names = set(inspect(connection).get_table_names()) - {"alembic_version"}
    empty = [
        name
        for name in names
        if connection.exec_driver_sql(f'select 1 from "{name}" limit 1').first() is None
    ]
    found = MetaData()
    if empty:
        found.reflect(connection, only=empty)
    made: dict[str, int] = {}
    for table in found.sorted_tables:
        # A table that an empty one refers to may have rows.
        if connection.execute(table.select().limit(1)).first() is not None:
            continue
        words = read_words(connection, table.name)
        is_single = any(
            "= 1" in str(check["sqltext"]) for check in inspect(connection).get_check_constraints(table.name)
        )
        rows = []
        for number in range(1, 2 if is_single else ROWS + 1):
            row: dict[str, Any] = {}
            for column in table.columns:
                key = next(iter(column.foreign_keys), None)
                if column.nullable and number == ROWS:
                    row[column.name] = null()
                elif key is not None:
                    held = (
                        connection.execute(key.column.table.select().with_only_columns(key.column))
                        .scalars()
                        .all()
                    )
                    row[column.name] = held[(number - 1) % len(held)]
                elif column.name in words:
                    row[column.name] = words[column.name][number % len(words[column.name])]
                else:
                    row[column.name] = make_value(column.name, column.type, number)
            rows.append(row)
        for row in rows:
            connection.execute(table.insert().values(**row))
        made[table.name] = len(rows)
    return made


def read_words(connection: Connection, table: str) -> dict[str, list[str]]:
    """Column → the words that it may hold, where a check lists them."""
    words = {}
    for check in inspect(connection).get_check_constraints(table):
        for match in _WORDS.finditer(str(check["sqltext"])):
            listed = match[2] or match[4]
            words[match[1] or match[3]] = re.findall(r"'([^']*)'", listed)
    return words


def make_value(name: str, kind: TypeEngine[Any], number: int) -> object:
    """A value that differs from row to row and is not what another column has."""
    if isinstance(kind, Boolean):
        return number % 2 == 1
    if isinstance(kind, Integer):
        return number
    if isinstance(kind, Float):
        return number + 0.1
    if isinstance(kind, JSON):
        return {"n": number, "of": name, "文": None, "x": [0.1, "\u2028'\"\\"]}
    length = getattr(kind, "length", None) or 200
    if name.endswith("_at"):
        return f"2026-0{number}-01T00:00:00.000000+00:00"
    return f"{number}{name}·题\t'\"\\"[:length]
