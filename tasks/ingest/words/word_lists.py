"""The lists of grammar.yaml: words that papers print around their questions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

import yaml


@lru_cache(maxsize=1)
def read_word_lists() -> dict[str, list[str]]:
    """The lists by their names."""
    text = resources.files("tasks.ingest.words").joinpath("grammar.yaml").read_text(encoding="utf-8")
    return {name: [str(word) for word in words] for name, words in yaml.safe_load(text).items()}


def match_words(words: Sequence[str]) -> str:
    """A pattern of any of the words, the longest first, in no other word of letters.

    Scripts that part no words by spaces have none to stand in.
    """
    longest = sorted(words, key=len, reverse=True)
    parted = "|".join(re.escape(word) for word in longest if _is_parted(word))
    joined = [re.escape(word) for word in longest if not _is_parted(word)]
    whole = rf"(?<![^\W\d_])(?:{parted})(?![^\W\d_])"
    return f"(?:{'|'.join([*joined, whole])})"


def _is_parted(word: str) -> bool:
    return word[0] < "\u2e80"
