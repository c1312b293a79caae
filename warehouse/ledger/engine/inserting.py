"""Inserts that say what happens where a row is; only the engine's own dialect is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table
    from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert


def insert_into(dialect: str, table: Table) -> PostgresInsert | SqliteInsert:
    """An insert with `on_conflict_…`, for `sqlite` or `postgresql`."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


def replace_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows by their primary keys, whether they are there or not."""
    insert = insert_into(connection.dialect.name, table)
    keys = [column.name for column in table.primary_key]
    values = {column.name: insert.excluded[column.name] for column in table.c if column.name not in keys}
    connection.execute(
        insert.on_conflict_do_update(index_elements=keys, set_=values), [dict(row) for row in rows]
    )
