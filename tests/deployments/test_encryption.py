"""A home with encrypted originals and backups: nothing in clear that is said to be encrypted, and everything comes back."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deployments.home import backup_home, examine_encryption, restore_home
from deployments.http.exam_server import describe_environment
from schemas.errors import DocumentError, StoreError, UsageError
from schemas.settings import Settings
from schemas.tables import TABLES
from tasks.ingest import remove_document
from tasks.ingest.landing import land_documents
from tasks.ingest.originals import draw_page, read_original
from tests.deployments.test_cli import invoke
from tests.tasks.ingest.builders import make_pdf
from warehouse.encryption import add_key, encrypt_home, read_kept, read_key_ring, read_state, renew_home
from warehouse.encryption.files import read_file_key_id
from warehouse.lake import compact_lake, open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.stores.homes import check_stores

ROOT = Path(__file__).resolve().parents[2]
MARKER = "Zyxomma Petiolatum"
PAPERS = 4


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain home with four papers."""
    folder = tmp_path_factory.mktemp("made")
    home, papers = folder / "home", folder / "papers"
    papers.mkdir()
    for number in range(1, PAPERS):
        (papers / f"{number}.txt").write_text(
            f"1. What is {MARKER} {number}?\nA. A fly\nB. A bird\n答案：A\n"
        )
    (papers / "4.pdf").write_bytes(
        make_pdf([[(50, 760, f"1. Which is {MARKER}?"), (50, 740, "A. One  B. Two")]])
    )
    done = invoke(home, "init")
    assert done.exit_code == 0, done.stderr
    settings = Settings(home=home)
    with open_lake(settings) as lake:
        land_documents(lake, settings, [papers])
    return home


class World:
    """A copy of that home, and a key file beside it."""

    def __init__(self, made: Path, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.file = folder / "keys" / "keys.json"
        shutil.copytree(made, self.home)
        self.plain = Settings(home=self.home)
        self.settings = self.give(self.home)
        self.key_id = add_key(self.settings, self.file).key_id

    def give(self, home: Path) -> Settings:
        """Settings of a home that is given the key file."""
        return Settings(home=home, encryption_key_file=self.file)

    def encrypt(self) -> int:
        ring = read_key_ring(self.settings)
        assert ring is not None
        return encrypt_home(self.settings, ring, lambda *_: None)

    def run(self, *arguments: str, home: Path | None = None) -> Any:
        done = invoke(home or self.home, *arguments, "--json", PROCTOR_ENCRYPTION_KEY_FILE=str(self.file))
        return json.loads(done.stdout), done.exit_code

    def hash_originals(self) -> dict[str, str]:
        """What is kept in the archive, by name, as it reads."""
        return {
            path.name.removesuffix(".enc"): hashlib.sha256(read_kept(self.settings, path)).hexdigest()
            for path in list_files(self.settings.archive_dir)
            if not path.name.startswith(".")
        }


@pytest.fixture
def world(made: Path, tmp_path: Path) -> World:
    return World(made, tmp_path)


def list_files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".encrypted"]


def find_marker(folder: Path) -> list[str]:
    """Files below a folder that hold the marker, or part of a secret's text, in clear."""
    return [path.name for path in list_files(folder) if MARKER.encode() in path.read_bytes()]


def hash_files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in list_files(folder)
    }


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def read_tables(settings: Settings) -> dict[str, list[tuple[object, ...]]]:
    with open_lake(settings, read_only=True) as lake:
        return {
            name: lake.connection.execute(f'SELECT * FROM "{name}" ORDER BY ALL').fetchall()
            for name in TABLES
        }


def examine(settings: Settings) -> dict[str, tuple[bool, str]]:
    """What the doctor says of encryption: whether it is fine, and the words."""
    said: dict[str, tuple[bool, str]] = {}

    def note(what: str, found: object, is_fine: bool, fix: str = "") -> None:
        said[what] = (is_fine, str(found))

    examine_encryption(settings, note)
    return said


