"""Whether the disks below a home are encrypted, as far as the system tells.

Proctor itself writes everything in clear.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from deployments.doctor.findings import Findings, name_some
from deployments.doctor.machine import list_disks
from schemas.settings import Settings

_DEVICES: Final = Path("/sys/dev/block")


def examine_disk_encryption(settings: Settings, note: Findings) -> None:
    """Which disks that Proctor writes to are not encrypted, or nothing is known of."""
    found = {str(folder): is_disk_encrypted(folder) for folder, _ in list_disks(settings)}
    plain, unknown = (name_some([one for one in found if found[one] is said]) for said in (False, None))
    if not plain and not unknown:
        note("encryption of disks", "all that Proctor writes to are encrypted (dm-crypt)", True)
        return
    said = [f"not encrypted as far as this machine knows: {plain}" if plain else ""]
    said += [f"nothing is known of {unknown}" if unknown else ""]
    note.remark(
        "encryption of disks",
        "; ".join(filter(None, said)),
        "docs/encryption.md says how to put them, and swap, on LUKS; what a cloud encrypts below the machine is not seen from here",
    )


def is_disk_encrypted(folder: Path, devices: Path = _DEVICES) -> bool | None:
    """Whether every device that a folder lies on is one of dm-crypt (LUKS, plain).

    This can be the device itself, or one below its volumes.

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
