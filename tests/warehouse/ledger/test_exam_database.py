"""The exam's file of an embedded ledger: what is in it, what never is, and kills."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from schemas.errors import StoreError
from tasks.exam.public import digest
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish, seed_of
from warehouse.ledger.engine import tables
from warehouse.ledger.engine.copies.backup import backup_ledger
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.integrity import find_strays
from warehouse.ledger.engine.logs.public_log import read_public_entries
from warehouse.ledger.engine.migrate import HEAD
from warehouse.ledger.engine.opening import open_exam_database, open_ledger
from warehouse.ledger.engine.sides import EXAM_TABLES, name_exam_file
from warehouse.ledger.exam.sittings import list_run_ids, read_run
from warehouse.ledger.money.calls import FinishedCall, NewCall, finish_call, start_call
from warehouse.ledger.trust.users import add_user

ROOT = Path(__file__).parents[3]
MARKER = "QZXW-must-not-be-seen"
# Columns that take some words only.
WORDS = {
    "llm_calls": {"status": "done"},
    "call_batches": {"state": "ended"},
    "batch_calls": {"status": "done"},
    "flow_runs": {"started_by": "command", "state": "completed"},
}
ALPHA = make_model("alpha")
REGISTRY = make_registry(ALPHA, make_model("rho", roles=("reference",)))


def read_bytes(path: Path) -> bytes:
    """Everything that a file, its log and its index of the log hold."""
    files = [path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")]
    return b"".join(file.read_bytes() for file in files if file.exists())


def plant(connection: Any) -> None:
    """Plant a marker in every text of the ledger's own tables."""
    for table in tables.metadata.tables.values():
        if table.name in EXAM_TABLES or table.name in ("run_plans", "set_keys", "run_seals"):
            continue
        row: dict[str, object] = {}
        for column in table.columns:
            kind = str(column.type).split("(")[0]
            if column.autoincrement is True:
                continue
            if kind == "JSON":
                row[column.name] = {"answer": [MARKER], "explanation": MARKER}
            elif kind in ("VARCHAR", "TEXT"):
                length = getattr(column.type, "length", None) or 100
                row[column.name] = MARKER[:length]
            else:
                row[column.name] = 1
        row |= WORDS.get(table.name, {})
        connection.execute(insert(table).values(row))


