"""Names and salts that say nothing to who has not the installation's secret, and are the same whenever they are made."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from schemas.settings import Settings
from warehouse.secrets import read_home_key

FILE: Final = "blinding-key"
_WAY_OUT: Final = "Restore it from a backup. Without it no question that was sealed here can be proved to have been in bank and set."


def read_blinding_secret(settings: Settings) -> bytes:
    """The secret that names and salts are made with; made on first use, for its owner alone."""
    return bytes.fromhex(read_home_key(settings, FILE, _WAY_OUT).decode())


def lineage_name(secret: bytes, lineage_uuid: str) -> bytes:
    """What stands for a lineage in everything that is published: 32 bytes, the same in every bank version."""
    return hmac.digest(secret, b"lineage|" + lineage_uuid.encode(), "sha256")


def question_salt(secret: bytes, question_uuid: str, revision: int) -> bytes:
    """The salt of a question's commitment: 32 bytes."""
    return hmac.digest(secret, f"question|{question_uuid}|{revision}".encode(), "sha256")


def slot_salt(secret: bytes, bank_version: int, lineage_uuid: str, slot: int) -> bytes:
    """The salt of a slot of a lineage in a bank version: 32 bytes."""
    return _salt_slot(_make_slot_key(secret, bank_version, lineage_uuid), slot)


def slot_salts(secret: bytes, bank_version: int, lineage_uuid: str, count: int) -> list[bytes]:
    """The salts of all slots of a lineage, in order."""
    key = _make_slot_key(secret, bank_version, lineage_uuid)
    return [_salt_slot(key, slot) for slot in range(count)]


def _make_slot_key(secret: bytes, bank_version: int, lineage_uuid: str) -> bytes:
    return hmac.digest(secret, f"slots|{bank_version}|{lineage_uuid}".encode(), "sha256")


def _salt_slot(key: bytes, slot: int) -> bytes:
    # A key of its own for each lineage, and inputs of one length: a hash is enough, and a bank has 700,000 slots.
    return hashlib.sha256(key + slot.to_bytes(8, "big")).digest()
