"""Tokens of the exam API: JSON Web Tokens signed with HMAC-SHA256 (LLMEval-Fair, appendix H).

Claims: `user_id`, `iat`, `exp`, `session_id`, `permissions`. A token can only narrow what the user's role in the ledger
allows; it never adds to it.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from schemas.errors import ExamError, UsageError
from schemas.settings import Settings
from warehouse.secrets import read_home_key

ALGORITHM: Final = "HS256"
_MOST_CACHED_TOKENS: Final = 4096

# What a role may do. `sit` works only on the session that the token names.
PERMISSIONS: dict[str, frozenset[str]] = {
    "admin": frozenset({"read_sessions", "read_runs", "release_sessions", "issue_tokens", "write_users"}),
    "examiner": frozenset({"read_sessions", "read_runs", "release_sessions", "issue_tokens"}),
    "candidate": frozenset({"sit", "list_own_sessions"}),
    "annotator": frozenset(),
    "analyst": frozenset(),
}
_KNOWN = frozenset().union(*PERMISSIONS.values())


@dataclass(frozen=True)
class Claims:
    """What a verified token says.

    Attributes:
        user_id: who calls.
        session_id: the one session that may be sat; null for tokens that are bound to none.
        permissions: what the token allows, before the role narrows it.
        issued_at: Unix time.
        expires_at: Unix time; at this moment the token is expired.
    """

    user_id: str
    session_id: str | None
    permissions: frozenset[str]
    issued_at: int
    expires_at: int


def read_secret(settings: Settings) -> bytes:
    """The signing secret of this installation, from `secrets/jwt` under the home folder; made on first use (mode 0600).

    Raises StoreError when others may read the file, or when it is damaged.
    """
    return read_home_key(settings, "jwt", "Delete it otherwise; all tokens must then be issued again.")


def issue_token(
    secret: bytes,
    user_id: str,
    session_id: str | None,
    permissions: Iterable[str],
    ttl_s: int,
    *,
    now: float | None = None,
) -> str:
    """Sign a token that lives `ttl_s` seconds; raises UsageError for a permission that no role has."""
    import jwt

    wanted = frozenset(permissions)
    if unknown := wanted - _KNOWN:
        raise UsageError(
            f"Permission {sorted(unknown)[0]!r} is unknown. Use some of {', '.join(sorted(_KNOWN))}."
        )
    issued_at = int(time.time() if now is None else now)
    claims = {
        "user_id": user_id,
        "iat": issued_at,
        "exp": issued_at + ttl_s,
        "session_id": session_id,
        "permissions": sorted(wanted),
    }
    return jwt.encode(claims, secret, algorithm=ALGORITHM)


def verify_token(secret: bytes, token: str, *, now: float | None = None) -> Claims:
    """The claims of a token; raises ExamError 401 for a bad signature, form or algorithm, and for an expired token."""
    import jwt

    try:
        payload = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            options={
                "require": ["exp", "iat"],
                "verify_exp": False,  # checked below, against the clock that was given
                "verify_iat": False,
                "verify_aud": False,
                "verify_iss": False,
                "verify_nbf": False,
            },
        )
    except (jwt.InvalidTokenError, UnicodeError, ValueError, TypeError):
        raise _bad_token() from None
    claims = _parse_claims(payload)
    check_expiry(claims, time.time() if now is None else now)
    return claims


def check_expiry(claims: Claims, now: float) -> None:
    """Pass while the token lives; raises ExamError 401."""
    if now >= claims.expires_at:
        raise ExamError(401, "token_expired", "The token has expired. Ask for a new one.")


class VerifiedTokens:
    """Tokens of one process: the signature is verified once for each, the expiry at every call.

    Args:
        secret: signing secret.
        clock: seconds since 1970.
    """

    def __init__(self, secret: bytes, clock: Callable[[], float]) -> None:
        self._secret = secret
        self._clock = clock
        self._verified: dict[str, Claims] = {}

    def read(self, token: str) -> Claims:
        """The claims of a token; raises ExamError 401."""
        claims = self._verified.get(token)
        if claims is None:
            return self.verify(token)
        check_expiry(claims, self._clock())
        return claims

    def verify(self, token: str) -> Claims:
        """The claims of a token, its signature verified whatever was known of it; raises ExamError 401."""
        claims = verify_token(self._secret, token, now=self._clock())
        if len(self._verified) >= _MOST_CACHED_TOKENS:
            self._verified.clear()
        self._verified[token] = claims
        return claims


def derive_lease_secret(secret: bytes, session_id: str) -> str:
    """The lease secret of in-house sittings: the same on every start, so that a restarted process is the same holder."""
    return hmac.new(secret, b"lease|" + session_id.encode(), hashlib.sha256).hexdigest()


def _parse_claims(payload: dict[str, object]) -> Claims:
    user_id, session_id = payload.get("user_id"), payload.get("session_id")
    permissions, issued_at, expires_at = payload.get("permissions"), payload.get("iat"), payload.get("exp")
    if (
        isinstance(user_id, str)
        and (session_id is None or isinstance(session_id, str))
        and isinstance(permissions, list)
        and all(isinstance(name, str) for name in permissions)
        and isinstance(issued_at, int)
        and isinstance(expires_at, int)
    ):
        return Claims(user_id, session_id, frozenset(permissions), issued_at, expires_at)
    raise _bad_token()


def _bad_token() -> ExamError:
    return ExamError(401, "token_invalid", "The token's signature or form is not valid. Ask for a new one.")
