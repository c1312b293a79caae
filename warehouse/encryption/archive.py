"""The archive of originals, and the pictures of their pages, encrypted: which key writes, and how each file is read.

Whether an archive is encrypted is said by a mark in its folder, so that a process without the key refuses to write into it rather
than adding plain files. Each file is bound to its name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from schemas.settings import Settings
from warehouse.encryption.files import (
    SUFFIX,
    encrypt_bytes,
    encrypt_file,
    open_private,
    read_encrypted,
    write_whole,
)
from warehouse.encryption.keys import EncryptionKey, require_key_ring

MARK: Final = ".encrypted"
# Where an ingest keeps copies of papers while it reads them, in a folder of its process; deleted when it ends.
SPOOL: Final = ".spool"
_WHY: Final = "What belongs to the archive of originals is encrypted"


def is_encrypted(settings: Settings) -> bool:
    """Whether what is kept of originals from now on is to be encrypted."""
    return (settings.archive_dir / MARK).exists()


def mark_encrypted(settings: Settings) -> None:
    """Let everything that is kept from now on be encrypted."""
    settings.archive_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    write_whole(settings.archive_dir / MARK, [json.dumps({"form": 1, "since": since}).encode()])


def mark_plain(settings: Settings) -> None:
    """Let what is kept from now on be plain."""
    (settings.archive_dir / MARK).unlink(missing_ok=True)


def find_archive_key(settings: Settings) -> EncryptionKey | None:
    """The key with which to keep an original now; null for an archive that is not encrypted.

    Raises StoreError for an encrypted one whose keys are not given.
    """
    return require_key_ring(settings, _WHY).newest if is_encrypted(settings) else None


def name_content(path: Path) -> str:
    """The name to which the content of an encrypted file of archive or pages is bound, wherever its folder lies."""
    return f"original {path.name.removesuffix(SUFFIX)}"


def keep_file(source: Path, target: Path, key: EncryptionKey | None) -> Path:
    """Move a finished file to its place, encrypted where a key is given; answers with the place."""
    if key is None:
        source.chmod(0o600)
        source.replace(target)
        return target
    place = target.with_name(target.name + SUFFIX)
    encrypt_file(source, place, key, name_content(place))
    source.unlink()
    return place


def keep_bytes(data: bytes, target: Path, key: EncryptionKey | None) -> Path:
    """Write a file to its place at once, encrypted where a key is given; answers with the place."""
    if key is None:
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        draft.write_bytes(data)
        draft.chmod(0o600)
        draft.replace(target)
        return target
    place = target.with_name(target.name + SUFFIX)
    encrypt_bytes(data, place, key, name_content(place))
    return place


def find_kept(target: Path) -> Path | None:
    """Where a file lies that is kept at `target`, plain or encrypted; null where there is none."""
    encrypted = target.with_name(target.name + SUFFIX)
    return encrypted if encrypted.exists() else target if target.exists() else None


def read_kept(settings: Settings, path: Path) -> bytes:
    """The content of a file of archive or pages. Raises StoreError where it is encrypted and cannot be read."""
    if not path.name.endswith(SUFFIX):
        return path.read_bytes()
    return read_encrypted(path, require_key_ring(settings, _WHY), name_content(path))


@contextmanager
def open_kept(settings: Settings, path: Path) -> Iterator[Path]:
    """A file of archive or pages for a program that needs a path: itself, or for the block a private copy of its content."""
    if not path.name.endswith(SUFFIX):
        yield path
        return
    ring = require_key_ring(settings, _WHY)
    with open_private(path, ring, name_content(path), path.name.removesuffix(SUFFIX)) as copy:
        yield copy
