"""The token of a candidate's own client: given, kept in a file, or got with a password."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from schemas.errors import UsageError
from tasks.exam.http_calls import HttpCaller
from tasks.exam.practice import PRACTICE


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
