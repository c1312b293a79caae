"""A folder of all workers of a run: what one of them has made there, all may copy."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

# The variable that names it; set before the workers start (`tests/conftest.py`).
SHARED = "TESTS_SHARED_FOLDER"
# A file in a folder of what was made, with the path of what had to lie elsewhere.
ELSEWHERE = "elsewhere"


def find_shared_folder() -> Path:
    """The folder of this run; a program that is none of its tests has its own until it ends."""
    return Path(os.environ.get(SHARED) or _make_own().name)


def remove_elsewhere(folder: Path) -> None:
    """Remove what was made for a run and does not lie in its folder."""
    for noted in folder.glob(f"*/{ELSEWHERE}"):
        shutil.rmtree(noted.read_text(encoding="utf-8"), ignore_errors=True)


@cache
def _make_own() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="proctor-tests-", ignore_cleanup_errors=True)
