"""Pictures of open seats, in the folder of an exam API without the archive."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from schemas import patterns as re
from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.questions.pictures import copy_picture
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam.plans import list_shown_pictures

_COPY: Final = re.compile(r"[0-9a-f]{64}\.picture")


def share_pictures(ledger: Ledger, settings: Settings) -> list[StoreError]:
    """Give the exam API the pictures of open seats that it lacks, and take the others from it.

    Returns what kept a picture from it. Done again it changes nothing. Nothing is done where PROCTOR_EXAM_PICTURES is not set, or is the
    archive itself.
    """
    folder, archive = settings.exam_pictures, settings.archive_dir
    # However often it is mounted: what lies in the archive is no copy.
    if folder is None or (folder.exists() and archive.exists() and folder.samefile(archive)):
        return []
    kept = [path for path in folder.glob("??/*.picture") if _COPY.fullmatch(path.name)]
    shown = _read_shown(ledger)
    if gone := [path for path in kept if path.stem not in shown]:
        _remove(gone)
        # A run that was planned meanwhile may have found a copy there that has gone since.
        shown = _read_shown(ledger)
    faults = []
    for sha256 in sorted(shown):
        try:
            copy_picture(archive, folder, sha256)
        except StoreError as error:
            faults.append(error)
    return faults


def _read_shown(ledger: Ledger) -> set[str]:
    with ledger.read() as connection:
        return set(list_shown_pictures(connection))


def _remove(copies: list[Path]) -> None:
    for path in copies:
        # Of another user, or of a folder that is being changed: it goes the next time.
        with suppress(OSError):
            path.unlink(missing_ok=True)
