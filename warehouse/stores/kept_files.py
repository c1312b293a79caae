"""Files that take seconds to make, kept beside the installed packages for every home.

The name of each holds the version of what made it. Where one cannot be kept or read, it is made as if there were none.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from warehouse.stores.whole_files import SHARED, writing_whole


def copy_kept(name: str, target: Path) -> bool:
    """Copy the file of that name to `target`, whole or not at all; False where there is none."""
    try:
        with writing_whole(target, SHARED) as draft:
            shutil.copyfile(_kept_path(name), draft)
    except OSError:
        return False
    return True


def keep_file(name: str, make: Callable[[Path], object]) -> None:
    """Keep under that name what `make` writes to the path it is given, for whoever asks later.

    Where it cannot be written, nothing is kept.
    """
    kept = _kept_path(name)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with writing_whole(kept, SHARED) as draft:
            make(draft)


def _kept_path(name: str) -> Path:
    return Path(sys.prefix) / "share" / "proctor" / name
