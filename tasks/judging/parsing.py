"""Read the stars out of what a judge returned; what cannot be read with certainty is unparsed, never 0."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MOST_STARS = 3

_STAR_NAMES = frozenset(
    {"stars", "star", "rating", "overall rating", "overall_rating", "score", "星级", "评级", "评分", "星"}
)
_REASON_NAMES = frozenset({"reason", "reasons", "explanation", "rationale", "理由", "评语", "原因"})

_NUMBER = r"[\"'*\s]*(?P<number>[-+]?\d+(?:\.\d+)?)"
# Named stars first; only where there are none, a bare count of stars.
_NAMED = re.compile(
    r"(?:overall[ _]rating|\bstars?\b|\brating\b|\bscore\b|星级|评级|评分)[\"'*”\s]*(?:[:：=]|为|是|\bis\b)"
    + _NUMBER,
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?<![\d.\-–—~至到])(?:(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[零一二两三四五]))\s*(?:颗\s*)?(?:stars?\b|星)",
    re.IGNORECASE,
)
_WORDS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}
_REASON = re.compile(
    r"(?:reason why you gave this rating|reason|理由|评语)[\"'*”\s]*[:：]\s*(?P<reason>.+)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class ParsedJudgement:
    """What could be read: stars null means unparsed."""

    stars: int | None
    reason: str | None


def parse_judgement(text: str) -> ParsedJudgement:
    """Stars and reason from JSON (bare, fenced or amid words), from `Overall Rating: n`, or from `n stars` / `n 星`.

    Stars outside 0 to 3, fractions, and replies that name several different stars are unparsed.
    """
    for values, reason in (_read_json(text), _read_named(text), _read_bare(text)):
        if values:
            return ParsedJudgement(_agree(values), reason or _read_reason(text))
    return ParsedJudgement(None, _read_reason(text))


def _read_json(text: str) -> tuple[list[float | None], str | None]:
    values: list[float | None] = []
    reason: str | None = None
    for found in _find_objects(text):
        for name, value in found.items():
            plain = name.strip().casefold()
            if plain in _STAR_NAMES:
                values.append(_read_number(value))
            elif plain in _REASON_NAMES and isinstance(value, str):
                reason = value.strip() or None
    return values, reason


def _find_objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield value
        start = text.find("{", end)


def _read_number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?)\s*(?:/\s*3|stars?|颗?星)?\s*", value, re.IGNORECASE)
        return float(match.group(1)) if match else None
    return None


def _read_named(text: str) -> tuple[list[float | None], str | None]:
    return [float(match.group("number")) for match in _NAMED.finditer(text)], None


def _read_bare(text: str) -> tuple[list[float | None], str | None]:
    values: list[float | None] = []
    for match in _BARE.finditer(text):
        word = match.group("word")
        values.append(float(_WORDS[word] if word else match.group("number")))
    return values, None


def _agree(values: list[float | None]) -> int | None:
    """The one value that all name, if it is a whole number of stars."""
    if len(set(values)) != 1 or values[0] is None:
        return None
    value = values[0]
    return int(value) if value.is_integer() and 0 <= value <= MOST_STARS else None


def _read_reason(text: str) -> str | None:
    match = _REASON.search(text)
    reason = match.group("reason") if match else text
    return reason.strip().strip("`}\"'").strip() or None