def test_no_answer_review_reply_seed_or_key_is_in_any_byte_of_the_exams_file(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_ledger(f"sqlite:///{path}") as ledger:
        publish(ledger, make_settings(tmp_path), REGISTRY, make_bank(), seed=f"{MARKER}-seed")
        with ledger.write() as connection:
            plant(connection)
            start_call(connection, NewCall("key", "judge", "r", "s/j", "e", "m"))
            finish_call(connection, FinishedCall("key", "done", reply={"text": MARKER}))
        with ledger.read() as connection:
            secrets = [
                *connection.execute(select(tables.run_plans.c.seed)).scalars(),
                *connection.execute(select(tables.set_keys.c.draw_key)).scalars(),
                *connection.execute(select(tables.run_seals.c.share)).scalars(),
            ]
        assert len(secrets) >= 2
        own, exam = read_bytes(path), read_bytes(name_exam_file(path))
        assert MARKER.encode() in own
        assert MARKER.encode() not in exam
        for secret in secrets:
            assert secret.encode() in own
            assert secret.encode() not in exam
        # What candidates are shown is in it: the search would have found something.
        assert b'"stem"' in exam


def test_the_exams_file_is_its_owners_only_and_holds_the_exams_tables_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with open_ledger(f"sqlite:///{path}") as ledger, ledger.write() as connection:
        add_user(connection, user_id="ada", role="admin")
        files = [name_exam_file(path), name_exam_file(path).with_name("ledger.exam.sqlite-wal")]
        assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    with closing(sqlite3.connect(name_exam_file(path))) as exam:
        names = {row[0] for row in exam.execute("select name from sqlite_master where type = 'table'")}
    assert names == {*EXAM_TABLES, "alembic_version"}


def test_a_server_names_the_command_that_makes_its_database_ready(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    url = f"sqlite:///{name_exam_file(path)}"
    with pytest.raises(StoreError, match="proctor exam database"):
        open_exam_database(url)
    assert not name_exam_file(path).exists()
    with open_ledger(f"sqlite:///{path}") as ledger:
        publish(ledger, make_settings(path.parent), REGISTRY, make_bank())
    with open_exam_database(url) as exam, exam.read() as connection:
        assert list_run_ids(connection) == ["2026-11"]


def test_a_missing_or_foreign_file_is_refused_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    for name in ("ledger", "other"):
        open_ledger(f"sqlite:///{tmp_path / name}.sqlite").close()
    kept = tmp_path / "kept"
    shutil.move(name_exam_file(path), kept)
    with pytest.raises(StoreError, match=r"ledger\.exam\.sqlite is missing.*proctor restore"):
        open_ledger(f"sqlite:///{path}")
    assert not name_exam_file(path).exists()
    shutil.copy(tmp_path / "other.exam.sqlite", name_exam_file(path))
    with pytest.raises(StoreError, match="belongs to another ledger"):
        open_ledger(f"sqlite:///{path}")
    shutil.copy(kept, name_exam_file(path))
    open_ledger(f"sqlite:///{path}").close()
    # A new ledger beside the exam's database of a lost one: the database stays as it is.
    path.unlink()
    with pytest.raises(StoreError, match="do not belong together"):
        open_ledger(f"sqlite:///{path}")
    assert name_exam_file(path).read_bytes() == kept.read_bytes()


def test_a_backup_has_both_files_and_is_taken_while_they_are_written(tmp_path: Path) -> None:
    path, copy, back = (tmp_path / f"{name}.sqlite" for name in ("ledger", "copy", "back"))
    with open_ledger(f"sqlite:///{path}") as ledger:
        publish(ledger, make_settings(tmp_path), REGISTRY, make_bank())
        assert backup_ledger(f"sqlite:///{path}", copy) == ["copy.exam.sqlite", "copy.sqlite"]
    restore_ledger(copy, back)
    with open_ledger(f"sqlite:///{back}") as ledger, ledger.read() as connection:
        assert find_strays(connection) == []
        run = read_run(connection, "2026-11")
        assert run is not None
        assert run.plan["candidates"] == ["alpha"]


# --- kills ------------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from warehouse.ledger.engine.copies import files
from warehouse.ledger.engine.opening import open_ledger

def die(*_args, **_keywords):
    os.kill(os.getpid(), signal.SIGKILL)

path, moment = sys.argv[1:]
new = files._new_exam_file
if moment == "the exam's file is whole":
    class Dying:
        def __init__(self, path, form):
            self.inner = new(path, form)
        def __enter__(self):
            return self.inner.__enter__()
        def __exit__(self, *error):
            self.inner.__exit__(*error)
            die()
    files._new_exam_file = Dying
else:
    files.promote = die
open_ledger(f"sqlite:///{path}")
"""
MOMENTS = ("the exam's file is whole", "the ledger is committed")


def test_a_new_ledger_killed_between_its_files_is_made_again(tmp_path: Path, warm_python: str) -> None:
    for moment in MOMENTS:
        path = tmp_path / f"{moment}.sqlite"
        killed = subprocess.run([warm_python, "-c", KILLED, str(path), moment], cwd=ROOT, check=False)
        assert killed.returncode == -signal.SIGKILL
        with pytest.raises(StoreError):
            open_exam_database(f"sqlite:///{name_exam_file(path)}")
        with open_ledger(f"sqlite:///{path}") as ledger, ledger.write() as connection:
            add_user(connection, user_id="ada", role="admin")
        with closing(sqlite3.connect(path)) as own:
            assert own.execute("select version_num from alembic_version").fetchall() == [(HEAD,)]


# --- a transaction over both files ------------------------------------------------------------------------------------

# Every write beyond 100 kB of a file kills: the ledger's few pages are committed before, the exam's many are not.
CUT_OFF = """
import resource, signal, sys
from pathlib import Path
from tests.tasks.exam.world import make_bank, make_settings, publish
from tests.warehouse.ledger.test_exam_database import REGISTRY
from warehouse.ledger.engine.opening import open_ledger

folder = Path(sys.argv[1])
with open_ledger(f"sqlite:///{folder / 'ledger.sqlite'}") as ledger:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    publish(ledger, make_settings(folder, set_size=400), REGISTRY, make_bank(120), seed="the first seed")
"""


def test_a_plan_killed_between_the_two_commits_is_published_by_the_next(
    tmp_path: Path, warm_python: str
) -> None:
    path = tmp_path / "ledger.sqlite"
    open_ledger(f"sqlite:///{path}").close()
    killed = subprocess.run([warm_python, "-c", CUT_OFF, str(tmp_path)], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGXFSZ
    with closing(sqlite3.connect(path)) as own, closing(sqlite3.connect(name_exam_file(path))) as exam:
        assert own.execute("select seed from run_plans").fetchall() == [(seed_of("the first seed"),)]
        assert own.execute("select count(*) from set_keys").fetchone()[0] > 0
        for name in ("runs", "sessions", "sets", "exposures", "users"):
            assert exam.execute(f"select count(*) from {name}").fetchone() == (0,), name
    with open_ledger(f"sqlite:///{path}") as ledger:
        with ledger.read() as connection:
            assert find_strays(connection) == []
        settings = make_settings(tmp_path, set_size=400)
        publish(ledger, settings, REGISTRY, make_bank(120), seed="the second seed")
        with ledger.read() as connection:
            assert find_strays(connection) == []
            run = read_run(connection, "2026-11")
            assert run is not None
            assert run.seed == seed_of("the second seed")
            numbers = connection.execute(select(tables.set_numbers.c.set_id)).scalars().all()
            keys = connection.execute(select(tables.set_keys.c.set_id)).scalars().all()
            assert sorted(keys) == sorted(numbers)
            # What the killed one left says nothing: the run was committed to once, with the share of the one that planned it.
            (commit,) = read_public_entries(connection, "2026-11", ("commit",))
            share = bytes.fromhex(connection.execute(select(tables.run_seals.c.share)).scalar_one())
            assert commit.body["share_commitment"] == digest("proctor share", share).hex()
