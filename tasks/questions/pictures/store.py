"""The bytes of pictures, kept once by their content."""

from __future__ import annotations

from pathlib import Path


def name_picture(folder: Path, sha256: str) -> Path:
    """Where the bytes of a picture lie in a folder of content files."""
    return folder / sha256[:2] / f"{sha256}.picture"
