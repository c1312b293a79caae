"""Encryption at rest as an administrator sees it: how a home stands, what to do about it, and a new home with a key."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import ProctorError
from schemas.settings import Settings
from warehouse.encryption import is_disk_encrypted

if TYPE_CHECKING:
    from deployments.doctor import NoteFinding

# The longest time for which a key that encrypts stored data should encrypt more of it (NIST SP 800-57 part 1, rev. 5, 5.3.6).
OLDEST_DAYS: Final = 730
_MOST_NAMED: Final = 3
# What is made while a backup is written or restored, and lies in clear for so long.
_STAGED: Final = (".backup-*", ".restoring")


def encrypt_from_the_start(settings: Settings) -> None:
    """Encrypt the archive of a home that is being made with a key; one that has an archive is left as it is."""
    from warehouse.encryption import mark_encrypted, read_key_ring

    if not settings.archive_dir.exists() and read_key_ring(settings) is not None:
        mark_encrypted(settings)


def describe_encryption(settings: Settings) -> dict[str, Any]:
    """Keys, what is encrypted with which, and what is plain; no key is among it. Raises as `read_key_ring` does."""
    from warehouse.encryption import read_key_ring, read_state
    from warehouse.lake import is_lake_encrypted

    ring = read_key_ring(settings)
    state = read_state(settings)
    held = {} if ring is None else {key.key_id: key for key in ring.keys}
    return {
        "is_on": state.is_on,
        "keys": [
            {
                "key_id": key_id,
                "made_at": held[key_id].made_at.strftime("%Y-%m-%dT%H:%M:%SZ") if key_id in held else None,
                "is_given": key_id in held,
                "encrypts": ring is not None and key_id == ring.newest.key_id,
                "file_count": state.by_key.get(key_id, 0),
            }
            for key_id in [*held, *sorted(set(state.by_key) - set(held))]
        ],
        "plain_count": len(state.plain),
        "damaged_count": len(state.damaged),
        "half_done_count": len(state.drafts),
        "is_lake_encrypted": is_lake_encrypted(settings),
        "is_disk_encrypted": is_disk_encrypted(settings.home),
    }


def examine_encryption(settings: Settings, note: NoteFinding) -> None:
    """Whether encryption is on, its keys are where they should be and young, and nothing is left plain or unreadable."""
    _examine_originals(settings, note)
    _examine_lake(settings, note)
    disk = {
        True: "the disk is encrypted (dm-crypt)",
        False: "not by a disk that this machine knows to be encrypted",
        None: "by the disk alone, of which nothing is known here",
    }
    note(
        "encryption of ledger and catalog",
        f"{disk[is_disk_encrypted(settings.home)]} (docs/encryption.md)",
        True,
    )


def _examine_lake(settings: Settings, note: NoteFinding) -> None:
    """An encrypted lake is as safe as its catalog, which holds the keys of its files."""
    from warehouse.lake import catalog_path, is_lake_encrypted, is_postgres

    if is_postgres(settings.catalog_address):
        return
    if not is_lake_encrypted(settings):
        note(
            "encryption of the lake",
            "its files are plain, although PROCTOR_LAKE_ENCRYPTED is set"
            if settings.lake_encrypted
            else "none",
            not settings.lake_encrypted,
            "proctor backup, then proctor restore into a new home with that setting",
        )
        return
    catalog = catalog_path(settings.catalog_address).resolve()
    folders = [settings.home, *([] if "://" in settings.data_address else [Path(settings.data_address)])]
    is_beside = any(catalog.is_relative_to(folder.resolve()) for folder in folders)
    note(
        "encryption of the lake",
        f"its files are encrypted, with keys in {catalog}"
        + (", which lies in the home beside them" if is_beside else ", outside the home"),
        not is_beside,
        "move the catalog to another disk and set PROCTOR_LAKE_CATALOG=sqlite:PATH",
    )


def _examine_originals(settings: Settings, note: NoteFinding) -> None:
    from warehouse.encryption import read_key_ring, read_state

    try:
        ring = read_key_ring(settings)
    except ProctorError as error:
        note("encryption keys", error, False, "correct the setting or the file")
        return
    state = read_state(settings)
    if ring is None:
        is_needed = state.is_on or bool(state.by_key)
        note(
            "encryption keys",
            "not given, although the archive is encrypted"
            if is_needed
            else "none set: archive and backups are plain",
            not is_needed,
            "set PROCTOR_ENCRYPTION_KEY_FILE or PROCTOR_ENCRYPTION_KEY_COMMAND",
        )
        return
    age = (datetime.now(UTC) - ring.newest.made_at).days
    note(
        "encryption keys",
        f"{len(ring.keys)} from {ring.source}, outside the home; {ring.newest.key_id} encrypts, {age} days old",
        age <= OLDEST_DAYS,
        "proctor encryption new-key FILE, then proctor encryption rotate",
    )
    unknown = sorted(set(state.by_key) - {key.key_id for key in ring.keys})
    older = sum(count for key_id, count in state.by_key.items() if key_id != ring.newest.key_id)
    faults = [
        *([] if state.is_on else ["the archive is not encrypted (proctor encryption on)"]),
        *(
            [f"plain: {_name_some(state.plain)} (proctor encryption on)"]
            if state.is_on and state.plain
            else []
        ),
        *([f"encrypted with keys that are not given: {', '.join(unknown)}"] if unknown else []),
        *([f"{older} with an older key (proctor encryption rotate)"] if older else []),
        *([f"damaged: {_name_some(state.damaged)}"] if state.damaged else []),
        *([f"half done: {_name_some(state.drafts)} (proctor encryption rotate)"] if state.drafts else []),
        *(
            [f"in clear, left by a backup or restore that was killed: {_name_some(staged)}; delete it"]
            if (staged := _list_staged(settings))
            else []
        ),
    ]
    count = sum(state.by_key.values())
    note(
        "encryption of originals",
        "; ".join(faults) or f"{count} files of archive and pages are encrypted, none is plain",
        not faults,
        "docs/encryption.md",
    )


def _list_staged(settings: Settings) -> list[Path]:
    from warehouse.encryption import is_running

    found = [path for pattern in _STAGED for path in settings.home.glob(pattern)]
    return [path for path in found if not (pid := path.name.split("-")[1:2]) or not is_running(int(pid[0]))]


def _name_some(paths: list[Path]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(path.name for path in paths[:_MOST_NAMED]) + more
