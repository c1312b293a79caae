"""Copies of a home as a whole: make one, check one, put one in place."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import ProctorError, StoreError, UsageError
from schemas.settings import Settings
from warehouse.ledger.engine.sides import find_ledger_file
from warehouse.stores.homes import RESTORING, mark_home
from warehouse.stores.installation import read_home_id

if TYPE_CHECKING:
    from warehouse.backup import BackupTarget

# How long a backup waits for closed runs that are leaving the ledger.
_WAIT_S: Final = 3600.0
# Where the copy of a ledger lies while it is put on a server.
STAGED: Final = ".restoring-ledger"


def backup_home(settings: Settings, folder: Path, *, is_new_place: bool = False) -> dict[str, Any]:
    """Copy ledger, lake, archive, secrets and what is public to a new folder.

    The copy is consistent although flows may write. The lake is copied first: what the ledger holds beyond it is landed again by
    reconcile after a restore. So nothing may leave the ledger for the lake meanwhile. What was copied is removed where it comes to no
    backup, as by Ctrl-C, so that the same can be done again. Raises UsageError where there is no home, the
    folder is not empty or within the home, or, unless it `is_new_place`, no earlier backup lies beside it any more.
    """
    from tasks.running import Progress
    from tasks.running.archives import hold_archives
    from warehouse.backup import BackupManifest, BackupTarget, finish_backup, writing_backup
    from warehouse.lake import read_code_version
    from warehouse.ledger.engine.moments import now_text

    if not settings.home.exists():
        raise UsageError(f"PROCTOR_HOME {settings.home} does not exist; there is nothing to back up.")
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name a new folder for the backup.")
    if folder.resolve().is_relative_to(settings.home.resolve()):
        raise UsageError(
            f"{folder} lies within PROCTOR_HOME {settings.home}: what destroys the home would destroy the backup. Name a folder outside it."
        )
    if not is_new_place:
        check_mounted(settings, folder.parent, besides=folder)
    installation_id = read_home_id(settings)
    backup_id, begun_at = str(uuid.uuid4()), now_text()
    with _forgotten_if_empty(settings, folder), writing_backup(folder, begun_at):
        _note(settings, folder, backup_id, begun_at)
        with (
            Progress("backup: files copied") as progress,
            hold_archives(settings, wait_s=_WAIT_S),
        ):
            target = BackupTarget(folder, progress.advance)
            stores, copied = _copy_home(settings, target)
            folders, files = target.finish()
        manifest = BackupManifest(
            backup_id=backup_id,
            installation_id=installation_id,
            begun_at=begun_at,
            finished_at=now_text(),
            proctor_version=read_code_version(),
            stores=stores,
            folders=folders,
            files=files,
        )
        finish_backup(folder, manifest)
    return {
        "folder": str(folder),
        "copied": copied,
        "backup_id": backup_id,
        "file_count": len(files),
        "byte_count": manifest.size,
    }


def check_mounted(settings: Settings, place: Path, *, besides: Path | None = None) -> None:
    """Raise UsageError where backups were made in a place and none lies there: on another disk?

    One in the folder `besides`, which is to be written and is empty, was taken away by whoever names it again.
    """
    from warehouse.backup import is_finished
    from warehouse.ledger.engine.copies.backup import check_source
    from warehouse.ledger.engine.copies.backups import list_backups
    from warehouse.ledger.engine.opening import open_ledger

    if not settings.home.exists():
        return
    check_source(settings.ledger_address)
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        noted = [(Path(one.folder), one.begun_at) for one in list_backups(connection)]
    own = None if besides is None else besides.resolve()
    made = [(path, begun) for path, begun in noted if path.parent == place.resolve() and path != own]
    if not made or any(path.exists() for path, _ in made):
        return
    # An older ledger, put back, does not know the backups that have come since.
    if not place.is_dir() or not any(is_finished(path) for path in place.iterdir()):
        raise UsageError(
            f"{place} has none of the {len(made)} backups made there, the newest begun {made[0][1][:16]} UTC: its disk may not be mounted. "
            "Mount it; where none is to be there any more, as on a new disk, add --new-place to `proctor backup` once."
        )


def _note(settings: Settings, folder: Path, backup_id: str, begun_at: str) -> None:
    """Note a backup before anything is copied: one that is killed holds content as well."""
    import socket

    from schemas.ledger.engine import Backup
    from warehouse.ledger.engine.copies.backup import check_source
    from warehouse.ledger.engine.copies.backups import note_backup
    from warehouse.ledger.engine.opening import open_ledger

    check_source(settings.ledger_address)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        backup = Backup(
            backup_id=backup_id, folder=str(folder.resolve()), host=socket.gethostname(), begun_at=begun_at
        )
        note_backup(connection, backup)


@contextmanager
def _forgotten_if_empty(settings: Settings, folder: Path) -> Iterator[None]:
    """Take the note back where the block fails and leaves nothing of a backup."""
    from warehouse.ledger.engine.copies.backups import forget_backups
    from warehouse.ledger.engine.opening import open_ledger

    try:
        yield
    except BaseException:
        if not folder.exists() or not any(folder.iterdir()):
            with (
                suppress(ProctorError),
                open_ledger(settings.ledger_address) as ledger,
                ledger.write() as connection,
            ):
                forget_backups(connection, [folder])
        raise


def _copy_home(settings: Settings, target: BackupTarget) -> tuple[dict[str, str], list[str]]:
    """Give the parts of a home to a backup; the kinds of its stores, and the parts' names."""
    from tasks.exam.public.log import copy_logs, list_published, name_public_folder
    from warehouse.lake import open_lake
    from warehouse.lake.upkeep import backup_lake
    from warehouse.ledger.engine.copies.backup import backup_ledger

    with open_lake(settings) as lake:
        backup_lake(lake, target.folder / "lake", target)
    places = _name_places(settings)
    # Before the ledger: the files of heads and of the public log must not know what the copy of the ledger lacks.
    copied = ["lake", *_add_places(target, {name: places.pop(name) for name in ("archive", "secrets")})]
    for path in _list_own_keys(settings):
        if path.exists() and path.parent != settings.secrets_path:
            target.add_file(path, f"secrets/{path.name}")
    public = name_public_folder(settings)
    copy_logs(public, target.folder / "public")
    copied += backup_ledger(settings.ledger_address, target.folder / "ledger.sqlite")
    # After it: files are there before the ledger names them.
    if public.exists():
        for path, inner in list_published(public):
            target.add_file(path, f"public/{inner}")
        copied.append("public")
    copied += _add_places(target, places)
    return _name_stores(settings), copied


