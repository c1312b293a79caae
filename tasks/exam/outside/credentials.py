"""What a candidate's own client shows: its token, and answers signed with its own key."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from schemas.errors import UsageError
from tasks.exam.http_calls import HttpCaller
from tasks.exam.practice import PRACTICE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass
class Credentials:
    """What a candidate shows to get in.

    Attributes:
        token: the token in use; empty before the first.
        token_file: read again when the token has ended: an examiner may have issued a new one.
    """

    token: str = field(default="", repr=False)
    token_file: Path | None = None
    user_id: str = ""
    password: str = field(default="", repr=False)

    async def renew(self, caller: HttpCaller, session_id: str | None) -> bool:
        """Get a token other than the present one; false when there is none to be had."""
        before = self.token
        if self.user_id:
            # Practice is for every candidate: a token for it names no session.
            named = None if session_id == PRACTICE else session_id
            body = {"user_id": self.user_id, "password": self.password, "session_id": named}
            self.token = str((await caller.call("POST", "/token", None, json=body))["token"])
        elif self.token_file is not None:
            self.token = _read_token(self.token_file)
        return self.token != before

    async def find_session(self, caller: HttpCaller) -> str:
        """The token's session, else the user's first that is not closed; UsageError for none."""
        if not self.token:
            await self.renew(caller, None)
        named = _read_session(self.token)
        if named is not None:
            return named
        closed_count, after = 0, ""
        while True:
            reply = await caller.call("GET", f"/sessions{after}", self.token)
            for row in reply["sessions"]:
                if row["status"] != "closed":
                    return str(row["session_id"])
            closed_count += len(reply["sessions"])
            # A server that lists a page at a time names the next one.
            if reply.get("next_after") is None:
                raise UsageError(f"There is no session to sit: {closed_count} are closed, none is open.")
            after = f"?after={quote(reply['next_after'], safe='')}"


def _read_token(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise UsageError(f"The token file {path} cannot be read ({type(error).__name__}).") from None


def _read_session(token: str) -> str | None:
    """The session that a token says it is for; its signature is the server's to check."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        named = claims["session_id"]
    except (IndexError, ValueError, KeyError, TypeError):
        return None
    return named if isinstance(named, str) else None


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
