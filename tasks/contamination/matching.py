"""Whether a completion is the span that was blanked, in Chinese and English."""

from __future__ import annotations

import re
import unicodedata

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_LABEL = re.compile(r"^(?:answer|missing words?|答案|缺失(?:的)?(?:内容|文字))\s*[:：]\s*", re.IGNORECASE)
_JUNK = re.compile(r"[\s\W_]+")
# How much more than the span a completion may hold: who lists many guesses has recalled none.
_MOST_EXTRA_CHARACTERS = 6
_MOST_EXTRA_WORDS = 3


def is_recalled(span: str, kind: str, completion: str) -> bool | None:
    """Whether the completion's first line gives the span.

    None where there is nothing to compare.

    A number must be the only number there, equal in value. Any other span must stand there, without regard to case, width,
    spaces and punctuation, with at most 6 characters (Chinese) or 3 words (English) beside it.
    """
    line = next((one.strip() for one in completion.splitlines() if one.strip()), "")
    said = _LABEL.sub("", unicodedata.normalize("NFKC", line))
    if not _JUNK.sub("", said):
        return None
    if kind == "number":
        numbers = {_read_number(one) for one in _NUMBER.findall(said)}
        return numbers == {_read_number(unicodedata.normalize("NFKC", span))}
    wanted, found = (
        _JUNK.sub("", unicodedata.normalize("NFKC", span)).casefold(),
        _JUNK.sub("", said).casefold(),
    )
    if not wanted or wanted not in found:
        return False
    if any("\u4e00" <= character <= "\u9fff" for character in wanted):
        return len(found) - len(wanted) <= _MOST_EXTRA_CHARACTERS
    return len(said.split()) - len(span.split()) <= _MOST_EXTRA_WORDS


def _read_number(text: str) -> float:
    return float(text.replace(",", ""))