@pytest.fixture
def killed_at() -> Iterator[Any]:
    """Runs code in a process of its own that must die of SIGKILL."""

    def run(code: str, *arguments: str) -> None:
        died = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True
        )
        assert died.returncode == -signal.SIGKILL, died.stderr

    yield run


def test_an_encrypted_archive_has_no_word_of_a_paper_and_reads_as_before(world: World) -> None:
    before = world.hash_originals()
    assert len(find_marker(world.settings.archive_dir)) > PAPERS  # originals, texts and JSON
    done, code = world.run("encryption", "on")
    assert (code, done["encrypted_count"]) == (0, len(before))
    assert find_marker(world.settings.archive_dir) == []
    assert find_marker(world.settings.pages_dir) == []
    assert world.hash_originals() == before
    state, _ = world.run("encryption", "status")
    assert (state["is_on"], state["plain_count"], state["damaged_count"]) == (True, 0, 0)
    assert [(key["key_id"], key["file_count"]) for key in state["keys"]] == [(world.key_id, len(before))]
    again, _ = world.run("encryption", "on")
    assert again["encrypted_count"] == 0

    off, code = world.run("encryption", "off")

    assert (code, off["decrypted_count"]) == (0, len(before))
    assert world.hash_originals() == before
    assert not [path for path in list_files(world.home) if path.name.endswith(".enc")]


def test_an_ingest_into_an_encrypted_archive_leaves_nothing_plain_and_needs_the_key(
    world: World, tmp_path: Path
) -> None:
    world.encrypt()
    (tmp_path / "new.txt").write_text(f"1. Is {MARKER} new?\nA. Yes\nB. No\n")
    with open_lake(world.settings) as lake:
        with pytest.raises(StoreError, match="is encrypted, and no key is given"):
            land_documents(lake, world.plain, [tmp_path / "new.txt"])
        summary = land_documents(lake, world.settings, [tmp_path / "new.txt"])
        assert sum(summary.questions.values()) == 1
        sha256 = hashlib.sha256((tmp_path / "new.txt").read_bytes()).hexdigest()
        kept = world.settings.archive_dir / sha256[:2] / f"{sha256}.original.txt.enc"
        assert read_kept(world.settings, kept) == (tmp_path / "new.txt").read_bytes()
        assert find_marker(world.settings.archive_dir) == []
        with open_ledger(world.settings.ledger_address) as ledger:
            folders = (world.settings.archive_dir, world.settings.pages_dir)
            remove_document(lake, ledger, folders, "new.txt", "a test", purge=True)
    assert list((world.settings.archive_dir / sha256[:2]).glob(f"{sha256}*")) == []


def test_the_page_of_an_encrypted_paper_is_drawn_and_nothing_plain_is_left(world: World) -> None:
    with open_lake(world.settings, read_only=True) as lake:
        row = lake.query(
            "SELECT document_id, question_uuid FROM questions WHERE document_name = '4.pdf'"
        ).to_dicts()
        original = read_original(lake, row[0]["document_id"], row[0]["question_uuid"])
    assert original is not None
    expected = draw_page(world.plain, original, 1)
    world.encrypt()
    assert list_files(world.settings.pages_dir) == []
    opened = set(Path("/dev/shm").glob("proctor-*")) if Path("/dev/shm").exists() else set()

    assert draw_page(world.settings, original, 1) == expected
    assert draw_page(world.settings, original, 1) == expected

    assert [path.name for path in list_files(world.settings.pages_dir)] == [f"{original.sha256}.1.png.enc"]
    assert set(Path("/dev/shm").glob("proctor-*")) <= opened
    with pytest.raises(DocumentError, match="no key is given") as refused:
        draw_page(world.plain, original, 1)
    assert refused.value.code == "locked"


