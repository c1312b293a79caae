"""Write-ahead logs that were removed while a process had them open.

They are found while that process lives, kept, and put back.

A process that has a SQLite file open writes on to its log after the log was unlinked. As long as it lives, Linux still has that
log under `/proc/PID/fd`; what it committed there is in no other file. On other systems nothing of this is found.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from warehouse.stores.files import StoreFile, count_commits
from warehouse.stores.whole_files import flush_path

_PROCESSES: Final = Path("/proc")
_GONE: Final = " (deleted)"
_PARTS: Final = ("", "-wal", "-shm", "-mark")
_SAVED: Final = "unlinked-by-"


@dataclass(frozen=True, slots=True)
class HeldLog:
    """A log that has no name any more, and a process that holds it.

    Attributes:
        pid: the process.
        file: the log as that process has it open.
    """

    pid: int
    file: Path


def find_held_logs(store: Path) -> list[HeldLog]:
    """Unlinked logs of a file that processes of this account hold; one for each process."""
    wanted = f"{store.resolve()}-wal{_GONE}"
    found = {pid: HeldLog(pid, file) for pid, file, target in _list_open() if target == wanted}
    return list(found.values())


def list_users(stores: Iterable[Path]) -> list[int]:
    """Other processes that have one of these files, or its log, open.

    They have it open under its name, or still have it open after it was removed.
    """
    wanted = {
        f"{path.resolve()}{part}{end}" for path in stores for part in ("", "-wal") for end in ("", _GONE)
    }
    return sorted({pid for pid, _, target in _list_open() if target in wanted and pid != os.getpid()})


def can_list_users() -> bool:
    """Whether this system shows which process has which file open.

    Where it does not, `list_users` finds nobody.
    """
    return (_PROCESSES / str(os.getpid()) / "fd").is_dir()


def save_log(held: HeldLog, store: Path, folder: Path) -> Path:
    """Copy a log out of the process that holds it.

    The copy is on the disk when this returns. Raises StoreError.
    """
    target = folder / f"{store.name}-wal.{_SAVED}{held.pid}"
    try:
        shutil.copyfile(held.file, target)
        target.chmod(0o600)
        flush_path(target)
    except OSError as error:
        raise StoreError(
            f"The log that process {held.pid} holds cannot be copied to {target} ({error.strerror}). End nothing; make room, and run "
            "the command again."
        ) from None
    return target


def list_saved_logs(store: Path, folder: Path) -> list[Path]:
    """The logs of a file that were saved below a folder, the newest first."""
    found = folder.glob(f"*/{store.name}-wal.{_SAVED}*")
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def copy_aside(stores: Iterable[Path], folder: Path) -> list[str]:
    """Copy files with their logs and marks into a folder, as they are; returns the names.

    No process may have them open.
    """
    copied = []
    for path in stores:
        for part in _PARTS:
            source = Path(f"{path}{part}")
            if source.exists():
                shutil.copy2(source, folder / source.name)
                flush_path(folder / source.name)
                copied.append(source.name)
    return copied


def copy_store(store: Path, folder: Path) -> Path:
    """A copy of a file, with what its own log has; returns it."""
    copy = folder / store.name
    shutil.copyfile(store, copy)
    if has_new_log(store):
        shutil.copyfile(f"{store}-wal", f"{copy}-wal")
    return copy


def join_log(file: StoreFile, log: Path, folder: Path) -> Path | None:
    """A copy of a file together with what a log adds to it, as one file.

    None unless the copy is whole, and what was added is the file's next commits.

    It is, where every page passes SQLite's own check, it knows no fewer commits than the file does, and no more came to it than the
    log has. The file itself is not touched.
    """
    copy = folder / file.path.name
    shutil.copyfile(file.path, copy)
    shutil.copyfile(log, f"{copy}-wal")
    if _is_next(replace(file, path=copy), count_commits(file), log):
        return copy
    for part in ("", "-wal", "-shm"):
        Path(f"{copy}{part}").unlink(missing_ok=True)
    return None


def put_back(store: Path, joined: Path) -> None:
    """Let a joined copy take the place of a file.

    What was left of a log beside the file is empty, and is removed.
    """
    flush_path(joined)
    for part in ("-wal", "-shm"):
        Path(f"{store}{part}").unlink(missing_ok=True)
    joined.chmod(0o600)
    joined.replace(store)
    flush_path(store.parent)


def has_new_log(store: Path) -> bool:
    """Whether a log was written to since the one that is missing.

    If so, nothing may be put in its place.
    """
    log = Path(f"{store}-wal")
    return log.exists() and log.stat().st_size > 0


def is_whole(store: StoreFile) -> bool:
    """Whether every page, index and constraint of a file passes SQLite's own check."""
    try:
        return store.ask(store.path, ["PRAGMA integrity_check(1)"]) == ["ok"]
    except sqlite3.Error:
        return False


def _is_next(copy: StoreFile, known: int, log: Path) -> bool:
    try:
        with closing(sqlite3.connect(copy.path)) as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                return False
            # From here on the copy is one file, without a log.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return known <= count_commits(copy) <= known + _count_frames(log)
    except sqlite3.Error:
        return False


def _count_frames(log: Path) -> int:
    """The most commits that a log can have: one for each of its pages."""
    with log.open("rb") as file:
        header = file.read(32)
    page = int.from_bytes(header[8:12], "big") or 4096
    return max(log.stat().st_size - 32, 0) // (page + 24)


def _list_open() -> Iterator[tuple[int, Path, str]]:
    """Every file that processes of this account have open.

    Each entry has the process, the descriptor, and what the descriptor names.
    """
    for process in _PROCESSES.iterdir() if _PROCESSES.is_dir() else ():
        if not process.name.isdigit():
            continue
        with suppress(OSError):
            for descriptor in (process / "fd").iterdir():
                with suppress(OSError):
                    yield int(process.name), descriptor, str(descriptor.readlink())
