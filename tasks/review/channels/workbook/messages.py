"""What is wrong with a row, said in the language of its workbook.

The sentences of the desk and of the cells are English; this table (messages.yaml) has the Chinese for each, by pattern.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

import yaml

from tasks.review.words import Language, list_words


def translate(message: str, language: Language) -> str:
    """The sentence in that language; one that the table lacks stays as it is."""
    if language == "en":
        return message
    for pattern, chinese in _read_patterns():
        found = pattern.fullmatch(message)
        if found is not None:
            parts = {name: _translate_part(text) for name, text in found.groupdict().items()}
            return chinese.format(**parts)
    return message


def _translate_part(text: str) -> str:
    """A fault within a fault, or the codes in it as an annotator knows them."""
    inner = translate(text, "zh")
    if inner != text:
        return inner
    topics = [list_words(topic, "zh") for topic in ("decisions", "reasons", "question_types", "disciplines")]
    words = {code: word for topic in topics for code, word in topic.items()}
    return "、".join(words.get(part, part) for part in text.split(", "))


@lru_cache(maxsize=1)
def _read_patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    text = resources.files("tasks.review.channels.workbook").joinpath("messages.yaml").read_text("utf-8")
    return [(_compile(en), zh) for en, zh in yaml.safe_load(text).items()]


def _compile(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", sentence)
    return re.compile(
        "".join(
            re.escape(part) if place % 2 == 0 else f"(?P<{part}>.+?)" for place, part in enumerate(parts)
        ),
        re.DOTALL,
    )
