"""Marks given on the web: durable at once, landed as a workbook's, then known as landed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from warehouse.ledger.engine.tables import desk_marks
from warehouse.ledger.review.joins import read_values

_given = desk_marks.c


def read_marks(connection: Connection, kind: str, work: str, person: str) -> list[dict[str, Any]]:
    """Every mark that the person gave in a work, when, and when it landed; the last one last."""
    statement = (
        select(_given.item_key, _given.mark, _given.note, _given.given_at, _given.landed_at)
        .where(_given.kind == kind, _given.work == work, _given.person == person)
        .order_by(_given.given_at, _given.item_key)
    )
    return read_values(connection, statement)


def read_desk_mark(
    connection: Connection, kind: str, work: str, person: str, item_key: str
) -> dict[str, Any] | None:
    """The mark that stands on one item, or null, locked until the transaction ends."""
    row = connection.execute(
        select(_given.mark, _given.note, _given.given_at)
        .where(_given.kind == kind, _given.work == work, _given.person == person, _given.item_key == item_key)
        .with_for_update()
    ).first()
    return None if row is None else dict(row._mapping)


def replace_mark(connection: Connection, row: Mapping[str, Any]) -> None:
    """Write a mark in the place of the person's earlier one on that item; it has not landed."""
    connection.execute(
        delete(desk_marks).where(
            *(desk_marks.c[name] == row[name] for name in ("kind", "work", "person", "item_key"))
        )
    )
    connection.execute(insert(desk_marks), [{**row, "landed_at": None}])


def count_marks(connection: Connection, kind: str, work: str, person: str) -> tuple[int, int]:
    """How many marks the person gave in a work, and how many of them have not landed."""
    row = connection.execute(
        select(func.count(), func.count().filter(_given.landed_at.is_(None))).where(
            _given.kind == kind, _given.work == work, _given.person == person
        )
    ).one()
    return int(row[0]), int(row[1])


def list_unlanded(connection: Connection) -> list[tuple[str, str, str]]:
    """(kind, work, person) of every work with marks that have not landed."""
    rows = connection.execute(
        select(_given.kind, _given.work, _given.person)
        .where(_given.landed_at.is_(None))
        .distinct()
        .order_by(_given.kind, _given.work, _given.person)
    )
    return [(row.kind, row.work, row.person) for row in rows]


def note_landed(
    connection: Connection, kind: str, work: str, person: str, given: Sequence[tuple[str, str]], now: str
) -> None:
    """Note as landed each (item, moment given); a mark that was changed since has not landed."""
    for item_key, given_at in given:
        connection.execute(
            update(desk_marks)
            .where(
                _given.kind == kind,
                _given.work == work,
                _given.person == person,
                _given.item_key == item_key,
                _given.given_at == given_at,
            )
            .values(landed_at=now)
        )