def test_an_archive_file_under_another_name_or_damaged_is_not_read(world: World) -> None:
    world.encrypt()
    one, other = list_files(world.settings.archive_dir)[:2]
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    with pytest.raises(StoreError, match="not the file of its name"):
        read_kept(world.settings, one)
    one.write_bytes(kept[:-1])
    with pytest.raises(StoreError, match="cut off"):
        read_kept(world.settings, one)
    one.write_bytes(b"plain")
    assert [path.name for path in read_state(world.settings).damaged] == [one.name]


KILL_AFTER_TWO = """
import os, signal, sys
from pathlib import Path
from schemas.settings import Settings
from warehouse.encryption import home, files
from warehouse.encryption.keys import read_key_ring
settings = Settings(home=Path(sys.argv[1]), encryption_key_file=Path(sys.argv[2]))
def kill(): os.kill(os.getpid(), signal.SIGKILL)
calls = [0]
real = Path.{method}
def stop(path, *arguments, **more):
    calls[0] += path.name.endswith({ending!r})
    if calls[0] == 3: kill()
    return real(path, *arguments, **more)
Path.{method} = stop
home.{work}(settings, read_key_ring(settings), lambda *_: None)
"""


@pytest.mark.parametrize(
    ("method", "ending"),
    [("unlink", ""), ("replace", ".draft")],
    ids=["before the plain one goes", "before it has its name"],
)
def test_encrypting_a_home_continues_after_a_kill(
    world: World, killed_at: Any, method: str, ending: str
) -> None:
    before = world.hash_originals()
    killed_at(
        KILL_AFTER_TWO.format(method=method, ending=ending, work="encrypt_home"),
        str(world.home),
        str(world.file),
    )
    state = read_state(world.settings)
    assert state.is_on
    assert state.plain
    assert world.hash_originals() == before

    world.encrypt()

    state = read_state(world.settings)
    assert (state.plain, state.drafts, state.by_key) == ([], [], {world.key_id: len(before)})
    assert world.hash_originals() == before
    assert find_marker(world.settings.archive_dir) == []


def test_rotation_renews_every_file_continues_after_a_kill_and_then_needs_the_old_key_no_more(
    world: World, killed_at: Any
) -> None:
    before = world.hash_originals()
    world.encrypt()
    new, code = world.run("encryption", "new-key", str(world.file))
    assert code == 0
    killed_at(
        KILL_AFTER_TWO.format(method="replace", ending=".draft", work="renew_home"),
        str(world.home),
        str(world.file),
    )
    assert read_state(world.settings).by_key == {world.key_id: len(before) - 2, new["key_id"]: 2}
    done, _ = world.run("encryption", "rotate")
    assert done == {"key_id": new["key_id"], "renewed_count": len(before) - 2}
    content = json.loads(world.file.read_text())
    world.file.write_text(json.dumps(content | {"keys": content["keys"][1:]}))
    assert world.hash_originals() == before
    state = read_state(world.settings)
    assert (state.by_key, state.drafts) == ({new["key_id"]: len(before)}, [])
    ring = read_key_ring(world.settings)
    assert ring is not None
    assert renew_home(world.settings, ring, lambda *_: None) == 0


