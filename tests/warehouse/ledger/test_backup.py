from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from schemas.errors import StoreError, UsageError
from warehouse.ledger.backup import backup_ledger
from warehouse.ledger.engine import open_ledger
from warehouse.ledger.tables import users


def test_a_copy_holds_what_was_written_while_the_ledger_is_open(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    with open_ledger(address) as ledger:
        with ledger.write() as connection:
            row = {"user_id": "ann", "role": "annotator", "password_hash": "x", "created_at": "2026-01-01"}
            connection.execute(insert(users).values(row))
        # Still in the write-ahead log: a plain copy of the file would lack it.
        backup_ledger(address, tmp_path / "copy.sqlite")

    with open_ledger(f"sqlite:///{tmp_path / 'copy.sqlite'}") as copy, copy.read() as connection:
        assert connection.scalar(select(func.count()).select_from(users)) == 1


def test_what_cannot_be_copied_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pg_dump"):
        backup_ledger("postgresql://someone@nowhere/ledger", tmp_path / "copy.sqlite")
    with pytest.raises(StoreError, match="no ledger"):
        backup_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}", tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()
