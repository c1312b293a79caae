"""What asks by its signs in any language: a question mark, or a blank to be filled in."""

from __future__ import annotations

from typing import Final

from schemas import patterns as re
from tasks.ingest.words.once import once_a_paper
from tasks.questions import fill_blanks, has_blank

# Latin, full-width, Arabic; after Greek letters `;`; a mark within a word is part of an address
MARK: Final = r"(?:[?？؟]|;(?<=[\u0370-\u03ff];))(?!\w)"
_MARK = re.compile(MARK)
_LAST_MARK = re.compile(r"(?:[?？؟]|;(?<=[\u0370-\u03ff];))[)）\"”’»]?[\s.。:：]*$")
# what a question says where a text, a list or a figure below belongs to it
SHOWS_BELOW: Final = (
    r"下列|下面|如下|以下|下图|下表|所示|[:：]\s*$|\b(?:following|below|given)\b"
    r"|(?i:\b(?:suivant|ci-dessous|siguiente|abajo|folgend|unten|seguinte|abaixo|seguente|sotto|следующ|ниже))"
)
POINTS_BELOW: Final = re.compile(SHOWS_BELOW, re.IGNORECASE)
_GAP, _CLOSERS, _TAIL = "\0", " \t\r\n\u3000.。:：", 80


def asks_by_sign(text: str) -> bool:
    """Whether a question mark or a blank stands anywhere."""
    return _MARK.search(text) is not None or has_blank(text)


def ends_with_mark(text: str) -> bool:
    """Whether a question mark is the last of a text."""
    return _LAST_MARK.search(text[-_TAIL:]) is not None


@once_a_paper
def ends_asking(text: str) -> bool:
    """Whether a text ends with a question mark or has a blank: an option seldom does."""
    return ends_with_mark(text) or has_blank(text)


def ends_in_blank(text: str) -> bool:
    """Whether nothing follows the last blank of a text."""
    return fill_blanks(text[-_TAIL:], _GAP).rstrip(_CLOSERS).endswith(_GAP)


@once_a_paper
def closes_asking(text: str) -> bool:
    """Whether a question mark or a blank ends a text: what follows may be offered."""
    return ends_with_mark(text) or ends_in_blank(text)