def _add_places(target: BackupTarget, places: Mapping[str, Path]) -> list[str]:
    """Copy what is there of these files and folders; the names of what was."""
    there = {name: place for name, place in places.items() if place.exists()}
    for name, place in there.items():
        (target.add_tree if place.is_dir() else target.add_file)(place, name)
    return [*there]


def _name_places(settings: Settings) -> dict[str, Path]:
    """Where what no store holds and nothing makes again lies, but for what is public."""
    return {
        "archive": settings.archive_dir,
        "secrets": settings.secrets_path,
        "models.yaml": settings.registry_path,
        "disciplines.yaml": settings.disciplines_path,
        # What people were asked to score, and the places of the questions by which their scores are known.
        **{
            name: settings.home / name for name in ("cgeval/questions.csv", "cgeval/former", "cgeval/samples")
        },
    }


def _list_own_keys(settings: Settings) -> list[Path]:
    """The files that sign the audit log on this host alone, wherever other keys lie."""
    from tasks.exam.log import name_heads_file
    from tasks.exam.log.signing import name_key_file

    return [name_key_file(settings), name_heads_file(settings)]


def _name_stores(settings: Settings) -> dict[str, str]:
    """On what each store lies, without its address."""
    from warehouse.lake import is_postgres, is_remote

    return {
        "ledger": "PostgreSQL" if find_ledger_file(settings.ledger_address) is None else "SQLite",
        "catalog": "PostgreSQL" if is_postgres(settings.catalog_address) else "SQLite",
        "files": "object store" if is_remote(settings.data_address) else "folder",
    }


