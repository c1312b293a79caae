"""Copies of a home as a whole, plain or encrypted: make one, put one in place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import UsageError
from schemas.settings import Settings

if TYPE_CHECKING:
    from warehouse.encryption.backup import BackupTarget

# Where the files of an encrypted backup lie while they are put in place.
EXTRACTED: Final = ".restoring"


def backup_home(settings: Settings, folder: Path, *, encrypt: bool | None = None) -> dict[str, Any]:
    """Copy ledger, lake, archive, secrets and what is public to a new folder; consistent although flows may write.

    The lake is copied first: what the ledger holds beyond it is landed again by reconcile after a restore. `encrypt`: write
    nothing but encrypted files; null does so where a key is set. Raises StoreError where it is asked for without a key.
    """
    from tasks.progress import Progress
    from warehouse.encryption.backup import PlainTarget, encrypting_backup
    from warehouse.encryption.keys import read_key_ring, require_key_ring
    from warehouse.ledger.backup import check_embedded

    if not settings.home.exists():
        raise UsageError(f"PROCTOR_HOME {settings.home} does not exist; there is nothing to back up.")
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; name a new folder for the backup.")
    check_embedded(settings.ledger_address)
    ring = None
    if encrypt is not False:
        ring = (
            require_key_ring(settings, "An encrypted backup is asked for")
            if encrypt
            else read_key_ring(settings)
        )
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if ring is None:
        copied = _copy_home(settings, PlainTarget(folder))
        return {"folder": str(folder), "copied": copied, "key_id": None}
    with (
        Progress("backup: files encrypted") as progress,
        encrypting_backup(folder, settings.home, ring.newest, progress.advance) as target,
    ):
        copied = _copy_home(settings, target)
    return {"folder": str(folder), "copied": copied, "key_id": ring.newest.key_id}


def _copy_home(settings: Settings, target: BackupTarget) -> list[str]:
    """Give the parts of a home to a backup; answers with their names."""
    from tasks.exam.public.folder import copy_files, copy_logs, name_public_folder
    from warehouse.lake.backup import backup_lake
    from warehouse.lake.store import open_lake
    from warehouse.ledger.backup import backup_ledger

    with open_lake(settings) as lake:
        backup_lake(lake, target.staging / "lake", lambda data: target.add_tree(data, "lake/data"))
    copied = ["lake"]
    # Before the ledger: the files of heads and of the public log must not know what the copy of the ledger lacks.
    for name, place in (("archive", settings.archive_dir), ("secrets", settings.secrets_path)):
        if place.exists():
            target.add_tree(place, name)
            copied.append(name)
    public = name_public_folder(settings)
    copy_logs(public, target.staging / "public")
    copied += backup_ledger(settings.ledger_address, target.staging / "ledger.sqlite")
    # After it: files are there before the ledger names them.
    if copy_files(public, target.staging / "public"):
        copied.append("public")
    if settings.registry_path.exists():
        target.add_file(settings.registry_path, "models.yaml")
        copied.append("models.yaml")
    return copied


def restore_home(settings: Settings, folder: Path) -> dict[str, Any]:
    """Put a backup into an empty home; an encrypted one is read and checked whole before anything of it is put in place."""
    from tasks.progress import Progress
    from warehouse.encryption.backup import extract_backup, is_encrypted_backup, read_manifest
    from warehouse.encryption.keys import require_key_ring

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
    if not is_encrypted:
        return _put_in_place(settings, folder)
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
    from tasks.exam.public.folder import name_public_folder
    from warehouse.lake.backup import restore_lake
    from warehouse.ledger.backup import restore_ledger

    settings.home.mkdir(parents=True, exist_ok=True)
    settings.home.chmod(0o700)
    restore_ledger(folder / "ledger.sqlite", settings.home / "ledger.sqlite")
    restore_lake(settings, folder / "lake")
    places = (
        ("archive", settings.archive_dir),
        ("secrets", settings.secrets_path),
        ("public", name_public_folder(settings)),
    )
    for name, place in places:
        if (folder / name).exists():
            shutil.copytree(folder / name, place, dirs_exist_ok=True)
    if (folder / "models.yaml").exists():
        shutil.copy2(folder / "models.yaml", settings.home / "models.yaml")
    _restore_logs(settings)
    return {"home": str(settings.home), "restored": sorted(path.name for path in settings.home.iterdir())}


def _restore_logs(settings: Settings) -> None:
    """Give the file of heads and the public log what was written while the backup was made."""
    from tasks.exam.log.heads import copy_heads
    from tasks.exam.log.signing import name_key_file
    from tasks.exam.public.log_file import write_public_log
    from warehouse.ledger.engine import open_ledger

    with open_ledger(settings.ledger_address) as ledger:
        if name_key_file(settings).exists():
            copy_heads(ledger, settings)
        write_public_log(ledger, settings)
