"""What was read of a paper and its answer file, kept for a second reading."""

from __future__ import annotations

import contextlib
import pickle
from pathlib import Path

from tasks.ingest.readers.extraction import Extraction, FoundPicture, Line, Look, Sheet

# Nothing but these is made of what is kept: whoever could write such a file cannot have anything run by it.
_KEPT = {one.__name__: one for one in (Extraction, FoundPicture, Line, Look, Sheet)}


def name_kept(copy: Path | str) -> Path:
    """Where what was read of a paper is kept: beside its copy, and deleted with that folder."""
    return Path(f"{copy}.read")


def keep_read(copy: Path | str, paper: Extraction, answers: Extraction | None) -> None:
    """Keep what was read; where there is no room for it, the paper is read again."""
    with contextlib.suppress(OSError, MemoryError), name_kept(copy).open("wb") as target:
        pickle.dump((paper, answers), target, pickle.HIGHEST_PROTOCOL)


def take_read(copy: Path | str) -> tuple[Extraction, Extraction | None] | None:
    """What was kept, or None."""
    try:
        with name_kept(copy).open("rb") as source:
            paper, answers = _Reader(source).load()
    except Exception:
        return None
    return paper, answers


def drop_read(copy: Path | None) -> None:
    """Delete what was kept of a paper that no second reader will read any more."""
    if copy is not None:
        name_kept(copy).unlink(missing_ok=True)


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        if module != Extraction.__module__ or name not in _KEPT:
            raise pickle.UnpicklingError(name)
        return _KEPT[name]
