from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from warehouse.stores import kept_files
from warehouse.stores.prefect_database import copy_empty_database, keep_empty_database


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "packages" / "share" / "prefect.db"
    monkeypatch.setattr(kept_files, "_kept_path", lambda _name: path)
    return path


def make_database(home: Path) -> Path:
    home.mkdir()
    path = home / "prefect.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE alembic_version (version_num TEXT);
            CREATE TABLE flow (id TEXT PRIMARY KEY, name TEXT);
            CREATE TABLE flow_run (flow_id TEXT REFERENCES flow (id) ON DELETE CASCADE);
            CREATE INDEX ix_flow ON flow (name);
            INSERT INTO alembic_version VALUES ('abc');
            INSERT INTO flow VALUES ('1', '秘密');
            INSERT INTO flow_run VALUES ('1');
            """
        )
    return path


def read_all(path: Path) -> tuple[list[str], dict[str, int]]:
    with closing(sqlite3.connect(path)) as connection:
        names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return names, {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables
        }


def test_a_new_home_begins_with_the_tables_and_without_anybodys_rows(tmp_path: Path, kept: Path) -> None:
    own = make_database(tmp_path / "first")
    before = own.read_bytes()
    keep_empty_database(tmp_path / "first")
    assert own.read_bytes() == before
    assert "秘密".encode() not in kept.read_bytes()
    (tmp_path / "second").mkdir()
    assert copy_empty_database(tmp_path / "second")
    names, counts = read_all(tmp_path / "second" / "prefect.db")
    assert names == read_all(own)[0]
    assert counts == {"alembic_version": 1, "flow": 0, "flow_run": 0}


def test_a_home_that_has_its_database_keeps_it(tmp_path: Path, kept: Path) -> None:
    own = make_database(tmp_path / "first")
    keep_empty_database(tmp_path / "first")
    before = own.read_bytes()
    assert copy_empty_database(tmp_path / "first")
    assert own.read_bytes() == before


def test_without_a_kept_one_prefect_makes_its_own(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "home").mkdir()
    assert not copy_empty_database(tmp_path / "home")
    assert list((tmp_path / "home").iterdir()) == []


def test_a_place_that_cannot_be_written_stops_nothing(tmp_path: Path, kept: Path) -> None:
    make_database(tmp_path / "home")
    (tmp_path / "packages").write_text("a file where the folder should be")
    keep_empty_database(tmp_path / "home")
    assert not copy_empty_database(tmp_path / "other")


def test_a_database_that_cannot_be_read_is_not_kept_and_leaves_nothing(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "prefect.db").write_bytes(b"no database" * 100)
    keep_empty_database(tmp_path / "home")
    assert list(kept.parent.iterdir()) == []
