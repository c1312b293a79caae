"""The normal form in its first, plain wording: what the quick one must equal, text for text."""

from __future__ import annotations

import re
import unicodedata

_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"', "＂": '"'}
)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−－", "-"))
_STOPS = str.maketrans(
    {
        "。": ".",
        "、": ",",
        "【": "[",
        "】": "]",
        "〔": "(",
        "〕": ")",
        "《": "<",
        "》": ">",
        "〈": "<",
        "〉": ">",
    }
)


def normalise_plainly(text: str) -> str:
    """The normal form, step by step."""
    folded = _fold(text)
    for _ in range(3):
        again = _fold(folded)
        if again == folded:
            break
        folded = again
    return folded


def _fold(text: str) -> str:
    folded = re.sub(r"[\u200b-\u200f\u2060\ufeff\u00ad]", "", text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
    folded = folded.translate(_QUOTES).translate(_DASHES).translate(_STOPS)
    folded = re.sub(r"\s+", " ", folded)
    folded = re.sub(r"_{2,}|\( ?\)|\[ ?\]", "()", folded)
    folded = re.sub(r"(?<![0-9a-z]) | (?![0-9a-z])", "", folded)
    return re.sub(r"[ .,;:!?]+$", "", folded)
