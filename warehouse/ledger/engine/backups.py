"""The backups that were begun, also those that were not finished: what is erased later is still in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from warehouse.ledger.engine.tables import backups

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True)
class Backup:
    """A backup, as the table has it; whether it was finished, and when, stands in its own `backup.json`."""

    backup_id: str
    folder: str
    host: str
    begun_at: str


def note_backup(connection: Connection, backup: Backup) -> None:
    """Note a backup before anything is copied: a killed one holds content as well."""
    connection.execute(insert(backups).values(**{name: getattr(backup, name) for name in _COLUMNS}))


def list_backups(connection: Connection, *, begun_before: str | None = None) -> list[Backup]:
    """All backups, the newest first; with `begun_before` (UTC as ISO text) those that may hold what was erased then."""
    query = select(*(backups.c[name] for name in _COLUMNS)).order_by(backups.c.begun_at.desc())
    if begun_before is not None:
        query = query.where(backups.c.begun_at < begun_before)
    return [Backup(*row) for row in connection.execute(query)]


_COLUMNS = tuple(Backup.__dataclass_fields__)
