"""A SQLite file that belongs to an installation.

Here it is found out whether the file is there, is whole, belongs to the installation, and holds all that was
acknowledged.

Beside the file lies its mark (`NAME-mark`): the number of the last commit that somebody was told of. The number lies in the
database too, so that a file that knows fewer commits than its mark has lost some: a write-ahead log was removed, or an
older file was put in its place. The mark is written after the commit and never before, so it is no false alarm.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from weakref import WeakSet

from schemas.errors import StoreError

WAY_BACK: Final = (
    "Nothing was made in its place. Put the file back, or restore the newest backup into a new folder "
    "(PROCTOR_HOME=NEW proctor restore BACKUP) and use that one. `proctor doctor` lists all that is wrong."
)
ROOM_FIRST: Final = (
    "make room on the disk that is full (see `free disk`), then run proctor doctor again: do not rely on what is read before "
    "that; nothing was lost"
)
_RESTORE: Final = (
    "Only if that is not to be had, restore the newest backup into a new folder (PROCTOR_HOME=NEW proctor restore BACKUP), use that "
    "one, and keep this one: what was acknowledged after the backup is in it alone."
)
_MISSING: Final = (
    "Nothing was made in its place. Find out what removed it (is its disk mounted, was a folder moved?), and put it back with the "
    f"-wal beside it. {_RESTORE}"
)
_DAMAGED: Final = (
    "Stop what runs (proctor down), copy the home aside as it is, and look at the disk (dmesg, smartctl) before anything else is "
    f"written to it. {_RESTORE}"
)
_STRANGE: Final = (
    "Put the home's own file in its place; `proctor init --join` makes this one the home's if it was put there on purpose. "
    f"{_RESTORE}"
)
_LOST: Final = (
    "End nothing that still runs: a process that had the file open may still hold the log. `proctor doctor --repair` looks for it, "
    "compares the stores, says what can be proved of the missing commits and what cannot, and offers the way back. If the log or the "
    f"newer file was moved elsewhere, put it back. {_RESTORE}"
)
# A file of the lake is written once: the one of that name in any backup is the same file.
DATA_FILE_REMEDY: Final = (
    "Put the file back, or copy the one of the same name from any backup that has it (lake/data/… there): a file "
    f"of the lake is never changed after it is written. {_RESTORE}"
)
# Less than this is no room: SQLite's index of a log alone takes 32 KiB.
_LEAST_ROOM_BYTES: Final = 256 * 1024
_MARK_BYTES: Final = 20
_BUSY_S: Final = 5.0
# What SQLite answers of a file that cannot be used whatever is waited for.
_BROKEN: Final = ("malformed", "not a database", "no such table", "no such column", "disk i/o error")
_LOG: Final = logging.getLogger("proctor.stores")
# Files whose missing commits a repair has looked into.
_PARDONED: Final[set[Path]] = set()


@dataclass(frozen=True, slots=True)
class StoreFile:
    """A SQLite file of a home.

    Attributes:
        name: what it is in a sentence: `ledger`.
        path: where it lies.
        id_query: one value, the id of the installation it belongs to; null, or no row, for none.
        count_query: one value, how many commits it knows; null for a store that does not count.
        table: the table of the ledger that both are read from; empty for a catalog.
        ask: the way to it (`ask_file`); a catalog, which DuckDB has open too, has its own.
    """

    name: str
    path: Path
    id_query: str
    count_query: str
    table: str = ""
    ask: Callable[[Path, Sequence[str]], list[object]] = field(
        default_factory=lambda: ask_file, compare=False, repr=False
    )


@dataclass(frozen=True, slots=True)
class StoreFault:
    """What is wrong with a store.

    Attributes:
        store: `ledger`, `catalog`, `data file`.
        path: the file.
        finding: what was found, as the end of a sentence that begins with store and path.
        remedy: what to do, in sentences; a backup is the last thing that they name.
        is_lost_log: whether the file knows fewer commits than were acknowledged, and nothing else is wrong with it.
    """

    store: str
    path: str
    finding: str
    remedy: str = _RESTORE
    is_lost_log: bool = False

    def __str__(self) -> str:
        return f"{self.store} {self.path} {self.finding}"


def find_store_fault(
    file: StoreFile, installation_id: str | None, *, is_thorough: bool = False
) -> StoreFault | None:
    """What is wrong with a file; null for one that is fine, or that was not made yet.

    Args:
        file: which.
        installation_id: of the home that it is to belong to; null where the home has none yet.
        is_thorough: whether every page is read, too.
    """
    log = Path(f"{file.path}-wal")
    marked = read_acknowledged_commit(file.path)
    if not file.path.exists():
        if installation_id is None and marked is None and not log.exists():
            return None
        return _fault(file, "is missing", _MISSING)
    try:
        pages = ["PRAGMA quick_check(1)"] if is_thorough else []
        found, counted, *checked = file.ask(file.path, [file.id_query, file.count_query, *pages])
        if checked and checked != ["ok"]:
            return _fault(file, f"is damaged ({' '.join(str(checked[0]).split())})", _DAMAGED)
    except sqlite3.DatabaseError as error:
        if not any(word in str(error).lower() for word in _BROKEN):
            # Locked, or not to be opened by this user: who opens it says so.
            return None
        if not has_room(file.path.parent):
            return _fault(file, "cannot be read while its disk is full", f"{ROOM_FIRST.capitalize()}.")
        return _fault(file, f"is damaged ({error})", _DAMAGED)
    if installation_id is not None and found is None:
        return _fault(file, "is not the one of this home: it belongs to no installation", _STRANGE)
    if installation_id is not None and found != installation_id:
        return _fault(
            file,
            f"is not the one of this home: it belongs to installation {str(found)[:8]}, the home to {installation_id[:8]}",
            _STRANGE,
        )
    known = int(str(counted or 0))
    if marked is not None and known < marked and file.path not in _PARDONED:
        return replace(
            _fault(
                file,
                f"lacks what was acknowledged last (it knows {known} commits, {marked} were acknowledged): its "
                f"write-ahead log {log.name} was removed, or an older file was put in its place",
                _LOST,
            ),
            is_lost_log=True,
        )
    return None


def has_room(folder: Path) -> bool:
    """Whether anything can still be written to the disk of a folder, as far as this account may."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return True
    has_names = status.f_files == 0 or status.f_favail > 0
    return has_names and status.f_bavail * status.f_frsize >= _LEAST_ROOM_BYTES


