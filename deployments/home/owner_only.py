"""A home belongs to its owner alone: what is made in it, and what lies in it already."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import StoreError

_OTHERS = 0o077
# What is looked at when a command starts; what lies below is shut off by the folder above it.
_LOOKED_AT = (".", "lake", "lake/catalog.sqlite", "archive", "prefect")
_LEDGERS = ("*.sqlite", "*.db")
# A key that others could read is no secret any more: it is refused where it is used, and never quietly closed.
_SECRETS = "secrets"


@contextmanager
def keep_to_owner() -> Iterator[None]:
    """Within the block, what is made here and in processes started here is its owner's alone."""
    before = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(before)


def close_home(home: Path) -> str | None:
    """Take from others what they may do in a home.

    Returns a sentence about it, or None where there was nothing to take. Raises StoreError where this user
    may not change it.
    """
    if not _is_open_to_others(home, *_list_looked_at(home)):
        return None
    lax = list_lax_files(home, without_secrets=True)
    if not lax:
        return None  # another command that began at the same time has closed it
    for path in lax:
        try:
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~_OTHERS)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(
                f"{path} may be read or changed by other users (mode {stat.S_IMODE(path.lstat().st_mode):o}), and this user "
                f"cannot change that ({error.strerror}). Let its owner run: chmod -R go= {home}"
            ) from None
    return f"The home {home} was open to other users ({len(lax)} files and folders, {lax[0]} first): it is its owner's alone now."


def list_lax_files(home: Path, *, without_secrets: bool = False) -> list[Path]:
    """Files and folders of a home, itself first, that others may read, change or enter."""
    found = [home] if _is_open_to_others(home) else []
    for folder, folders, names in os.walk(home):
        if without_secrets and Path(folder) == home:
            folders[:] = [name for name in folders if name != _SECRETS]
        places = [Path(folder, name) for name in (*sorted(folders), *sorted(names))]
        found += [path for path in places if _is_open_to_others(path)]
    return found


def _list_looked_at(home: Path) -> list[Path]:
    return [
        *(home / name for name in _LOOKED_AT),
        *(path for pattern in _LEDGERS for path in home.glob(pattern)),
    ]


def _is_open_to_others(*paths: Path) -> bool:
    if os.name != "posix":
        return False
    for path in paths:
        try:
            status = path.lstat()
        except OSError:
            continue
        if not stat.S_ISLNK(status.st_mode) and status.st_mode & _OTHERS:
            return True
    return False
