"""Copies of a home as a whole, plain or encrypted: make one, check one, put one in place."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import UsageError
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.backup import BackupManifest, BackupTarget, Earlier, PlainTarget
    from warehouse.encryption import EarlierEncrypted, EncryptedTarget, EncryptionKey

# Where the files of an encrypted backup lie while they are put in place.
EXTRACTED: Final = ".restoring"
# Where the copy of a ledger lies while it is put on a server.
STAGED: Final = ".restoring-ledger"


def backup_home(
    settings: Settings, folder: Path, *, encrypt: bool | None = None, since: Path | None = None
) -> dict[str, Any]:
    """Copy ledger, lake, archive, secrets and what is public to a new folder; consistent although flows may write.

    The lake is copied first: what the ledger holds beyond it is landed again by reconcile after a restore. `encrypt`: write
    nothing but encrypted files; null does so where a key is set. `since`: an earlier backup, from which unchanged files are
    linked instead of copied; this one is whole without it. Raises StoreError where encryption is asked for without a key, and
    where the earlier backup is not whole.
    """
    from warehouse.backup import BackupManifest, begin_backup, finish_backup, open_earlier
    from warehouse.encryption import open_encrypted, read_key_ring, require_key_ring
    from warehouse.lake import read_code_version
    from warehouse.ledger.engine.moments import now_text
    from warehouse.stores.installation import read_home_id

    if not settings.home.exists():
        raise UsageError(f"PROCTOR_HOME {settings.home} does not exist; there is nothing to back up.")
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name a new folder for the backup.")
    ring = None
    if encrypt is not False:
        ring = (
            require_key_ring(settings, "An encrypted backup is asked for")
            if encrypt
            else read_key_ring(settings)
        )
    key = None if ring is None else ring.newest
    key_id = None if key is None else key.key_id
    installation_id = read_home_id(settings)
    earlier = None if since is None else open_earlier(since, installation_id, key_id)
    # Refused before anything is written where its key is not given.
    encrypted = open_encrypted(earlier, ring) if earlier and ring else None
    backup_id, begun_at = str(uuid.uuid4()), now_text()
    _note(settings, folder, backup_id, begun_at, key_id)
    begin_backup(folder, begun_at)
    with _open_target(settings, folder, backup_id, key, earlier, encrypted) as target:
        stores, copied = _copy_home(settings, target)
        folders, files = target.finish()
    manifest = BackupManifest(
        backup_id=backup_id,
        installation_id=installation_id,
        begun_at=begun_at,
        finished_at=now_text(),
        proctor_version=read_code_version(),
        key_id=key_id,
        since=None if earlier is None else earlier.manifest.backup_id,
        stores=stores,
        folders=folders,
        files=files,
    )
    finish_backup(folder, manifest)
    return {
        "folder": str(folder),
        "copied": copied,
        "key_id": manifest.key_id,
        "backup_id": backup_id,
        "file_count": len(files),
        "byte_count": manifest.size,
        "linked_count": target.shared.file_count,
        "linked_bytes": target.shared.byte_count,
    }


def _note(settings: Settings, folder: Path, backup_id: str, begun_at: str, key_id: str | None) -> None:
    """Let the ledger know of a backup, before anything is copied: a killed one holds content as well."""
    import socket

    from schemas.ledger.engine import Backup
    from warehouse.ledger.engine.backup import check_source
    from warehouse.ledger.engine.backups import note_backup
    from warehouse.ledger.engine.opening import open_ledger

    check_source(settings.ledger_address)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        note_backup(
            connection,
            Backup(
                backup_id=backup_id,
                folder=str(folder.resolve()),
                host=socket.gethostname(),
                begun_at=begun_at,
                key_id=key_id,
            ),
        )


@contextmanager
def _open_target(
    settings: Settings,
    folder: Path,
    backup_id: str,
    key: EncryptionKey | None,
    earlier: Earlier | None,
    encrypted: EarlierEncrypted | None,
) -> Iterator[PlainTarget | EncryptedTarget]:
    from tasks.running import Progress
    from warehouse.backup import PlainTarget
    from warehouse.encryption import encrypting_backup

    title = "backup: files copied" if key is None else "backup: files encrypted"
    with Progress(title) as progress:
        if key is None:
            yield PlainTarget(folder, earlier, progress.advance)
            return
        with encrypting_backup(folder, settings.home, key, backup_id, encrypted, progress.advance) as target:
            yield target


def _copy_home(settings: Settings, target: BackupTarget) -> tuple[dict[str, str], list[str]]:
    """Give the parts of a home to a backup; answers with the kinds of its stores, and the names of the parts."""
    from tasks.exam.public import copy_logs, list_published, name_public_folder
    from warehouse.lake import backup_lake, open_lake
    from warehouse.ledger.engine.backup import backup_ledger

    with open_lake(settings) as lake:
        backup_lake(lake, target.staging / "lake", target)
    copied = ["lake"]
    # Before the ledger: the files of heads and of the public log must not know what the copy of the ledger lacks.
    for name, place in (("archive", settings.archive_dir), ("secrets", settings.secrets_path)):
        if place.exists():
            target.add_tree(place, name, is_fixed=name == "archive")
            copied.append(name)
    for path in _list_own_keys(settings):
        if path.exists() and path.parent != settings.secrets_path:
            target.add_file(path, f"secrets/{path.name}")
    public = name_public_folder(settings)
    copy_logs(public, target.staging / "public")
    copied += backup_ledger(settings.ledger_address, target.staging / "ledger.sqlite")
    # After it: files are there before the ledger names them.
    if public.exists():
        for path, inner in list_published(public):
            target.add_file(path, f"public/{inner}")
        copied.append("public")
    if settings.registry_path.exists():
        target.add_file(settings.registry_path, "models.yaml")
        copied.append("models.yaml")
    return _name_stores(settings), copied


def _list_own_keys(settings: Settings) -> list[Path]:
    """What signs the audit log on this host alone: in the home, wherever the keys of the installation lie."""
    from tasks.exam.log import name_heads_file, name_key_file

    return [name_key_file(settings), name_heads_file(settings)]


def _name_stores(settings: Settings) -> dict[str, str]:
    """On what each store lies, without its address."""
    from warehouse.lake import is_postgres, is_remote
    from warehouse.ledger.engine.sides import find_ledger_file

    return {
        "ledger": "PostgreSQL" if find_ledger_file(settings.ledger_address) is None else "SQLite",
        "catalog": "PostgreSQL" if is_postgres(settings.catalog_address) else "SQLite",
        "files": "object store" if is_remote(settings.data_address) else "folder",
    }


def verify_backup(settings: Settings, folder: Path) -> dict[str, Any]:
    """Compare a backup with its list, file by file; an encrypted one is decrypted as well where its key is given.

    Nothing is written. Raises StoreError for one that was not finished, and UsageError for one of a version that wrote no list.
    """
    from tasks.running import Progress
    from warehouse.backup import NAME, find_differences, read_manifest
    from warehouse.encryption import find_damage, read_key_ring
    from warehouse.encryption import read_manifest as read_contents

    manifest = read_manifest(folder)
    if manifest is None:
        raise UsageError(
            f"{folder} has no {NAME}: it is no backup, or one of an earlier version, which wrote no list to check it by."
        )
    with Progress("backup: files checked", len(manifest.files)) as progress:
        found = find_differences(folder, manifest, progress.advance)
    ring = read_key_ring(settings) if manifest.key_id else None
    if ring is not None and not found:
        contents = read_contents(folder, ring)
        with Progress("backup: files decrypted", len(contents.files)) as progress:
            found = find_damage(folder, ring, contents, progress.advance)
    return {
        "folder": str(folder),
        "backup_id": manifest.backup_id,
        "begun_at": manifest.begun_at,
        "finished_at": manifest.finished_at,
        "key_id": manifest.key_id,
        "is_decrypted": ring is not None,
        "file_count": len(manifest.files),
        "byte_count": manifest.size,
        "differences": found,
    }


def restore_home(settings: Settings, folder: Path) -> dict[str, Any]:
    """Put a backup into an empty home; it is read and checked whole before anything of it is put in place."""
    from warehouse.backup import read_manifest
    from warehouse.encryption import is_encrypted_backup

    manifest = read_manifest(folder)
    is_encrypted = is_encrypted_backup(folder)
    if not is_encrypted and (not (folder / "ledger.sqlite").exists() or not (folder / "lake").exists()):
        raise UsageError(
            f"{folder} is not a backup: it holds no ledger.sqlite and lake. Name what `proctor backup` wrote."
        )
    extracted = settings.home / EXTRACTED
    if settings.home.exists() and any(path != extracted for path in settings.home.iterdir()):
        raise UsageError(
            f"PROCTOR_HOME {settings.home} is not empty; a backup is restored into an empty one."
            + (
                " A restore into it was interrupted: delete it and restore again."
                if extracted.exists()
                else ""
            )
        )
    restored = (
        _restore_encrypted(settings, folder) if is_encrypted else _restore_plain(settings, folder, manifest)
    )
    # A power cut must not take back what somebody was told is restored.
    os.sync()
    return restored | {
        "backup_id": manifest and manifest.backup_id,
        "finished_at": manifest and manifest.finished_at,
    }


def _restore_plain(settings: Settings, folder: Path, manifest: BackupManifest | None) -> dict[str, Any]:
    from tasks.running import Progress
    from warehouse.backup import check_backup

    # A backup of an earlier version has no list to check it by.
    if manifest is not None:
        with Progress("restore: files checked", len(manifest.files)) as progress:
            check_backup(folder, manifest, progress.advance)
    return _put_in_place(settings, folder)


def _restore_encrypted(settings: Settings, folder: Path) -> dict[str, Any]:
    from tasks.running import Progress
    from warehouse.encryption import extract_backup, read_manifest, require_key_ring

    extracted = settings.home / EXTRACTED
    ring = require_key_ring(settings, f"The backup in {folder} is encrypted")
    manifest = read_manifest(folder, ring)
    settings.home.mkdir(parents=True, exist_ok=True)
    settings.home.chmod(0o700)
    # What an interrupted restore left.
    shutil.rmtree(extracted, ignore_errors=True)
    try:
        with Progress("restore: files", len(manifest.files)) as progress:
            extract_backup(folder, extracted, ring, manifest, progress.advance)
    except BaseException:
        shutil.rmtree(extracted, ignore_errors=True)
        raise
    restored = _put_in_place(settings, extracted)
    shutil.rmtree(extracted)
    restored["restored"].remove(EXTRACTED)
    return restored


def _put_in_place(settings: Settings, folder: Path) -> dict[str, Any]:
    """Copy what lies in a plain backup to its places; raises StoreError when its public log is not what its ledger has."""
    from deployments.home.whole import mark_home
    from tasks.exam.public import name_public_folder
    from warehouse.lake import check_empty_lake, restore_lake
    from warehouse.ledger.engine.files import restore_ledger
    from warehouse.ledger.engine.server_backup import fill_server_ledger
    from warehouse.ledger.engine.sides import find_ledger_file

    places = {
        "archive": settings.archive_dir,
        "secrets": settings.secrets_path,
        "public": name_public_folder(settings),
        "models.yaml": settings.registry_path,
    }
    # Before anything is written to a server, or to a folder that other hosts share.
    check_empty_lake(settings)
    for name, place in places.items():
        _check_unlike_none(folder / name, place)
    settings.home.mkdir(parents=True, exist_ok=True)
    settings.home.chmod(0o700)
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
    _restore_logs(settings)
    return {"home": str(settings.home), "restored": sorted(path.name for path in settings.home.iterdir())}


def _check_unlike_none(copied: Path, place: Path) -> None:
    """Raise UsageError where a file of the backup would replace another one: keys, originals, a registry of somebody else."""
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
    from tasks.exam.log import copy_heads, name_key_file
    from tasks.exam.public import write_public_log
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(settings.ledger_address) as ledger:
        if name_key_file(settings).exists():
            copy_heads(ledger, settings)
        write_public_log(ledger, settings)