def verify_backup(folder: Path) -> dict[str, Any]:
    """Compare a backup with its list, writing nothing; raises as `read_manifest` does."""
    from tasks.running import Progress
    from warehouse.backup import find_differences, read_manifest

    manifest = read_manifest(folder)
    with Progress("backup: files checked", len(manifest.files)) as progress:
        found = find_differences(folder, manifest, progress.advance)
    return {
        "folder": str(folder),
        "backup_id": manifest.backup_id,
        "begun_at": manifest.begun_at,
        "finished_at": manifest.finished_at,
        "file_count": len(manifest.files),
        "byte_count": manifest.size,
        "differences": found,
    }


def restore_home(settings: Settings, folder: Path) -> dict[str, Any]:
    """Put a backup into an empty home.

    The backup is read and checked whole before anything of it is put in place. What a restore that was killed has put into the
    home is put there once more. Raises UsageError for a home that is not empty and for places in the backup, StoreError when
    the public log is not the ledger's, and as `warehouse.backup.read_manifest` and `check_backup` do.
    """
    from tasks.running import Progress
    from warehouse.backup import check_backup, read_manifest
    from warehouse.ledger.engine.copies.server_backup import check_copied_form

    manifest = read_manifest(folder)
    _check_apart(settings, folder.resolve())
    _check_empty(settings)
    with Progress("restore: files checked", len(manifest.files)) as progress:
        check_backup(folder, manifest, progress.advance)
    check_copied_form(folder / "ledger.sqlite")
    refusal: StoreError | None = None
    with _restoring(settings):
        try:
            _put_in_place(settings, folder)
        except OSError as error:
            # Of a whole folder each file has its own reason.
            reason = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror or error
            raise StoreError(
                f"The backup in {folder} could not be put into {settings.home} whole ({reason}). Make room there or let PROCTOR_HOME name "
                "another place, and restore again: it begins anew."
            ) from None
        try:
            _restore_logs(settings)
        except StoreError as error:
            refusal = error  # All is in place, and the way on is in the error.
        # A power cut must not take back what somebody was told is restored.
        os.sync()
    if refusal is not None:
        raise refusal
    return {
        "home": str(settings.home),
        # What was in the backup, wherever settings put it: ledger and lake may be on servers.
        "restored": sorted({one.path.split("/")[0] for one in manifest.files}),
        "backup_id": manifest.backup_id,
        "finished_at": manifest.finished_at,
    }


def _check_apart(settings: Settings, folder: Path) -> None:
    """Raise UsageError where home and backup lie one in the other, or a part would be put there.

    The home is emptied, and a backup is never written to.
    """
    from tasks.exam.public.log import name_public_folder
    from warehouse.lake import is_postgres, is_remote

    catalog, ledger = settings.catalog_address, find_ledger_file(settings.ledger_address)
    places = [settings.home, *_name_places(settings).values(), name_public_folder(settings)]
    places += [] if ledger is None else [ledger]
    places += [] if is_postgres(catalog) else [Path(catalog.removeprefix("sqlite:"))]
    places += [] if is_remote(settings.data_address) else [Path(settings.data_address)]
    for place in places:
        if place.resolve().is_relative_to(folder) or folder.is_relative_to(settings.home.resolve()):
            raise UsageError(
                f"{place} and the backup {folder} lie one in the other. Let PROCTOR_HOME, PROCTOR_SHARED or the setting of this place name a "
                "new one beside it."
            )


