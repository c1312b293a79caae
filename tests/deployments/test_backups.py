"""Backups are checked by their lists, and refused when they are not whole."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings, load_settings
from schemas.tables import TABLES
from tasks.exam.log.signing import name_key_file, open_signer
from tasks.operations.backups import backup_home, restore_home, verify_backup
from tests.deployments.test_cli import invoke
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from tests.warehouse.object_store import BUCKET, ObjectStore, start_object_store
from tests.warehouse.sample_rows import session_frame
from warehouse.backup import BackupTarget, writing_backup
from warehouse.lake import open_lake
from warehouse.lake.upkeep import backup as lake_backup
from warehouse.lake.upkeep.catalog_copy import copy_server_catalog
from warehouse.ledger.engine.copies.backups import list_backups
from warehouse.ledger.engine.opening import open_ledger
from warehouse.stores.homes import RESTORING, check_stores

ROOT = Path(__file__).resolve().parents[2]
ARCHIVED = {"aa/aa11.original.txt": b"a paper", "bb/bb22.original.txt": b"another"}
PUBLISHED = {"runs/2026-10/plan.json": b"{}", "editions/2026-10-1/edition.json": b"[1]"}

# What somebody has said or given for the home, and no store holds.
GIVEN = {
    "disciplines.yaml": b"law*: Law\n",
    "cgeval/questions.csv": b"stem\n",
    "cgeval/former/0123456789ab.csv": b"other\n",
    "cgeval/samples/human.parquet": b"drawn",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a lake of two landings, a ledger, originals and public files."""
    home = tmp_path_factory.mktemp("made") / "home"
    settings = Settings(home=home)
    for number in (1, 2):
        land(settings, number)
    open_ledger(settings.ledger_address).close()
    check_stores(settings)
    for folder, files in (("archive", ARCHIVED), ("public", PUBLISHED)):
        write_files(home / folder, files)
    (home / "models.yaml").write_text("models: []\n")
    write_files(home, GIVEN)
    return home


@pytest.fixture
def settings(made: Path, tmp_path: Path) -> Settings:
    shutil.copytree(made, tmp_path / "home")
    return Settings(home=tmp_path / "home")


def land(settings: Settings, number: int) -> None:
    with open_lake(settings) as lake:
        lake.land("sessions", f"unit-{number}", session_frame(1, first=number))


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def hash_files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read_sessions(settings: Settings) -> list[tuple[Any, ...]]:
    with open_lake(settings, read_only=True) as lake:
        return lake.query("SELECT * FROM sessions ORDER BY ALL").rows()


def read_tables(settings: Settings) -> dict[str, list[tuple[Any, ...]]]:
    with open_lake(settings, read_only=True) as lake, lake.read_transaction():
        return {name: lake.query(f'SELECT * FROM "{name}" ORDER BY ALL').rows() for name in TABLES}


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def elsewhere(settings: Settings, home: Path) -> Settings:
    return settings.model_copy(update={"home": home})


def flip_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def find_parquet(folder: Path) -> Path:
    return min((folder / "lake" / "data").rglob("*.parquet"))


