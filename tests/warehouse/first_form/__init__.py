"""The lake that the first form wrote, and what that version said of it (see README.md)."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from schemas.settings import Settings

HERE = Path(__file__).parent


def unpack_first_home(folder: Path) -> Settings:
    """Put a home with the first form's lake into `folder` / home, untouched."""
    home = folder / "home"
    with tarfile.open(HERE / "home.tar.xz") as archive:
        archive.extractall(home, filter="data")
    return Settings(home=home)


def read_said() -> dict[str, Any]:
    """What the first form said: rows of named queries by name, and the rows of each table of the lake."""
    said: dict[str, Any] = json.loads((HERE / "said.json").read_text("utf-8"))
    return said
