"""A home whose stores know fewer commits than were acknowledged.

This covers what happened, what can be proved, and the way back. The accident: the write-ahead log of a SQLite file was removed
under a process that had it open. What that process committed afterwards is in the log that it still holds, and gone with it when
it is killed. Nothing is changed before all of it is known, and nothing at all where something acknowledged is surely missing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from schemas.asked_secrets import AskedSecret
from schemas.counting import say_count
from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.operations.repair.evidence import Gap, describe_unproved, find_held, find_missing
from warehouse.lake import open_lake
from warehouse.lake.upkeep import LostLanding, find_lost_landings, land_again
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.stores.files import (
    StoreFile,
    count_commits,
    pardoning,
    read_acknowledged_commit,
    write_acknowledged_commit,
)
from warehouse.stores.homes import list_store_faults
from warehouse.stores.installation import catalog_file, exam_file, ledger_file
from warehouse.stores.lost_logs import (
    HeldLog,
    can_list_users,
    copy_aside,
    copy_store,
    find_held_logs,
    has_new_log,
    is_whole,
    join_log,
    list_saved_logs,
    list_users,
    put_back,
    save_log,
)

FOLDER: Final = "repairs"
ACTION: Final = "repair_stores"


@dataclass
class Repair:
    """What was found, and what a repair does or did about it.

    Attributes:
        lost: file → commits that it knows and that were acknowledged.
        other_faults: what else is wrong with the stores, which a repair does not mend.
        held_by: processes that hold an unlinked log of such a file.
        used_by: other processes that have one of the files open.
        logs: file → the log that gives back all that was acknowledged.
        missing: what is surely missing, with its ids.
        unproved: what nothing proves, with what it can have been.
        held: what the ledger holds and another place lacks: nothing of it is lost.
        landings: `table/unit` of landings that the catalog lost and files still have.
        steps: what is done, in order.
        copy: the folder with what was there before.
        is_done: whether the stores are accepted again.
    """

    lost: dict[str, tuple[int, int]] = field(default_factory=dict)
    other_faults: list[str] = field(default_factory=list)
    held_by: list[int] = field(default_factory=list)
    used_by: list[int] = field(default_factory=list)
    logs: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    landings: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    copy: str | None = None
    is_done: bool = False

    @property
    def may_be_done(self) -> bool:
        """Whether nothing else is broken or in use, and nothing acknowledged surely missing."""
        return not (self.other_faults or self.missing or self.used_by)


@dataclass(frozen=True, slots=True)
class _Stage:
    """Copies of the stores, with the logs that fit: what the home would be after the repair.

    Attributes:
        settings: those of the home, over the copies.
        copies: file of the home → its copy.
    """

    settings: Settings
    copies: dict[Path, Path]


def inspect_home(settings: Settings) -> Repair:
    """What was found and what a repair would do; changes nothing."""
    found, files = _look(settings)
    if found.lost and not found.other_faults:
        with _explained(), _staged(settings, found, files) as stage:
            _weigh(settings, found, files, stage)
        found.steps = list(_list_steps(found))
    return found


def repair_home(settings: Settings) -> Repair:
    """Do the repair.

    Logs that processes hold are saved first; after that, nothing is changed while anybody has the files open. The order is such that
    a kill leaves the files refused as before, or as they should be: copies, the log put back, the entry of the audit log, landings,
    and the marks last. Raises StoreError where a copy cannot be made, another process repairs this home, or this system does not show
    who has the files open.
    """
    with _held(settings), _explained():
        return _repair(settings)


@contextmanager
def _held(settings: Settings) -> Iterator[None]:
    """One repair of a home at a time."""
    from filelock import FileLock, Timeout

    folder = settings.home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "repair.lock", timeout=0):
            yield
    except Timeout:
        raise StoreError(
            "Another process repairs this home. Wait for it, or end it first; nothing was changed."
        ) from None


@contextmanager
def _explained() -> Iterator[None]:
    """A file that cannot be copied or written is a StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"The stores could not be copied or put back ({error.strerror or type(error).__name__}); they are refused as before, and nothing "
            "of them is lost. Make room or mend what that names, and run the command again."
        ) from None


