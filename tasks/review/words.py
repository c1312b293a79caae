"""The words of review work (words.yaml), as annotators see them and may write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Literal

import yaml

Language = Literal["en", "zh"]
Topic = Literal["decisions", "reasons", "question_types", "disciplines"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


def list_words(topic: Topic, language: Language) -> dict[str, str]:
    """What is shown for each code of the topic, in the order of the table."""
    return {code: words[language] for code, words in _read_topics()[topic].items()}


def parse_word(text: str, topic: Topic) -> str | None:
    """The code for what a person chose or typed in either language; null for none or two."""
    known = _index_words(topic)
    whole = known.get(_normalise(text))
    if whole is not None:
        return whole
    # Both languages side by side: `accept 通过`.
    parts = [part for part in re.split(r"[\s/／|]+", text.strip()) if part]
    found = {known.get(_normalise(part)) for part in parts}
    return found.pop() if len(parts) > 1 and len(found) == 1 else None


@lru_cache(maxsize=1)
def _read_topics() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    content = yaml.safe_load(
        resources.files("tasks.review").joinpath("words.yaml").read_text(encoding="utf-8")
    )
    return MappingProxyType(content)


@lru_cache(maxsize=4)
def _index_words(topic: str) -> Mapping[str, str]:
    """Code by each way to write it; raises ValueError where one way stands for two codes."""
    index: dict[str, str] = {}
    for code, words in _read_topics()[topic].items():
        for text in (code, words["en"], words["zh"], *words.get("written", ())):
            if index.setdefault(_normalise(text), code) != code:
                raise ValueError(f"{text!r} stands for two of {topic}")
    return MappingProxyType(index)


def _normalise(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return "".join(folded.split()).strip(".。!！,，;；:：'\"“”‘’()（）")