def test_an_encrypted_backup_holds_nothing_in_clear_and_restores_to_the_same(world: World) -> None:
    done, code = world.run("backup", str(world.folder / "copy"))
    assert (code, done["key_id"]) == (0, world.key_id)
    everything = list_files(world.folder / "copy")
    assert {path.parent.name for path in everything} == {"copy", "files"}
    # The list names encrypted files by their numbers alone.
    said = json.loads((world.folder / "copy" / "backup.json").read_text())
    assert {one["path"].partition("/")[0] for one in said["files"]} == {"files", "manifest.enc"}
    files = [path for path in everything if path.name != "backup.json"]
    assert {path.relative_to(world.folder / "copy").as_posix() for path in files} == {
        one["path"] for one in said["files"]
    }
    assert {read_file_key_id(path) for path in files} == {world.key_id}
    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    assert find_marker(world.folder / "copy") == []
    assert list(world.home.glob(".backup-*")) == []
    secret = json.loads(world.file.read_text())["keys"][0]["secret"]
    for written in (secret.encode(), base64.b64decode(secret), base64.b64decode(secret).hex().encode()):
        assert not [path for path in [*files, *list_files(world.home)] if written in path.read_bytes()]

    restored = world.folder / "restored"
    done, code = world.run("restore", str(world.folder / "copy"), home=restored)

    assert (code, ".restoring" in done["restored"]) == (0, False)
    for name in ("lake/data", "archive", "secrets"):
        assert hash_files(restored / name) == hash_files(world.home / name), name
    assert (restored / "models.yaml").read_bytes() == (world.home / "models.yaml").read_bytes()
    for name in ("ledger.sqlite", "ledger.exam.sqlite"):
        assert dump(restored / name) == dump(world.home / name)
    assert read_tables(world.give(restored)) == read_tables(world.settings)
    assert list(restored.glob(".restoring")) == []


def test_a_backup_is_plain_where_that_is_said_or_no_key_is_set(world: World) -> None:
    assert backup_home(world.settings, world.folder / "plain", encrypt=False)["key_id"] is None
    assert (world.folder / "plain" / "ledger.sqlite").exists()
    with pytest.raises(StoreError, match="An encrypted backup is asked for, and no key is given"):
        backup_home(world.plain, world.folder / "none", encrypt=True)
    assert not (world.folder / "none").exists()


