"""Backups are checked by their lists, refused when they are not whole, and share what has not changed with earlier ones."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from deployments.home import backup_home, restore_home, verify_backup
from schemas.errors import StoreError, UsageError
from schemas.settings import Settings, load_settings
from tasks.exam.log import name_key_file, open_signer
from tests.deployments.test_cli import invoke
from tests.warehouse.ledger.postgresql import start_postgresql
from tests.warehouse.object_store import BUCKET, start_object_store
from tests.warehouse.sample_rows import session_frame
from warehouse.encryption import add_key
from warehouse.lake import backup as lake_backup
from warehouse.lake import open_lake
from warehouse.lake.catalog_copy import copy_server_catalog
from warehouse.ledger.engine.backups import list_backups
from warehouse.ledger.engine.opening import open_ledger
from warehouse.stores.homes import check_stores
from warehouse.stores.installation import id_path

ROOT = Path(__file__).resolve().parents[2]
ARCHIVED = {"aa/aa11.original.txt": b"a paper", "bb/bb22.original.txt": b"another"}
PUBLISHED = {"runs/2026-10/plan.json": b"{}", "editions/2026-10-1/edition.json": b"[1]"}


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
    return home


@pytest.fixture
def settings(made: Path, tmp_path: Path) -> Settings:
    shutil.copytree(made, tmp_path / "home")
    return Settings(home=tmp_path / "home")


@pytest.fixture
def keyed(settings: Settings, tmp_path: Path) -> Settings:
    """The same home with a key."""
    given = settings.model_copy(update={"encryption_key_file": tmp_path / "keys.json"})
    add_key(given, tmp_path / "keys.json")
    return given


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
        noted = [(one.backup_id, one.folder, one.begun_at, one.key_id) for one in list_backups(connection)]
        assert noted == [(done["backup_id"], str(folder), said["begun_at"], None)]
        assert list_backups(connection, begun_before=said["begun_at"]) == []
    checked = invoke(None, "backup", "--verify", str(folder), "--json")
    assert (checked.exit_code, json.loads(checked.stdout)["differences"]) == (0, [])
    refused = invoke(None, "backup", "--verify", str(folder), "--plain")
    assert (refused.exit_code, "--verify writes nothing" in refused.stderr) == (2, True)


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
    """A plain backup of that home; tests that change it work on a copy."""
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


def test_a_list_that_is_damaged_or_of_a_later_form_is_refused(copied: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(copied, folder)
    written = json.loads((folder / "backup.json").read_text())
    outside = [written["files"][0] | {"path": "../outside"}]
    for content, said in (
        ("{", "is damaged"),
        (json.dumps(written | {"form": 2}), "later version of Proctor"),
        (json.dumps(written | {"files": outside}), "is damaged"),
    ):
        (folder / "backup.json").write_text(content)
        with pytest.raises(StoreError, match=said):
            restore_home(Settings(home=tmp_path / "target"), folder)


def test_a_backup_of_a_version_that_wrote_no_list_is_restored(
    made: Path, copied: Path, tmp_path: Path
) -> None:
    settings = Settings(home=made)
    shutil.copytree(copied, tmp_path / "copy")
    (tmp_path / "copy" / "backup.json").unlink()
    restored = Settings(home=tmp_path / "target")
    assert restore_home(restored, tmp_path / "copy")["finished_at"] is None
    assert read_sessions(restored) == read_sessions(settings)
    with pytest.raises(UsageError, match="wrote no list"):
        verify_backup(settings, tmp_path / "copy")
    with pytest.raises(UsageError, match="Leave out --since once"):
        backup_home(settings, tmp_path / "next", since=tmp_path / "copy")


def test_an_encrypted_backup_is_checked_without_its_key_and_read_with_it(
    keyed: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    backup_home(keyed, folder)
    without = keyed.model_copy(update={"encryption_key_file": None})
    assert verify_backup(keyed, folder)["is_decrypted"]
    found = verify_backup(without, folder)
    assert (found["is_decrypted"], found["differences"]) == (False, [])
    again = backup_home(keyed, tmp_path / "again", since=folder)
    assert again["linked_count"] >= len(ARCHIVED) + len(PUBLISHED) + 2
    assert verify_backup(keyed, tmp_path / "again")["differences"] == []
    flip_bit(folder / "files" / "000002.enc")
    for given in (keyed, without):
        assert verify_backup(given, folder)["differences"] == [
            "files/000002.enc is damaged: its SHA-256 is another"
        ]


# --- since ----------------------------------------------------------------------------------------------------------


def list_inodes(folder: Path) -> dict[int, str]:
    return {path.stat().st_ino: path.name for path in folder.rglob("*") if path.is_file()}


def test_unchanged_files_are_linked_and_the_new_backup_is_whole_without_the_earlier(
    settings: Settings, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    backup_home(settings, first)
    before = hash_files(first)
    land(settings, 3)
    published = settings.home / "public" / "editions" / "2026-10-1" / "edition.json"
    times = published.stat()
    # As long as before and as old: what is not fixed is compared by its content.
    published.write_bytes(b"[2]")
    os.utime(published, ns=(times.st_atime_ns, times.st_mtime_ns))
    write_files(settings.home / "archive", {"cc/cc33.original.txt": b"a third"})

    done = backup_home(settings, second, since=first)

    shared = list_inodes(first).keys() & list_inodes(second).keys()
    names = sorted(list_inodes(second)[number] for number in shared)
    assert len(names) == done["linked_count"]
    assert {"aa11.original.txt", "bb22.original.txt", "plan.json", "models.yaml"} <= set(names)
    assert "edition.json" not in names
    # Two landings of two tables each; the third is new.
    assert sum(name.endswith(".parquet") for name in names) == len(
        list((first / "lake" / "data").rglob("*.parquet"))
    )
    assert hash_files(first) == before
    shutil.rmtree(first)
    assert verify_backup(settings, second)["differences"] == []
    restored = Settings(home=tmp_path / "target")
    restore_home(restored, second)
    assert len(read_sessions(restored)) == 3
    assert read_sessions(restored) == read_sessions(settings)
    for name in ("archive", "public", "secrets"):
        assert hash_files(restored.home / name) == hash_files(settings.home / name), name
    # What is restored is no link: writing to it leaves the backup alone.
    assert not list_inodes(restored.home).keys() & list_inodes(second).keys()


@pytest.mark.long
def test_encrypted_files_are_linked_too_until_there_is_a_new_key(keyed: Settings, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second", "third", "fourth")]
    backup_home(keyed, folders[0])
    land(keyed, 3)
    linked = [
        backup_home(keyed, folder, since=earlier)["linked_count"] for earlier, folder in pairwise(folders[:3])
    ]
    assert linked[0] >= len(ARCHIVED) + len(PUBLISHED) + 4
    assert linked[1] > linked[0], "a file that was linked can be linked again"
    add_key(keyed, tmp_path / "keys.json")
    assert backup_home(keyed, folders[3], since=folders[2])["linked_count"] == 0
    shutil.rmtree(folders[0])
    shutil.rmtree(folders[1])
    for number, folder in enumerate(folders[2:]):
        assert verify_backup(keyed, folder)["differences"] == []
        restored = elsewhere(keyed, tmp_path / f"restored-{number}")
        restore_home(restored, folder)
        assert read_sessions(restored) == read_sessions(keyed)
        assert hash_files(restored.home / "archive") == hash_files(keyed.home / "archive")


def test_where_nothing_can_be_linked_everything_is_copied(made: Path, copied: Path, tmp_path: Path) -> None:
    settings = Settings(home=made)
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        done = backup_home(settings, Path(folder) / "copy", since=copied)
        assert done["linked_count"] == 0
        assert verify_backup(settings, Path(folder) / "copy")["differences"] == []


def test_a_backup_that_cannot_serve_is_refused_before_anything_is_written(
    settings: Settings, keyed: Settings, copied: Path, tmp_path: Path
) -> None:
    shutil.copytree(copied, tmp_path / "plain")
    (tmp_path / "nothing").mkdir()
    other = Settings(home=tmp_path / "other")
    shutil.copytree(settings.home, other.home)
    id_path(other).write_text("00000000-0000-4000-8000-000000000000")
    for given, since, said in (
        (keyed, "plain", "is plain and the new one is to be encrypted"),
        (other, "plain", "another installation's"),
        (settings, "nothing", "Leave out --since once"),
        (settings, "nowhere", "no such folder"),
    ):
        with pytest.raises(UsageError, match=said):
            backup_home(given, tmp_path / "new", since=tmp_path / since)
        assert not (tmp_path / "new").exists()


@pytest.mark.long
@pytest.mark.service
def test_files_of_an_object_store_are_copied_and_linked_plain_and_encrypted(
    keyed: Settings, tmp_path: Path
) -> None:
    """A catalog in SQLite and files in a store; with a catalog in PostgreSQL: tests/e2e/test_server_backup.py."""
    backup_home(keyed, tmp_path / "embedded", encrypt=False)
    with start_object_store() as store:
        served = keyed.model_copy(update={"home": tmp_path / "served", "lake_data": f"s3://{BUCKET}/served"})
        restore_home(served, tmp_path / "embedded")
        assert not (served.home / "lake" / "data").exists()
        assert len(store.list_keys("served/")) == len(list((keyed.home / "lake" / "data").rglob("*.parquet")))
        land(served, 3)
        rows = read_sessions(served)
        assert len(rows) == 3
        for kind, encrypt in (("plain", False), ("encrypted", True)):
            first, second = tmp_path / kind, tmp_path / f"{kind}-second"
            backup_home(served, first, encrypt=encrypt)
            files = len(store.list_keys("served/"))
            land(served, 4 if not encrypt else 5)
            done = backup_home(served, second, encrypt=encrypt, since=first)
            assert done["linked_count"] >= files
            shutil.rmtree(first)
            assert verify_backup(served, second)["differences"] == []
            embedded = elsewhere(keyed, tmp_path / f"back-{kind}")
            other = served.model_copy(
                update={"home": tmp_path / f"other-{kind}", "lake_data": f"s3://{BUCKET}/other-{kind}"}
            )
            for target in (embedded, other):
                restore_home(target, second)
                assert read_sessions(target) == read_sessions(served)
                check_stores(target)
            with pytest.raises(UsageError, match=r"Parquet files in s3://.* already"):
                restore_home(elsewhere(other, tmp_path / f"late-{kind}"), second)
    # What is away is said so, and nothing is left that could be taken for a backup.
    with pytest.raises(StoreError), mock.patch.dict(os.environ, store.variables):
        backup_home(served, tmp_path / "late", encrypt=False)
    with pytest.raises(StoreError, match="was not finished"):
        restore_home(elsewhere(keyed, tmp_path / "never"), tmp_path / "late")


@pytest.mark.slow
@pytest.mark.service
@pytest.mark.parametrize(
    "when", ["before it PostgreSQL", "before it the object store", "within it PostgreSQL"]
)
def test_a_store_that_is_away_when_a_backup_needs_it_is_waited_for(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, when: str
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
        gone = store if when.endswith("store") else postgresql
        back = threading.Timer(3.0, gone.start)

        def take_away() -> None:
            gone.stop()
            back.start()

        def copy_without_server(*given: Any) -> None:
            take_away()
            copy_server_catalog(*given)

        if when.startswith("before"):
            take_away()
        else:
            monkeypatch.setattr(lake_backup, "copy_server_catalog", copy_without_server)
        try:
            backup_home(served, tmp_path / "backup", encrypt=False)
        finally:
            back.join()
        assert verify_backup(served, tmp_path / "backup")["differences"] == []
        restored = elsewhere(settings, tmp_path / "restored")
        restore_home(restored, tmp_path / "backup")
        assert read_sessions(restored) == read_sessions(served)


# --- kills ----------------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from schemas.settings import Settings
from warehouse.backup import manifest, targets
from warehouse.encryption import backup as encrypted
from deployments.home.backups import backup_home

home, keys, folder, since, moment = sys.argv[1:]

def die(*_args, **_named):
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "files":
    left = [4]
    def count(self, *arguments, real, **named):
        left[0] -= 1
        return real(self, *arguments, **named) if left[0] else die()
    for target in (targets.PlainTarget, encrypted.EncryptedTarget):
        def add(self, *arguments, real=target.add_file, **named):
            return count(self, *arguments, real=real, **named)
        target.add_file = add
elif moment == "list":
    manifest.write_whole = die
else:
    flush = manifest.flush_path
    unlink = Path.unlink
    Path.unlink = lambda path, *rest, **named: die() if path.name == manifest.UNFINISHED else unlink(path, *rest, **named)
settings = Settings(home=Path(home), encryption_key_file=Path(keys) if keys else None)
backup_home(settings, Path(folder), since=Path(since))
"""


