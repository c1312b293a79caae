from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select

from schemas.errors import StoreError, UsageError
from tests.warehouse.ledger.filled import fill_tables
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.connections import create_ledger_engine
from warehouse.ledger.engine.copies.backup import backup_ledger
from warehouse.ledger.engine.copies.server_backup import fill_server_ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.sides import name_exam_file
from warehouse.ledger.engine.tables import access_log, users


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
    nowhere = "postgresql://someone:sesame@127.0.0.1:1/ledger?connect_timeout=2"
    with pytest.raises(StoreError, match="cannot be opened") as refused:
        backup_ledger(nowhere, tmp_path / "copy.sqlite")
    assert "sesame" not in str(refused.value)
    with pytest.raises(StoreError, match="no ledger"):
        backup_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}", tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def read_everything(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every table of both files of a ledger, each row with the types of its values."""
    found = {}
    for file in (path, name_exam_file(path)):
        with closing(sqlite3.connect(file)) as connection:
            names = [
                row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")
            ]
            for name in names:
                columns = sorted(row[1] for row in connection.execute(f'pragma table_info("{name}")'))
                rows = connection.execute(f"select {', '.join(columns)} from {name}").fetchall()
                found[f"{file.suffixes} {name}"] = sorted(rows, key=repr)
    return found


@pytest.mark.service
def test_a_ledger_moves_to_a_server_and_back_with_every_value_of_every_table(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    origin, back = tmp_path / "ledger.sqlite", tmp_path / "back.sqlite"
    with open_ledger(f"sqlite:///{origin}") as ledger:
        ledger.engine.dispose()
    for file in (origin, name_exam_file(origin)):
        engine = create_ledger_engine(f"sqlite:///{file}")
        with engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            fill_tables(connection)
            connection.exec_driver_sql("COMMIT")
        engine.dispose()
    url = postgresql.new_ledger_url()
    fill_server_ledger(origin, url, tmp_path / "staging")
    with pytest.raises(UsageError, match="has rows already"):
        fill_server_ledger(origin, url, tmp_path / "again")
    assert backup_ledger(url, back) == ["back.exam.sqlite", "back.sqlite"]
    with open_ledger(url) as ledger, ledger.write() as connection:
        # What numbers itself continues after the rows that were put back.
        last = connection.execute(select(func.max(access_log.c.access_id))).scalar_one()
        row = {"accessed_at": "x", "method": "GET", "path": "/", "status": 200}
        values = {
            c.name: row.get(c.name, 0) for c in access_log.columns if not c.nullable and c.name != "access_id"
        }
        connection.execute(insert(access_log).values(**values))
        assert connection.execute(select(func.max(access_log.c.access_id))).scalar_one() == last + 1
    copied, expected = read_everything(back), read_everything(origin)
    assert copied == expected
    assert min(map(len, copied.values())) >= 1
    open_ledger(f"sqlite:///{back}").close()
