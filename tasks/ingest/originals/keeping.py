"""Files beside an original, there whole or not at all, and their owner's alone.

They are in the archive and among the pictures of its pages.
"""

from __future__ import annotations

import os
from pathlib import Path


def keep_file(source: Path, target: Path) -> None:
    """Move a finished file of the same file system to its place."""
    source.chmod(0o600)
    source.replace(target)


def keep_bytes(data: bytes, target: Path) -> None:
    """Write a file to its place at once."""
    # The name of a draft, so that a backup leaves out what a kill left of it.
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    draft.write_bytes(data)
    keep_file(draft, target)