def test_the_list_in_a_backup_names_every_file_with_its_sum(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    done = backup_home(settings, folder)
    said = json.loads((folder / "backup.json").read_text())
    assert {one["path"]: one["sha256"] for one in said["files"]} == {
        name: digest for name, digest in hash_files(folder).items() if name != "backup.json"
    }
    assert {"ledger.sqlite", "ledger.exam.sqlite", "lake/catalog.sqlite", "models.yaml"} <= hash_files(
        folder
    ).keys()
    assert said["backup_id"] == done["backup_id"]
    assert said["begun_at"] <= said["finished_at"]
    assert (done["file_count"], done["byte_count"]) == (
        len(said["files"]),
        sum(one["size"] for one in said["files"]),
    )
    assert hash_files(folder / "archive") == hash_files(settings.home / "archive")
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        noted = [(one.backup_id, one.folder, one.begun_at) for one in list_backups(connection)]
        assert noted == [(done["backup_id"], str(folder), said["begun_at"])]
        assert list_backups(connection, begun_before=said["begun_at"]) == []
    checked = invoke(None, "backup", "--verify", str(folder), "--json")
    assert (checked.exit_code, json.loads(checked.stdout)["differences"]) == (0, [])


def test_what_is_restored_once_there_is_room_is_the_same_in_every_file_and_row(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup_home(settings, tmp_path / "copy")
    before = hash_files(tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700
    restored = Settings(home=tmp_path / "target")

    def refuse(_: Path, target: Path, **__: Any) -> None:
        raise shutil.Error([("a", str(target), "[Errno 28] No space left on device: 'a'")])

    with monkeypatch.context() as full:
        full.setattr(shutil, "copytree", refuse)
        with pytest.raises(StoreError, match=r"No space left.*Make room there .* restore again"):
            restore_home(restored, tmp_path / "copy")
    # The same command does it then.
    parts = restore_home(restored, tmp_path / "copy")["restored"]
    # The same is restored where it does not lie in the home.
    apart = Settings(home=tmp_path / "apart", archive=tmp_path / "originals", secrets=tmp_path / "keys")
    assert restore_home(apart, tmp_path / "copy")["restored"] == parts
    assert {"archive", "lake", "ledger.sqlite", "secrets"} <= set(parts)

    for name in ("lake/data", "archive", "secrets", "public"):
        assert hash_files(restored.home / name) == hash_files(settings.home / name), name
    assert restored.registry_path.read_bytes() == settings.registry_path.read_bytes()
    assert {name: (restored.home / name).read_bytes() for name in GIVEN} == GIVEN
    for name in ("ledger.sqlite", "ledger.exam.sqlite"):
        assert dump(restored.home / name) == dump(settings.home / name)
    assert read_tables(restored) == read_tables(settings)
    # What is restored is no link: writing to it leaves the backup alone.
    land(restored, 3)
    assert hash_files(tmp_path / "copy") == before
    # One that was killed while it put the files in their places cannot be told from a home in use.
    with pytest.raises(UsageError, match="is not empty"):
        restore_home(restored, tmp_path / "copy")


def test_what_a_killed_ingest_left_half_done_is_in_no_backup(settings: Settings, tmp_path: Path) -> None:
    left = {".spool/999999-dead/copy": b"x", "aa/.aa11.txt.999999.draft": b"x"}
    write_files(settings.home / "archive", left)
    backup_home(settings, tmp_path / "copy")
    copied = hash_files(tmp_path / "copy" / "archive")
    assert copied.keys() == ARCHIVED.keys()
    assert verify_backup(tmp_path / "copy")["differences"] == []


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a bit of a data file": (lambda copy: flip_bit(find_parquet(copy)), r"\.parquet is damaged"),
    "a bit of the ledger": (lambda copy: flip_bit(copy / "ledger.sqlite"), r"ledger\.sqlite is damaged"),
    "a file cut off": (
        lambda copy: os.truncate(copy / "archive" / "aa" / "aa11.original.txt", 3),
        r"aa11\.original\.txt has 3 bytes of 7",
    ),
    "a file missing": (lambda copy: (copy / "models.yaml").unlink(), r"models\.yaml is missing"),
    "a log beside a store": (
        lambda copy: (copy / "ledger.sqlite-wal").write_bytes(b"x"),
        r"ledger\.sqlite-wal does not belong to it",
    ),
}


@pytest.fixture(scope="module")
def copied(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of that home; tests that change it work on a copy."""
    folder = tmp_path_factory.mktemp("copied") / "copy"
    backup_home(Settings(home=made), folder)
    return folder


@pytest.mark.parametrize("name", CHANGES)
def test_a_backup_that_was_changed_is_named_and_nothing_of_it_is_put_in_place(
    copied: Path, tmp_path: Path, name: str
) -> None:
    folder, target = tmp_path / "copy", tmp_path / "target"
    shutil.copytree(copied, folder)
    change, said = CHANGES[name]
    change(folder)
    with pytest.raises(StoreError, match=f"{said}.*Nothing was restored"):
        restore_home(Settings(home=target), folder)
    assert not target.exists()
    checked = invoke(None, "backup", "--verify", str(folder), "--json")
    assert checked.exit_code == 1
    assert len(json.loads(checked.stdout)["differences"]) == 1


def test_a_list_that_is_damaged_or_of_another_form_is_refused(copied: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(copied, folder)
    written = json.loads((folder / "backup.json").read_text())
    outside = [written["files"][0] | {"path": "../outside"}]
    for content, said in (
        ("{", "is damaged"),
        (json.dumps(written | {"form": 1}), r"another version of Proctor \(form 1, not 2\)"),
        (json.dumps(written | {"form": 3}), r"another version of Proctor \(form 3, not 2\)"),
        (json.dumps(written | {"files": outside}), "is damaged"),
    ):
        (folder / "backup.json").write_text(content)
        with pytest.raises(StoreError, match=said):
            restore_home(Settings(home=tmp_path / "target"), folder)


def test_a_folder_without_a_list_is_no_backup(copied: Path, tmp_path: Path) -> None:
    folder, target = tmp_path / "copy", Settings(home=tmp_path / "target")
    shutil.copytree(copied, folder)
    (folder / "backup.json").unlink()
    for given, said in (
        (folder, r"holds no backup\.json"),
        (tmp_path / "nowhere", "there is no such folder"),
    ):
        with pytest.raises(UsageError, match=said):
            restore_home(target, given)
        with pytest.raises(UsageError, match=said):
            verify_backup(given)
    assert not target.home.exists()


@pytest.mark.long
@pytest.mark.service
def test_files_of_an_object_store_are_copied_and_restored_there_and_embedded(
    settings: Settings, tmp_path: Path
) -> None:
    """A catalog in SQLite and files in a store.

    The case of a catalog in PostgreSQL is in tests/e2e/test_server_backup.py.
    """
    backup_home(settings, tmp_path / "embedded")
    with start_object_store() as store:
        served = settings.model_copy(
            update={"home": tmp_path / "served", "lake_data": f"s3://{BUCKET}/served"}
        )
        restore_home(served, tmp_path / "embedded")
        assert not (served.home / "lake" / "data").exists()
        assert len(store.list_keys("served/")) == len(
            list((settings.home / "lake" / "data").rglob("*.parquet"))
        )
        land(served, 3)
        rows = read_sessions(served)
        assert len(rows) == 3
        folder = tmp_path / "copy"
        backup_home(served, folder)
        assert verify_backup(folder)["differences"] == []
        other = served.model_copy(update={"home": tmp_path / "other", "lake_data": f"s3://{BUCKET}/other"})
        for target in (elsewhere(settings, tmp_path / "back"), other):
            restore_home(target, folder)
            assert read_sessions(target) == rows
            check_stores(target)
        with pytest.raises(UsageError, match=r"Parquet files in s3://.* already"):
            restore_home(elsewhere(other, tmp_path / "late"), folder)
    # What is away is said so, and nothing is left that could be taken for a backup.
    with pytest.raises(StoreError), mock.patch.dict(os.environ, store.variables):
        backup_home(served, tmp_path / "unfinished")
    assert not (tmp_path / "unfinished").exists()


@pytest.mark.long
@pytest.mark.service
def test_a_store_that_is_away_when_a_backup_needs_it_is_waited_for(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE_WAIT_S", "300")
    load_settings.cache_clear()
    with start_postgresql() as postgresql, start_object_store() as store:
        values = {
            "ledger_url": postgresql.new_ledger_url(),
            "lake_catalog": postgresql.new_catalog(),
            "lake_data": f"s3://{BUCKET}/served",
        }
        served = Settings.model_validate({"home": tmp_path / "served", "store_wait_s": 300.0} | values)
        for number in (1, 2):
            land(served, number)
        check_stores(served)
        rows = read_sessions(served)
        for name, gone, is_within in (
            ("before it PostgreSQL", postgresql, False),
            ("before it the object store", store, False),
            ("within it PostgreSQL", postgresql, True),
        ):
            folder = tmp_path / name
            folder.mkdir()
            with take_away(gone, is_within=is_within):
                backup_home(served, folder / "backup")
            assert verify_backup(folder / "backup")["differences"] == [], name
            restored = elsewhere(settings, folder / "restored")
            restore_home(restored, folder / "backup")
            assert read_sessions(restored) == rows, name


@contextmanager
def take_away(gone: PostgresqlServer | ObjectStore, *, is_within: bool) -> Iterator[None]:
    """A server that is gone for three seconds, from now on or from when the catalog is copied."""
    back = threading.Timer(3.0, gone.start)

    def stop() -> None:
        gone.stop()
        back.start()

    def copy_without_server(*given: Any) -> None:
        stop()
        copy_server_catalog(*given)

    with pytest.MonkeyPatch.context() as patch:
        if is_within:
            patch.setattr(lake_backup, "copy_server_catalog", copy_without_server)
        else:
            stop()
        try:
            yield
        finally:
            back.join()


# --- kills ----------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from schemas.settings import Settings
from warehouse.backup import BackupTarget, manifest
from tasks.operations.backups.copies import backup_home

home, folder, moment = sys.argv[1:]

def die(*_args, **_named):
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "files":
    left = [4]
    def add(self, *arguments, real=BackupTarget.add_file):
        left[0] -= 1
        return real(self, *arguments) if left[0] else die()
    BackupTarget.add_file = add
elif moment == "list":
    manifest.write_whole = die
else:
    unlink = Path.unlink
    Path.unlink = lambda path, *rest, **named: die() if path.name == manifest.UNFINISHED else unlink(path, *rest, **named)
backup_home(Settings(home=Path(home)), Path(folder))
"""


def test_a_backup_that_is_interrupted_leaves_nothing_and_is_made_by_the_same_command(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    there.mkdir()

    def list_noted() -> list[str]:
        with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
            return [one.folder for one in list_backups(connection)]

    before = list_noted()
    for folder in (there, tmp_path / "new"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(
                "warehouse.backup.target.BackupTarget.finish", mock.Mock(side_effect=KeyboardInterrupt)
            )
            backup_home(settings, folder)
        assert [*there.iterdir()] == [] and not (tmp_path / "new").exists()
        assert list_noted() == before
    backup_home(settings, there)
    assert verify_backup(there)["differences"] == []


def test_of_two_backups_into_one_folder_the_second_leaves_the_first_as_it_is(
    settings: Settings, tmp_path: Path
) -> None:
    """Both have found it empty."""
    folder = tmp_path / "copies"

    def fail_beside(words: str) -> None:
        with pytest.raises(UsageError, match=words), writing_backup(folder, "now"):
            raise AssertionError

    finish = BackupTarget.finish

    def finish_later(target: BackupTarget) -> Any:
        fail_beside("Another `proctor backup` writes into")
        return finish(target)

    with mock.patch.object(BackupTarget, "finish", finish_later):
        backup_home(settings, folder)
    fail_beside("is not empty any more")
    assert verify_backup(folder)["differences"] == []


@pytest.mark.parametrize(
    "moments", [("files",), pytest.param(("list", "mark"), marks=pytest.mark.long)], ids=["early", "later"]
)
def test_a_backup_that_is_killed_leaves_the_earlier_whole_and_is_recognised_as_unfinished(
    settings: Settings, tmp_path: Path, moments: tuple[str, ...], warm_python: str
) -> None:
    first = tmp_path / "first"
    backup_home(settings, first)
    before = hash_files(first)
    land(settings, 3)
    for moment in moments:
        folder, target = tmp_path / moment, elsewhere(settings, tmp_path / f"target-{moment}")
        arguments = [str(settings.home), str(folder), moment]
        died = subprocess.run(
            [warm_python, "-c", KILLED, *arguments], cwd=ROOT, check=False, capture_output=True, text=True
        )
        assert died.returncode == -signal.SIGKILL, died.stderr
        assert (folder / "UNFINISHED.txt").exists()
        with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
            assert list_backups(connection)[0].folder == str(folder), "it holds content as well"
        if moment == "mark":
            # Its list was written, which is the last thing: it is whole.
            restore_home(target, folder)
            assert read_sessions(target) == read_sessions(settings)
            continue
        with pytest.raises(StoreError, match=r"was not finished.*delete this one and make it again"):
            restore_home(target, folder)
        assert not target.home.exists()
        with pytest.raises(StoreError, match="was not finished"):
            verify_backup(folder)
        with pytest.raises(UsageError, match="is not empty"):
            backup_home(settings, folder)
        shutil.rmtree(folder)
        backup_home(settings, folder)
        assert verify_backup(folder)["differences"] == []
    assert hash_files(first) == before


def test_what_hosts_share_is_restored_where_they_look_for_it_and_nobodys_file_is_replaced(
    settings: Settings, tmp_path: Path
) -> None:
    open_signer(settings)
    backup_home(settings, tmp_path / "copy")
    shared = tmp_path / "shared"
    write_files(shared / "secrets", {"installation-id": b"somebody else's"})
    target = Settings(home=tmp_path / "new", shared=shared, registry=shared / "models/ours.yaml")

    with pytest.raises(
        UsageError, match="installation-id is there already, and is not what the backup holds"
    ):
        restore_home(target, tmp_path / "copy")

    assert not target.home.exists()
    shutil.rmtree(shared)
    restore_home(target, tmp_path / "copy")
    assert (shared / "models/ours.yaml").read_bytes() == settings.registry_path.read_bytes()
    assert not (target.home / "models.yaml").exists()
    assert (shared / "archive" / "aa/aa11.original.txt").read_bytes() == b"a paper"
    # The key that signs the audit log is a home's own, and comes back to its home; a backup of there holds it too.
    assert name_key_file(target).read_bytes() == name_key_file(settings).read_bytes()
    assert not (shared / "secrets/log-key.json").exists()
    backup_home(target, tmp_path / "again")
    assert (tmp_path / "again/secrets/log-key.json").read_bytes() == name_key_file(settings).read_bytes()


def test_a_restore_ends_where_the_keys_of_an_installation_lie_on_a_mount_of_their_own(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_signer(settings)
    (settings.home / "secrets/empty").mkdir()
    backup_home(settings, tmp_path / "copy")
    shared = tmp_path / "shared"
    write_files(shared, {"archive/aa/aa11.original.txt": b"a paper"})
    (shared / "public").mkdir()
    (shared / "models.yaml").write_bytes(settings.registry_path.read_bytes())

    def refuse(rename: Callable[..., None]) -> Callable[..., None]:
        def across(source: str, target: str, **more: Any) -> None:
            if Path(source).is_relative_to(shared) != Path(target).is_relative_to(shared):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source))
            rename(source, target, **more)

        return across

    monkeypatch.setattr(os, "rename", refuse(os.rename))
    monkeypatch.setattr(os, "replace", refuse(os.replace))
    target = Settings(home=tmp_path / "new", shared=shared)

    restore_home(target, tmp_path / "copy")

    assert name_key_file(target).read_bytes() == name_key_file(settings).read_bytes()
    assert not (shared / "secrets/log-key.json").exists()


def test_a_restore_never_empties_the_folder_that_it_takes_from_nor_writes_into_it(
    settings: Settings, tmp_path: Path
) -> None:
    target = tmp_path / "killed"
    # What a killed restore leaves, and a copy of the backup that somebody put there since.
    write_files(target, {RESTORING: b""})
    backup_home(settings, target / "copy")
    before = hash_files(target)
    for home in (target, target / "copy" / "home"):
        with pytest.raises(UsageError, match="lie one in the other"):
            restore_home(Settings(home=home), target / "copy")
    for name, place in (("shared", "new"), ("registry", "models.yaml"), ("lake_data", "lake/data")):
        within: dict[str, Any] = {name: str(target / "copy" / place)}
        with pytest.raises(UsageError, match="lie one in the other"):
            restore_home(Settings(home=tmp_path / "beside", **within), target / "copy")
    assert hash_files(target) == before


def test_a_backup_within_its_home_is_refused(settings: Settings) -> None:
    with pytest.raises(UsageError, match="lies within PROCTOR_HOME"):
        backup_home(settings, settings.home / "copies" / "today")
    assert not (settings.home / "copies").exists()