@pytest.fixture(scope="module")
def kept(made: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    """An encrypted backup in the folder `copy`."""
    world = World(made, tmp_path_factory.mktemp("kept"))
    backup_home(world.settings, world.folder / "copy")
    return world


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def swap(folder: Path) -> None:
    one, other = folder / "files" / "000001.enc", folder / "files" / "000002.enc"
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


BREAKS: dict[str, tuple[Any, str]] = {
    "a bit": (lambda copy: damage(copy / "files" / "000003.enc"), r"000003\.enc is damaged, cut off"),
    "cut": (lambda copy: os.truncate(copy / "files" / "000002.enc", 100), r"000002\.enc is damaged, cut off"),
    "emptied": (
        lambda copy: os.truncate(copy / "files" / "000002.enc", 0),
        r"000002\.enc is no encrypted file",
    ),
    "missing": (
        lambda copy: (copy / "files" / "000004.enc").unlink(),
        r"000004\.enc, which holds .* is missing",
    ),
    "exchanged": (swap, r"000001\.enc is damaged, cut off, or not the file of its name"),
    "manifest": (lambda copy: damage(copy / "manifest.enc"), r"manifest\.enc is damaged"),
    "no manifest": (
        lambda copy: (copy / "manifest.enc").unlink(),
        r"was not finished: manifest\.enc is missing",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_backup_that_was_changed_is_named_and_leaves_nothing_behind(
    kept: World, tmp_path: Path, name: str
) -> None:
    copy, target = tmp_path / "copy", tmp_path / "home"
    shutil.copytree(kept.folder / "copy", copy)
    change, said = BREAKS[name]
    change(copy)
    with pytest.raises(StoreError, match=said):
        restore_home(kept.give(target), copy)
    assert list_files(tmp_path / "home") == []


def test_files_of_two_backups_are_not_mixed(kept: World, tmp_path: Path) -> None:
    backup_home(kept.settings, tmp_path / "other")
    copy = tmp_path / "copy"
    shutil.copytree(kept.folder / "copy", copy)
    shutil.copy(tmp_path / "other" / "files" / "000001.enc", copy / "files" / "000001.enc")
    with pytest.raises(StoreError, match=r"000001\.enc is damaged, cut off, or not the file of its name"):
        restore_home(kept.give(tmp_path / "home"), copy)


def test_without_its_key_a_backup_is_refused_in_one_sentence(kept: World, tmp_path: Path) -> None:
    copy, target = kept.folder / "copy", tmp_path / "home"
    with pytest.raises(StoreError, match="is encrypted, and no key is given"):
        restore_home(Settings(home=target), copy)
    wrong = Settings(home=target, encryption_key_file=tmp_path / "wrong.json")
    add_key(wrong, tmp_path / "wrong.json")
    with pytest.raises(StoreError, match=rf"was encrypted with key {kept.key_id}, which is not given"):
        restore_home(wrong, copy)
    assert not target.exists()


def test_an_old_backup_is_read_after_a_rotation_and_a_restore_continues_after_a_kill(
    kept: World, tmp_path: Path, killed_at: Any
) -> None:
    shutil.copy(kept.file, tmp_path / "keys.json")
    target = Settings(home=tmp_path / "home", encryption_key_file=tmp_path / "keys.json")
    add_key(target, tmp_path / "keys.json")
    killed_at(
        KILL_AFTER_TWO.format(method="replace", ending=".draft", work="encrypt_home").replace(
            "home.encrypt_home(settings, read_key_ring(settings), lambda *_: None)",
            "from deployments.home.backups import restore_home; restore_home(settings, Path(sys.argv[3]))",
        ),
        str(target.home), str(tmp_path / "keys.json"), str(kept.folder / "copy"),
    )  # fmt: skip
    assert [path.name for path in target.home.iterdir()] == [".restoring"]
    restore_home(target, kept.folder / "copy")
    assert hash_files(target.home / "archive") == hash_files(kept.home / "archive")
    with pytest.raises(UsageError, match="is not empty"):
        restore_home(target, kept.folder / "copy")
    # One that was killed while it put the files in their places cannot be told from a home in use.
    (target.home / ".restoring").mkdir()
    with pytest.raises(UsageError, match="A restore into it was interrupted: delete it and restore again"):
        restore_home(target, kept.folder / "copy")


def test_a_backup_that_was_killed_is_not_taken_for_one_and_what_it_left_is_removed(
    world: World, killed_at: Any
) -> None:
    killed_at(
        KILL_AFTER_TWO.format(method="replace", ending=".draft", work="encrypt_home").replace(
            "home.encrypt_home(settings, read_key_ring(settings), lambda *_: None)",
            "from deployments.home.backups import backup_home; backup_home(settings, Path(sys.argv[3]))",
        ),
        str(world.home), str(world.file), str(world.folder / "copy"),
    )  # fmt: skip
    assert len(list(world.home.glob(".backup-*"))) == 1
    assert (
        "left by a backup or restore that was killed" in examine(world.settings)["encryption of originals"][1]
    )
    with pytest.raises(StoreError, match="was not finished"):
        restore_home(world.give(world.folder / "restored"), world.folder / "copy")
    backup_home(world.settings, world.folder / "second")
    assert list(world.home.glob(".backup-*")) == []


def test_the_doctor_says_how_encryption_stands(world: World) -> None:
    given = world.settings
    assert examine(world.plain) == {
        "encryption keys": (True, "none set: archive and backups are plain"),
        "encryption of the lake": (True, "none"),
        "encryption of ledger and catalog": examine(given)["encryption of ledger and catalog"],
    }
    assert "not encrypted (proctor encryption on)" in examine(given)["encryption of originals"][1]
    world.encrypt()
    is_fine, said = examine(given)["encryption keys"]
    assert is_fine
    assert f"outside the home; {world.key_id} encrypts, 0 days old" in said
    assert examine(given)["encryption of originals"][0]
    assert examine(world.plain)["encryption keys"] == (False, "not given, although the archive is encrypted")
    (given.archive_dir / "aa").mkdir(exist_ok=True)
    (given.archive_dir / "aa" / "aa.pdf").write_bytes(b"%PDF")
    add_key(given, world.file)
    is_fine, said = examine(given)["encryption of originals"]
    assert not is_fine
    assert "plain: aa.pdf" in said
    assert "with an older key (proctor encryption rotate)" in said
    content = json.loads(world.file.read_text())
    content["keys"] = content["keys"][1:]
    content["keys"][0]["made_at"] = "2020-01-01T00:00:00Z"
    world.file.write_text(json.dumps(content))
    found = examine(given)
    assert found["encryption keys"][0] is False
    assert f"keys that are not given: {world.key_id}" in found["encryption of originals"][1]
    world.file.chmod(0o644)
    assert "may be read by other users" in examine(given)["encryption keys"][1]


def test_copies_that_a_killed_ingest_left_in_clear_are_named_and_deleted(world: World) -> None:
    world.encrypt()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = world.settings.archive_dir / ".spool" / f"{dead.pid}-left"
    own = world.settings.archive_dir / ".spool" / f"{os.getpid()}-own"
    for folder in (left, own):
        folder.mkdir(parents=True)
        (folder / "paper").write_text(MARKER)
    is_fine, said = examine(world.settings)["encryption of originals"]
    assert not is_fine
    assert "half done: paper (proctor encryption rotate)" in said
    assert world.run("encryption", "rotate")[1] == 0
    assert not left.exists()
    assert own.exists()


def test_the_exam_api_does_not_learn_where_the_keys_are(world: World) -> None:
    found = {
        "PROCTOR_HOME": str(world.home),
        "PROCTOR_ENCRYPTION_KEY_FILE": str(world.file),
        "PROCTOR_ENCRYPTION_KEY_COMMAND": "print-keys",
    }
    assert describe_environment(world.settings, found) == {"PROCTOR_HOME": str(world.home)}


def test_a_home_that_is_made_with_a_key_is_encrypted_from_the_start(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "keys.json"
    add_key(Settings(home=home), file)
    assert invoke(home, "init", PROCTOR_ENCRYPTION_KEY_FILE=str(file)).exit_code == 0
    assert read_state(Settings(home=home)).is_on


@pytest.mark.long
def test_a_lake_is_encrypted_when_it_is_restored_so_and_its_keys_belong_elsewhere(
    kept: World, tmp_path: Path
) -> None:
    assert any(b"PAR1" in path.read_bytes()[:4] for path in list_files(kept.home / "lake" / "data"))
    elsewhere = f"sqlite:{tmp_path / 'elsewhere' / 'catalog.sqlite'}"
    settings = Settings(
        home=tmp_path / "home", encryption_key_file=kept.file, lake_encrypted=True, lake_catalog=elsewhere
    )
    restore_home(settings, kept.folder / "copy")
    # Whoever opens it later need not know the setting.
    later = Settings(home=settings.home, lake_catalog=elsewhere)
    check_stores(later)
    assert read_tables(later).keys() == read_tables(kept.settings).keys()
    tables = read_tables(kept.settings)
    assert read_tables(later) == tables
    (tmp_path / "new.txt").write_text(f"1. Is {MARKER} new?\nA. Yes\nB. No\n答案：A\n")
    with open_lake(later) as lake:
        land_documents(lake, later, [tmp_path / "new.txt"])
        compact_lake(lake)
        assert lake.query(f"SELECT count(*) FROM questions WHERE stem LIKE '%{MARKER}%'").item() == PAPERS + 1
    files = list_files(settings.home / "lake")
    assert files
    assert {path.read_bytes()[:4] for path in files if path.suffix == ".parquet"} == {b"PARE"}
    assert find_marker(settings.home / "lake") == []

    found = examine(later)
    assert found["encryption of the lake"][0]
    assert "outside the home" in found["encryption of the lake"][1]


def test_an_encrypted_lake_with_its_catalog_in_the_home_is_no_encryption(world: World) -> None:
    with closing(sqlite3.connect(world.home / "lake" / "catalog.sqlite")) as connection:
        connection.execute("UPDATE ducklake_metadata SET value = 'true' WHERE key = 'encrypted'")
        connection.commit()
    is_fine, said = examine(world.settings)["encryption of the lake"]
    assert not is_fine
    assert "which lies in the home beside them" in said
