"""Attempts to sign in by way of another site.

They are begun here, and finished by the same browser or not at all.

A cookie with a random text is all that is kept of one. State, nonce and verifier follow from it and from the key, so that the
server remembers nothing, and whoever learns the address of an answer can do nothing with it in another browser.
"""

from __future__ import annotations

import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Final

from deployments.auth.kinds import Attempt
from deployments.auth.sessions import is_equal, sign

# Long enough for a second factor and a forgotten password there.
ATTEMPT_S: Final = 900
_LONGEST_PATH: Final = 1_000


class Attempts:
    """Attempts of one server.

    Attributes:
        address: where browsers reach the server.

    Args:
        key: what signs cookies.
        address: see above.
        clock: seconds since 1970.
    """

    def __init__(self, key: bytes, address: str, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self.address = address
        self._clock = clock

    def begin(self, kind: str, then: str) -> tuple[Attempt, str]:
        """An attempt, and the value of its cookie; `then` is the path to go to after it."""
        secret = secrets.token_urlsafe(32)
        path = urlsafe_b64encode(then.encode()).decode() if len(then) <= _LONGEST_PATH else ""
        signed = f"{secret}.{int(self._clock() + ATTEMPT_S)}.{path}"
        return self._make(kind, secret), f"{signed}.{self._sign(kind, 'attempt', signed)}"

    def read(self, kind: str, cookie: str | None, state: str) -> tuple[Attempt, str] | None:
        """The attempt that an answer belongs to, and the path to go to after it.

        None where this browser began none of that kind, or another one, and where it began too long ago.
        """
        signed, _, signature = (cookie or "").rpartition(".")
        if not signed or not is_equal(signature, self._sign(kind, "attempt", signed)):
            return None
        secret, expires, path = signed.split(".")
        attempt = self._make(kind, secret)
        if int(expires) < self._clock() or not is_equal(state, attempt.state):
            return None
        return attempt, urlsafe_b64decode(path).decode() or "/"

    def _make(self, kind: str, secret: str) -> Attempt:
        state, nonce, verifier = (
            self._sign(kind, purpose, secret) for purpose in ("state", "nonce", "verifier")
        )
        return Attempt(state, nonce, verifier, f"{self.address}/sign-in/{kind}/back")

    def _sign(self, kind: str, purpose: str, text: str) -> str:
        return sign(self._key, f"{purpose} {kind}", text)
