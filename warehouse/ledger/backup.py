"""Copy an embedded ledger as of one moment, while others write to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import make_url

from schemas.errors import StoreError, UsageError


def check_embedded(address: str) -> None:
    """Raise UsageError for a ledger on a server, which has tools of its own for this."""
    if make_url(address).get_backend_name() != "sqlite":
        raise UsageError(
            "The ledger is on a server: back it up with pg_dump; `proctor backup` copies embedded stores."
        )


def backup_ledger(address: str, target: Path) -> None:
    """Copy the ledger into the new file `target`: SQLite's own backup, its write-ahead log included.

    Raises UsageError for a ledger on a server, StoreError when there is none or the copy cannot be written.
    """
    check_embedded(address)
    source = Path(make_url(address).database or "")
    if not source.is_file():
        raise StoreError(f"There is no ledger at {source}; there is nothing to back up.")
    try:
        with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
            origin.backup(copy)
    except sqlite3.Error as error:
        raise StoreError(
            f"The ledger {source} cannot be copied to {target} ({type(error).__name__}). Check free space and "
            "permissions."
        ) from None
