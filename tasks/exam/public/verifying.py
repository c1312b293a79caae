"""The verifier as others run it: in a Python process that knows nothing of Proctor."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from schemas.errors import UsageError
from schemas.settings import Settings

_VERIFIER: Final = "tasks.exam.public.verifier"
_WRONGLY_CALLED: Final = 2


def name_public_files(settings: Settings) -> Path:
    """The folder of this home for publication; raises UsageError where nothing is published."""
    folder = settings.public_dir
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not there: nothing of this home was published yet. Name a folder to check."
        )
    return folder


def find_verifier() -> Path:
    """The file that is the verifier; a copy of it works anywhere."""
    found = importlib.util.find_spec(_VERIFIER)
    assert found is not None and found.origin is not None
    return Path(found.origin)


def run_verifier(
    folder: Path,
    *,
    keep: Path | None = None,
    receipts: Sequence[Path] = (),
    heads: Sequence[Path] = (),
    key: str = "",
    require: str = "",
    as_json: bool = False,
) -> bool:
    """Check a published folder; the verifier prints what it finds. Returns whether all holds.

    `require` is the least grade of an edition that stands. With `keep` the log alone is checked, and its last head is added to that
    file of a witness. On a terminal it says what it looks at. Raises UsageError where it could not check at all.
    """
    options = [
        *([] if keep is None else [f"--keep={keep}"]),
        *(part for path in receipts for part in ("--receipts", str(path))),
        *(part for path in heads for part in ("--head", str(path))),
        *([f"--key={key}"] if key else []),
        *([f"--require={require}"] if require else []),
        *(["--json"] if as_json else []),
        *(["--progress"] if keep is None and sys.stderr.isatty() else []),
    ]
    # `-I`: neither the environment nor the folder of the file. Of what is installed it takes the library of drand's signatures alone.
    done = subprocess.run(
        [sys.executable, "-I", str(find_verifier()), *options, "--", str(folder)], check=False
    )
    if done.returncode == _WRONGLY_CALLED:
        raise UsageError("The verifier could not be run on this; its own message stands above.")
    return done.returncode == 0
