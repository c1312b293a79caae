"""Where an encrypted backup is copied to: encrypted files with a manifest that says what belongs to it.

An encrypted backup is a folder of files `files/000001.enc`, … and `manifest.enc`, which lists them by number with path, length and
SHA-256. Each file is bound to the backup that it was encrypted for and its number there; one that an earlier backup had already is
linked from it, and the manifest names both. The manifest comes last: without it the backup was not finished. Names of
files, the archive's hashes among them, are in the manifest alone.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from schemas.errors import StoreError
from warehouse.backup import Earlier, ListedFile, Shared, hash_file, walk_tree
from warehouse.encryption.files import (
    decrypt_file,
    encrypt_bytes,
    encrypt_file,
    is_running,
    measure_encrypted,
    read_encrypted,
    read_file_key_id,
)
from warehouse.encryption.keys import EncryptionKey, KeyRing
from warehouse.encryption.stream import Measure

MANIFEST: Final = "manifest.enc"
FILES: Final = "files"
# Form 1 had no files of other backups.
FORM: Final = 2
_MANIFEST_NAME: Final = "backup manifest"
_STAGED: Final = ".backup-"


class EncryptedTarget:
    """A folder into which nothing is written but encrypted files."""

    def __init__(
        self,
        folder: Path,
        staging: Path,
        key: EncryptionKey,
        backup_id: str,
        earlier: EarlierEncrypted | None,
        advance: Callable[[], None],
    ) -> None:
        self.staging = staging
        self.shared = Shared()
        self._folder = folder
        self._key = key
        self._advance = advance
        self._backup_id = backup_id
        self._earlier = earlier
        self._files: list[dict[str, Any]] = []
        self._folders: list[str] = []
        self._listed: list[ListedFile] = []
        (folder / FILES).mkdir(mode=0o700)

    def add_tree(self, source: Path, name: str, *, is_fixed: bool = False) -> None:
        """Encrypt a folder with all that is in it."""
        self._folders.append(name)
        for path, inner in walk_tree(source):
            if path.is_dir():
                self._folders.append(f"{name}/{inner}")
            else:
                self.add_file(path, f"{name}/{inner}", is_fixed=is_fixed)

    def add_folder(self, name: str) -> None:
        """Name a folder, which may stay empty."""
        self._folders.append(name)

    def add_file(self, source: Path, name: str, *, is_fixed: bool = False) -> None:
        """Encrypt a file, or link the same one of the earlier backup."""
        try:
            status = source.stat()
            modified_ns = status.st_mtime_ns
            if self._earlier is not None:
                found = self._earlier.has(name, status.st_size, modified_ns if is_fixed else None)
                is_same = found is not None and (is_fixed or hash_file(source) == found.sha256)
                if found is not None and is_same and self._take(found, modified_ns):
                    return
            self._encrypt(source, name, modified_ns)
        except FileNotFoundError:
            return

    def add_fetched(self, name: str, size: int, fetch: Callable[[Path], None]) -> None:
        """Encrypt a file that lies elsewhere, or link the same one of the earlier backup."""
        found = self._earlier and self._earlier.has(name, size, None)
        if found and self._take(found, 0):
            return
        path = self.staging / f".fetched-{len(self._files)}"
        try:
            fetch(path)
            self._encrypt(path, name, 0)
        finally:
            path.unlink(missing_ok=True)

    def finish(self) -> tuple[tuple[str, ...], tuple[ListedFile, ...]]:
        """Encrypt what was made in the staging folder, and write the manifest; answers with the folders and files of the backup."""
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
        written = Measure()
        encrypt_bytes(
            json.dumps(manifest, ensure_ascii=False).encode(),
            self._folder / MANIFEST,
            self._key,
            _MANIFEST_NAME,
            written,
        )
        return (FILES,), (*self._listed, ListedFile(MANIFEST, written.size, written.sha256))

    def _encrypt(self, source: Path, name: str, modified_ns: int) -> None:
        number, target = self._next()
        written = Measure()
        content = encrypt_file(source, target, self._key, _name_file(self._backup_id, number), written)
        self._add(name, target, ListedFile("", written.size, written.sha256), modified_ns)
        self._files[-1] |= {"size": content.size, "sha256": content.sha256}

    def _take(self, found: BackupFile, modified_ns: int) -> bool:
        """Link an encrypted file of the earlier backup; false where the file system does not, or its key is no longer the newest."""
        assert self._earlier is not None
        listed, place = self._earlier.find_listed(found)
        _, target = self._next()
        with suppress(OSError):
            if listed is None or read_file_key_id(place) != self._key.key_id:
                return False
            os.link(place, target)
            self._add(str(found.path), target, listed, modified_ns)
            self._files[-1] |= {"size": found.size, "sha256": found.sha256}
            self._files[-1] |= {"origin": [found.origin_id, found.origin_number]}
            self.shared.file_count += 1
            self.shared.byte_count += listed.size
            return True
        return False

    def _next(self) -> tuple[int, Path]:
        number = len(self._files) + 1
        return number, self._folder / FILES / f"{number:06d}.enc"

    def _add(self, name: str, target: Path, form: ListedFile, modified_ns: int) -> None:
        self._files.append({"path": name, "modified_ns": modified_ns})
        self._listed.append(ListedFile(f"{FILES}/{target.name}", form.size, form.sha256))
        self._advance()


@contextmanager
def encrypting_backup(
    folder: Path,
    home: Path,
    key: EncryptionKey,
    backup_id: str,
    earlier: EarlierEncrypted | None,
    advance: Callable[[], None],
) -> Iterator[EncryptedTarget]:
    """A target for a backup in `folder`, to be finished before the block ends.

    What cannot be encrypted as it lies there (a moment of a SQLite file) is copied to a folder inside the home first, where
    its original lies, and deleted at the end; what a killed backup left there is deleted by the next.
    """
    for left in home.glob(f"{_STAGED}*"):
        pid = left.name.removeprefix(_STAGED).partition("-")[0]
        if pid.isdigit() and not is_running(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=f"{_STAGED}{os.getpid()}-", dir=home))
    try:
        yield EncryptedTarget(folder, staging, key, backup_id, earlier, advance)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A file of a backup: its number, path in the home, length and SHA-256, and when it was modified (ns).

    `origin_id` and `origin_number` are the backup that it was encrypted for, and its number there: to these it is bound.
    """

    number: int
    path: PurePosixPath
    size: int
    sha256: str
    modified_ns: int
    origin_id: str
    origin_number: int


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
    if content["form"] not in (1, FORM):
        raise StoreError(
            f"The backup in {folder} was written by a later version of Proctor. Restore it with that one."
        )
    return Manifest(
        backup_id=content["backup_id"],
        folders=tuple(_check_path(path) for path in content["folders"]),
        files=tuple(
            BackupFile(
                number,
                _check_path(one["path"]),
                one["size"],
                one["sha256"],
                one.get("modified_ns", 0),
                *one.get("origin", (content["backup_id"], number)),
            )
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
        content = decrypt_file(source, place, ring, _name_file(one.origin_id, one.origin_number))
        if (content.size, content.sha256) != (one.size, one.sha256):
            raise StoreError(f"{source} is not what the manifest says. Take another copy of the backup.")
        advance()


def find_damage(folder: Path, ring: KeyRing, manifest: Manifest, advance: Callable[[], None]) -> list[str]:
    """What cannot be read of an encrypted backup with its key, a sentence for each file; nothing is written."""
    found = []
    for one in manifest.files:
        source = folder / FILES / f"{one.number:06d}.enc"
        try:
            content = measure_encrypted(source, ring, _name_file(one.origin_id, one.origin_number))
            if (content.size, content.sha256) != (one.size, one.sha256):
                found.append(f"{source} is not what the manifest says")
        except OSError:
            found.append(f"{source}, which holds {one.path}, is missing")
        except StoreError as error:
            found.append(str(error))
        advance()
    return found


@dataclass(frozen=True, slots=True)
class EarlierEncrypted:
    """A finished encrypted backup whose files may serve another one."""

    earlier: Earlier
    files: dict[str, BackupFile]

    def has(self, path: str, size: int, modified_ns: int | None) -> BackupFile | None:
        """The file of that path, length and time; a null time is not looked at."""
        found = self.files.get(path)
        if found is None or found.size != size or modified_ns not in (None, found.modified_ns):
            return None
        return found

    def find_listed(self, file: BackupFile) -> tuple[ListedFile | None, Path]:
        """The encrypted form of a file as the list has it, null where it does not lie there in full, and its place."""
        name = f"{FILES}/{file.number:06d}.enc"
        listed = self.earlier.files.get(name)
        return listed and self.earlier.has(name, listed.size, None), self.earlier.folder / name


def open_encrypted(earlier: Earlier, ring: KeyRing) -> EarlierEncrypted:
    """An earlier encrypted backup, read with its key. Raises StoreError."""
    manifest = read_manifest(earlier.folder, ring)
    return EarlierEncrypted(earlier, {str(one.path): one for one in manifest.files})


def _name_file(backup_id: str, number: int) -> str:
    return f"backup {backup_id} file {number}"


def _check_path(text: str) -> PurePosixPath:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise StoreError("The manifest of the backup names a file outside of it. Use another backup.")
    return path
