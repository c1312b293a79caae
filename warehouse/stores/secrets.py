"""Keys of the installation.

They are made on first use, readable by their owner alone, and never replaced.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.stores.whole_files import writing_whole

# 256 bits as hex digits: what HS256 asks for at least (RFC 7518 §3.2).
LENGTH = 64


def read_home_key(settings: Settings, name: str, way_out: str) -> bytes:
    """The key NAME of the installation, made when it is missing.

    It is the same for all processes that start at once.

    Raises StoreError when others may read it or it is too short; `way_out` says what to do then.
    """
    path = settings.secrets_path / name
    if not path.exists():
        create_secret_file(path, secrets.token_hex(LENGTH // 2))
    check_owner_only(path, way_out)
    key = path.read_bytes().strip()
    if len(key) < LENGTH:
        raise StoreError(f"{path} is too short for a key of {LENGTH} characters. {way_out}")
    return key


def check_owner_only(path: Path, way_out: str) -> None:
    """Pass for a file that its owner alone may read; raises StoreError."""
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise StoreError(
            f"{path} may be read by other users. Set its mode to 0600 if nobody has read it. {way_out}"
        )


def create_secret_file(path: Path, text: str) -> None:
    """Write a file for its owner alone, unless there is one.

    Of two processes that start at once, one wins and both read its file.
    """
    _write(path, text, may_replace=False)


def replace_secret_file(path: Path, text: str) -> None:
    """Write a file for its owner alone; a reader meets the former or the new one, whole."""
    _write(path, text, may_replace=True)


def _write(path: Path, text: str, *, may_replace: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with writing_whole(path, may_replace=may_replace) as draft:
        draft.write_text(text)
