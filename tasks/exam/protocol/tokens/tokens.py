"""Tokens of the exam API (LLMEval-Fair, appendix H; RFC 7519).

They are JSON Web Tokens signed with HMAC-SHA256. Claims: `user_id`, `session_id`, `permissions`; `iss` (this installation), `aud`
(the exam), `iat`, `nbf`, `exp`, `jti`; the header names the key (`kid`). A token can only narrow what the user's role in the
ledger allows; it never adds to it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from schemas.errors import ExamError, UsageError, suggest
from schemas.settings import LONGEST_LIFE_S
from tasks.exam.protocol.tokens.keys import FRESH_S, KeyFile, KeySet
from warehouse.ledger.engine.statements import call_after_wait
from warehouse.ledger.exam.tokens import EndedTokens, read_ended_tokens

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Connection

ALGORITHM: Final = "HS256"
AUDIENCE: Final = "proctor-exam"
# Clocks of two hosts may differ by so much; a token from further in the future is not one of ours.
LEEWAY_S: Final = 10.0
# The year 2286.
_END_OF_TIME: Final = 10_000_000_000
_MOST_CACHED_TOKENS: Final = 4096
_CLAIMS: Final = ("iss", "aud", "iat", "nbf", "exp", "jti")

# What a role may do. `sit` works only on the session that the token names.
PERMISSIONS: dict[str, frozenset[str]] = {
    "admin": frozenset(
        {"read_sessions", "read_runs", "release_sessions", "decide_requests", "issue_tokens", "write_users"}
    ),
    "examiner": frozenset(
        {"read_sessions", "read_runs", "release_sessions", "decide_requests", "issue_tokens"}
    ),
    "candidate": frozenset({"sit", "list_own_sessions"}),
    "annotator": frozenset(),
    "analyst": frozenset(),
}
_KNOWN = frozenset().union(*PERMISSIONS.values())


@dataclass(frozen=True)
class Claims:
    """What a verified token says.

    Attributes:
        token_id: name of the token (`jti`).
        session_id: the one session that may be sat; null for tokens that are bound to none.
        permissions: what the token allows, before the role narrows it.
        expires_at: Unix time; at this moment the token is expired, or the key that signed it has ended.
        issued_by: who issued it, where it was not the user who asked for it.
    """

    token_id: str
    user_id: str
    session_id: str | None
    permissions: frozenset[str]
    issued_at: float
    not_before: float
    expires_at: float
    issued_by: str | None = None

    def describe(self) -> str:
        """The token by its id, and who issued it where the user did not ask for it."""
        return self.token_id if self.issued_by is None else f"{self.token_id} {self.issued_by}"


@dataclass(frozen=True)
class SignedToken:
    """A token, its id, and its end in Unix time."""

    text: str
    token_id: str
    expires_at: int


def issue_token(
    keys: KeyFile,
    user_id: str,
    session_id: str | None,
    permissions: Iterable[str],
    ttl_s: int,
    *,
    now: float | None = None,
    issued_by: str | None = None,
) -> SignedToken:
    """Sign a token that lives `ttl_s` seconds, or the longest time that any token may.

    Raises UsageError for an unknown permission. `issued_by` names who issues it for somebody else.
    """
    import jwt

    wanted = frozenset(permissions)
    if unknown := wanted - _KNOWN:
        raise UsageError(
            f"Permission {sorted(unknown)[0]!r} is unknown.{suggest(sorted(unknown)[0], _KNOWN)} Use some of {', '.join(sorted(_KNOWN))}."
        )
    # Fractions of a second: a token asked for right after a new password must be told from those of before.
    issued_at = time.time() if now is None else now
    expires_at = int(issued_at) + min(ttl_s, keys.longest_s)
    token_id = uuid.uuid4().hex
    found = keys.refresh()
    claims = {
        "iss": found.issuer,
        "aud": AUDIENCE,
        "iat": issued_at,
        "nbf": issued_at,
        "exp": expires_at,
        "jti": token_id,
        "user_id": user_id,
        "session_id": session_id,
        "permissions": sorted(wanted),
    }
    if issued_by is not None:
        claims["issued_by"] = issued_by
    key = found.present
    text = jwt.encode(claims, key.secret, algorithm=ALGORITHM, headers={"kid": key.key_id})
    return SignedToken(text, token_id, expires_at)


def verify_token(keys: KeyFile, token: str, *, now: float | None = None) -> Claims:
    """The claims of a token; ExamError 401 for one that is not ours, not valid yet, or expired."""
    claims = _read_claims(keys, token)
    check_moment(claims, time.time() if now is None else now)
    return claims


def read_caller(keys: KeyFile, token: str) -> Claims | None:
    """What a token that we signed says, expired and ended or not; null for what we did not sign."""
    try:
        return _read_claims(keys, token)
    except ExamError:
        return None


def read_token_id(text: str) -> str:
    """The id of a token given whole, whoever signed it, or the id itself; else a UsageError."""
    import jwt

    token_id: object = text.strip()
    if text.count(".") == 2:
        try:
            token_id = jwt.decode(text.strip(), options={"verify_signature": False}).get("jti")
        except jwt.InvalidTokenError:
            token_id = None
    if not isinstance(token_id, str) or not re.fullmatch(r"[0-9a-f]{32}", token_id):
        raise UsageError("This is no token of the exam, nor the id of one: 32 hexadecimal digits.")
    return token_id


def check_moment(claims: Claims, now: float) -> None:
    """Pass while the token lives; raises ExamError 401."""
    if now >= claims.expires_at:
        raise ExamError(401, "token_expired", "The token has expired. Ask for a new one.")
    if max(claims.issued_at, claims.not_before) > now + LEEWAY_S:
        raise _bad_token()


def check_not_ended(claims: Claims, ended: EndedTokens) -> None:
    """Pass unless it, or all of its user's or its issuer's, was ended; raises ExamError 401."""
    ended_until = max(ended.users.get(name or "", 0.0) for name in (claims.user_id, claims.issued_by))
    if claims.token_id in ended.token_ids or claims.issued_at <= ended_until:
        raise ExamError(401, "token_ended", "The token was ended before its time. Ask for a new one.")


class VerifiedTokens:
    """Tokens of one process, each with its signature verified once.

    Whether a token has expired or was ended is checked at every call. Keys and ended tokens are read again
    once a second, whatever the number of calls.

    Args:
        clock: seconds since 1970.
        tick: seconds of a clock that never goes back.
    """

    def __init__(
        self, keys: KeyFile, clock: Callable[[], float], tick: Callable[[], float] = time.monotonic
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._tick = tick
        self._seen: KeySet | None = None
        self._verified: dict[str, Claims] = {}
        self._ended: tuple[float, EndedTokens] | None = None
        self._asked_at = float("-inf")

    def read(self, token: str, connection: Connection) -> Claims:
        """The claims of a token; raises ExamError 401."""
        keys = self._keys.read()
        if keys is not self._seen:
            self._verified.clear()
            self._seen = keys
        claims = self._verified.get(token)
        if claims is None:
            return self.verify(token, connection)
        check_moment(claims, self._clock())
        check_not_ended(claims, self._read_ended(connection))
        return claims

    def look(self, token: str) -> Claims:
        """The claims by what this process knows, for the door (`read` decides); ExamError 401."""
        keys = self._keys.read()
        claims = self._verified.get(token) if keys is self._seen else None
        if claims is None:
            claims = verify_token(self._keys, token, now=self._clock())
        else:
            check_moment(claims, self._clock())
        if self._ended is not None:
            check_not_ended(claims, self._ended[1])
        return claims

    def verify(self, token: str, connection: Connection) -> Claims:
        """The claims of a token, its signature verified again; raises ExamError 401."""
        claims = verify_token(self._keys, token, now=self._clock())
        check_not_ended(claims, self._read_ended(connection))
        if len(self._verified) >= _MOST_CACHED_TOKENS:
            self._verified.clear()
        self._verified[token] = claims
        return claims

    def _read_ended(self, connection: Connection) -> EndedTokens:
        now = self._tick()
        if self._ended is None or not 0 <= now - self._ended[0] < FRESH_S:
            self._ended = (now, read_ended_tokens(connection).read())
        elif now - self._ended[0] >= FRESH_S / 2 and now - self._asked_at >= FRESH_S / 2:
            # Sent with what this call asks for anyway, and known for the calls after it.
            self._asked_at = now
            later = read_ended_tokens(connection)
            call_after_wait(connection, lambda: self._note_ended(now, later.read()))
        return self._ended[1]

    def _note_ended(self, now: float, ended: EndedTokens) -> None:
        self._ended = (now, ended)


def derive_lease_secret(keys: KeySet, session_id: str) -> str:
    """The lease secret of in-house sittings: a restarted process is the same holder."""
    return hmac.new(keys.lease_secret, b"lease|" + session_id.encode(), hashlib.sha256).hexdigest()


def _read_claims(keys: KeyFile, token: str) -> Claims:
    """What a token signed with one of the keys says; its moments are not looked at."""
    import jwt

    try:
        key_id = jwt.get_unverified_header(token).get("kid")
        found = keys.read()
        key = found.find(str(key_id))
        if key is None:
            # Another process may have put in a new key just now.
            found = keys.refresh()
            key = found.find(str(key_id))
        if key is None:
            raise _bad_token()
        payload: dict[str, Any] = jwt.decode(
            token,
            key.secret,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            issuer=found.issuer,
            options={
                "require": list(_CLAIMS),
                "verify_exp": False,  # the moments are checked against the clock that was given
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
    except (jwt.InvalidTokenError, UnicodeError, ValueError, TypeError):
        raise _bad_token() from None
    ends_at = float("inf") if key.ends_at is None else key.ends_at
    return _parse_claims(payload, keys.longest_s, ends_at)


def _parse_claims(payload: dict[str, Any], longest_s: int, ends_at: float) -> Claims:
    token_id, user_id, session_id = payload["jti"], payload.get("user_id"), payload.get("session_id")
    if not isinstance(payload.get("issued_by"), str | None):
        raise _bad_token()
    permissions, moments = payload.get("permissions"), [payload[name] for name in ("iat", "nbf", "exp")]
    if (
        _is_name(token_id)
        and _is_name(user_id)
        and (session_id is None or _is_name(session_id))
        and isinstance(permissions, list)
        and all(isinstance(name, str) for name in permissions)
        and all(map(_is_moment, moments))
    ):
        issued_at, not_before, expires_at = moments
        # Where the limit was lowered, what was issued before is cut to it; what no setting allows is none of ours.
        if expires_at - issued_at <= LONGEST_LIFE_S:
            return Claims(
                token_id,
                user_id,
                session_id,
                frozenset(permissions),
                issued_at,
                not_before,
                min(expires_at, int(issued_at) + longest_s, ends_at),
                payload.get("issued_by"),
            )
    raise _bad_token()


def _is_name(value: object) -> TypeGuard[str]:
    """Whether a ledger can look the text up: no character zero, no half of a surrogate pair."""
    return isinstance(value, str) and not re.search("[\0\ud800-\udfff]", value)


def _is_moment(value: object) -> bool:
    """Whether it is a Unix time: JSON as Python reads it has Infinity, NaN and endless integers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _END_OF_TIME


def _bad_token() -> ExamError:
    return ExamError(401, "token_invalid", "The token's signature or form is not valid. Ask for a new one.")
