"""Signed heads of the public log (`public/heads.jsonl`), which others keep as well."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.public.log.folder import open_locked, write_durably
from tasks.exam.public.log.log_file import write_public_log
from tasks.exam.public.log.signed_heads import (
    TAIL_BYTES,
    PublicSignedHead,
    describe_public_head,
    iter_heads,
    name_public_heads_file,
)
from tasks.running import log
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs import public_log
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.moments import now_text

# The entry of the audit log that says that a head was signed.
SIGN: Final = "sign_public_head"


def sign_public_head(ledger: Ledger, settings: Settings) -> PublicSignedHead | None:
    """Bring the file of the log up to the ledger and sign its last entry.

    None where the log has no entry. The head that was signed last is given back where nothing came after it. Raises StoreError
    for a log that is not the ledger's.
    """
    signer = open_signer(settings)
    note_keys(ledger, settings, signer)
    write_public_log(ledger, settings)
    path = name_public_heads_file(settings)
    try:
        with open_locked(path) as descriptor:
            last = _mend(descriptor, path)
            # What is signed is in the file: it was brought up to the ledger, and is never cut.
            with ledger.read() as connection:
                head = public_log.read_public_head(connection)
            if head.number == 0 or (last is not None and last.number >= head.number):
                return last
            write_public_log(ledger, settings)
            named = (head.number, head.line_hash, signer.key_id, now_text())
            signed = PublicSignedHead(*named, signer.sign(describe_public_head(*named)))
            write_durably(descriptor, signed.write_line().encode() + b"\n", path.parent)
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}).") from None
    with ledger.write() as connection:
        target = f"{signed.number} {signer.key_id}"
        add_entry(connection, Entry(SIGN, target=target, digest=digest_text(signed.signature)))
    return signed


def keep_public_head(ledger: Ledger, settings: Settings) -> None:
    """The same for who has other work to finish: a refusal is logged, and told by the doctor."""
    try:
        sign_public_head(ledger, settings)
    except StoreError as error:
        log.error("%s", error)


def _mend(descriptor: int, path: Path) -> PublicSignedHead | None:
    """The file's last head; half a line of a killed process is removed: nobody was given it."""
    size = os.fstat(descriptor).st_size
    start = max(size - TAIL_BYTES, 0)
    tail = os.pread(descriptor, size - start, start)
    whole = tail[: tail.rfind(b"\n") + 1]
    if len(whole) < len(tail):
        os.ftruncate(descriptor, start + len(whole))
    if not whole:
        return None
    last = next(iter_heads(whole.split(b"\n")[-2:-1]), None)
    if last is None:
        raise StoreError(
            f"{path} ends with a line that is no signed head. Keep it under another name, then run `proctor exam seal`."
        )
    return last
