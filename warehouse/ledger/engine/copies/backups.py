"""The backups that were begun, finished or not: what is erased later is still in them."""

from __future__ import annotations

import socket
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete, func, select, update

from schemas.ledger.engine import Backup
from warehouse.ledger.engine.rows import insert_rows, read_rows
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import access_log, backups, metadata, responses, run_archives

_IS_OWN: Final = backups.c.host == socket.gethostname()


def count_rows(connection: Connection) -> dict[str, int]:
    """Rows of every table of the ledger, by its name."""
    return {
        table.name: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
        for table in metadata.sorted_tables
    }


def count_copied_rows(folder: Path) -> dict[str, int]:
    """Rows of every table of the ledger's files in a backup, by its name."""
    counts: dict[str, int] = {}
    known = {table.name for table in metadata.sorted_tables}
    for path in sorted(folder.glob("*.sqlite")):
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as file:
            found = [
                str(name) for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            for name in sorted(known & {*found}):
                (count,) = file.execute(f'SELECT count(*) FROM "{name}"').fetchone()
                counts[name] = counts.get(name, 0) + int(count)
    return counts


def count_dated_before(connection: Connection, moment: str) -> dict[str, int]:
    """Entries of the audit log and answers from before a moment (UTC as ISO text).

    Neither is ever taken away: those that have left the ledger count, too, but for parts with later ones as well. Of these the lake
    alone knows (`tasks.running.archives.count_dated_before`).
    """
    kept = {"entries of the audit log": access_log.name, "answers": responses.name}
    gone = Counter[str]()
    for counts, sums in connection.execute(select(run_archives.c.row_counts, run_archives.c.sums)):
        if sums["last_at"] < moment:
            gone.update(counts)
    dated = {"entries of the audit log": access_log.c.accessed_at, "answers": responses.c.answered_at}
    return {
        name: int(connection.execute(select(func.count()).where(column < moment)).scalar_one())
        + gone[kept[name]]
        for name, column in dated.items()
    }


def note_backup(connection: Connection, backup: Backup) -> None:
    """Note a backup before anything is copied: a killed one holds content as well."""
    insert_rows(connection, [backup])


def rename_backup(connection: Connection, folder: Path, aside: Path) -> None:
    """Note that a backup of this host lies elsewhere now, in the place of one that is no more."""
    forget_backups(connection, [aside])
    moved = update(backups).where(backups.c.folder == str(folder.resolve()), _IS_OWN)
    connection.execute(moved.values(folder=str(aside.resolve())))


def forget_backups(connection: Connection, folders: Sequence[Path]) -> None:
    """Note that the backups of this host in these folders are no more."""
    for some in iter_chunks([str(folder.resolve()) for folder in folders]):
        connection.execute(delete(backups).where(backups.c.folder.in_(some), _IS_OWN))


def list_backups(connection: Connection, *, begun_before: str | None = None) -> list[Backup]:
    """All backups, the newest first.

    With `begun_before` (UTC as ISO text), those that may hold what was erased then.
    """
    query = select(backups).order_by(backups.c.begun_at.desc())
    if begun_before is not None:
        query = query.where(backups.c.begun_at < begun_before)
    return read_rows(connection, Backup, query)
