"""Rows of the ledger as the typed values that `schemas/ledger/` declares, read and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, Select

from schemas.ledger.row import LedgerRow
from warehouse.ledger.engine.tables import metadata

R = TypeVar("R", bound="LedgerRow")


def read_rows(connection: Connection, row: type[R], query: Select[Any]) -> list[R]:
    """The rows that a query finds, which selects the columns of their table and no others."""
    return list(iter_rows(connection, row, query))


def iter_rows(connection: Connection, row: type[R], query: Select[Any]) -> Iterator[R]:
    """The same, one at a time."""
    return (row(**found) for found in connection.execute(query).mappings())


def read_row(connection: Connection, row: type[R], query: Select[Any]) -> R | None:
    """The first row that a query finds; null for none."""
    found = connection.execute(query).mappings().first()
    return None if found is None else row(**found)


def insert_rows(connection: Connection, rows: Sequence[LedgerRow]) -> None:
    """Write rows, which may be of several tables, in their order."""
    for row in rows:
        connection.execute(metadata.tables[row.stored.name].insert().values(row.as_values()))
