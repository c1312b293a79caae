"""A PostgreSQL server of the test's own, on a socket in its own folder, without a port."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh import make_once
from tests.shared import ELSEWHERE, SHARED
from warehouse.ledger.engine.opening import open_ledger

_numbers = itertools.count(1)


class PostgresqlServer:
    """Gives ledgers: each a fresh database copied from one that was migrated once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def stop(self) -> None:
        """Stop it as a crash does: nobody is waited for, and nothing is written down."""
        _run(self.folder, *self._control, "-m", "immediate", "stop")

    def start(self) -> None:
        """Start it again where it was, with what it held."""
        log = str(self.folder / "log")
        _run(self.folder, *self._control, "-w", "-l", log, "-o", _write_options(self.folder, "off"), "start")

    @property
    def _control(self) -> list[str]:
        programs, as_postgres = _find_programs()
        return [*as_postgres, str(programs / "pg_ctl"), "-D", str(self.folder / "db")]

    def make_template(self) -> None:
        """The database that every ledger is a copy of."""
        self._create("ledger_template")
        open_ledger(self.url("ledger_template")).close()

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def new_ledger_url(self) -> str:
        name = f"ledger_{next(_numbers)}"
        self._create(name, "TEMPLATE ledger_template")
        return self.url(name)

    def new_catalog(self) -> str:
        """An empty database for a lake's catalog, as PROCTOR_LAKE_CATALOG names it."""
        name = f"lake_{next(_numbers)}"
        self._create(name)
        return f"postgres:host={self.folder} user=postgres dbname={name}"

    def _create(self, name: str, options: str = "") -> None:
        import psycopg

        with psycopg.connect(
            f"host={self.folder} user=postgres dbname=postgres", autocommit=True
        ) as connection:
            connection.execute(f"CREATE DATABASE {name} {options}")


@contextlib.contextmanager
def start_postgresql(*, is_durable: bool = False) -> Iterator[PostgresqlServer]:
    """Start a server, or skip with what is missing.

    Its files are copies of those of a server that was made and migrated once for all workers: that takes more than many a
    test. `is_durable`: every commit is waited for until it is on the disk, for who measures.
    """
    with _run_server(_make_server_files(), fsync="on" if is_durable else "off") as folder:
        yield PostgresqlServer(folder)


@functools.cache
def _make_server_files() -> Path:
    """The data folder of a server that is stopped, with the template of ledgers in it.

    It does not lie where what is made once for all does: the user that the server runs as has no way there.
    """
    programs, as_postgres = _find_programs()

    def make(noted: Path) -> None:
        folder = _make_folder()
        if SHARED not in os.environ:
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        data = folder / "db"
        _run(folder, *as_postgres, str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust")
        with _run_server(data, is_copy=False) as socket:
            PostgresqlServer(socket).make_template()
        noted.mkdir()
        (noted / ELSEWHERE).write_text(str(folder), encoding="utf-8")

    return Path((make_once("postgresql", make) / ELSEWHERE).read_text(encoding="utf-8"), "db")


@contextlib.contextmanager
def _run_server(data: Path, *, is_copy: bool = True, fsync: str = "off") -> Iterator[Path]:
    """A server over these files, or a passing copy of them; yields its socket's folder."""
    programs, as_postgres = _find_programs()
    folder = _make_folder()
    if is_copy:
        _run(folder, *as_postgres, "cp", "-r", str(data), str(folder / "db"))
        data = folder / "db"
    control = [*as_postgres, str(programs / "pg_ctl"), "-D", str(data)]
    _run(folder, *control, "-w", "-l", str(folder / "log"), "-o", _write_options(folder, fsync), "start")
    try:
        yield folder
    finally:
        _run(folder, *control, "-m", "immediate" if is_copy else "fast", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def _write_options(folder: Path, fsync: str) -> str:
    return f"-c listen_addresses='' -k {folder} -c fsync={fsync}"


@functools.cache
def _find_programs() -> tuple[Path, list[str]]:
    """Where PostgreSQL's programs lie, and what starts them as a user that they accept."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if not folders and found is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    programs = folders[0] if folders else Path(str(found)).parent
    if os.geteuid() != 0:
        return programs, []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    return programs, ["runuser", "-u", "postgres", "--"]


def run_postgresql(folder: Path, program: str, *words: str) -> None:
    """Run a program of PostgreSQL's, or one of the system, as the user that the server runs as."""
    programs, as_postgres = _find_programs()
    found = programs / program
    _run(folder, *as_postgres, str(found) if found.exists() else program, *words)


def _make_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
    return folder


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
