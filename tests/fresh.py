"""A new lake for a test, copied: one is made per worker as a user's first writer makes it, which takes most of a second."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from schemas.settings import Settings
from warehouse.lake.attach import remember_data_path
from warehouse.lake.store import Lake, open_lake


def open_new_lake(settings: Settings) -> Lake:
    """Open for writing a lake that is not there yet, with every table and view and no row."""
    folder = settings.home / "lake"
    shutil.copytree(_make_template(), folder, ignore=shutil.ignore_patterns("*.lock"))
    remember_data_path(settings)
    return open_lake(settings)


@cache
def _make_template() -> Path:
    # Kept until the process ends: the object removes its folder when it is collected.
    folder = Path(_FOLDER.name)
    open_lake(Settings(home=folder)).close()
    return folder / "lake"


_FOLDER = tempfile.TemporaryDirectory(prefix="proctor-lake-")