def _check_empty(settings: Settings) -> None:
    """Raise UsageError for a home that holds anything but what a killed restore has put there."""
    home = settings.home
    if home.exists() and any(home.iterdir()) and not (home / RESTORING).exists():
        raise UsageError(
            f"PROCTOR_HOME {home} is not empty; a backup is restored into an empty one. Let PROCTOR_HOME name a new folder."
        )


@contextmanager
def _restoring(settings: Settings) -> Iterator[None]:
    """Within the block the home is marked as half restored, so that nothing uses it.

    It is emptied first. The mark stays when the block does not end, unless nothing was put beside it.
    """
    from filelock import FileLock, Timeout

    home, mark = settings.home, settings.home / RESTORING
    _check_empty(settings)
    was_there = home.exists()
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o700)
    try:
        lock = FileLock(mark, timeout=0).acquire()
    except Timeout:
        raise UsageError(f"Another process restores a backup into {home}; wait for it.") from None
    with lock:
        for path in home.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path != mark:
                path.unlink()
        try:
            yield
        except BaseException:
            if list(home.iterdir()) == [mark]:
                mark.unlink()
                if not was_there:
                    home.rmdir()
            raise
        mark.unlink()


def _put_in_place(settings: Settings, folder: Path) -> None:
    """Copy a backup's parts to their places."""
    from tasks.exam.public.log import name_public_folder
    from warehouse.lake.upkeep import check_empty_lake, restore_lake
    from warehouse.ledger.engine.copies.files import restore_ledger
    from warehouse.ledger.engine.copies.server_backup import fill_server_ledger

    places = {**_name_places(settings), "public": name_public_folder(settings)}
    # Before anything is written to a server, or to a folder that other hosts share.
    check_empty_lake(settings)
    for name, place in places.items():
        _check_unlike_none(folder / name, place)
    ledger = find_ledger_file(settings.ledger_address)
    if ledger is None:
        staging = settings.home / STAGED
        fill_server_ledger(folder / "ledger.sqlite", settings.ledger_address, staging)
        shutil.rmtree(staging)
    else:
        ledger.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        restore_ledger(folder / "ledger.sqlite", ledger)
    restore_lake(settings, folder / "lake")
    # What signs for this host alone never enters a folder that hosts share, nor is it moved from one: that may be another mount.
    own_keys = [path for path in _list_own_keys(settings) if path.parent != settings.secrets_path]
    for name, place in places.items():
        if (folder / name).is_dir():
            ignore = shutil.ignore_patterns(*(path.name for path in own_keys)) if name == "secrets" else None
            shutil.copytree(folder / name, place, ignore=ignore, dirs_exist_ok=True)
        elif (folder / name).exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / name, place)
    for path in own_keys:
        held = folder / "secrets" / path.name
        if held.exists():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            shutil.copy2(held, path)
    mark_home(settings)


def _check_unlike_none(copied: Path, place: Path) -> None:
    """Raise UsageError where a file of the backup would replace a different one."""
    import filecmp

    if not place.exists() or not copied.exists():
        return
    files = [copied] if copied.is_file() else [path for path in copied.rglob("*") if path.is_file()]
    for inner in (path.relative_to(copied) for path in files):
        if (place / inner).exists() and not filecmp.cmp(copied / inner, place / inner, shallow=False):
            raise UsageError(
                f"{place / inner} is there already, and is not what the backup holds. Let PROCTOR_SHARED (or the setting of this "
                "folder) name an empty place, or put what lies there elsewhere, then restore again."
            )


def _restore_logs(settings: Settings) -> None:
    """Give the file of heads and the public log what was written while the backup was made."""
    from tasks.exam.log import copy_heads
    from tasks.exam.log.signing import has_signer
    from tasks.exam.public.log import write_public_log
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(settings.ledger_address) as ledger:
        if has_signer(settings):
            copy_heads(ledger, settings)
        write_public_log(ledger, settings)
