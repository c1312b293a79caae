"""A file as it comes in: opened without waiting, read once, and kept as it was then."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from schemas.errors import DocumentError

# In the archive: copies of papers while they are read, in a folder of the process that reads them; deleted when it ends.
SPOOL = ".spool"
_CHUNK = 1 << 20
# A pipe without a writer would wait for ever.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_IS_LINK = "This is a link, and links in a folder are not followed: they may lead anywhere. Copy the file itself here, or name it."
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


@dataclass(frozen=True)
class Intake:
    """The content of one file: its SHA-256, its size in bytes, and a copy or None."""

    sha256: str
    size: int
    copy: Path | None


def take_in(path: Path, max_bytes: int, spool: Path | None = None, *, root: Path | None = None) -> Intake:
    """Read a file once, with its hash.

    With `spool` (a folder) a copy is kept there, which is what is parsed and archived. With `root`, a folder above it,
    no link below that folder is followed, whoever puts one there at whatever moment.

    Raises:
        DocumentError: `unsupported` for a link and what is no regular file, `corrupt` for what cannot be opened, `too_large`.
    """
    try:
        opened = os.open(path, _FLAGS) if root is None else _open_below(root, path)
    except OSError as error:
        if root is not None and path.is_symlink():
            raise DocumentError("unsupported", _IS_LINK) from error
        if path.is_symlink() and not path.exists():
            raise DocumentError(
                "corrupt", "The link points to nothing. Copy the file itself here."
            ) from error
        reason = error.strerror or type(error).__name__
        raise DocumentError(
            "corrupt", f"The file cannot be opened ({reason}). Check that it is there and its permissions."
        ) from error
    with os.fdopen(opened, "rb", buffering=0) as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode):
            kind = next((name for test, name in _KINDS if test(facts.st_mode)), "something else")
            raise DocumentError("unsupported", f"This is {kind} and no file with content. Leave it out.")
        if facts.st_size > max_bytes:
            raise DocumentError(
                "too_large", f"The file has {facts.st_size} bytes; {max_bytes} are allowed. Split it."
            )
        return _copy(stream.fileno(), max_bytes, spool)


def read_own_file(path: Path) -> bytes:
    """The bytes of a file that has not become a link.

    Raises:
        OSError: where it is a link by now, which may lead anywhere.
        DocumentError: where it is no file.
    """
    with os.fdopen(_open_below(path.parent, path), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise DocumentError("unsupported", "This is no file with content. Leave it out.")
        return stream.read()


def _open_below(root: Path, path: Path) -> int:
    """Open a file folder by folder from the root.

    Raises:
        OSError: where one of the folders, or the file, is a link.
    """
    *folders, name = path.relative_to(root).parts
    held = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=held)
            os.close(held)
            held = inner
        return os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=held)
    finally:
        os.close(held)


def _copy(source: int, max_bytes: int, spool: Path | None) -> Intake:
    digest = hashlib.sha256()
    size = 0
    kept: Path | None = None
    target = -1
    if spool is not None:
        target, name = tempfile.mkstemp(dir=spool)
        kept = Path(name)
    try:
        while chunk := os.read(source, _CHUNK):
            size += len(chunk)
            if size > max_bytes:
                raise DocumentError("too_large", f"The file grew beyond {max_bytes} bytes while it was read.")
            digest.update(chunk)
            if target >= 0:
                os.write(target, chunk)
    except OSError as error:
        raise DocumentError(
            "corrupt", f"The file cannot be read ({error.strerror}). Copy it again."
        ) from error
    finally:
        if target >= 0:
            os.close(target)
    return Intake(digest.hexdigest(), size, kept)


def show_name(path: Path) -> str:
    """A path as text: names in GBK bytes, as old archives leave them, are read as what they say."""
    raw = os.fsencode(path)
    for encoding in ("utf-8", "gb18030"):
        try:
            return re.sub(r"[\x00-\x1f]", "\ufffd", raw.decode(encoding))
        except UnicodeDecodeError:
            continue
    return raw.decode("utf-8", errors="replace")


def open_spool(archive: Path) -> Path:
    """A folder of this process for copies, beside the archive; those of the dead are deleted."""
    folder = archive / SPOOL
    folder.mkdir(parents=True, exist_ok=True)
    for other in folder.iterdir():
        pid = other.name.partition("-")[0]
        if pid.isdigit() and not _is_alive(int(pid)):
            close_spool(other)
    return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder))


def close_spool(folder: Path) -> None:
    """Delete a folder of copies with what is left in it."""
    for file in folder.iterdir() if folder.is_dir() else ():
        file.unlink(missing_ok=True)
    if folder.is_dir():
        folder.rmdir()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def name_source(source_path: str | None) -> str:
    """The source of a paper: its folder; empty for one that was named by itself."""
    folder = PurePosixPath(str(source_path or "")).parent
    return "" if str(folder) == "." else folder.as_posix()
