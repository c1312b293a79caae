"""The lists of grammar.yaml: words that papers print around their questions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

import yaml

_TEXT = resources.files("tasks.ingest.words").joinpath("grammar.yaml").read_text(encoding="utf-8")
# Every word a text: `no` stands before numbers, and is no falsehood. PyYAML may have been built without its faster half.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
WORDS: Final[Mapping[str, list[str]]] = yaml.load(_TEXT, Loader=_LOADER)  # noqa: S506 - makes texts alone


def match_words(words: Sequence[str]) -> str:
    """A pattern of any of the words, the longest first, in no other word of letters.

    Scripts that part no words by spaces have none to stand in.
    """
    whole = rf"(?<![^\W\d_]){spell([word for word in words if is_parted(word)])}(?![^\W\d_])"
    joined = [word for word in words if not is_parted(word)]
    return f"(?:{spell(joined)}|{whole})" if joined else whole


def spell(words: Sequence[str]) -> str:
    """A pattern of any of the words, the longest first.

    One look at the first letter tells where none of them stands: without it each would be tried, at every place of a line.
    """
    firsts = re.escape("".join(sorted({word[0] for word in words})))
    return rf"(?=[{firsts}])(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


def is_parted(word: str) -> bool:
    """Whether a word is written in a script that parts words by spaces."""
    return word[0] < "\u2e80"
