"""Keys of this home: made on first use, readable by their owner alone, never replaced."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from schemas.errors import StoreError
from schemas.settings import Settings

# 256 bits as hex digits: what HS256 asks for at least (RFC 7518 §3.2).
LENGTH = 64


def read_home_key(settings: Settings, name: str, way_out: str) -> bytes:
    """The key `secrets/NAME` of the home; made when it is missing, the same for all processes that start at once.

    Raises StoreError when others may read it or it is too short; `way_out` says what to do then.
    """
    path = settings.home / "secrets" / name
    if not path.exists():
        _create(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise StoreError(
            f"{path} may be read by other users. Set its mode to 0600 if nobody has read it. {way_out}"
        )
    key = path.read_bytes().strip()
    if len(key) < LENGTH:
        raise StoreError(f"{path} is too short for a key of {LENGTH} characters. {way_out}")
    return key


def _create(path: Path) -> None:
    """Written next to its place and linked there: of two processes that start at once, one wins and both read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(LENGTH // 2))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
