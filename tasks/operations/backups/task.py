"""Backups as Prefect sees them: make and rotate; try the newest and land what came of it."""

from __future__ import annotations

from typing import Final

from schemas.errors import ContractError
from schemas.settings import load_settings
from tasks.operations.backups.drill import check_restore, land_check
from tasks.operations.backups.kept import make_kept_backup
from tasks.running.flow_runs import step

_MOST_NAMED: Final = 5


@step()
def keep_backups() -> dict[str, object]:
    """Make the night's backup and rotate; nothing where the setting `backups` names no folder."""
    settings = load_settings()
    if settings.backups is None:
        return {"made": 0, "deleted": 0}
    made = make_kept_backup(settings)
    return {
        "made": 1,
        "deleted": len(made["deleted"]),
        "kept": len(made["kept"]),
        "files": made["file_count"],
        "bytes": made["byte_count"],
    }


@step()
def try_newest_backup() -> dict[str, object]:
    """Restore the newest backup into an empty place, look at all of it, and remove the place.

    What was found lands as a row of `restore_checks`. Nothing where the setting `backups` names no folder. Raises ContractError where the backup is not whole: it names what is wrong.
    """
    settings = load_settings()
    if settings.backups is None:
        return {"checked": 0}
    found = check_restore(settings)
    land_check(settings, found)
    if problems := found.problems:
        more = len(problems) - _MOST_NAMED
        raise ContractError(
            f"The backup {found.folder} cannot be relied on: {'; '.join(problems[:_MOST_NAMED])}"
            f"{f'; and {more} more' if more > 0 else ''}. Make another one (`proctor backup`), and keep the earlier ones until it is good."
        )
    return {"checked": 1, "files": found.file_count, "rows": found.row_count, "landings": found.landed_count}