@pytest.mark.parametrize(
    ("is_encrypted", "moments"),
    [
        (False, ("files",)),
        pytest.param(False, ("list", "mark"), marks=pytest.mark.long),
        pytest.param(True, ("files", "list", "mark"), marks=pytest.mark.long),
    ],
    ids=["plain", "plain later", "encrypted"],
)
def test_a_backup_that_is_killed_leaves_the_earlier_whole_and_is_recognised_as_unfinished(
    keyed: Settings, tmp_path: Path, is_encrypted: bool, moments: tuple[str, ...]
) -> None:
    settings = keyed if is_encrypted else keyed.model_copy(update={"encryption_key_file": None})
    first = tmp_path / "first"
    backup_home(settings, first)
    before = hash_files(first)
    land(settings, 3)
    for moment in moments:
        folder, target = tmp_path / moment, elsewhere(settings, tmp_path / f"target-{moment}")
        keys = str(settings.encryption_key_file or "")
        arguments = [str(settings.home), keys, str(folder), str(first), moment]
        died = subprocess.run(
            [sys.executable, "-c", KILLED, *arguments], cwd=ROOT, check=False, capture_output=True, text=True
        )
        assert died.returncode == -signal.SIGKILL, died.stderr
        assert hash_files(first) == before
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
            verify_backup(settings, folder)
        with pytest.raises(StoreError, match="was not finished"):
            backup_home(settings, tmp_path / "next", since=folder)
        with pytest.raises(UsageError, match="is not empty"):
            backup_home(settings, folder)
        shutil.rmtree(folder)
        backup_home(settings, folder, since=first)
        assert verify_backup(settings, folder)["differences"] == []
    assert hash_files(first) == before
    assert list(settings.home.glob(".backup-*")) == []


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
    shutil.rmtree(tmp_path / "copy/public")
    (tmp_path / "copy/public").mkdir()
    (tmp_path / "copy/backup.json").unlink()

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
