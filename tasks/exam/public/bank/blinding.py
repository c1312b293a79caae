"""Names and salts, always the same, that mean nothing without the installation's secret."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import StoreError
from schemas.settings import Settings
from tasks.exam.public.hashing import digest
from warehouse.ledger.exam import draws
from warehouse.stores.secrets import LENGTH, read_home_key

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Connection

FILE: Final = "blinding-key"
_SHAPE: Final = re.compile(rb"[0-9a-fA-F]{%d}" % LENGTH)
_WAY_OUT: Final = "Restore it from a backup. Without it no question that was sealed here can be proved to have been in bank and set."
# What is asked and what is right; nothing of where a question comes from or what it is called here.
_CONTENT: Final = ("question_type", "language", "stem", "material", "options", "answer")
_encode: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def read_blinding_secret(settings: Settings) -> bytes:
    """The secret of names and salts, made on first use for its owner alone. Raises StoreError."""
    text = read_home_key(settings, FILE, _WAY_OUT)
    if not _SHAPE.fullmatch(text):
        raise StoreError(f"{settings.secrets_path / FILE} is not {LENGTH} hexadecimal digits. {_WAY_OUT}")
    return bytes.fromhex(text.decode())


def find_blinding_fault(connection: Connection, settings: Settings) -> str | None:
    """Why the secret is not the one that the sets were sealed with; None where all is well."""
    path = settings.secrets_path / FILE
    if not draws.has_sealed(connection):
        return None
    if not path.exists():
        return f"{path} is lost. {_WAY_OUT}"
    proof = draws.read_any_proof(connection)
    if proof is None:
        return None
    names = {str(item[0]) for item in proof.items}
    secret = read_blinding_secret(settings)
    of_set = draws.list_lineages(connection, proof.set_id)
    if all(lineage_name(secret, lineage).hex() in names for lineage in of_set):
        return None
    return f"{path} is not the key that set {proof.set_id} was sealed with. {_WAY_OUT}"


def lineage_name(secret: bytes, lineage_uuid: str) -> bytes:
    """The 32 bytes that stand for a lineage in all that is published, in every bank version."""
    return hmac.digest(secret, b"lineage|" + lineage_uuid.encode(), "sha256")


def passage_name(secret: bytes, key: bytes) -> bytes:
    """The 32 bytes that stand for a passage in all that is published, in every bank version."""
    return hmac.digest(secret, b"passage|" + key, "sha256")


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


def write_content(row: Mapping[str, Any]) -> str:
    """The content of a question of the bank as canonical JSON, with the hashes of its pictures."""
    content = {name: row[name] for name in _CONTENT}
    if pictures := row.get("pictures"):
        content["pictures"] = [
            {name: picture[name] for name in ("number", "place", "sha256")} for picture in pictures
        ]
    return _encode(content)


def commit_question(secret: bytes, row: Mapping[str, Any]) -> bytes:
    """A question's commitment from its row: the same in every version that holds it unchanged."""
    salt = question_salt(secret, row["question_uuid"], row["revision"])
    return digest("proctor question", salt, write_content(row))
