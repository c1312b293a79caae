"""Files that take seconds to make, kept beside the installed packages for every home.

The name of each holds the version of what made it. Where one cannot be kept or read, it is made as if there were none.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def copy_kept(name: str, target: Path) -> bool:
    """Copy the file of that name to `target`, whole or not at all; False where there is none."""
    draft = _draft(target)
    try:
        shutil.copyfile(_kept_path(name), draft)
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        return False
    return True


def keep_file(name: str, make: Callable[[Path], object]) -> None:
    """Keep under that name what `make` writes to the path it is given, for whoever asks later.

    Where it cannot be written, nothing is kept.
    """
    kept = _kept_path(name)
    draft = _draft(kept)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            make(draft)
            # A power cut must not leave a part of it under the name by which every home finds it.
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            draft.replace(kept)
        finally:
            draft.unlink(missing_ok=True)


def _draft(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.getpid()}.draft")


def _kept_path(name: str) -> Path:
    return Path(sys.prefix) / "share" / "proctor" / name
