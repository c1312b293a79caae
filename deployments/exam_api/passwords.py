"""Passwords: argon2 hashes, checked a few at a time, and a pause after repeated failures."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_MOST_FAILURES: Final = 10
_PAUSE_S: Final = 300.0
_MOST_NAMES: Final = 10_000

_hasher = PasswordHasher()


def hash_password(password: str) -> str:
    """An argon2id hash with its own salt."""
    return _hasher.hash(password)


def check_password(stored: str | None, password: str) -> bool:
    """Whether the password fits; takes as long for a user who does not exist, so that names cannot be probed."""
    try:
        return _hasher.verify(stored or _dummy_hash(), password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


class FailureCounter:
    """Counts failures per name and tells who must pause; kept in memory, for one server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, tuple[int, float]] = {}

    def must_pause(self, name: str) -> bool:
        """Whether a name has failed too often of late."""
        count, last = self._failures.get(name, (0, 0.0))
        if count and self._clock() - last > _PAUSE_S:
            del self._failures[name]
            return False
        return count >= _MOST_FAILURES

    def note(self, name: str, *, is_right: bool) -> None:
        """Count a failure, or forget the earlier ones."""
        if is_right:
            self._failures.pop(name, None)
            return
        if len(self._failures) >= _MOST_NAMES:
            self._failures.clear()
        count, _ = self._failures.get(name, (0, 0.0))
        self._failures[name] = (count + 1, self._clock())


@lru_cache(maxsize=1)
def _dummy_hash() -> str:
    return _hasher.hash("nobody's password")