def _repair(settings: Settings) -> Repair:
    found, files = _look(settings)
    if not found.lost or found.other_faults:
        return found
    if not can_list_users():
        raise StoreError(
            "This system does not show which processes have the stores open (it has no /proc), and to replace a file under one would lose "
            "more. Nothing was changed. Copy the whole home to a Linux host, and repair it there."
        )
    folder = _make_folder(settings)
    found.copy = str(folder)
    _save_held(found, files, folder)
    with _staged(settings, found, files) as stage:
        _weigh(settings, found, files, stage)
        found.steps += _list_steps(found)
        digest = _write_report(folder, found)
        if not found.may_be_done:
            return found
        copy_aside([file.path for file in _list_stores(settings)], folder)
        for file in files:
            if str(file.path) in found.logs:
                put_back(file.path, stage.copies[file.path])
    _finish(settings, found, files, folder.name, digest)
    found.is_done = True
    _write_report(folder, found)
    return found


@contextmanager
def _staged(settings: Settings, found: Repair, files: Sequence[StoreFile]) -> Iterator[_Stage]:
    """Copies to look into, gone with the block, and `logs` filled in; StoreError without room."""
    stores = _list_stores(settings)
    _check_room(settings.home, stores, _list_logs(settings, files))
    top = Path(tempfile.mkdtemp(prefix=".repair-", dir=settings.home))
    try:
        copies: dict[Path, Path] = {}
        catalog = catalog_file(settings.catalog_address)
        for file in stores:
            folder = top / ("lake" if catalog is not None and file.path == catalog.path else "ledger")
            folder.mkdir(exist_ok=True)
            joined = _join(settings, found, file, folder) if file in files else None
            copies[file.path] = joined or copy_store(file.path, folder)
        values: dict[str, object] = {}
        if (ledger := ledger_file(settings.ledger_address)) is not None:
            values["ledger_url"] = AskedSecret(f"sqlite:///{copies[ledger.path]}")
        if catalog is not None:
            values["lake_catalog"] = AskedSecret(f"sqlite:{copies[catalog.path]}")
        yield _Stage(settings.model_copy(update=values), copies)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _join(settings: Settings, found: Repair, file: StoreFile, folder: Path) -> Path | None:
    """A copy of a file with a log that gives back all acknowledged; None where there is none."""
    if has_new_log(file.path):
        return None
    for log in _list_logs(settings, [file]):
        copy = join_log(file, log, folder)
        if copy is not None and count_commits(replace(file, path=copy)) >= found.lost[str(file.path)][1]:
            found.logs[str(file.path)] = str(log)
            return copy
    return None


def _list_logs(settings: Settings, files: Sequence[StoreFile]) -> list[Path]:
    """Logs that may give back what was lost: those held by processes, then saved, newest first."""
    return [
        log
        for file in files
        for log in (
            *(held.file for held in find_held_logs(file.path)),
            *list_saved_logs(file.path, settings.home / FOLDER),
        )
    ]


def _look(settings: Settings) -> tuple[Repair, list[StoreFile]]:
    """The files that lost commits, and who has the stores open."""
    found = Repair()
    faults = list_store_faults(settings, is_thorough=True)
    found.other_faults = [str(fault) for fault in faults if not fault.is_lost_log]
    lost = {fault.path for fault in faults if fault.is_lost_log}
    files = [file for file in _list_stores(settings) if str(file.path) in lost]
    for file in files:
        found.lost[str(file.path)] = (count_commits(file), read_acknowledged_commit(file.path) or 0)
        if not is_whole(file):
            found.other_faults.append(f"{file.name} {file.path} is damaged (SQLite's integrity check)")
    found.held_by = sorted({held.pid for file in files for held in find_held_logs(file.path)})
    found.used_by = list_users([file.path for file in _list_stores(settings)]) if lost else []
    return found, files


def _list_stores(settings: Settings) -> list[StoreFile]:
    address = settings.ledger_address
    all_files = (ledger_file(address), exam_file(address), catalog_file(settings.catalog_address))
    return [file for file in all_files if file is not None and file.path.exists()]


def _save_held(found: Repair, files: Sequence[StoreFile], folder: Path) -> None:
    held: list[tuple[HeldLog, StoreFile]] = [
        (one, file) for file in files for one in find_held_logs(file.path)
    ]
    for one, file in held:
        save_log(one, file.path, folder)
        found.steps.append(f"saved the log of {file.path} that process {one.pid} holds")


