"""The bytes of pictures, kept once by their content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from schemas.errors import StoreError

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"


def name_picture(folder: Path, sha256: str) -> Path:
    """Where the bytes of a picture lie in a folder of content files."""
    return folder / sha256[:2] / f"{sha256}.picture"


def read_picture(folder: Path, sha256: str) -> bytes:
    """The bytes of a picture.

    Raises:
        StoreError: for one that is lost, or is not what its hash says.
    """
    path = name_picture(folder, sha256)
    try:
        data = path.read_bytes()
    except OSError:
        raise StoreError(
            f"The picture {sha256[:12]} is not in {folder}. Restore it from a backup, or ingest its paper again (--again)."
        ) from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StoreError(
            f"{path.name} is not the picture that its name says: it was changed. Restore it from a backup."
        )
    return data


def name_media_type(data: bytes) -> str:
    """The media type of a kept picture: PNG or JPEG."""
    if data.startswith(_PNG):
        return "image/png"
    if data.startswith(_JPEG):
        return "image/jpeg"
    raise StoreError("A kept picture is neither PNG nor JPEG: it was changed. Restore it from a backup.")