@contextmanager
def pardoning(paths: Iterable[Path]) -> Iterator[None]:
    """Within the block, files that know fewer commits than were acknowledged are opened.

    This is for the repair alone.

    Their marks stay as they are: whoever repairs writes them when all is done, and a kill before leaves the files refused.
    """
    added = set(paths) - _PARDONED
    _PARDONED.update(added)
    try:
        yield
    finally:
        _PARDONED.difference_update(added)


def count_commits(file: StoreFile) -> int:
    """How many commits a file knows; raises sqlite3.Error for one that cannot be read."""
    return int(str(file.ask(file.path, [file.count_query])[0] or 0))


def read_installation_id(file: StoreFile) -> str | None:
    """The installation that a file says it belongs to.

    None where the file names no installation, and where it cannot be read.
    """
    if not file.path.exists():
        return None
    try:
        found = file.ask(file.path, [file.id_query])[0]
    except sqlite3.DatabaseError:
        return None
    return None if found is None else str(found)


def ask_file(path: Path, queries: Sequence[str]) -> list[object]:
    """The first value of each query on a SQLite file.

    None where there is no row, or no such table yet.

    For files that nothing but Python's SQLite opens in this process. Raises sqlite3.DatabaseError.
    """
    with closing(connect_to_read(path)) as connection:
        return [_read_value(connection, query) for query in queries]


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that makes no file.

    Never by `open`: closing a file drops the locks that SQLite holds on it.
    """
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=_BUSY_S, isolation_level=None
    )


def read_acknowledged_commit(path: Path) -> int | None:
    """The number of the last commit of the file `path` that was acknowledged.

    None where none was noted.
    """
    try:
        return int(_mark_path(path).read_text())
    except (OSError, ValueError):
        return None


def write_acknowledged_commit(path: Path, count: int) -> None:
    """Note a commit of the file `path` as acknowledged.

    A mark that cannot be written only guards less.
    """
    if path in _PARDONED:
        return
    try:
        descriptor = os.open(_mark_path(path), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, _form(count), 0)
        finally:
            os.close(descriptor)
    except OSError:
        return


def remove_acknowledged_commit(path: Path) -> None:
    """Forget what was acknowledged of a file that is put back from a backup."""
    _mark_path(path).unlink(missing_ok=True)


class FileWatch:
    """Whether a file still lies where it was opened, with its write-ahead log.

    Other files that are attached to it are watched with it.

    Who deletes or replaces one of them while a process has it open does not stop that process: it would go on writing to
    files that nobody finds again. Looking costs two `stat` a file, some 3 µs.
    """

    def __init__(self, name: str, path: Path, *others: Path) -> None:
        self.name = name
        self.path = path
        self._files = tuple(file for one in (path, *others) for file in (one, Path(f"{one}-wal")))
        # Each commit looks twice: paths would be made into texts each time.
        self._names = tuple(map(str, self._files))
        self._seen: tuple[tuple[int, int] | None, ...] | None = None
        # One that a signal broke off, as it was opened or closed, is gone from it as soon as it is gone.
        self._open: WeakSet[sqlite3.Connection] = WeakSet()
        self._mark: int | None = None
        self._lock = threading.Lock()
        self._was_told = False
        self.counts_commits = False

    def begin(self, connection: sqlite3.Connection) -> None:
        """Remember the files, once a connection has all of them open.

        Raises StoreError where another connection has other files open.
        """
        with self._lock:
            if self._seen is not None and not self._open:
                # The last connection to close takes its write-ahead log with it.
                self._seen = tuple(
                    now if path.name.endswith("-wal") else then
                    for path, now, then in zip(self._files, self._look(), self._seen, strict=True)
                )
            self._open.add(connection)
            if self._seen is None:
                self._seen = self._look()
        self.check()

    def end(self, connection: sqlite3.Connection) -> None:
        """Note that a connection which began is closed."""
        with self._lock:
            self._open.discard(connection)

    def check(self) -> None:
        """Raise StoreError unless all files are still those that were opened."""
        if self._seen is None or (found := self._look()) == self._seen:
            return
        gone = [path for path, now, then in zip(self._files, found, self._seen, strict=True) if now != then]
        what = "is missing" if any(not path.exists() for path in gone) else "was replaced"
        message = (
            f"The {self.name} {self.path} cannot be relied on: {' and '.join(map(str, gone))} {what} while it was in use. Nothing is "
            "acknowledged any more. Put back the file that was there, or end this process and restore the newest backup "
            "into a new folder: PROCTOR_HOME=NEW proctor restore BACKUP."
        )
        if not self._was_told:
            self._was_told = True
            _LOG.error("%s", message)
        raise StoreError(message)

    def acknowledge(self, count: int) -> None:
        """Note a commit that somebody is told of.

        Where another process noted a later one meanwhile the mark falls back: it guards less then, and is never wrong.
        """
        if self.path in _PARDONED:
            return
        with self._lock:
            if self._mark is None:
                try:
                    self._mark = os.open(_mark_path(self.path), os.O_WRONLY | os.O_CREAT, 0o600)
                except OSError:
                    return
            try:
                os.pwrite(self._mark, _form(count), 0)
            except OSError:
                return

    def close(self) -> None:
        """Let go of the mark and of what was seen: no connection is open any more."""
        with self._lock:
            self._seen = None
            self._open.clear()
            if self._mark is not None:
                os.close(self._mark)
                self._mark = None

    def _look(self) -> tuple[tuple[int, int] | None, ...]:
        return tuple(map(identify_file, self._names))


def identify_file(path: str | Path) -> tuple[int, int] | None:
    """What differs when another file lies at a path: device and inode; null for none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - it may be a text
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _fault(file: StoreFile, finding: str, remedy: str) -> StoreFault:
    return StoreFault(file.name, str(file.path), finding, remedy)


def _read_value(connection: sqlite3.Connection, sql: str) -> object:
    """The one value of a query; null where there is no row, or the store has no such table yet."""
    try:
        row = connection.execute(sql).fetchone()
    except sqlite3.OperationalError as error:
        if "no such" not in str(error):
            raise
        return None
    return None if row is None else row[0]


def _mark_path(path: Path) -> Path:
    return Path(f"{path}-mark")


def _form(count: int) -> bytes:
    return f"{count}\n".rjust(_MARK_BYTES).encode()
