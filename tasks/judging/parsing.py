"""Read the stars out of what a judge returned; what cannot be read with certainty is unparsed, never 0."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.models.replies import FoundObject, drop_thinking, find_objects

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
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")
# What makes a count of stars a verdict, and what keeps it from being one.
_VERDICT = re.compile(
    r"\b(?:verdict|judge?ment|conclusion|final|overall|decision|i (?:give|award|assign|rate))\b"
    r"|结论|判定|最终|我给|评为|总评",
    re.IGNORECASE,
)
_WEIGHING = re.compile(
    r"\b(?:if|would|could|might|may|should|unless|needs?|requires?|means?|at (?:least|most)|or|instead|scale|out of"
    r"|asks?|demands?|claims?|wants?)\b"
    r"|若|如果|才|需要|至少|至多|最多|不到|还是|或|表示|要求|声称|以上|以下",
    re.IGNORECASE,
)
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

    Stars outside 0 to 3, fractions, and replies that name several different stars are unparsed; so is a reply whose words give
    other stars than its JSON, and one whose only JSON is a quotation: a candidate may have written it.
    """
    text = drop_thinking(text)
    objects = find_objects(text)
    if objects is None:
        return ParsedJudgement(None, _read_reason(text))
    verdicts = [(one, values) for one in objects if (values := _read_stars(one.value))]
    if not verdicts:
        values = _read_named(text) or _read_bare(text)
        return ParsedJudgement(_agree(values), _read_reason(text))
    values = [value for _, found in verdicts for value in found]
    said = _read_said(text, [one for one, _ in verdicts])
    reasons = [reason for one, _ in verdicts if (reason := _find_reason(one.value))]
    if not said and all(one.is_quoted for one, _ in verdicts):
        values = []
    return ParsedJudgement(_agree(values + said), reasons[-1] if reasons else _read_reason(text))


def _read_stars(found: Mapping[str, Any]) -> list[float | None]:
    return [_read_number(value) for name, value in found.items() if name.strip().casefold() in _STAR_NAMES]


def _find_reason(found: Mapping[str, Any]) -> str | None:
    for name, value in found.items():
        if name.strip().casefold() in _REASON_NAMES and isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _read_said(text: str, objects: Sequence[FoundObject]) -> list[float | None]:
    """The stars that the words around JSON verdicts give: those of a verdict in words, and any that follow the last JSON.

    What a judge weighs before its JSON (`2 or 3 stars, then`) is no verdict yet.
    """
    said: list[float | None] = []
    start = 0
    for place, one in enumerate([*objects, None]):
        words = text[start : one.start if one else len(text)]
        is_last = one is None and place > 0
        for sentence in _SENTENCE_END.split(words):
            values = _read_named(sentence)
            if not values and not _WEIGHING.search(sentence) and (is_last or _VERDICT.search(sentence)):
                values = _read_bare(sentence)
            said += [value for value in values if value is not None and 0 <= value <= MOST_STARS]
        start = one.end if one else start
    return said


def _read_number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?)\s*(?:/\s*3|stars?|颗?星)?\s*", value, re.IGNORECASE)
        return float(match.group(1)) if match else None
    return None


def _read_named(text: str) -> list[float | None]:
    return [float(match.group("number")) for match in _NAMED.finditer(text)]


def _read_bare(text: str) -> list[float | None]:
    values: list[float | None] = []
    for match in _BARE.finditer(text):
        word = match.group("word")
        values.append(float(_WORDS[word] if word else match.group("number")))
    return values


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
