"""Files of a backup: written whole or not at all, copied and hashed in one reading."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from schemas.errors import StoreError
from warehouse.stores.whole_files import writing_whole

_BLOCK_BYTES: Final = 256 * 1024


def write_whole(target: Path, blocks: Iterable[bytes]) -> None:
    """Write a file for its owner alone: flushed, then named; StoreError where it cannot be.

    Nothing is left when `blocks` raises.
    """
    try:
        with writing_whole(target) as draft, draft.open("wb") as file:
            file.writelines(blocks)
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror}). Check the disk.") from None


def copy_whole(source: Path, target: Path) -> tuple[int, str]:
    """Copy a file with its mode and times, as `write_whole` does.

    Returns its bytes and SHA-256.
    """
    digest, size = hashlib.sha256(), 0

    def read(file: BinaryIO) -> Iterator[bytes]:
        nonlocal size
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            size += len(block)
            yield block

    with source.open("rb") as file:
        status = os.fstat(file.fileno())
        write_whole(target, read(file))
    target.chmod(status.st_mode & 0o777)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return size, digest.hexdigest()
