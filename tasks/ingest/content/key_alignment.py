"""The search for the question of each printed answer.

Two lists are compared in the order of both.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tasks.ingest.content.key_answers import cut_echo, may_answer
from tasks.ingest.content.key_marks import (
    HEADING,
    SECTIONS,
    KeyMark,
    Target,
)
from tasks.ingest.words.lexicon import FineType


@dataclass(frozen=True)
class Pair:
    """A mark that opens the answer of a target, and whether it prints the question again."""

    mark: int
    target: int
    is_echo: bool


def align(marks: Sequence[KeyMark], targets: Sequence[Target], aheads: Sequence[str]) -> list[Pair]:
    """The pairs of marks and targets, in the order of both, that are worth most together."""
    by_value: dict[int | None, list[int]] = {}
    for place, target in enumerate(targets):
        by_value.setdefault(target.value, []).append(place)
    headings = [place for place, target in enumerate(targets) if target.draft is None or target.is_heading]
    echoes = _Echoes(targets)
    ladder = _Ladder(targets, len(marks))
    for index, (mark, ahead) in enumerate(zip(marks, aheads, strict=True)):
        steps: list[tuple[int, float, bool]] = []
        again = echoes.find(ahead) if mark.style != HEADING else None
        places = headings if mark.style == HEADING else by_value.get(mark.value, [])
        if len(places) > _MOST_PLACES:  # a bank of many sections: those about as far on as the mark
            about = bisect_left(places, index * len(targets) // len(marks))
            places = places[max(0, about - _MOST_PLACES // 2) : about + _MOST_PLACES // 2]
        for place in places if again is None or again in places else [*places, again]:
            worth = _weigh(mark, targets[place], ahead, place == again)
            if worth > 0:
                steps.append((place, worth, place == again))
        ladder.climb(index, steps)
    return ladder.read()


def _weigh(mark: KeyMark, target: Target, ahead: str, is_echo: bool) -> float:
    """How much speaks for it that a mark opens the answer of a target; 0 where it cannot."""
    is_same = mark.value is not None and mark.value == target.value
    if mark.style == HEADING:
        if mark.own is not None and target.draft is None and mark.own == target.section:
            return _SURE
        alike = _compare_types(mark.fine, target.fine)
        if target.draft is not None:
            return 1.5 + alike if is_same else 0.0
        return is_same + alike if is_same or alike > 0 else 0.0
    if target.draft is None:
        return 0.5 if is_same and mark.style in SECTIONS else 0.0
    if is_echo:
        return _SURE if is_same else _SURE - 1
    alike = (
        1.0
        if target.style == mark.style
        else 0.7
        if mark.style in _ALIKE and target.style in (*_ALIKE, "")
        else 0.2
    )
    fits = 0.3 if may_answer(target.draft, mark.text or ahead) else 0.0
    return (0.2 if target.draft.answer else 0.5) + alike + mark.worth + fits


_SURE, _MOST_PLACES = 4.0, 80
_ALIKE = ("num", "paren", "word", "bracket", "bare", "sub")


def _compare_types(one: FineType | None, other: FineType | None) -> float:
    if one is None or other is None:
        return 0.0
    if one.name == other.name:
        return 1.5
    return 1.0 if one.question_type == other.question_type else -0.5


class _Echoes:
    """The questions that answers may print again, by the beginning of their stems."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.by_start: dict[str, list[tuple[int, str]]] = {}
        for place, target in enumerate(targets):
            if target.draft is not None and not target.draft.options:
                start = _fold(target.draft.stem)[:_LEAST_ECHOED]
                if len(start) == _LEAST_ECHOED:
                    self.by_start.setdefault(start, []).append((place, target.draft.stem))

    def find(self, text: str) -> int | None:
        """The question that a text begins with."""
        for place, stem in self.by_start.get(_fold(text)[:_LEAST_ECHOED], ()):
            if cut_echo(f"{text} …", stem) is not None:
                return place
        return None


_LEAST_ECHOED = 6


_NO_LETTERS = re.compile(r"[\W_]+")


def _fold(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


class _Ladder:
    """The best rising chain of pairs, built mark by mark: a tree of maxima over the targets.

    What a chain passes over costs little, a heading more than a question. So do the marks before its first and after its
    last: a list within an answer is not what counts the answers.
    """

    def __init__(self, targets: Sequence[Target], count: int) -> None:
        self.count = count
        self.tree: list[tuple[float, Any]] = [(-math.inf, None)] * (len(targets) + 1)
        costs = (_PASSED if target.draft is not None else _PASSED_HEADING for target in targets)
        self.reach = list(accumulate(costs, initial=0.0))
        self.best: tuple[float, Any] = (0.0, None)

    def climb(self, mark: int, steps: Iterable[tuple[int, float, bool]]) -> None:
        """Let a mark open one of its targets, after the best chain before that."""
        reached = []
        for place, worth, is_echo in steps:
            score, chain = self._find_best(place)
            # the cost of what lies between two pairs is told by how far both reach
            score -= self.reach[place]
            fresh = -mark * _PASSED
            score, chain = (score, chain) if chain is not None and score > fresh else (fresh, None)
            reached.append((place, score + worth, (Pair(mark, place, is_echo), chain)))
        for place, score, chain in reached:
            closed = score - (self.count - mark) * _PASSED
            if self.best[1] is None or closed > self.best[0]:
                self.best = (closed, chain)
            kept = (score + self.reach[place + 1], chain)
            at = place + 1
            while at < len(self.tree):
                if kept[0] > self.tree[at][0]:
                    self.tree[at] = kept
                at += at & -at

    def _find_best(self, count: int) -> tuple[float, Any]:
        best: tuple[float, Any] = (-math.inf, None)
        while count > 0:
            if self.tree[count][0] > best[0]:
                best = self.tree[count]
            count -= count & -count
        return best

    def read(self) -> list[Pair]:
        """The pairs of the best chain, in order."""
        chain = self.best[1]
        found: list[Pair] = []
        while chain is not None:
            found.append(chain[0])
            chain = chain[1]
        return found[::-1]


_PASSED, _PASSED_HEADING = 0.02, 0.2


def counts_otherwise(chain: Sequence[Pair], marks: Sequence[KeyMark], targets: Sequence[Target]) -> bool:
    """Whether most questions that answers print again have another number here."""
    echoes = [(marks[one.mark].value, targets[one.target].value) for one in chain if one.is_echo]
    other = sum(1 for printed, asked in echoes if printed != asked)
    return other > 1 and other > 0.5 * len(echoes)
