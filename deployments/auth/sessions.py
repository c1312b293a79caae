"""Who is signed in.

It needs a signed cookie that expires, a row in the ledger that ends it at once, and a token against forged forms. The cookie names
a session drawn at random, after the kind of sign-in that began it; the ledger keeps its hash alone. Signing out, a new password and
shutting a user out end it from the next request on. The teams that a provider's claims gave last as long as the session: they stand
in the cookie, signed with it.

Attempts to sign in by way of another site.

They are begun here, and finished by the same browser or not at all.

A cookie with a random text is all that is kept of one. State, nonce and verifier follow from it and from the key, so that the
server remembers nothing, and whoever learns the address of an answer can do nothing with it in another browser.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from deployments.auth.kinds import OWN_KIND, Attempt
from schemas.settings import Settings
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.trust import web_sessions
from warehouse.stores.secrets import read_home_key

# A working day: who comes back tomorrow signs in again.
SESSION_S: Final = 12 * 3600
# A browser that has signed in is known so long, so that nobody's guesses keep its owner out.
DEVICE_S: Final = 180 * 86_400
_WAY_OUT: Final = "Delete it to sign everybody out; a new one is made at the next start of `proctor web`."
# Long enough for a second factor and a forgotten password there.
ATTEMPT_S: Final = 900
_LONGEST_PATH: Final = 1_000


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Somebody who is signed in: their name, role, the session that says so, and their teams."""

    user_id: str
    role: str
    session_id: str
    teams: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of sign-in by which the session began."""
        return self.session_id.partition(":")[0]


def read_cookie_key(settings: Settings) -> bytes:
    """The key that signs cookies and forms; raises StoreError when others may read it."""
    return read_home_key(settings, "web-cookie.key", _WAY_OUT)


class Sessions:
    """Sessions of one server: started, read and ended."""

    def __init__(self, ledger: Ledger, key: bytes, clock: Callable[[], float] = time.time) -> None:
        self._ledger = ledger
        self._key = key
        self._clock = clock

    def start(self, user_id: str, kind: str = OWN_KIND, teams: Sequence[str] = ()) -> str:
        """A new session of who was recognised, with their claims' `teams`; its cookie's value."""
        session_id, now = f"{kind}:{secrets.token_urlsafe(32)}", self._clock()
        expires = int(now + SESSION_S)
        with self._ledger.write() as connection:
            web_sessions.insert_session(
                connection, _hash(session_id), user_id, write_moment(now), write_moment(expires)
            )
        signed = ".".join([f"{session_id}.{expires}", *([_pack(teams)] if teams else [])])
        return f"{signed}.{self._sign('cookie', signed)}"

    def read(self, cookie: str | None) -> SignedIn | None:
        """Who a cookie stands for; null for none, a forged one, and one that has ended."""
        signed, _, signature = (cookie or "").rpartition(".")
        # What is not signed by us never reaches the ledger.
        if not signed or not is_equal(signature, self._sign("cookie", signed)):
            return None
        # Where there are teams, they come last.
        session_id, expires, teams = (*signed.split("."), "")[:3]
        now = self._clock()
        if int(expires) < now:
            return None
        with self._ledger.read() as connection:
            row = web_sessions.read_session(connection, _hash(session_id), write_moment(now))
        return None if row is None else SignedIn(row["user_id"], row["role"], session_id, _unpack(teams))

    def end(self, session_id: str) -> None:
        """End a session."""
        with self._ledger.write() as connection:
            web_sessions.delete_session(connection, _hash(session_id))

    def remember_device(self, user_id: str) -> str:
        """The cookie of a browser that has signed in with an account; it signs nobody in."""
        signed = f"{secrets.token_urlsafe(16)}.{int(self._clock() + DEVICE_S)}"
        return f"{signed}.{self._sign(f'device {user_id}', signed)}"

    def read_device(self, cookie: str | None, user_id: str) -> str | None:
        """The name of a browser that signed in with this account within half a year; else None."""
        signed, _, signature = (cookie or "").rpartition(".")
        name, _, expires = signed.partition(".")
        if not signed or not is_equal(signature, self._sign(f"device {user_id}", signed)):
            return None
        return name if int(expires) >= self._clock() else None

    def make_form_token(self, session_id: str) -> str:
        """What a form of this session must carry: another site can send a form, but not read this."""
        return self._sign("form", session_id)

    def is_form_token(self, session_id: str, token: str) -> bool:
        """Whether the token is the one of this session."""
        return is_equal(token, self._sign("form", session_id))

    def _sign(self, purpose: str, text: str) -> str:
        return sign(self._key, purpose, text)


def _pack(teams: Sequence[str]) -> str:
    """Names of teams as a part of a cookie; no name of a team has a comma."""
    return urlsafe_b64encode(",".join(teams).encode()).decode().rstrip("=")


def _unpack(packed: str) -> tuple[str, ...]:
    return tuple(filter(None, urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode().split(",")))


def sign(key: bytes, purpose: str, text: str) -> str:
    """What nobody makes of a text without the key; for another purpose it is another."""
    return hmac.new(key, f"{purpose} {text}".encode(), hashlib.sha256).hexdigest()


def is_equal(one: str, other: str) -> bool:
    """Compared in constant time; text that is no ASCII equals nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def _hash(session_id: str) -> str:
    return hashlib.sha256(session_id.encode()).hexdigest()


class Attempts:
    """Attempts of one server.

    Attributes:
        address: where browsers reach the server.

    Args:
        key: what signs cookies.
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
