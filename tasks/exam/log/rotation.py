"""Another key takes the place of the one that signs: both logs say so, by both keys."""

from __future__ import annotations

from schemas.errors import UsageError
from schemas.ledger.trust import LogKey
from schemas.settings import Settings
from tasks.exam.log.heads import describe_log_key, note_keys
from tasks.exam.log.signing import LogSigner, describe_rotation, prepare_rotation
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import add_entry
from warehouse.ledger.engine.logs.public_log import KEY, add_public_entry
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.trust import access


def rotate_log_key(
    ledger: Ledger, settings: Settings, named: str | None = None, public_key: str | None = None
) -> tuple[LogSigner, LogSigner]:
    """Let a new key sign from now on: one that somebody holds, or a new one in the home.

    Returns the former and the new one. Both sign the public log's entry. What the former signs after it counts for nothing. One that was interrupted is finished.
    Raises UsageError for the key that signs already, and as `open_signer` does.
    """
    former, new, finish = prepare_rotation(settings, named, public_key)
    if new.key_id == former.key_id:
        raise UsageError(f"Key {new.key_id} signs already: name another.")
    note_keys(ledger, settings, former)
    with ledger.read() as connection:
        known = {key.key_id for key in access.list_log_keys(connection)}
    if new.key_id not in known:
        said = describe_rotation(former.key_id, new.key_id, new.public_key)
        body = {
            "key": new.key_id,
            "public_key": new.public_key,
            "ends": former.key_id,
            "ends_signature": former.sign(said),
            "signature": new.sign(said),
        }
        key = LogKey(key_id=new.key_id, public_key=new.public_key, place=new.place, added_at=now_text())
        with ledger.write() as connection:
            if access.write_log_key(connection, key):
                add_public_entry(connection, KEY, body)
                add_entry(connection, describe_log_key("rotate_log_key", new))
    elif named is not None:
        raise UsageError(f"Key {new.key_id} has signed before, and its time has ended: make a new one.")
    finish()
    return former, new
