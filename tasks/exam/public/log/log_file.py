"""The file of the public log, `PROCTOR_HOME/public/log.jsonl`.

It has the ledger's lines, to the byte, for everybody to read. The ledger has a line before the file has it. The file is only
ever added to: what is there and is not what the ledger has is left as it is, for somebody to look at.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.exam.public.log.folder import LOG, name_public_folder, open_locked, write_durably
from tasks.exam.public.log.signed_heads import read_last_head_number
from tasks.running import log
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs import public_log
from warehouse.stores.whole_files import DRAFT

_WAY_OUT: Final = (
    "Nothing was written to it. Keep it under another name: it shows what was changed, and when. Then run `proctor exam seal`, "
    "which writes it again from the ledger."
)
_CHUNK_BYTES: Final = 1 << 20


def name_log_file(settings: Settings) -> Path:
    """The file of the public log."""
    return name_public_folder(settings) / LOG


def write_public_log(ledger: Ledger, settings: Settings) -> int:
    """Add to the file what it lacks; returns how many lines were added.

    Several processes may do it at once. A line that a killed process left unfinished is finished. Raises StoreError for a file
    that is not what the ledger has: its last line is another, it ends beyond the ledger, or before a head that was signed; and
    where it cannot be written.
    """
    path = name_log_file(settings)
    with ledger.read() as connection:
        if public_log.read_public_head(connection).number == 0 and not path.exists():
            return 0
    try:
        with open_locked(path) as descriptor, ledger.read() as connection:
            # Read once nobody else writes the file: the ledger has whatever is in it.
            start, size = _find_end(connection, descriptor, path)
            signed = read_last_head_number(settings)
            if signed and not size:
                return _write_again(connection, path)
            if start < signed:
                raise StoreError(
                    f"{path} has been cut: it ends with entry {start}, and a head was signed at entry {signed}. {_WAY_OUT}"
                )
            return _append(connection, descriptor, start, size, path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}). The ledger has the entries; the file is brought up to it by the next "
            "command, or by `proctor exam seal`."
        ) from None


def keep_public_log(ledger: Ledger, settings: Settings) -> str | None:
    """The same for who has other work: a refusal is logged, returned, and told by the doctor."""
    try:
        write_public_log(ledger, settings)
    except StoreError as error:
        log.error("%s", error)
        return str(error)
    return None


def _find_end(connection: Connection, descriptor: int, path: Path) -> tuple[int, int]:
    """The file's last whole line (0: none) and size; StoreError for another installation's."""
    size = os.fstat(descriptor).st_size
    head = public_log.read_public_head(connection)
    if size > head.ends_at:
        raise StoreError(
            f"{path} goes beyond the ledger, which has {head.number} entries of the public log. Either it is another "
            "installation's, or the ledger was restored from a backup that is older than the file. Restore a newer backup. With "
            "this ledger the log goes another way from there on: whoever holds a head beyond it will see that the log was cut. "
            f"{_WAY_OUT}"
        )
    last = public_log.find_public_line(connection, size)
    if last is None:
        return 0, size
    expected = last.line.encode() + b"\n"
    if os.pread(descriptor, len(expected), last.ends_at - len(expected)) != expected:
        raise StoreError(f"{path} is not what the ledger has: line {last.number} is another. {_WAY_OUT}")
    return last.number, size


def _write_again(connection: Connection, path: Path) -> int:
    """Write the whole file, or nothing, where it is gone although heads were signed."""
    draft = path.with_name(path.name + DRAFT)
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        count = _append(connection, descriptor, 0, 0, draft)
    finally:
        os.close(descriptor)
    draft.replace(path)
    return count


def _append(connection: Connection, descriptor: int, start: int, size: int, path: Path) -> int:
    """Write the lines after `start`, the first of which may stand there in part."""
    count, pending = 0, bytearray()
    for line in public_log.iter_public_lines(connection, start):
        data = line.line.encode() + b"\n"
        begun = size - (line.ends_at - len(data))
        if begun > 0:
            if os.pread(descriptor, begun, line.ends_at - len(data)) != data[:begun]:
                raise StoreError(
                    f"{path} is not what the ledger has: what follows line {line.number - 1} is not the beginning of the "
                    f"next. {_WAY_OUT}"
                )
            data = data[begun:]
        count += 1
        pending += data
        if len(pending) >= _CHUNK_BYTES:
            write_durably(descriptor, bytes(pending), path.parent)
            pending.clear()
    if pending:
        write_durably(descriptor, bytes(pending), path.parent)
    return count
