"""Encrypted files on the disk: written whole or not at all, read back to bytes, a file, or a private file for a while."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from warehouse.encryption.keys import EncryptionKey, KeyRing
from warehouse.encryption.stream import (
    HEADER_BYTES,
    Measure,
    decrypt_chunks,
    encrypt_chunks,
    parse_key_id,
    read_blocks,
)

SUFFIX: Final = ".enc"
# A folder in memory, where the system has one: what is opened for another program touches no disk.
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 (a folder of our own is made in it)
_PRIVATE: Final = re.compile(r"proctor-(\d+)-open-(\d+)-.*")
_DRAFT: Final = re.compile(r"\..*\.(\d+)\.draft")


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds: its length in bytes and SHA-256, unencrypted."""

    size: int
    sha256: str


def read_file_key_id(path: Path) -> str | None:
    """The key that a file was encrypted with; null for what is no encrypted file."""
    with path.open("rb") as file:
        return parse_key_id(file.read(HEADER_BYTES))


def encrypt_file(
    source: Path, target: Path, key: EncryptionKey, name: str, written: Measure | None = None
) -> Content:
    """Write the encrypted form of `source` to `target`, on the disk before it has its name; `written` measures that form."""
    measure = Measure()
    with source.open("rb") as file:
        blocks = encrypt_chunks(measure.pass_on(read_blocks(file)), key, name)
        write_whole(target, blocks if written is None else written.pass_on(blocks))
    return Content(measure.size, measure.sha256)


def encrypt_bytes(
    data: bytes, target: Path, key: EncryptionKey, name: str, written: Measure | None = None
) -> None:
    """Write the encrypted form of `data` to `target`; `written` measures that form."""
    blocks = encrypt_chunks([data], key, name)
    write_whole(target, blocks if written is None else written.pass_on(blocks))


def decrypt_file(source: Path, target: Path, ring: KeyRing, name: str) -> Content:
    """Write the content of an encrypted file to `target`; nothing is left there when it raises StoreError."""
    measure = Measure()
    with source.open("rb") as file:
        write_whole(target, measure.pass_on(decrypt_chunks(file, ring, name, str(source))))
    return Content(measure.size, measure.sha256)


def measure_encrypted(source: Path, ring: KeyRing, name: str) -> Content:
    """What an encrypted file holds; nothing is written. Raises StoreError."""
    measure = Measure()
    with source.open("rb") as file:
        for _ in measure.pass_on(decrypt_chunks(file, ring, name, str(source))):
            pass
    return Content(measure.size, measure.sha256)


def read_encrypted(source: Path, ring: KeyRing, name: str) -> bytes:
    """The content of an encrypted file. Raises StoreError."""
    with source.open("rb") as file:
        return b"".join(decrypt_chunks(file, ring, name, str(source)))


def renew_file(path: Path, ring: KeyRing, name: str) -> None:
    """Encrypt an encrypted file with the newest key, in its place; its content never lies on the disk."""
    with path.open("rb") as file:
        blocks = decrypt_chunks(file, ring, name, str(path))
        write_whole(path, encrypt_chunks(blocks, ring.newest, name))


@contextmanager
def open_private(source: Path, ring: KeyRing, name: str, shown_name: str) -> Iterator[Path]:
    """A readable copy of an encrypted file for the block, for programs that need a path; its owner's alone, then deleted."""
    with open_private_folder(source.stat().st_size) as folder:
        copy = folder / shown_name
        decrypt_file(source, copy, ring, name)
        yield copy


@contextmanager
def open_private_folder(size: int) -> Iterator[Path]:
    """A folder of its owner's alone for plain files of `size` bytes in all, deleted after the block.

    It lies in memory where the system has a folder there with room for it, else in the folder for temporary files. What a killed
    process left of it is deleted by the next one.
    """
    top = _find_room(size)
    _sweep(top)
    folder = Path(tempfile.mkdtemp(prefix=f"proctor-{os.geteuid()}-open-{os.getpid()}-", dir=top))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_whole(target: Path, blocks: Iterable[bytes]) -> None:
    """Write a file for its owner alone: flushed, then named; what was written is deleted when `blocks` raises."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
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


def list_drafts(folder: Path) -> list[Path]:
    """What killed processes left half written below a folder."""
    return [
        path
        for path in folder.rglob(".*.draft")
        if (match := _DRAFT.fullmatch(path.name)) and not is_running(int(match.group(1)))
    ]


def is_running(pid: int) -> bool:
    """Whether a process of that number lives, whoever's it is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _find_room(size: int) -> Path:
    try:
        if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 4 * size:
            return _MEMORY
    except OSError:
        pass
    return Path(tempfile.gettempdir())


def _sweep(top: Path) -> None:
    """Delete what this user's killed processes left."""
    for folder in top.glob(f"proctor-{os.geteuid()}-open-*"):
        match = _PRIVATE.fullmatch(folder.name)
        if match and not is_running(int(match.group(2))):
            shutil.rmtree(folder, ignore_errors=True)
