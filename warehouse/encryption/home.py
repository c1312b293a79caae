"""What of a home is encrypted, and with which key: encrypt what lies there, renew it, decrypt it, say how it stands.

Each of these does one file after the other, each whole or not at all, and leaves alone what is done: after a kill the same call
continues.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from schemas.settings import Settings
from warehouse.encryption.archive import (
    MARK,
    SPOOL,
    is_encrypted,
    mark_encrypted,
    mark_plain,
    name_content,
)
from warehouse.encryption.files import (
    SUFFIX,
    decrypt_file,
    encrypt_file,
    is_running,
    list_drafts,
    read_file_key_id,
    renew_file,
)
from warehouse.encryption.keys import KeyRing

Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class EncryptionState:
    """How archive and pages of a home stand.

    Attributes:
        is_on: whether what is kept from now on is encrypted.
        by_key: encrypted files by key id.
        plain: files that are not encrypted.
        damaged: files that are named as encrypted ones and are none.
        drafts: what killed processes left half done, copies of papers in clear among it.
    """

    is_on: bool
    by_key: dict[str, int]
    plain: list[Path]
    damaged: list[Path]
    drafts: list[Path]


def read_state(settings: Settings) -> EncryptionState:
    """Look at the beginning of every file of archive and pages."""
    by_key: Counter[str] = Counter()
    plain, damaged = [], []
    for path in _list_files(settings):
        if not path.name.endswith(SUFFIX):
            plain.append(path)
            continue
        key_id = _read_key_id(path)
        if key_id is not None:
            by_key[key_id] += 1
        elif path.exists():
            damaged.append(path)
    drafts = [path for folder in _list_folders(settings) for path in list_drafts(folder)]
    drafts += [path for folder in _list_spools(settings) for path in sorted(folder.iterdir())]
    return EncryptionState(is_encrypted(settings), dict(by_key), plain, damaged, drafts)


def encrypt_home(settings: Settings, ring: KeyRing, advance: Advance) -> int:
    """Encrypt archive and pages from now on, and what lies there already; answers with the files that were plain.

    Pictures of pages are deleted rather than encrypted: they are drawn again.
    """
    mark_encrypted(settings)
    _forget_pictures(settings)
    done = 0
    # A process that looked for the mark before it was there may add a plain file meanwhile.
    while waiting := [path for path in _list_files(settings) if not path.name.endswith(SUFFIX)]:
        total = done + len(waiting)
        for path in waiting:
            target = path.with_name(path.name + SUFFIX)
            # A document may be removed meanwhile.
            with suppress(FileNotFoundError):
                encrypt_file(path, target, ring.newest, name_content(target))
                path.unlink()
            done += 1
            advance(done, total)
    return done


def renew_home(settings: Settings, ring: KeyRing, advance: Advance) -> int:
    """Encrypt with the newest key what has an older one; answers with the files that had. Raises StoreError for a key not given."""
    _forget_drafts(settings)
    waiting = [
        path
        for path in _list_files(settings)
        if path.name.endswith(SUFFIX) and _read_key_id(path) not in (None, ring.newest.key_id)
    ]
    for number, path in enumerate(waiting, start=1):
        with suppress(FileNotFoundError):
            renew_file(path, ring, name_content(path))
        advance(number, len(waiting))
    return len(waiting)


def decrypt_home(settings: Settings, ring: KeyRing, advance: Advance) -> int:
    """Keep archive and pages plain from now on, and decrypt what lies there; answers with the files that were encrypted."""
    _forget_pictures(settings)
    done = 0
    mark_plain(settings)
    while waiting := [path for path in _list_files(settings) if path.name.endswith(SUFFIX)]:
        total = done + len(waiting)
        for path in waiting:
            with suppress(FileNotFoundError):
                decrypt_file(path, path.with_name(path.name.removesuffix(SUFFIX)), ring, name_content(path))
                path.unlink()
            done += 1
            advance(done, total)
    return done


def _read_key_id(path: Path) -> str | None:
    try:
        return read_file_key_id(path)
    except FileNotFoundError:  # removed or decrypted meanwhile
        return None


def _forget_drafts(settings: Settings) -> None:
    for folder in _list_folders(settings):
        for path in list_drafts(folder):
            path.unlink(missing_ok=True)
    for folder in _list_spools(settings):
        shutil.rmtree(folder, ignore_errors=True)


def _list_spools(settings: Settings) -> list[Path]:
    """Folders of copies that killed ingests left."""
    found = []
    for folder in (settings.archive_dir / SPOOL).glob("*-*"):
        pid = folder.name.partition("-")[0]
        if pid.isdigit() and not is_running(int(pid)):
            found.append(folder)
    return found


def _forget_pictures(settings: Settings) -> None:
    _forget_drafts(settings)
    if settings.pages_dir.is_dir():
        for path in settings.pages_dir.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _list_folders(settings: Settings) -> tuple[Path, Path]:
    return settings.archive_dir, settings.pages_dir


def _list_files(settings: Settings) -> Iterator[Path]:
    """Every file that is kept of originals; drafts and copies of an ingest that runs are none yet."""
    for top in _list_folders(settings):
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            yield from (
                Path(folder, name) for name in sorted(names) if not name.startswith(".") and name != MARK
            )
