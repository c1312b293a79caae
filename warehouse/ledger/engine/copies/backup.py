"""Copy a ledger while others write to it, as the two files of an embedded one."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from schemas.errors import StoreError
from warehouse.ledger.engine.copies.files import check_pair, read_state
from warehouse.ledger.engine.sides import find_ledger_file, name_exam_file


def check_source(address: str) -> None:
    """Raise StoreError for an embedded ledger that is not there: opening it would make one."""
    source = find_ledger_file(address)
    if source is not None and not source.is_file():
        raise StoreError(f"There is no ledger at {source}; there is nothing to back up.")


def backup_ledger(address: str, target: Path) -> list[str]:
    """Copy the ledger into the new file `target`, and its exam's database beside it.

    Returns the names of the files. Made with SQLite's own backup, write-ahead logs included. The exam's database is copied
    first: what the ledger holds is written before what the exam's side says of it, so the copies lack nothing of it. A ledger
    on a server is copied as of one moment into the same two files. Raises StoreError when there is none or the copy cannot be
    written.
    """
    source = find_ledger_file(address)
    if source is None:
        from warehouse.ledger.engine.copies.server_backup import copy_server_ledger

        copy_server_ledger(address, target)
        return sorted((target.name, name_exam_file(target).name))
    check_source(address)
    try:
        pair = read_state(source).pair
        copies = [(source, target)]
        if pair:
            check_pair(source, pair)
            copies.insert(0, (name_exam_file(source), name_exam_file(target)))
        for origin, copy in copies:
            _copy(origin, copy)
    except sqlite3.Error as error:
        raise StoreError(
            f"The ledger {source} cannot be copied to {target} ({type(error).__name__}). Check free space and "
            "permissions."
        ) from None
    return sorted(copy.name for _, copy in copies)


def _copy(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
        origin.backup(copy)
