"""Passwords: argon2 hashes, and what a password must be."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# Argon2 takes memory and tens of milliseconds by design; more at once would starve the rest of a server.
PASSWORDS_AT_ONCE: Final = 2
# NIST SP 800-63B §5.1.1: length counts, rules of composition do not; a megabyte to hash is an attack.
FEWEST_CHARACTERS: Final = 12
MOST_CHARACTERS: Final = 1_000

_hasher = PasswordHasher()


def hash_password(password: str) -> str:
    """An argon2id hash with its own salt."""
    return _hasher.hash(password)


def check_password(stored: str | None, password: str) -> bool:
    """Whether the password fits.

    The check takes as long for a user who does not exist, so that names cannot be probed.
    """
    try:
        return _hasher.verify(stored or prepare_dummy(), password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


@lru_cache(maxsize=1)
def prepare_dummy() -> str:
    """The hash that stands for users who do not exist.

    It is made before the first of them asks, who would otherwise wait twice as long.
    """
    return _hasher.hash("nobody's password")
