"""The lake that form 1 is, as version 0.1.0 wrote it.

It comes with what that version reported of it (see README.md).
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

from schemas.settings import Settings

HERE = Path(__file__).parent


def unpack_first_home(folder: Path) -> Settings:
    """Put a home with the lake of form 1 into `folder` / home, untouched."""
    home = folder / "home"
    with tarfile.open(HERE / "home.tar.xz") as archive:
        archive.extractall(home, filter="data")
    return Settings(home=home)


def read_said() -> dict[str, Any]:
    """Rows of named queries by name.

    Under `lake_rows`, it has the number of rows of each table of the lake.
    """
    said: dict[str, Any] = json.loads((HERE / "said.json").read_text("utf-8"))
    return said
