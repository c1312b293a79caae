"""Files of a backup: written whole or not at all, copied and hashed in one reading."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from schemas.errors import StoreError

# Ends the names of files that are being written.
DRAFT: Final = ".draft"
_BLOCK_BYTES: Final = 256 * 1024


def write_whole(target: Path, blocks: Iterable[bytes]) -> None:
    """Write a file for its owner alone: flushed, then named.

    What was written is deleted when `blocks` raises.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}{DRAFT}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for block in blocks:
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StoreError(f"{target} cannot be written ({error.strerror}). Check the disk.") from None
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


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


def hash_file(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
