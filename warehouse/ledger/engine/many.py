"""Rows and values by the ten thousand in one statement, past SQLAlchemy's handling."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import JSON, Connection, Select, String, Table, cast, func, insert, literal, select


def insert_rows(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Write rows, of which each has at least these columns; an empty list writes none."""
    if not rows:
        return
    documents = [
        column.name for column in table.c if isinstance(column.type, JSON) and column.name in columns
    ]
    if documents:
        rows = [dict(row) | {name: json.dumps(row[name]) for name in documents} for row in rows]
    compiled = insert(table).compile(dialect=connection.dialect, column_keys=list(columns))
    order = getattr(compiled, "positiontup", None)
    if order is None:
        connection.exec_driver_sql(str(compiled), [{name: row[name] for name in columns} for row in rows])
    else:
        connection.exec_driver_sql(str(compiled), list(map(itemgetter(*order), rows)))


def insert_tuples(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Write rows that are tuples in the order of `columns`, their JSON encoded already."""
    if not rows:
        return
    compiled = insert(table).compile(dialect=connection.dialect, column_keys=list(columns))
    order = getattr(compiled, "positiontup", None)
    if order is None:
        connection.exec_driver_sql(str(compiled), [dict(zip(columns, row, strict=True)) for row in rows])
    elif list(order) == list(columns):
        connection.exec_driver_sql(str(compiled), list(rows))
    else:
        places = [columns.index(name) for name in order]
        connection.exec_driver_sql(str(compiled), list(map(itemgetter(*places), rows)))


def list_values(connection: Connection, values: Collection[str]) -> Select[tuple[str]]:
    """The values as a query for `IN`: one parameter, in an order that suits indexes."""
    document = json.dumps(sorted(values))
    if connection.dialect.name == "sqlite":
        return select(func.json_each(document).table_valued("value").c.value)
    listed = func.json_array_elements_text(cast(literal(document, String), JSON)).table_valued("value")
    return select(cast(listed.c.value, String))
