"""What a backup holds: `backup.json`, written last.

It lists every file by path, length and SHA-256.

While a backup is made its folder holds `UNFINISHED.txt` and no `backup.json`: what a kill leaves is never taken for a backup.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from schemas.errors import StoreError, UsageError
from warehouse.backup.files import write_whole
from warehouse.stores.whole_files import flush_path, hash_file

NAME: Final = "backup.json"
UNFINISHED: Final = "UNFINISHED.txt"
FORM: Final = 2
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a backup.

    Attributes:
        path: below the backup's folder.
        size: bytes.
        sha256: in hex.
    """

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What `backup.json` says.

    Attributes:
        backup_id: drawn for each backup.
        installation_id: whose it is; null for a home that was given no id yet.
        begun_at, finished_at: UTC as ISO text; what the stores held between the two is what the backup holds.
        proctor_version: of the Proctor that made it.
        stores: what was copied, by part: `ledger: PostgreSQL`.
        folders: every folder, also empty ones, in an order in which they can be made.
        files: every file but this one.
    """

    backup_id: str
    installation_id: str | None
    begun_at: str
    finished_at: str
    proctor_version: str
    stores: Mapping[str, str]
    folders: tuple[str, ...]
    files: tuple[ListedFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(one.size for one in self.files)


@contextmanager
def writing_backup(folder: Path, begun_at: str) -> Iterator[None]:
    """Mark a new folder as a backup that is not finished; empty again where none comes of it.

    Raises UsageError where somebody else writes one there, or has: what is theirs stays.
    """
    was_there = folder.exists()
    _claim_folder(folder)
    try:
        (folder / UNFINISHED).write_text(
            f"This backup was begun at {begun_at} and is not finished: it cannot be restored. If no `proctor backup` is running that "
            "writes it, delete this folder and make the backup again.\n",
            encoding="utf-8",
        )
        flush_path(folder / UNFINISHED)
        flush_path(folder)
        yield
    except BaseException:
        with suppress(OSError):
            _remove_backup(folder, keeps_folder=was_there)
        raise


def _claim_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    mark = folder / UNFINISHED
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        raise UsageError(f"Another `proctor backup` writes into {folder}; name a new folder.") from None
    if [path.name for path in folder.iterdir()] != [UNFINISHED]:
        mark.unlink()
        raise UsageError(f"{folder} is not empty any more; name a new folder for the backup.")


def _remove_backup(folder: Path, *, keeps_folder: bool) -> None:
    """Its list goes first, and last that it is unfinished."""
    for path in sorted(folder.iterdir(), key=lambda one: (one.name != NAME, one.name == UNFINISHED)):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not keeps_folder:
        folder.rmdir()


def finish_backup(folder: Path, manifest: BackupManifest) -> None:
    """Write `backup.json`, and take the mark away.

    It is written once all that it lists, with its names, is on the disk.
    """
    for inner in reversed(manifest.folders):
        flush_path(folder / inner)
    write_whole(
        folder / NAME, [json.dumps({"form": FORM} | asdict(manifest), ensure_ascii=False, indent=1).encode()]
    )
    (folder / UNFINISHED).unlink()
    flush_path(folder)


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a backup that was finished; its list is not read."""
    return (folder / NAME).is_file()


def read_manifest(folder: Path) -> BackupManifest:
    """What the backup in a folder says that it holds.

    Raises StoreError for one that was not finished, is of another form, or whose list cannot be read, UsageError for what is no backup.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a backup: there is no such folder. Name what `proctor backup` wrote."
        )
    path = folder / NAME
    if not path.exists():
        if (folder / UNFINISHED).exists():
            raise StoreError(
                f"The backup in {folder} was not finished: it was interrupted, or is still being made. Use another backup; if no "
                "`proctor backup` is running, delete this one and make it again."
            )
        raise UsageError(f"{folder} is not a backup: it holds no {NAME}. Name what `proctor backup` wrote.")
    try:
        content = json.loads(path.read_bytes())
        form = content.pop("form")
        if form == FORM:
            files = tuple(ListedFile(**one) for one in content.pop("files"))
            folders = tuple(content.pop("folders"))
            manifest = BackupManifest(**content, folders=folders, files=files)
            for inner in (*folders, *(one.path for one in files)):
                _check_inside(inner)
            return manifest
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"{path} is damaged ({type(error).__name__}): what the backup must hold is not known. Take another copy of it."
        ) from None
    raise StoreError(
        f"The backup in {folder} was written by another version of Proctor (form {form}, not {FORM}). Restore it with that one."
    )


def find_differences(
    folder: Path, manifest: BackupManifest, advance: Callable[[], None] = lambda: None
) -> list[str]:
    """What differs between a backup and its list, a sentence for each file.

    A file can be missing, changed, or not listed.
    """
    found = []
    for one in manifest.files:
        path = folder / one.path
        if not path.is_file():
            found.append(f"{one.path} is missing")
        elif (size := path.stat().st_size) != one.size:
            found.append(f"{one.path} has {size:,} bytes of {one.size:,}")
        elif hash_file(path) != one.sha256:
            found.append(f"{one.path} is damaged: its SHA-256 is another")
        advance()
    listed = {NAME, UNFINISHED, *(one.path for one in manifest.files)}
    strange = [name for name in list_files(folder) if name not in listed]
    return found + [
        f"{name} does not belong to it" for name in strange if not _is_left_by_reader(folder, name, listed)
    ]


def _is_left_by_reader(folder: Path, name: str, listed: AbstractSet[str]) -> bool:
    """Whether this is what SQLite puts beside a file for a reader, killed ones too."""
    read, _, ending = name.rpartition("-")
    if read not in listed or ending not in ("wal", "shm"):
        return False
    try:
        return ending == "shm" or not (folder / name).stat().st_size
    except FileNotFoundError:
        return True  # Its reader has ended since.


def check_backup(folder: Path, manifest: BackupManifest, advance: Callable[[], None]) -> None:
    """Raise StoreError, which names what differs, unless a backup is what its list says."""
    if found := find_differences(folder, manifest, advance):
        raise StoreError(describe_differences(folder, found))


def describe_differences(folder: Path, found: list[str]) -> str:
    """One sentence of what differs, and what to do."""
    more = f" and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
    return (
        f"The backup in {folder} is not what it was when it was made: {'; '.join(found[:_MOST_NAMED])}{more}. Nothing was restored. "
        "Take another copy of the backup, or an earlier one."
    )


def list_files(folder: Path) -> Iterable[str]:
    """Every file below a folder by its path in it, in order."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def _check_inside(text: str) -> None:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(text)
