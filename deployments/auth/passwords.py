"""Passwords: argon2 hashes, and what a password must be.

Passwords that are refused (NIST SP 800-63B §5.1.1.2). They are too short, the user's own name, or among the
first that anybody would try.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# Argon2 takes memory and tens of milliseconds by design; more at once would starve the rest of a server.
PASSWORDS_AT_ONCE: Final = 2
# NIST SP 800-63B §5.1.1: length counts, rules of composition do not; a megabyte to hash is an attack.
FEWEST_CHARACTERS: Final = 12
MOST_CHARACTERS: Final = 1_000

_hasher = PasswordHasher()
_COMMON = Path(__file__).with_name("common_passwords.yaml")
_FEWEST_DIFFERENT = 5
# Characters that stand for letters: `P@ssw0rd` is `password`.
_LETTERS = str.maketrans("@4301!$57", "aaeoiisst")


class Weakness(Enum):
    """Why a password is refused, as one sentence."""

    LENGTH = f"A password needs {FEWEST_CHARACTERS} to {MOST_CHARACTERS:,} characters."
    NAME = "The password is the user's name, or little more. Choose one that has nothing to do with it."
    COMMON = "The password is among the first that anybody would try. Choose several words that do not belong together."

    @property
    def sentence(self) -> str:
        """What is wrong and what to do."""
        return self.value


def hash_password(password: str) -> str:
    """An argon2id hash with its own salt."""
    return _hasher.hash(password)


def check_password(stored: str | None, password: str) -> bool:
    """Whether the password fits, as slowly for who does not exist: names cannot be probed."""
    try:
        return _hasher.verify(stored or prepare_dummy(), password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


@lru_cache(maxsize=1)
def prepare_dummy() -> str:
    """The hash that stands for users who do not exist, made before the first of them asks."""
    return _hasher.hash("nobody's password")


def find_weakness(password: str, user_id: str) -> Weakness | None:
    """Why a new password is refused for a user; null for one that may be taken."""
    if not FEWEST_CHARACTERS <= len(password) <= MOST_CHARACTERS:
        return Weakness.LENGTH
    plain, name = _simplify(password), _simplify(user_id)
    names = {name, *map(_simplify, re.split(r"[:@./ ]", user_id))} - {""}
    if any(_is_repeated(plain, one) or _is_repeated(plain, one[::-1]) for one in names):
        return Weakness.NAME
    is_monotonous = len(set(password.casefold())) < _FEWEST_DIFFERENT
    if is_monotonous or _is_sequence(password) or any(_is_repeated(plain, one) for one in _read_common()):
        return Weakness.COMMON
    return None


def _simplify(text: str) -> str:
    """What remains of a text without letter case, stops, end digits and look-alike signs."""
    kept = "".join(letter for letter in text.casefold() if letter.isalnum() or letter in "@!$")
    return kept.strip("0123456789!$@").translate(_LETTERS)


def _is_repeated(text: str, word: str) -> bool:
    """Whether the text is the word, once or several times."""
    return bool(text) and text == word * (len(text) // len(word))


def _is_sequence(text: str) -> bool:
    """Whether each character follows the one before, in runs up or down: `123456789012`."""
    steps = [
        (ord(after) - ord(before)) % 10 if before.isdigit() and after.isdigit() else ord(after) - ord(before)
        for before, after in pairwise(text)
    ]
    return bool(steps) and len(set(steps)) == 1


@lru_cache(maxsize=1)
def _read_common() -> frozenset[str]:
    import yaml

    words = yaml.safe_load(_COMMON.read_text(encoding="utf-8"))
    return frozenset(filter(None, map(_simplify, words)))
