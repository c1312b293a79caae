"""A try of a restore: the newest backup into an empty place, which is looked at and removed."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import StoreError, UsageError
from schemas.settings import GivenSettings, Settings
from tasks.operations.backups.kept import check_owner, hold_folder, note_tried, read_kept
from warehouse.backup import read_manifest

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Ledger

# Below the folder of backups: an earlier try that was killed leaves it to the next.
_PLACE: Final = ".restore-check"
# What was dated before a backup began is in it, but for a transaction that took longer than this.
_SLACK: Final = timedelta(minutes=1)
_LANDED: Final = (
    "begun_at",
    "checked_at",
    "duration_s",
    "file_count",
    "byte_count",
    "row_count",
    "landed_count",
)
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class RestoreCheck:
    """What a try came to.

    Attributes:
        folder: where it lies.
        begun_at: when it was begun.
        checked_at: when it was tried.
        duration_s: how long the try took.
        file_count: files that were compared with its list.
        byte_count: their bytes.
        row_count: rows of its ledger, all of which were restored.
        landed_count: landings of its lake that are as they were landed.
        problems: what was found wrong, a sentence each; empty for a good one.
    """

    backup_id: str
    folder: Path
    begun_at: datetime
    checked_at: datetime
    duration_s: float
    file_count: int
    byte_count: int
    row_count: int
    landed_count: int
    problems: tuple[str, ...]


def check_restore(settings: Settings) -> RestoreCheck:
    """Restore the newest whole backup and look at all of it; `problems` has what is wrong.

    Looked at are every file against the list, every row of the ledger against the copy, what the live ledger had when the backup was begun,
    the audit log with all that it fixes, and the lake with its checks and the contents of every landing. Raises UsageError where there is no
    backup, and StoreError while another process holds the folder.
    """
    if settings.backups is None or not (kept := read_kept(settings).backups):
        raise UsageError(
            f"There is no whole backup in {settings.backups or 'any folder: the setting `backups` names none'}. `proctor backup` makes one."
        )
    newest = kept[0]
    place = settings.backups / _PLACE
    with hold_folder(settings.backups):
        check_owner(settings, settings.backups)
        shutil.rmtree(place, ignore_errors=True)
        began = time.monotonic()
        try:
            found = _try(settings, newest.folder, place)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        checked_at = datetime.now(UTC)
        if not found["problems"]:
            note_tried(settings, newest.folder.name, checked_at.isoformat(timespec="seconds"))
    return RestoreCheck(
        folder=newest.folder,
        begun_at=newest.begun_at,
        checked_at=checked_at,
        duration_s=time.monotonic() - began,
        **found,
    )


def land_check(settings: Settings, found: RestoreCheck) -> None:
    """Land a try as a row of `restore_checks`."""
    from schemas.tables import get_table
    from warehouse.lake import open_lake

    row = {name: getattr(found, name) for name in _LANDED} | {
        "backup_id": found.backup_id or found.folder.name,
        "folder": str(found.folder),
        "is_good": not found.problems,
        "problem": "; ".join(found.problems[:_MOST_NAMED]) or None,
    }
    with open_lake(settings) as lake:
        frame = get_table("restore_checks").frame([row])
        lake.land("restore_checks", f"{found.folder.name}/{found.checked_at:%Y%m%dT%H%M%S%f}", frame)


def _try(live: Settings, folder: Path, place: Path) -> dict[str, Any]:
    from tasks.operations.backups.copies import restore_home
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    # Nothing of the living installation: its ledger, its lake and its folders are named by nothing here.
    settings = GivenSettings.model_validate({"home": place})
    found: dict[str, Any] = {
        "backup_id": "",
        "file_count": 0,
        "byte_count": 0,
        "row_count": 0,
        "landed_count": 0,
    }
    problems: list[str] = []
    try:
        manifest = read_manifest(folder)
        found |= {
            "backup_id": manifest.backup_id,
            "file_count": len(manifest.files),
            "byte_count": manifest.size,
        }
        restore_home(settings, folder)
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
            rows, differing = _compare_rows(folder, ledger)
            found["row_count"] = rows
            problems += differing
            problems += _compare_with_live(live, manifest.begun_at, ledger, lake)
            problems += _check_log(ledger, settings)
            landed, wrong = _check_lake(ledger, lake)
            found["landed_count"] = landed
            problems += wrong
    except (StoreError, UsageError) as error:
        problems.append(str(error))
    except OSError as error:
        # A full disk, or a folder that may not be written.
        problems.append(f"{error.filename or place}: {error.strerror}")
    return found | {"problems": tuple(problems)}


def _compare_rows(folder: Path, ledger: Ledger) -> tuple[int, list[str]]:
    """Rows of the restored ledger, and the tables that have other counts than the copy."""
    from warehouse.ledger.engine.copies.backups import count_copied_rows, count_rows

    with ledger.read() as connection:
        restored = count_rows(connection)
    copied = count_copied_rows(folder)
    differing = [
        f"{name}: {restored[name]} rows were restored of {count} in the copy"
        for name, count in sorted(copied.items())
        if restored[name] != count
    ]
    return sum(restored.values()), differing


def _compare_with_live(live: Settings, begun_at: str, ledger: Ledger, lake: Lake) -> list[str]:
    """What the living ledger had when the backup was begun, and the restored one lacks."""
    from tasks.running.archives import count_dated_before
    from warehouse.ledger.engine.moments import write_moment
    from warehouse.ledger.engine.opening import open_ledger

    moment = write_moment((datetime.fromisoformat(begun_at) - _SLACK).timestamp())
    with open_ledger(live.ledger_address) as living:
        there = count_dated_before(living, live, moment)
    restored = count_dated_before(ledger, lake, moment)
    return [
        f"{name}: the ledger had {count} before the backup, and {restored[name]} were restored"
        for name, count in there.items()
        if restored[name] != count
    ]


def _check_log(ledger: Ledger, settings: Settings) -> list[str]:
    from tasks.exam.log import check_log

    report = check_log(ledger, settings)
    return [f"audit log: {one.name}, {one.where}: {one.reason}" for one in report.findings]


def _check_lake(ledger: Ledger, lake: Lake) -> tuple[int, list[str]]:
    """Landings that are as they were landed, and what is wrong with the lake."""
    from tasks.operations.reconcile import reconcile
    from tasks.operations.validation import find_month_differences
    from warehouse.lake.reading import run_checks
    from warehouse.lake.upkeep import check_landings

    # The lake is copied before the ledger: a flow lands the rest first, here as after any restore.
    reconcile(ledger, lake)
    integrity = check_landings(lake)
    problems = [f"lake: {unit} is not as it was landed" for unit in integrity.changed]
    problems += [
        f"lake: {table} cannot be read: {refusal}" for table, refusal in integrity.unreadable.items()
    ]
    problems += [
        f"check {result.name}: {len(result.offending)} rows offend"
        for result in run_checks(lake)
        if len(result.offending)
    ]
    problems += [one.describe() for one in find_month_differences(ledger, lake)]
    return integrity.checked, problems
