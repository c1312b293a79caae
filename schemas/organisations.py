"""How the name of an organisation is recognised, however it is written."""

from __future__ import annotations

import unicodedata

# Separators, marks of punctuation, and characters that nobody sees.
_LEFT_OUT = ("Z", "P", "C")


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
