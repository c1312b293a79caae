"""A PostgreSQL server of the test's own, on a socket in a folder of its own, without a network port."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from warehouse.ledger.engine import open_ledger

_numbers = itertools.count(1)


class PostgresqlServer:
    """Gives ledgers: each a fresh database copied from one that was migrated once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._create("ledger_template")
        open_ledger(self.url("ledger_template")).close()

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def new_ledger_url(self) -> str:
        name = f"ledger_{next(_numbers)}"
        self._create(name, "TEMPLATE ledger_template")
        return self.url(name)

    def new_catalog(self) -> str:
        """An empty database for a lake's catalog, as PROCTOR_LAKE_CATALOG names it."""
        name = f"lake_{next(_numbers)}"
        self._create(name)
        return f"postgres:host={self._folder} user=postgres dbname={name}"

    def _create(self, name: str, options: str = "") -> None:
        import psycopg

        with psycopg.connect(
            f"host={self._folder} user=postgres dbname=postgres", autocommit=True
        ) as connection:
            connection.execute(f"CREATE DATABASE {name} {options}")  # type: ignore[call-overload]


@contextlib.contextmanager
def start_postgresql() -> Iterator[PostgresqlServer]:
    """Start a server, or skip with what is missing."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if not folders and found is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    programs = folders[0] if folders else Path(str(found)).parent
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    as_postgres: list[str] = []
    if os.geteuid() == 0:
        try:
            os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        as_postgres = ["runuser", "-u", "postgres", "--"]

    def run(*command: str) -> None:
        subprocess.run([*as_postgres, *command], check=True, capture_output=True, cwd=folder)

    data = str(folder / "db")
    run(str(programs / "initdb"), "-D", data, "-U", "postgres", "-A", "trust")
    options = f"-c listen_addresses='' -k {folder} -c fsync=off"
    run(str(programs / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield PostgresqlServer(folder)
    finally:
        run(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
