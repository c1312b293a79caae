"""Whether the disk below a folder is encrypted, as far as the system tells: what Proctor leaves plain rests on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_DEVICES: Final = Path("/sys/dev/block")


def is_disk_encrypted(folder: Path, devices: Path = _DEVICES) -> bool | None:
    """Whether every device that a folder lies on is one of dm-crypt (LUKS, plain), itself or below its volumes.

    Null where the system does not tell: no Linux, a network or overlay file system, one that encrypts by itself (ZFS,
    fscrypt). A disk that a cloud encrypts below the machine looks plain from within it.
    """
    try:
        number = folder.stat().st_dev
        device = devices / f"{os.major(number)}:{os.minor(number)}"
        return _is_encrypted(device.resolve()) if device.exists() else None
    except (OSError, AttributeError):
        return None


def _is_encrypted(device: Path) -> bool:
    mapped = device / "dm" / "uuid"
    if mapped.exists() and mapped.read_text(encoding="ascii").startswith("CRYPT-"):
        return True
    below = [path.resolve() for path in (device / "slaves").glob("*")]
    return bool(below) and all(_is_encrypted(path) for path in below)
