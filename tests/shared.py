"""A folder of all workers of a run: what one of them has made there, all may copy."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

# The variable that names it; set before the workers start (`tests/conftest.py`).
SHARED = "TESTS_SHARED_FOLDER"


def find_shared_folder() -> Path:
    """The folder of this run; a program that is none of its tests has its own until it ends."""
    return Path(os.environ.get(SHARED) or _make_own().name)


@cache
def _make_own() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="proctor-tests-", ignore_cleanup_errors=True)