def _weigh(settings: Settings, found: Repair, files: Sequence[StoreFile], stage: _Stage) -> None:
    """Fill in what is missing, unproved and held, of files that no log gives back."""
    from warehouse.ledger.engine.opening import open_ledger

    left = [file for file in files if str(file.path) not in found.logs]
    if not left or found.used_by:
        return
    catalog = catalog_file(settings.catalog_address)
    with (
        open_ledger(stage.settings.ledger_address) as ledger,
        open_lake(stage.settings, read_only=True) as lake,
    ):
        for file in left:
            known, acknowledged = found.lost[str(file.path)]
            if catalog is not None and file.path == catalog.path:
                landings = find_lost_landings(lake)
                found.landings = [one.name for one in landings if one.batch is not None]
                found.missing += _name_gone(landings)
                _count_snapshots(found, landings, acknowledged - known)
            else:
                found.unproved.append(describe_unproved(ledger, file.name, acknowledged - known).describe())
        if any(catalog is None or file.path != catalog.path for file in left):
            found.missing += [gap.describe() for gap in find_missing(ledger, lake, stage.settings)]
        found.held += [gap.describe() for gap in find_held(ledger, lake)]


def _name_gone(landings: Sequence[LostLanding]) -> Iterator[str]:
    gone = tuple(one.name for one in landings if one.batch is None)
    if gone:
        yield Gap("landings were acknowledged, and their rows are in no file any more", gone).describe()


def _count_snapshots(found: Repair, landings: Sequence[LostLanding], lost: int) -> None:
    """Note the snapshots without a file of `landings`: held ones land again, others had no rows."""
    unknown = lost - len({one.landed_at for one in landings})
    if unknown > 0:
        found.unproved.append(
            f"{say_count(unknown, 'snapshot')} of the catalog cannot be proved: a compaction, a change of views, an erasure (proctor erase --again "
            "does it again), or a landing whose files are gone: what the ledger holds is landed again, documents and questions by "
            "proctor ingest of the same papers, editions by proctor publish"
        )


def _list_steps(found: Repair) -> Iterator[str]:
    """What the repair does, or what it waits for."""
    if found.used_by:
        pids = ", ".join(map(str, found.used_by))
        yield (
            f"waits: processes {pids} have the stores open. With --yes the logs that they hold are saved now; then end them "
            "(proctor down; the exam API, the web desk), and run proctor doctor --repair --yes again"
        )
        return
    if found.missing:
        yield "nothing: something acknowledged is missing, and the stores stay refused"
        return
    yield "copy ledger, exam's database and catalog, with logs and marks, as they are"
    for path, log in found.logs.items():
        yield f"put {log} back into {path}: all that was acknowledged is in it"
    yield f"write the entry {ACTION} of the audit log, which fixes this report"
    if found.landings:
        yield f"land {len(found.landings)} landings again from their own files"
    yield "land what the ledger has and the lake lacks"
    yield "accept the stores with what they know then: set their marks"


def _make_folder(settings: Settings) -> Path:
    folder = settings.home / FOLDER / datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    try:
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}). Nothing was changed.") from None
    return folder


def _check_room(folder: Path, files: Sequence[StoreFile], lost_logs: Sequence[Path]) -> None:
    """Check the room for copies of files and logs, and for lost logs that are kept."""
    own_logs = [log for file in files if (log := Path(f"{file.path}-wal")).exists()]
    needed = 2 * sum(path.stat().st_size for path in (*(file.path for file in files), *own_logs, *lost_logs))
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StoreError(
            f"Copies of the stores need {needed / 1e9:.1f} GB of disk at {folder}, and {free / 1e9:.1f} GB are free. Nothing was changed; "
            "make room, and run the command again."
        )


def _finish(settings: Settings, found: Repair, files: Sequence[StoreFile], name: str, digest: str) -> None:
    """The entry first, the marks last: a kill leaves stores refused, or one entry too many."""
    from tasks.operations.reconcile import reconcile
    from warehouse.ledger.engine.opening import open_ledger

    kind = "unproved" if found.unproved else "whole"
    with pardoning([file.path for file in files]), open_ledger(settings.ledger_address) as ledger:
        with ledger.write() as connection:
            add_entry(connection, Entry(ACTION, target=name, code=kind, digest=digest, is_by_caller=True))
        with open_lake(settings) as lake:
            if found.landings:
                count = land_again(lake, find_lost_landings(lake))
                found.steps.append(f"landed {count} landings again")
            landed = reconcile(ledger, lake)
            found.steps.append(f"landed {sum(landed.values())} rows from the ledger")
    for file in files:
        write_acknowledged_commit(file.path, count_commits(file))


def _write_report(folder: Path, found: Repair) -> str:
    """The report beside the copy; returns the SHA-256 of what it says."""
    text = json.dumps(_describe(found), indent=2, ensure_ascii=False)
    path = folder / ("report.json" if not found.is_done else "done.json")
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return hashlib.sha256(text.encode()).hexdigest()


def _describe(found: Repair) -> dict[str, Any]:
    return asdict(found)
