"""The signing key of an installation (Ed25519, RFC 8032), and what it signs.

It lies in a file of the home, or with somebody who signs for it (`holders`). It signs the heads of the audit log, and receipts.
What is signed is always a JSON object in one form: keys sorted, no spaces, UTF-8, every character beyond ASCII escaped. Signatures
and keys are written in base64 (RFC 4648, section 4).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.log.signing.holders import open_holder
from warehouse.stores.secrets import check_owner_only, create_secret_file

_WAY_OUT: Final = (
    "Restore it from a backup; delete it otherwise: a new key is made, and the audit names the change."
)
_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class LogSigner:
    """The key of this home.

    Attributes:
        key_id: first 16 digits of the SHA-256 of the public key.
        public_key: 32 bytes in base64.
        place: host and home, as they are now called.
        is_held_elsewhere: whether somebody signs for it, who may take half a minute.
    """

    key_id: str
    public_key: str
    place: str
    _sign: Callable[[bytes], bytes] = field(repr=False)
    is_held_elsewhere: bool = False

    def sign(self, values: Mapping[str, object]) -> str:
        """The signature of a JSON object, in base64; StoreError where its holder does not sign."""
        signature = base64.b64encode(self._sign(encode_signed(values))).decode()
        if self.is_held_elsewhere and not is_signed(self.public_key, signature, values):
            raise StoreError(
                "PROCTOR_LOG_SIGNER signed with another key than PROCTOR_LOG_PUBLIC_KEY, or signed something else: correct either. "
                "Nothing was written."
            )
        return signature


def open_signer(settings: Settings) -> LogSigner:
    """The key of this home: whoever holds it, else its file, made when there is none.

    Raises StoreError when others may read the file, or when it is damaged, and UsageError for a holder that is not named rightly.
    """
    if name_next_key_file(settings).exists():
        raise StoreError(
            "A new key was to take the place of the one that signs, and this was interrupted, or is under way. Nothing is signed before "
            "it is done: `proctor exam keys rotate-log` finishes it."
        )
    return open_present(settings)


def open_present(settings: Settings) -> LogSigner:
    """The same while a new key is to take its place."""
    if settings.log_signer is not None:
        return name_holder(settings, settings.log_signer, settings.log_public_key)
    path = name_key_file(settings)
    if not path.exists():
        create_key_file(path)
    return read_key_file(settings, path)


def has_signer(settings: Settings) -> bool:
    """Whether this home has a key: in its file, or with somebody who is named."""
    return settings.log_signer is not None or name_key_file(settings).exists()


def name_holder(settings: Settings, named: str, public_key: str | None) -> LogSigner:
    """A key that somebody else holds, who is not asked yet; UsageError where it is misnamed."""
    if public_key is None:
        raise UsageError(
            "PROCTOR_LOG_SIGNER names who signs, and PROCTOR_LOG_PUBLIC_KEY does not say with which key: set it, as `ssh-add -L` prints it, "
            "as PEM, or as 32 bytes in base64."
        )
    kept = read_public_key(public_key)
    public = base64.b64decode(kept)
    return LogSigner(name_key(public), kept, _name_place(settings), open_holder(named, public), True)


def stamp_key(settings: Settings) -> tuple[object, ...]:
    """What changes when another key takes the signing one's place; two looks at the disk."""
    found: list[object] = []
    for path in (name_key_file(settings), name_next_key_file(settings)):
        try:
            status = path.stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)


def create_key_file(path: Path) -> None:
    """Make a key, unless the file is there."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    made = Ed25519PrivateKey.generate().private_bytes_raw()
    create_secret_file(path, json.dumps({"private_key": base64.b64encode(made).decode()}))


def read_key_file(settings: Settings, path: Path) -> LogSigner:
    """The key in a file; raises StoreError when others may read it, or when it is damaged."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    check_owner_only(path, _WAY_OUT)
    try:
        raw = base64.b64decode(json.loads(path.read_bytes())["private_key"], validate=True)
        private = Ed25519PrivateKey.from_private_bytes(raw)
    except (ValueError, KeyError, TypeError):
        raise StoreError(f"{path} is not a key. {_WAY_OUT}") from None
    public = private.public_key().public_bytes_raw()
    return LogSigner(name_key(public), base64.b64encode(public).decode(), _name_place(settings), private.sign)


