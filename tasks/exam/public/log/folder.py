"""The folder for publication, PROCTOR_HOME/public or PROCTOR_PUBLIC: only ever added to."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schemas.settings import Settings
from warehouse.stores.whole_files import DRAFT, flush_path

LOG: Final = "log.jsonl"
HEADS: Final = "heads.jsonl"
WITNESSES: Final = "witnesses.jsonl"


def name_public_folder(settings: Settings) -> Path:
    """Where what is for publication lies."""
    return settings.public_dir


@contextmanager
def open_locked(path: Path) -> Iterator[int]:
    """A public file, made where missing, to read and add to; nobody else's until the block ends."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Whoever had it may have put another in its place.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                yield descriptor
                return
        finally:
            os.close(descriptor)


def write_durably(descriptor: int, data: bytes, folder: Path) -> None:
    """Add bytes to a file of the folder; they are on the disk when it returns."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)
    flush_path(folder)


def copy_logs(source: Path, target: Path) -> None:
    """Copy a public folder's logs before the ledger, heads first: none is beyond the log's copy."""
    for name in (HEADS, WITNESSES, LOG):
        if (source / name).exists():
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def list_published(source: Path) -> list[tuple[Path, str]]:
    """What else lies in a public folder, and its path there: copied after the ledger names it."""
    found = ((path, path.relative_to(source).as_posix()) for path in sorted(source.rglob("*")))
    return [
        (path, inner)
        for path, inner in found
        if not path.is_dir() and inner not in (HEADS, WITNESSES, LOG) and not inner.endswith(DRAFT)
    ]
