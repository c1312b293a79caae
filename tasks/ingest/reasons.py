"""What is said of a paper's reading, for who reads Chinese."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import cast

from schemas import patterns as re
from tasks.texts import read_texts

# What stands for a part: of a number, of a file's name, and of any text that, unless quoted or in brackets, is of one sentence.
_NUMBER, _FILE = r"[0-9]+(?:[.,][0-9]+)*%?", r"[^\n]{1,160}?\.\w+"
_TEXT = r"""(?:'(?:[^'\\\n]|\\.){1,160}'|"(?:[^"\\\n]|\\.){1,160}"|(?:(?![.] [A-Z])[^\n]){1,160}?|(?<=[(])[^\n]{1,160}?(?=[)]))"""
_KINDS = dict.fromkeys(("n", "m", "k"), _NUMBER) | dict.fromkeys(("file", "paper"), _FILE)


def say_in_chinese(text: str) -> str:
    """The same with every sentence of `reasons.yaml` in Chinese; another stays as it is."""
    for pattern, chinese in _read_sentences():
        text = pattern.sub(partial(_fill_in, chinese), text)
    return text


def _fill_in(chinese: str, found: re.Match[str]) -> str:
    # A question's number is printed with the dot behind it.
    given = {name: part.replace("., ", ", ").removesuffix(".") for name, part in found.groupdict().items()}
    if re.match("[A-Za-z]{2}", given.get("which", "")):
        # A label that says by itself of what it is the number: `Problem 52`.
        chinese = chinese.replace("第 {which} 题", "“{which}”一题")
    if "parts" in given:
        given["parts"] = "、".join(_read_all().get(part, part) for part in given["parts"].split(", "))
    return chinese.format(**given)


@lru_cache(maxsize=1)
def _read_all() -> Mapping[str, str]:
    return cast(Mapping[str, str], read_texts("tasks.ingest", "reasons.yaml"))


@lru_cache(maxsize=1)
def _read_sentences() -> Sequence[tuple[re.Pattern[str], str]]:
    return [(_compile(en), zh) for en, zh in _read_all().items() if en.endswith((".", " "))]


def _compile(sentence: str) -> re.Pattern[str]:
    """A pattern of the sentence and of a space before it."""
    parts = re.split(r"\{(\w+)\}", sentence)
    said = (
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>{_KINDS.get(part, _TEXT)})"
        for place, part in enumerate(parts)
    )
    end = "" if sentence.endswith(" ") else "(?![A-Za-z0-9])"
    return re.compile(rf"(?: |(?<!\w)){''.join(said)}{end}")
