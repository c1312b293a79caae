"""Where a backup is copied to: a folder as it is, or encrypted files with a manifest that says what belongs to it.

An encrypted backup is a folder of files `files/000001.enc`, … and `manifest.enc`, which lists them by number with path, length and
SHA-256. Each file is bound to the backup and its number, the manifest comes last: without it the backup was not finished. Names of
files, the archive's hashes among them, are in the manifest alone.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol

from schemas.errors import StoreError
from warehouse.encryption.files import (
    decrypt_file,
    encrypt_bytes,
    encrypt_file,
    is_running,
    read_encrypted,
)
from warehouse.encryption.keys import EncryptionKey, KeyRing

MANIFEST: Final = "manifest.enc"
FILES: Final = "files"
FORM: Final = 1
_MANIFEST_NAME: Final = "backup manifest"
_STAGED: Final = ".backup-"


class BackupTarget(Protocol):
    """Where the parts of a backup go; `staging` is a folder for parts that are made rather than copied."""

    staging: Path

    def add_tree(self, source: Path, name: str) -> None:
        """Copy a folder with all that is in it."""

    def add_file(self, source: Path, name: str) -> None:
        """Copy a file."""


class PlainTarget:
    """A folder into which everything is copied as it is."""

    def __init__(self, folder: Path) -> None:
        self.staging = folder

    def add_tree(self, source: Path, name: str) -> None:
        """Copy a folder with all that is in it."""
        shutil.copytree(source, self.staging / name)

    def add_file(self, source: Path, name: str) -> None:
        """Copy a file."""
        shutil.copy2(source, self.staging / name)


class EncryptedTarget:
    """A folder into which nothing is written but encrypted files."""

    def __init__(self, folder: Path, staging: Path, key: EncryptionKey, advance: Callable[[], None]) -> None:
        self.staging = staging
        self._folder = folder
        self._key = key
        self._advance = advance
        self._backup_id = str(uuid.uuid4())
        self._files: list[dict[str, Any]] = []
        self._folders: list[str] = []
        (folder / FILES).mkdir(mode=0o700)

    def add_tree(self, source: Path, name: str) -> None:
        """Encrypt a folder with all that is in it."""
        self._folders.append(name)
        for path in sorted(source.rglob("*")):
            inner = f"{name}/{path.relative_to(source).as_posix()}"
            if path.is_dir():
                self._folders.append(inner)
            elif path.is_file():
                self.add_file(path, inner)

    def add_file(self, source: Path, name: str) -> None:
        """Encrypt a file."""
        number = len(self._files) + 1
        target = self._folder / FILES / f"{number:06d}.enc"
        content = encrypt_file(source, target, self._key, _name_file(self._backup_id, number))
        self._files.append({"path": name, "size": content.size, "sha256": content.sha256})
        self._advance()

    def finish(self) -> None:
        """Encrypt what was made in the staging folder, and write the manifest."""
        for path in sorted(self.staging.iterdir()):
            if path.is_dir():
                self.add_tree(path, path.name)
            else:
                self.add_file(path, path.name)
        manifest = {
            "form": FORM,
            "backup_id": self._backup_id,
            "folders": self._folders,
            "files": self._files,
        }
        encrypt_bytes(
            json.dumps(manifest, ensure_ascii=False).encode(),
            self._folder / MANIFEST,
            self._key,
            _MANIFEST_NAME,
        )


@contextmanager
def encrypting_backup(
    folder: Path, home: Path, key: EncryptionKey, advance: Callable[[], None]
) -> Iterator[EncryptedTarget]:
    """A target for a backup in `folder`, which is finished when the block ends without an error.

    What cannot be encrypted as it lies there (a moment of a SQLite file) is copied to a folder inside the home first, where
    its original lies, and deleted at the end; what a killed backup left there is deleted by the next.
    """
    for left in home.glob(f"{_STAGED}*"):
        pid = left.name.removeprefix(_STAGED).partition("-")[0]
        if pid.isdigit() and not is_running(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=f"{_STAGED}{os.getpid()}-", dir=home))
    try:
        target = EncryptedTarget(folder, staging, key, advance)
        yield target
        target.finish()
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A file of a backup: its number, path in the home, length and SHA-256."""

    number: int
    path: PurePosixPath
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What belongs to an encrypted backup."""

    backup_id: str
    folders: tuple[PurePosixPath, ...]
    files: tuple[BackupFile, ...]


def is_encrypted_backup(folder: Path) -> bool:
    """Whether `folder` holds an encrypted backup, a finished one or not."""
    return (folder / MANIFEST).exists() or (folder / FILES / "000001.enc").exists()


def read_manifest(folder: Path, ring: KeyRing) -> Manifest:
    """The manifest of an encrypted backup. Raises StoreError for one that was not finished, damaged, or of another key."""
    path = folder / MANIFEST
    if not path.exists():
        raise StoreError(
            f"The backup in {folder} was not finished: {MANIFEST} is missing. Use another backup."
        )
    content = json.loads(read_encrypted(path, ring, _MANIFEST_NAME))
    if content["form"] != FORM:
        raise StoreError(
            f"The backup in {folder} was written by a later version of Proctor. Restore it with that one."
        )
    return Manifest(
        backup_id=content["backup_id"],
        folders=tuple(_check_path(path) for path in content["folders"]),
        files=tuple(
            BackupFile(number, _check_path(one["path"]), one["size"], one["sha256"])
            for number, one in enumerate(content["files"], start=1)
        ),
    )


def extract_backup(
    folder: Path, target: Path, ring: KeyRing, manifest: Manifest, advance: Callable[[], None]
) -> None:
    """Write the files of an encrypted backup to the new folder `target`.

    Raises StoreError, which names the file, for one that is missing, damaged, cut off, exchanged or of another key.
    """
    target.mkdir(mode=0o700)
    for inner in manifest.folders:
        (target / inner).mkdir(parents=True, exist_ok=True, mode=0o700)
    for one in manifest.files:
        source = folder / FILES / f"{one.number:06d}.enc"
        if not source.exists():
            raise StoreError(
                f"{source}, which holds {one.path}, is missing. Take another copy of the backup."
            )
        place = target / one.path
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        content = decrypt_file(source, place, ring, _name_file(manifest.backup_id, one.number))
        if (content.size, content.sha256) != (one.size, one.sha256):
            raise StoreError(f"{source} is not what the manifest says. Take another copy of the backup.")
        advance()


def _name_file(backup_id: str, number: int) -> str:
    return f"backup {backup_id} file {number}"


def _check_path(text: str) -> PurePosixPath:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise StoreError("The manifest of the backup names a file outside of it. Use another backup.")
    return path