def name_key_file(settings: Settings) -> Path:
    """Where the key of this home lies."""
    return settings.home / "secrets" / "log-key.json"


class Rotation(NamedTuple):
    """A key that is to take the place of another.

    Attributes:
        finish: puts the new one in its place, once both logs name it.
    """

    former: LogSigner
    new: LogSigner
    finish: Callable[[], object]


def prepare_rotation(settings: Settings, named: str | None, public_key: str | None) -> Rotation:
    """The key that signs, and the one that is to; until it is finished nobody signs."""
    former = open_present(settings)
    if named is not None:
        return Rotation(former, name_holder(settings, named, public_key), lambda: None)
    draft = name_next_key_file(settings)
    if not draft.exists():
        create_key_file(draft)
    return Rotation(former, read_key_file(settings, draft), lambda: draft.replace(name_key_file(settings)))


def name_next_key_file(settings: Settings) -> Path:
    """Where the key lies that is to take its place, until it has."""
    return name_key_file(settings).with_suffix(".next")


def _name_place(settings: Settings) -> str:
    """Host and home, for whoever reads the list of keys: neither says whose a key is."""
    return f"{socket.gethostname()}:{settings.home.resolve()}"[-200:]


def name_key(public_key: bytes) -> str:
    """The name of a key: the first 16 digits of its SHA-256."""
    return hashlib.sha256(public_key).hexdigest()[:16]


def encode_signed(values: Mapping[str, object]) -> bytes:
    """The bytes that are signed."""
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode()


def describe_rotation(former: str, key_id: str, public_key: str) -> dict[str, object]:
    """What the former key and the new one sign when one takes the place of the other."""
    return {"ends": former, "key": key_id, "log": "public", "public_key": public_key}


def describe_answer(session_id: str, seq: int, answer_sha256: str) -> dict[str, object]:
    """What a candidate signs with each answer."""
    return {"answer_sha256": answer_sha256, "seq": seq, "session_id": session_id}


def describe_receipt(
    session_id: str, seq: int, answer_sha256: str, entry: int, head: str
) -> dict[str, object]:
    """What a receipt signs."""
    return {
        "answer_sha256": answer_sha256,
        "entry": entry,
        "head": head,
        "seq": seq,
        "session_id": session_id,
    }


def describe_head(number: int, entry_hash: str, key_id: str, signed_at: str) -> dict[str, object]:
    """What a signed head signs."""
    return {"entry_hash": entry_hash, "key_id": key_id, "number": number, "signed_at": signed_at}


def is_signed(public_key: str, signature: str | None, values: Mapping[str, object]) -> bool:
    """Whether a signature is the key's over the object; false for anything that is none."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if signature is None:
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), encode_signed(values))
    except (InvalidSignature, ValueError):
        return False
    return True


def read_public_key(text: str) -> str:
    """A public key (PEM, OpenSSH, base64) in the form in which it is kept; else UsageError."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_public_key

    stripped = text.strip()
    if "PRIVATE KEY" in stripped:
        raise UsageError("This is a private key. Keep it to yourself, and give the public one.")
    found: Any = None
    try:
        if stripped.startswith("-----BEGIN"):
            found = load_pem_public_key(stripped.encode())
        elif stripped.startswith("ssh-"):
            found = load_ssh_public_key(stripped.encode())
        else:
            raw = base64.b64decode(stripped, validate=True)
            found = Ed25519PublicKey.from_public_bytes(raw) if len(raw) == _KEY_BYTES else None
    except (ValueError, binascii.Error, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PublicKey):
        raise UsageError(
            "This is no Ed25519 public key: give it as PEM (`openssl pkey -in KEY -pubout`), as OpenSSH "
            "writes it (ssh-ed25519 …), or as 32 bytes in base64."
        )
    return base64.b64encode(found.public_bytes_raw()).decode()
