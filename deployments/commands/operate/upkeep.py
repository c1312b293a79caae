"""An installation kept whole: backup, restore, compact, doctor."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line import check_home
from deployments.command_line.printing import paint, print_result
from schemas.errors import UsageError
from schemas.settings import load_settings
from warehouse.stores.away import not_waiting


def backup(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="New folder for the copy; with --verify one that was written. Left out: the folder of kept backups."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Copy nothing: compare every file of a backup with the list in it."),
    ] = False,
    new_place: Annotated[
        bool,
        typer.Option(
            "--new-place",
            help="No earlier backup is to be there, as on a new disk: else a place without those made in it is taken for one that is not mounted.",
        ),
    ] = False,
) -> None:
    """Copy ledger, lake, archive and secrets, consistently, while flows may run.

    Without a folder it does what the deployment `backup` does every night: a backup in the folder that the setting `backups` names, and
    then those deleted that `keep_daily`, `keep_weekly` and `keep_monthly` do not keep.

    Example: proctor backup /backups/2026-11-21
    """
    from tasks.operations.backups import backup_home, make_kept_backup, verify_backup

    if verify and new_place:
        raise UsageError("--new-place is said of a backup that is made. Leave it or --verify away.")
    if folder is None:
        if verify:
            raise UsageError("--verify goes with the folder of a backup: name it.")
        print_result(
            make_kept_backup(load_settings(), is_new_place=new_place),
            then="proctor restore --check tries it out",
        )
        return
    if verify:
        found = verify_backup(folder)
        is_whole = not found["differences"]
        print_result(
            found,
            then="proctor restore puts it into an empty home"
            if is_whole
            else "take another copy of the backup, or an earlier one",
        )
        if not is_whole:
            raise typer.Exit(1)
        return
    copied = backup_home(load_settings(), folder, is_new_place=new_place)
    print_result(copied, then=f"PROCTOR_HOME=NEW proctor restore {folder} tries it out")


def restore(
    folder: Annotated[
        Path | None, typer.Argument(help="Folder that `proctor backup` wrote; left out with --check.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Try the newest of the kept backups: restored into a place of its own, looked at, removed. PROCTOR_HOME stays as it is.",
        ),
    ] = False,
) -> None:
    """Put a backup into an empty PROCTOR_HOME.

    The whole of it is checked before anything is put in place. With --check files, tables and landings are compared with the lists and with
    what the living ledger had when the backup began, the audit and every check are run, and what came of it is a row of `restore_checks`.

    Example: PROCTOR_HOME=/srv/proctor proctor restore /backups/2026-11-21

    Example: proctor restore --check
    """
    from tasks.operations.backups import restore_home

    if check:
        if folder is not None:
            raise UsageError("--check tries the newest of the kept backups. Leave the folder out.")
        _check_restore()
        return
    if folder is None:
        raise UsageError("Name the folder of a backup; --check tries the newest of those that are kept.")
    print_result(restore_home(load_settings(), folder), then="proctor doctor")


def _check_restore() -> None:
    from tasks.operations.backups import check_restore, land_check

    settings = load_settings()
    check_home(settings)
    found = check_restore(settings)
    land_check(settings, found)
    print_result(
        asdict(found) | {"folder": str(found.folder)},
        then="take an earlier backup, and make another one: proctor backup" if found.problems else "",
    )
    if found.problems:
        raise typer.Exit(1)


def compact() -> None:
    """Merge the lake's files, drop old snapshots and orphans. Queries run meanwhile.

    Small files of a month are merged by themselves when it closes; old snapshots, and the files that only they need, stay until this
    drops them.

    Example: proctor compact
    """
    from warehouse.lake import open_lake
    from warehouse.lake.upkeep import close_months, compact_lake

    with open_lake(load_settings()) as lake:
        counts = compact_lake(lake)
        # Months are known by their files, which are others now.
        close_months(lake)
    print_result(counts)


def doctor(
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Look for the way back of a home that lacks commits that were acknowledged, and show it.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --repair: do it.")] = False,
    all_rows: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Read every row of lake and ledger and every file of the archive, also what was found as it was closed before.",
        ),
    ] = False,
) -> None:
    """Check the installation and the data: programs, versions and stores.

    It also runs every check of warehouse/sql/checks. Every file of the lake is read to its last byte; rows only of those whose bytes
    differ from what was read before, so that a damaged file is found whenever it was damaged. Of the ledger, a closed session that was
    found as audit log, public log and lake have it is known by its row and the number of its rows, a set likewise, and the audit log by
    its last entry; a file of the archive is known by its size and its moments; a thirtieth of each is read again each time, and what is
    not is said. A session that came since is held as a whole to what its landing compared and noted in the audit log; its turn to be read
    comes first. What was found is kept in the home (doctor/looked): with --all it is not believed, and every row and file is read and
    hashed again.

    Exit code 1 when something needs attention, 0 when all is fine; `--` marks what lacks and nobody needs now. With --repair a home
    whose write-ahead log was removed is looked into: what can be proved of the missing commits is named, and with --yes the stores are
    mended. What is surely missing is never passed over: then nothing is changed, and a backup is the way.

    Example: proctor doctor
    """
    from deployments.doctor import examine_home

    if repair:
        _repair(yes=yes)
        return
    if yes:
        raise UsageError("--yes goes with --repair: the doctor changes nothing.")
    # A store that is away is a finding, and no reason to wait.
    with not_waiting():
        findings = examine_home(load_settings(), is_all_read=all_rows)
    bad = [finding for finding in findings if finding.severity == "wrong"]
    print_result(
        {"findings": [finding.describe() for finding in findings], "problem_count": len(bad)},
        lines=[
            line
            for f in findings
            for line in (f"{_mark(f.severity)}  {f.what}: {f.found}", *([f"     {f.fix}"] if f.fix else []))
        ],
    )
    if bad:
        raise typer.Exit(1)


def _repair(*, yes: bool) -> None:
    from deployments.doctor import describe_repair
    from tasks.operations.repair import inspect_home, repair_home

    settings = load_settings()
    check_home(settings)
    found = repair_home(settings) if yes else inspect_home(settings)
    print_result({**asdict(found), "may_be_done": found.may_be_done}, lines=describe_repair(found, yes=yes))
    if found.other_faults or (found.lost and not found.is_done):
        raise typer.Exit(1)


def _mark(severity: str) -> str:
    if severity == "note":
        return "-- "
    return paint("ok ", "green") if severity == "fine" else paint("BAD", "red")
