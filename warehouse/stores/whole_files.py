"""Files that are there whole or not at all, and the bytes of a file."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Final

from schemas import patterns as re

# Ends the names of files that are being written, which begin with a dot: no backup takes them.
DRAFT: Final = ".draft"
# Those of `writing_whole`: other programs have hidden files in a user's folder, too.
_DRAFTS: Final = re.compile(r"\..*\.[0-9a-f]{8}\.draft", re.DOTALL)
_LEFT_S: Final = 3600
_swept: Final[set[tuple[Path, re.Pattern[str]]]] = set()
# What whoever asked for a file may show to others, as the user's mask has it; else it is for its owner alone.
SHARED: Final = 0o666
# What a write, which knows no name, says of the disk under it.
_OF_DISK: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def writing_whole(path: Path, mode: int = 0o600, *, may_replace: bool = True) -> Iterator[Path]:
    """A draft beside `path` that gets this name when the block ends, once it is on the disk.

    A link stays one, and a file that is replaced keeps its owner, its group and of its mode what `mode` allows. Of a block that raises
    nothing is left. Where it may not replace a file, the one that was first stays. Raises OSError where the folder is not there, or
    may not be written to, or the disk is full; it names `path`, and not the draft.
    """
    asked = path
    if path.is_symlink():
        # What the system does not follow, a link in a circle or one that others put into a folder of all, is refused before any work.
        with suppress(FileNotFoundError):
            path.stat()
        path = Path(os.path.realpath(path))
    # A name may have 255 bytes, and a letter four.
    draft = path.with_name(f".{path.name[:40]}.{os.urandom(4).hex()}{DRAFT}")
    try:
        # Of a file that is replaced `_keep_rights` gives the rights once it is whole: a draft may stay behind a kill.
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if path.exists() else mode))
        # The folder's own clock says how old its files are: by a clock ahead of it, others' drafts would be swept while they write.
        sweep_drafts(path.parent, draft.stat().st_mtime)
        yield draft
        flush_path(draft)
        _keep_rights(path, draft, mode)
        if may_replace:
            draft.replace(path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
    except OSError as error:
        if error.filename == str(draft) or (error.filename is None and error.errno in _OF_DISK):
            error.filename = str(asked)
        raise
    except Exception as error:
        # Polars and xlsxwriter tell what the system said in errors of their own.
        told = str(error)
        number = next(
            (one for one in _OF_DISK if f"(os error {one})" in told or f"[Errno {one}]" in told), None
        )
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(asked)) from None
    finally:
        # What refused the draft refuses this too, on a disk that is only read for one; it says nothing more.
        with suppress(OSError):
            draft.unlink()
    try:
        flush_path(path.parent)
    except OSError as error:
        # Some file systems of a network flush no folder; and who may write into one may not be one who may read it.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EACCES):
            raise


def sweep_drafts(folder: Path, now: float, named: re.Pattern[str] = _DRAFTS) -> None:
    """Remove the drafts that killed processes left, once nobody can be writing them any more.

    A folder is looked at once in a process: a backup writes thousands of files into one.
    """
    if (sought := (folder.absolute(), named)) in _swept:
        return
    _swept.add(sought)
    # Who may write into a folder may not be one who may read it, and a draft may be gone meanwhile.
    with suppress(OSError):
        for draft in [path for path in folder.iterdir() if named.fullmatch(path.name)]:
            if draft.stat().st_mtime < now - _LEFT_S:
                draft.unlink()


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Nobody else who asks so changes a file of this folder until the block ends.

    For who writes what it read of the file and more: of two at once the second put back what the first had read. No file is left, and a
    kill ends it.
    """
    with ExitStack() as stack:
        # A folder of a network may have no such locks; there it is as without one. Of one that is missing the block says so.
        with suppress(OSError):
            folder = os.open(path.parent, os.O_RDONLY)
            stack.callback(os.close, folder)
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield


@contextmanager
def writing_workbook(path: Path, mode: int = 0o600) -> Iterator[BytesIO]:
    """What becomes the file `path` when the block ends, as `writing_whole` has it.

    A ZIP is made here first: of one that its disk did not take, Python would go on to complain when it lets go of it.
    """
    made = BytesIO()
    yield made
    with writing_whole(path, mode) as draft:
        draft.write_bytes(made.getbuffer())


def name_place(error: OSError) -> str | None:
    """What the system refused to use; null where neither a file is known nor a disk to blame."""
    if error.filename is not None:
        return os.fsdecode(error.filename)
    return (
        "A disk (of the home, of temporary files, or of what was to be written)"
        if error.errno in _OF_DISK
        else None
    )


def _keep_rights(path: Path, draft: Path, mode: int) -> None:
    """Give the draft owner, group and mode of the file that it replaces, where this user may."""
    with suppress(FileNotFoundError):
        before = path.stat()
        for owner, group in ((-1, before.st_gid), (before.st_uid, -1)):
            with suppress(OSError):
                os.chown(draft, owner, group)
        draft.chmod(before.st_mode & mode)


def flush_path(path: Path) -> None:
    """Put the bytes of a file, or the names in a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def hash_file(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
