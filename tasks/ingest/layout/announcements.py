"""What headings and instructions announce: how many questions stand below them."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import yaml

from schemas import patterns as re
from tasks.ingest.words.labels import SPELLED, read_number
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.points import EACH, NUMBER, QUESTION, TOTAL, UNIT, read_points
from tasks.ingest.words.word_lists import WORDS

_NUM = rf"((?<!\d){NUMBER}|[一二两三四五六七八九十]{{1,3}}|(?i:{'|'.join(SPELLED)})\b)"
_FRAGMENTS = {"NUM": _NUM, "POINT": UNIT, "EACH": EACH, "TOTAL": TOTAL, "QUESTION": QUESTION}
_MAY = re.compile(_NUM)
# What holds none of these announces nothing of the kind: the patterns are many, and what they look for is rare.
_HOLDS = {
    "count": WORDS["question_words"],
    "product": [*"x×*✕"],
    "each": [*WORDS["each_words"], "/", "／"],
    "sum": [*WORDS["total_words"], *"([（"],
    "at_least": ["选", "any", "only", "choose", "select"],
    "range": [*WORDS["question_words"], "question", "item", "problem"],
    "blanks": [*WORDS["each_words"], "空"],
}
_WORDS = frozenset().union(*_HOLDS.values())


class Announcement(NamedTuple):
    """What a text announces of its questions.

    `counts` are the numbers of questions that would keep it, the first the likeliest; `is_minimum`: more may be offered,
    of which some are chosen. `words` is the text that announces it.
    """

    counts: tuple[int, ...]
    is_minimum: bool
    words: str


@once_a_paper
def read_announcement(text: str) -> Announcement | None:
    """Read how many questions a heading or an instruction announces; None where it does not."""
    if _MAY.search(text) is None:
        return None
    named = _find(text, "range")
    if named is not None:  # `第41～47小题` are seven
        text = text[: named.start()] + text[named.end() :]
    at_least = _find(text, "at_least")
    counts = [
        value
        for pattern in _list_patterns(text, "count")
        for match in pattern.finditer(text)
        for value in _values(match)
    ]
    if at_least is not None:
        chosen = max(_values(at_least), default=0)
        return Announcement((max([chosen, *counts]),), True, at_least.group(0).strip()) if chosen else None
    found = _find(text, "count")
    if found is not None and counts:
        # `本大题共4小题` beside `共28分`: where it names two numbers, either would keep it
        return Announcement(tuple(dict.fromkeys(counts)), False, found.group(0).strip())
    if _find(text, "blanks") is not None:
        return None  # the marks count gaps, of which a question may have several
    product = _find(text, "product")
    if product is not None:
        one, other, *result = map(_number, product.groups())
        values = [int(factor) for factor in (one, other) if factor and factor % 1 == 0 and factor <= _MOST]
        if not result or (one or 0) * (other or 0) == result[0]:
            return Announcement(tuple(dict.fromkeys(values)), False, product.group(0).strip())
    total, each = _find(text, "sum"), _find(text, "each")
    if total is None or each is None:
        return None
    whole, part = _number(total.group(1)), _number(each.group(1))
    if not whole or not part or whole < part or whole % part:
        return None
    said = text[min(total.start(), each.start()) : max(total.end(), each.end())]
    return Announcement((int(whole // part),), False, said.strip())


def read_sum(text: str) -> float | None:
    """The marks that a heading gives its whole section, `（本题满分10分）`; None where it names none."""
    match = _find(text, "sum") if _MAY.search(text) is not None else None
    return _number(match.group(1)) if match is not None else None


def read_each(text: str) -> float | None:
    """The marks of each question that a heading tells: `每题2分`, `3 points each`; None without."""
    match = _find(text, "each") if _MAY.search(text) is not None else None
    return _number(match.group(1)) if match is not None else None


def read_range(text: str) -> tuple[int, int] | None:
    """The first and last number that an instruction names: `Questions 1-15`, `第1~10题`."""
    match = _find(text, "range") if _MAY.search(text) is not None else None
    if match is None:
        return None
    first, last = int(match.group(1)), int(match.group(2))
    return (first, last) if 0 < first < last < first + 200 else None


# No section has more questions.
_MOST = 300


def _values(match: re.Match[str]) -> list[int]:
    numbers = [_number(group) for group in match.groups() if group]
    return [int(number) for number in numbers if number and number == int(number) and 0 < number <= _MOST]


def _number(token: str) -> float | None:
    return read_points(token) if token[:1].isdecimal() else read_number(token)


def _find(text: str, name: str) -> re.Match[str] | None:
    matches = (pattern.search(text) for pattern in _list_patterns(text, name))
    return next((match for match in matches if match is not None), None)


def _list_patterns(text: str, name: str) -> list[re.Pattern[str]]:
    return _patterns()[name] if name in _list_held(text) else []


@once_a_paper
def _list_held(text: str) -> list[str]:
    """The announcements of whose words a line holds any."""
    folded = text.casefold()
    held = {word for word in _WORDS if word in folded}
    return [name for name, words in _HOLDS.items() if not held.isdisjoint(words)]


@lru_cache(maxsize=1)
def _patterns() -> dict[str, list[re.Pattern[str]]]:
    source = resources.files("tasks.ingest.words").joinpath("announcements.yaml").read_text(encoding="utf-8")
    return {
        name: [
            re.compile(re.sub("[A-Z]{3,}", lambda name: _FRAGMENTS[name[0]], pattern)) for pattern in patterns
        ]
        for name, patterns in yaml.safe_load(source).items()
    }
