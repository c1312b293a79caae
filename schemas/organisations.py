"""How an organisation is recognised, and what teams and families are called."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from schemas import patterns as re

# Separators, marks of punctuation, and characters that nobody sees.
_LEFT_OUT = ("Z", "P", "C")
_NAME: Final = re.compile(r"\w[\w.-]{0,59}")
TEAM_NAMES: Final = "A team has letters, digits, `_`, `-` and dots in its name, at most 60"


def normalise_organisation(name: str) -> str:
    """The form by which an organisation is recognised.

    It is empty where the name holds no letter, digit or symbol.

    Letter case, width, spaces and punctuation do not tell two organisations apart: `Org 0`, `org0` and `ｏｒｇ０` are one. An
    organisation that was wrongly taken for another would meet questions less often, never twice.
    """
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(
        character
        for character in unicodedata.normalize("NFKC", text)
        if unicodedata.category(character)[0] not in _LEFT_OUT
    )


def name_families(
    described: Iterable[tuple[str | None, str | None]],
) -> dict[tuple[str | None, str | None], str | None]:
    """What each family, as (organisation, name), is called among these.

    By its name, with its organisation where another organisation has a family of that name.
    """
    pairs = list(dict.fromkeys(described))
    owners: dict[str, set[str]] = {}
    for organisation, name in pairs:
        if name and organisation:
            owners.setdefault(name, set()).add(normalise_organisation(organisation))
    return {
        (organisation, name): f"{name} ({organisation})"
        if name and organisation and name != organisation and len(owners[name]) > 1
        else name
        for organisation, name in pairs
    }


def is_team_name(name: str) -> bool:
    """Whether a team may have that name; any of them may also name a folder."""
    return _NAME.fullmatch(name) is not None
