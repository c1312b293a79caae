"""Answers signed with the candidate's own key (Ed25519): nobody else can answer in its seat."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def read_signing_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a PEM file without a password; raises UsageError for anything else."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    advice = "Make one with `openssl genpkey -algorithm ed25519 -out key.pem`."
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise UsageError(f"The key file {path} cannot be read ({error.strerror}). {advice}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UsageError(f"{path} is not a private key in PEM form without a password. {advice}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"The key in {path} is not of the kind Ed25519. {advice}")
    return key


def sign_answer(key: Ed25519PrivateKey, session_id: str, seq: int, response: str) -> str:
    """The signature of an answer in base64, over `write_signed_bytes`."""
    return base64.b64encode(key.sign(write_signed_bytes(session_id, seq, response))).decode()


def write_signed_bytes(session_id: str, seq: int, response: str) -> bytes:
    """What is signed, as JSON (sorted, no spaces): session, position, the response's SHA-256."""
    signed = {
        "answer_sha256": hashlib.sha256(response.encode()).hexdigest(),
        "seq": seq,
        "session_id": session_id,
    }
    return json.dumps(signed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
