"""Where the parts of a backup go: a plain folder, with unchanged files linked from an earlier backup where that is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from schemas.errors import StoreError, UsageError
from warehouse.backup.manifest import (
    NAME,
    UNFINISHED,
    BackupManifest,
    ListedFile,
    hash_file,
    list_files,
    read_manifest,
)
from warehouse.encryption import Measure, read_blocks, write_whole
from warehouse.stores.files import flush_path

# Copies of papers while an ingest reads them (docs/encryption.md): plain, and of no use once it has ended.
_PASSING: Final = ".spool"
# Ends the names of files that are being written (warehouse.encryption.files).
_DRAFT: Final = ".draft"


@dataclass(slots=True)
class Shared:
    """What a backup did not have to copy, since an earlier one has it."""

    file_count: int = 0
    byte_count: int = 0


class BackupTarget(Protocol):
    """Where the parts of a backup go; `staging` is a folder for parts that are made rather than copied."""

    staging: Path
    shared: Shared

    def add_tree(self, source: Path, name: str, *, is_fixed: bool = False) -> None:
        """Copy a folder with all that is in it. `is_fixed`: its files are never changed under their names."""

    def add_folder(self, name: str) -> None:
        """Make a folder, which may stay empty."""

    def add_file(self, source: Path, name: str, *, is_fixed: bool = False) -> None:
        """Copy a file; one that is gone meanwhile is left out."""

    def add_fetched(self, name: str, size: int, fetch: Callable[[Path], None]) -> None:
        """Take in a file that is never changed under its name and lies elsewhere; `fetch` writes it to the path it is given."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A finished backup whose files may serve another one.

    A file that is never changed under its name is the same when its length and time are; of any other the content is compared.
    """

    folder: Path
    manifest: BackupManifest
    files: Mapping[str, ListedFile]

    def has(self, path: str, size: int, modified_ns: int | None) -> ListedFile | None:
        """The file of that path, if it lies there in full and was modified then; a null time is not looked at."""
        found = self.files.get(path)
        if found is None or found.size != size or modified_ns not in (None, found.modified_ns):
            return None
        with suppress(OSError):
            return found if (self.folder / path).stat().st_size == size else None
        return None


class PlainTarget:
    """A folder into which everything is copied as it is."""

    def __init__(
        self, folder: Path, earlier: Earlier | None = None, advance: Callable[[], None] = lambda: None
    ) -> None:
        self.staging = folder
        self.shared = Shared()
        self._earlier = earlier
        self._advance = advance
        self._files: dict[str, ListedFile] = {}

    def add_tree(self, source: Path, name: str, *, is_fixed: bool = False) -> None:
        """Copy a folder with all that is in it."""
        self.add_folder(name)
        for path, inner in walk_tree(source):
            if path.is_dir():
                (self.staging / name / inner).mkdir(mode=0o700, exist_ok=True)
            else:
                self.add_file(path, f"{name}/{inner}", is_fixed=is_fixed)

    def add_folder(self, name: str) -> None:
        """Make a folder, which may stay empty."""
        (self.staging / name).mkdir(mode=0o700, parents=True, exist_ok=True)

    def add_file(self, source: Path, name: str, *, is_fixed: bool = False) -> None:
        """Copy a file, or link the same one of the earlier backup."""
        target = self.staging / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            if not self._link(source, name, is_fixed=is_fixed):
                measure = Measure()
                with source.open("rb") as file:
                    status = os.fstat(file.fileno())
                    write_whole(target, measure.pass_on(read_blocks(file)))
                target.chmod(status.st_mode & 0o777)
                os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
                self._files[name] = ListedFile(name, measure.size, measure.sha256, status.st_mtime_ns)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(
                f"{source} cannot be copied to {target} ({error.strerror}). Check the disk."
            ) from None
        self._advance()

    def add_fetched(self, name: str, size: int, fetch: Callable[[Path], None]) -> None:
        """Take in a file that lies elsewhere, or link the same one of the earlier backup."""
        target = self.staging / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self._earlier and self._earlier.has(name, size, None)
        if not found or not self._take(found):
            fetch(target)
            flush_path(target)
            self._files[name] = ListedFile(name, size, hash_file(target))
        self._advance()

    def finish(self) -> tuple[tuple[str, ...], tuple[ListedFile, ...]]:
        """Put what was made in the folder on the disk; answers with all folders and files."""
        for name in list_files(self.staging):
            if name not in self._files and name not in (NAME, UNFINISHED):
                path = self.staging / name
                flush_path(path)
                self._files[name] = ListedFile(name, path.stat().st_size, hash_file(path))
        folders = sorted(
            path.relative_to(self.staging).as_posix() for path in self.staging.rglob("*") if path.is_dir()
        )
        return tuple(folders), tuple(self._files[name] for name in sorted(self._files))

    def _link(self, source: Path, name: str, *, is_fixed: bool) -> bool:
        if self._earlier is None:
            return False
        status = source.stat()
        found = self._earlier.has(name, status.st_size, status.st_mtime_ns if is_fixed else None)
        if found is None or (not is_fixed and hash_file(source) != found.sha256):
            return False
        return self._take(found)

    def _take(self, found: ListedFile) -> bool:
        """Link a file of the earlier backup; false where the file system does not."""
        assert self._earlier is not None
        try:
            os.link(self._earlier.folder / found.path, self.staging / found.path)
        except OSError:
            return False
        self._files[found.path] = found
        self.shared.file_count += 1
        self.shared.byte_count += found.size
        return True


def open_earlier(folder: Path, installation_id: str | None, key_id: str | None) -> Earlier:
    """The backup that unchanged files may come from. Raises UsageError for one that cannot serve, StoreError for an unfinished one."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise UsageError(
            f"{folder} has no {NAME}: it is no backup, or one of an earlier version, which cannot be told to be whole. Leave out "
            "--since once."
        )
    if manifest.installation_id != installation_id:
        raise UsageError(f"The backup in {folder} is another installation's. Name one of this home.")
    if (manifest.key_id is None) != (key_id is None):
        kinds = ("plain", "encrypted") if manifest.key_id is None else ("encrypted", "plain")
        raise UsageError(
            f"The backup in {folder} is {kinds[0]} and the new one is to be {kinds[1]}: they have no file in common. Leave out "
            "--since once."
        )
    return Earlier(folder, manifest, {one.path: one for one in manifest.files})


def walk_tree(source: Path) -> Iterator[tuple[Path, str]]:
    """Folders and files below a folder with their paths in it, each folder before what it holds; passing copies are left out."""
    for top, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if name != _PASSING)
        kept = sorted(name for name in files if not name.endswith(_DRAFT))
        for path in (Path(top, name) for name in (*folders, *kept)):
            yield path, path.relative_to(source).as_posix()
