"""Read what askers, answerers and judges returned.

What cannot be read with certainty is None, never 0. Models wrap JSON in words and fences, leave commas behind, and
write TeX with single backslashes. All of that is read. A ranking that leaves a letter out or names one twice, and a
score outside 0 to 100, are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas import patterns as re
from tasks.league.domain import Field
from tasks.models.reading import drop_thinking, find_objects

MOST_SCORE = 100.0

_LABEL = re.compile(
    r"[\s\"'*`]*+(?:(?:answer|participant|program|opinion|作答|答案|回答|程序|意见)\s*+)?[\[(（【“]?\s*+([A-Z])\s*+[\])）】”]?[\s\"'*`.:：]*+",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:>|＞|»|→|,|，|、|;|；|\n|\s)\s*")
_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d+)?)\s*(?:/\s*100|points?|分)?\s*", re.IGNORECASE)
# What TeX looks like after JSON took the first letter of a command for an escape.
_EATEN = (
    (re.compile("\f"), r"\\f"),
    (re.compile("\b"), r"\\b"),
    (re.compile("\t(?=imes|heta|ext|au\\b|an\\b|frac|o\\b|riangle|ilde|op\\b)"), r"\\t"),
    (re.compile("\r(?=ho\\b|ight|angle|m\\{|e\\{)"), r"\\r"),
    (re.compile("\n(?=eq\\b|abla|u\\b|ot\\b|mid\\b|otin)"), r"\\n"),
)
_RANKING_KEYS = ("ranking", "rank", "order", "排名", "排序")
_SCORE_KEYS = ("scores", "score", "points", "分数", "评分", "得分")
_REASON_KEYS = ("reasons", "reason", "理由")
_FLAG_KEYS = ("memorised", "memorized", "照搬")


@dataclass(frozen=True)
class ReadEvaluation:
    """What could be read of a judge's reply.

    Attributes:
        ranks: letter → rank from 1; null when no complete ranking could be read.
        scores: letter → 0 to 100, for the letters whose score could be read.
        templates: letter → the template that the judge says the answer recites.
    """

    ranks: dict[str, int] | None = None
    scores: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    templates: dict[str, str] = field(default_factory=dict)


def parse_fields(text: str, fields: Sequence[Field]) -> dict[str, str] | None:
    """Key → text of the fields in a reply.

    The result is None when no JSON object in the reply has all the fields that are not optional.
    """
    needed = [item.key for item in fields if not item.is_optional]
    best: dict[str, str] | None = None
    for found in find_objects(drop_thinking(text), repair=True) or ():
        plain = {_plain(name): value for name, value in found.value.items()}
        values = {
            item.key: _render_value(plain[_plain(item.key)]) for item in fields if _plain(item.key) in plain
        }
        if all(values.get(key) for key in needed):
            # The last one stands: a model thinks first and answers in the end.
            best = {key: value for key, value in values.items() if value}
    return best


def parse_ranking(text: str, labels: Sequence[str]) -> ReadEvaluation:
    """The ranking of a judge, best first; None unless one, and only one, names each letter once."""
    reads: list[ReadEvaluation] = []
    for found in _find_verdicts(text):
        order = _pick(found, _RANKING_KEYS)
        named = None if order is None else _read_order(order)
        if named is not None and sorted(named) == sorted(labels):
            ranks = {label: place for place, label in enumerate(named, start=1)}
            reads.append(ReadEvaluation(ranks, {}, _read_reasons(found, labels), _read_flags(found, labels)))
    return reads[-1] if reads and all(read.ranks == reads[0].ranks for read in reads) else ReadEvaluation()


def parse_scores(text: str, labels: Sequence[str]) -> ReadEvaluation:
    """The scores of a judge; none for a letter with none, two, or one outside 0 to 100."""
    reads: list[ReadEvaluation] = []
    known: dict[str, float] = {}
    for found in _find_verdicts(text):
        given = _pick(found, _SCORE_KEYS)
        if not isinstance(given, Mapping):
            continue
        scores: dict[str, float] = {}
        for name, value in given.items():
            label, score = _read_label(name), _read_score(value)
            if label in labels and score is not None:
                scores[str(label)] = score
        if any(known.setdefault(label, score) != score for label, score in scores.items()):
            return ReadEvaluation()
        if scores:
            reads.append(
                ReadEvaluation(None, scores, _read_reasons(found, labels), _read_flags(found, labels))
            )
    return reads[-1] if reads else ReadEvaluation()


def _find_verdicts(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a judge's reply that are its own words."""
    objects = find_objects(drop_thinking(text), repair=True) or ()
    return (one.value for one in objects if one.voice == "own")


def _pick(found: Mapping[str, Any], names: Sequence[str]) -> Any:
    for name, value in found.items():
        if _plain(name) in names:
            return value
    return None


def _plain(name: object) -> str:
    return str(name).strip().casefold().replace(" ", "_")


def _render_value(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    for pattern, instead in _EATEN:
        text = pattern.sub(instead, text)
    return text.strip()


def _read_order(order: object) -> list[str] | None:
    if isinstance(order, str):
        order = [part for part in _BETWEEN.split(order.strip()) if part]
    if not isinstance(order, list):
        return None
    named = [_read_label(one) for one in order]
    return None if None in named else [str(label) for label in named]


def _read_label(value: object) -> str | None:
    match = _LABEL.fullmatch(value) if isinstance(value, str) else None
    return match[1].upper() if match else None


def _read_score(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = float(match[1]) if match else None
    if not isinstance(value, int | float) or not 0 <= value <= MOST_SCORE:
        return None
    return float(value)


def _read_reasons(found: Mapping[str, Any], labels: Sequence[str]) -> dict[str, str]:
    given = _pick(found, _REASON_KEYS)
    if isinstance(given, str):
        return dict.fromkeys(labels, given.strip()) if given.strip() else {}
    reasons: dict[str, str] = {}
    for name, value in given.items() if isinstance(given, Mapping) else ():
        label = _read_label(name)
        if label in labels and (text := _render_value(value)):
            reasons[str(label)] = text
    return reasons


def _read_flags(found: Mapping[str, Any], labels: Sequence[str]) -> dict[str, str]:
    """A flag without a template is an opinion that nobody can check: it is left out."""
    given = _pick(found, _FLAG_KEYS)
    flags: dict[str, str] = {}
    for entry in given if isinstance(given, list) else ():
        if not isinstance(entry, Mapping):
            continue
        label = _read_label(entry.get("answer") or entry.get("label"))
        template = _render_value(entry.get("template"))
        if label in labels and template:
            flags[str(label)] = template
    return flags
