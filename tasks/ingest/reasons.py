"""What is said of a paper's reading, for who reads Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

from schemas import patterns as re
from tasks.texts import read_texts

# What stands for a part: of a number, and of a text that does not go on into the next sentence (two without a bound would take
# the square of a text that begins the same sentence again and again).
_NUMBER, _TEXT = r"[0-9]+(?:[.,][0-9]+)*%?", r"(?:(?![.] [A-Z])[^\n]){1,160}?"


def say_in_chinese(text: str) -> str:
    """The same with every sentence of `reasons.yaml` in Chinese; another stays as it is."""
    for pattern, chinese in _read_sentences():
        text = pattern.sub(partial(_fill_in, chinese), text)
    return text


def _fill_in(chinese: str, found: re.Match[str]) -> str:
    # A question's number is printed with the dot behind it.
    return chinese.format(**{name: part.removesuffix(".") for name, part in found.groupdict().items()})


@lru_cache(maxsize=1)
def _read_sentences() -> Sequence[tuple[re.Pattern[str], str]]:
    return [(_compile(en), zh) for en, zh in read_texts("tasks.ingest", "reasons.yaml").items()]


def _compile(sentence: str) -> re.Pattern[str]:
    """A pattern of the sentence and of a space before it."""
    parts = re.split(r"\{(\w+)\}", sentence)
    said = (
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>{_NUMBER if part in ('n', 'm', 'k') else _TEXT})"
        for place, part in enumerate(parts)
    )
    return re.compile(rf"(?: |(?<!\w)){''.join(said)}")
