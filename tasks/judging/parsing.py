"""Stars out of what a judge returned; what is not certain is unparsed, never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas import patterns as re
from tasks.judging.kinds import MOST_STARS, ParsedJudgement
from tasks.models.reading import CLAUSE_END, FoundObject, drop_thinking, find_objects, is_shown

# How far around a count its sentence is read, and how many counts of one reply are.
_REACH = 300
_MOST_CLAIMS = 1_000

_STAR_NAMES = frozenset(
    {"stars", "star", "rating", "overall rating", "overall_rating", "score", "星级", "评级", "评分", "星"}
)
_REASON_NAMES = frozenset({"reason", "reasons", "explanation", "rationale", "理由", "评语", "原因"})

_NUMBER = r"[\"'*\s]*(?P<number>[-+]?\d+(?:\.\d+)?)"
# Named stars first; only where there are none, a bare count of stars.
_NAMED = re.compile(
    r"(?P<name>overall[ _]rating|\bstars?\b|\brating\b|\bscore\b|星级|评级|评分)[\"'*”\s]*(?:[:：=]|为|是|\bis\b)"
    + _NUMBER,
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?<![\d.\-–—~至到/])(?:(?P<number>-?\d+(?:\.\d+)?)(?:\s*(?:/|out of)\s*3)?|(?P<word>[零一二两三四五]))"
    r"\s*(?:颗\s*)?(?:stars?\b|星)",
    re.IGNORECASE,
)
_WORDS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5}
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")
# What makes a count of stars a verdict.
_VERDICT = re.compile(
    r"\b(?:verdict|judge?ment|conclusion|final|overall|decision|i(?: would|['’]d)? (?:give|award|assign|rate))\b"
    r"|结论|判定|最终|我给|评为|总评",
    re.IGNORECASE,
)
# What makes it one of several that are weighed, or somebody else's wish.
_WEIGHING = re.compile(
    r"(?<!\bi )\bwould\b|\b(?:could|might|may|should have|needs?|requires?|required|means?|at (?:least|most)|or|instead|criteri(?:a|on)"
    r"|asks?|asked|demands?|demanded|claims?|claimed|wants?|wanted|ignor(?:e[sd]?|ing)|disregard\w*"
    r"|inject\w*|deduct\w*|los(?:es?|t)|minus)\b"
    r"|才|需要|至少|至多|最多|不到|还是|或|表示|要求|声称|自称|索要|以上|以下|忽略|无视|不予理会|扣",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|had (?:it|the))\b|若|如果|假如|要是", re.IGNORECASE)
# What directly before or after it says that it is not given.
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|cannot|never|no|nor|without|rather than|instead of|short of|far from)\b|n['’]t\b)"
    r"(?:\s+(?:deserves?|deserving|merits?|earns?|gets?|reach(?:es)?|worth|warrants?|justif(?:y|ies)|gives?|awards?|assign|receives?|rates?|be"
    r"|support|have|a|an|the|it|this|full|enough|sufficient|quite|even|really|yet|for|of|to|as|many|any|(?P<over>more than|over|above)))*\s*$"
    r"|(?:不|没|未|无法|难以|够不上)[能会可应该给予得到达够值配评为是有法满足以上]{0,6}(?P<above>超过|多于|高于)?\s*$",
    re.IGNORECASE,
)
_NOT_AFTER = re.compile(
    r"\s*(?:rating |verdict |reply )?(?:(?:is|are|was|were|can|could|would|will|do|does|seems?)(?:n['’]t|not| not| never| too| hardly)\b"
    r"|too\b)|级?的?(?:标准|条件|要求|评级)?[^。，,；\n]{0,3}(?:太高|过高|偏高|不[合成应能可足够满达予]|[未没]有?[满达到])",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:reason why you gave this rating|reason|理由|评语)[\"'*”\s]*[:：]\s*(?P<reason>.+)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class _Claim:
    """Stars that the judge's own words name.

    Attributes:
        value: how many.
        start: where they stand.
        is_named: whether as `Overall Rating: n`, and not as `n stars`.
        is_verdict: whether a word says that they are its verdict.
        is_weighed: whether they are only considered.
        denied: `n` where they are not given, `more` where what is beyond them is not.
    """

    value: float
    start: int
    is_named: bool
    is_verdict: bool
    is_weighed: bool
    denied: Literal["n", "more"] | None

    def denies(self, stars: int | None) -> bool:
        if stars is None or self.denied is None or self.is_weighed:
            return False
        return stars > self.value if self.denied == "more" else stars == self.value


def parse_judgement(text: str) -> ParsedJudgement:
    """Stars and reason of a judge's reply.

    They are read from JSON (bare, fenced or amid words), from `Overall Rating: n`, or from `n stars` / `n 星`. Stars outside 0 to 3,
    fractions, and replies that name several different stars are unparsed. What a judge shows as a candidate's words does not count,
    nor what it weighs; a reply whose own words give or deny other stars than its JSON is unparsed.
    """
    text = drop_thinking(text)
    objects = find_objects(text, repair=True)
    if objects is None:
        return ParsedJudgement(None, _read_reason(text))
    verdicts = [one for one in objects if one.voice == "own" and _read_stars(one.value)]
    claims = _find_claims(text, [one for one in objects if one.voice != "own" or _read_stars(one.value)])
    if claims is None:
        return ParsedJudgement(None, _read_reason(text))
    if verdicts:
        values = [value for one in verdicts for value in _read_stars(one.value)]
        values += _pick_contradicting(claims, verdicts[-1].end)
    else:
        values = _pick_named(claims)
    stars = _agree(values)
    if any(claim.denies(stars) for claim in claims):
        stars = None
    reasons = [reason for one in verdicts if (reason := _find_reason(one.value))]
    return ParsedJudgement(stars, reasons[-1] if reasons else _read_reason(text))


def _find_claims(text: str, objects: Sequence[FoundObject]) -> list[_Claim] | None:
    """What the words outside objects and quotations name; null where stars are named too often."""
    pieces: list[str] = []
    last = 0
    for one in objects:
        pieces += text[last : one.start], "\n" * (one.end - one.start)
        last = one.end
    words = "".join([*pieces, text[last:]])
    matches = [
        (match, is_named)
        for form, is_named in ((_NAMED, True), (_BARE, False))
        for match in form.finditer(words)
    ]
    if len(matches) > _MOST_CLAIMS:
        return None
    return [
        _read_claim(words, match, is_named=is_named)
        for match, is_named in matches
        if not is_shown(text, match.start(), match.end())
    ]


def _read_claim(words: str, match: re.Match[str], *, is_named: bool) -> _Claim:
    start, end = match.span()
    before = _SENTENCE_END.split(words[max(0, start - _REACH) : start])[-1]
    left = CLAUSE_END.split(before)[-1]
    right = CLAUSE_END.split(words[end : end + _REACH])[0]
    clause = left + match.group() + right
    is_own = _VERDICT.search(clause) is not None
    name = match.group("name").casefold() if is_named else ""
    before_it, after_it = _NOT_BEFORE.search(left), _NOT_AFTER.match(right)
    is_over = before_it is not None and (before_it["over"] or before_it["above"])
    return _Claim(
        value=float(match.group("number")) if is_named else _read_count(match),
        start=start,
        is_named=is_named,
        is_verdict=is_own or _VERDICT.search(before) is not None or (is_named and name != "score"),
        is_weighed=any(
            form.search(part) is not None
            for form, part in (
                (_WEIGHING, clause),
                (_CONDITION, right),
                (_CONDITION, "" if is_own else before),
            )
        ),
        denied=("more" if is_over else "n") if before_it or after_it else None,
    )


def _pick_contradicting(claims: Sequence[_Claim], end: int) -> list[float | None]:
    """Verdicts in words around the JSON ones, and any stars after the last; none weighed before."""
    return [
        claim.value
        for claim in claims
        if (claim.is_verdict or claim.start >= end)
        and not claim.is_weighed
        and claim.denied is None
        and 0 <= claim.value <= MOST_STARS
    ]


def _pick_named(claims: Sequence[_Claim]) -> list[float | None]:
    """Named stars, else verdicts, else all counts where at least one is more than weighed."""
    given = [claim for claim in claims if claim.denied is None]
    certain = [claim for claim in given if not claim.is_weighed]
    for chosen in (
        [claim for claim in certain if claim.is_named],
        [claim for claim in certain if claim.is_verdict],
        given if certain else [],
    ):
        if chosen:
            return [claim.value for claim in chosen]
    return []


def _read_stars(found: Mapping[str, Any]) -> list[float | None]:
    return [_read_number(value) for name, value in found.items() if name.strip().casefold() in _STAR_NAMES]


def _find_reason(found: Mapping[str, Any]) -> str | None:
    for name, value in found.items():
        if name.strip().casefold() in _REASON_NAMES and isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _read_number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        # By its words: a whole number of hundreds of digits is infinite then, and no error.
        return float(repr(value))
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?)\s*(?:/\s*3|stars?|颗?星)?\s*", value, re.IGNORECASE)
        return float(match.group(1)) if match else None
    return None


def _read_count(match: re.Match[str]) -> float:
    word = match.group("word")
    return float(_WORDS[word] if word else match.group("number"))


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
