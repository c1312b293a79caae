"""Questions that left the bank, or came back, in the public log: how many and why."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.settings import Settings
from tasks.exam.log import note_keys
from tasks.exam.log.signing import open_signer
from tasks.exam.public.log.log_file import keep_public_log
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.logs.public_log import add_public_entry, list_public_entries

RETIRE = "retire"
RESTORE = "restore"
_REJECTED = "review rejected them"


def publish_retirement(
    ledger: Ledger, settings: Settings, *, count: int, bank_version: int, reason: str, is_retired: bool = True
) -> str | None:
    """Note in public how many questions left or came back; why it was refused, or None.

    Of a bank version it is noted once.
    """
    note_keys(ledger, settings, open_signer(settings))
    kind = RETIRE if is_retired else RESTORE
    with ledger.write() as connection:
        noted = list_public_entries(connection, (kind,))
        known = {step.body["bank_version"] for step in noted if step.body["reason"] != _REJECTED}
        if bank_version not in known:
            body = {"count": count, "bank_version": bank_version, "reason": reason}
            add_public_entry(connection, kind, body)
    return keep_public_log(ledger, settings)


def publish_rejections(ledger: Ledger, settings: Settings, counts: Mapping[int, int]) -> int:
    """Note how many questions left with which bank versions as review rejected them.

    Of a version it is noted once. Returns how many versions were noted now.
    """
    with ledger.read() as connection:
        missing = _list_missing(connection, counts)
    if not missing:
        return 0
    note_keys(ledger, settings, open_signer(settings))
    with ledger.write() as connection:
        # Another command may have noted them since.
        missing = _list_missing(connection, counts)
        for version, count in missing.items():
            body = {"count": count, "bank_version": version, "reason": _REJECTED}
            add_public_entry(connection, RETIRE, body)
    keep_public_log(ledger, settings)
    return len(missing)


def _list_missing(connection: Connection, counts: Mapping[int, int]) -> dict[int, int]:
    noted = list_public_entries(connection, (RETIRE,))
    known = {step.body["bank_version"] for step in noted if step.body["reason"] == _REJECTED}
    return {version: count for version, count in sorted(counts.items()) if version not in known}
