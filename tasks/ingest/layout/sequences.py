"""Which of the printed numbers count questions, and which only number parts inside one.

A cheapest-path search over all numbers of one style: 1 2 3 [1 2] 4 reads as four questions of which the
third holds a list, because every other reading leaves numbers unexplained.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

# Any reading may take any number for the next question at a price below this one: one that stands behind the best by
# more never overtakes it.
_DEAREST = 16.0
_MANY, _BEAM = 8, 120
# two questions with the same number by mistake
_REPEATED = 2.5


class Candidate(NamedTuple):
    """A printed number that may start a question.

    `is_weak`: may be ordinary text. `is_inline`: stands inside a line. `has_options`: options follow before
    the next candidate. `after_break`: a chapter or part begins between the last candidate and this one.
    `indent_hint`: cost added for reading it as a question (evidence against), negative for evidence in favour.
    `until`: the last of several numbers that one question has (`4-6. Name three …`), else 0.
    """

    value: int
    is_weak: bool = False
    is_inline: bool = False
    has_options: bool = False
    after_break: bool = False
    hint: float = 0.0
    until: int = 0


def choose_questions(candidates: Sequence[Candidate], carry: int | None, expects_options: bool) -> list[int]:
    """Return the indices of the candidates that start questions, in order.

    `carry` is the last question number of the section before: numbering may continue from there.
    """
    # state: (last question number or 0, last number of the nested list or 0) → (cost, chosen path)
    states: dict[tuple[int, int], tuple[float, _Path | None]] = {(0, 0): (0.0, None)}
    # where no number is 1 and none continues from the section before, the paper is an excerpt: it may begin at any
    follows = {1} if carry is None else {1, carry + 1}
    start_price = 3.0 if any(candidate.value in follows for candidate in candidates) else 0.5
    is_first = True
    offered = [0, *accumulate(int(candidate.has_options) for candidate in candidates)]
    for index, candidate in enumerate(candidates):
        following: dict[tuple[int, int], tuple[float, _Path | None]] = {}
        may_be_text = candidate.is_weak or candidate.is_inline
        as_question = (candidate.until or candidate.value, 0)
        for (last, nested), (cost, path) in states.items():
            price = _price_question(candidate, last, carry, start_price)
            if price is not None and candidate.value == last and not nested and not may_be_text:
                price = _REPEATED  # two questions have the same number by mistake: no list begins so
            if price is not None:
                if expects_options and path is not None and offered[index] == offered[path.place]:
                    price += 1.5
                total = cost + price + candidate.hint
                known = following.get(as_question)
                if known is None or total < known[0]:
                    following[as_question] = (total, _Path(index, path))
            state, total = _nest(candidate, last, nested, cost, expects_options)
            known = following.get(state)
            if known is None or total < known[0]:
                following[state] = (total, path)
            if may_be_text:
                total = cost + (0.0 if candidate.is_inline else 0.2)
                known = following.get((last, nested))
                if known is None or total < known[0]:
                    following[(last, nested)] = (total, path)
        is_first = False
        if len(following) > _MANY:
            limit = min(cost for cost, _ in following.values()) + _DEAREST
            following = {state: told for state, told in following.items() if told[0] <= limit}
        if len(following) > _BEAM:
            following = dict(sorted(following.items(), key=lambda item: item[1][0])[:_BEAM])
        states = following
    if is_first:
        return []
    _, path = min(states.values(), key=lambda item: item[0])
    chosen: list[int] = []
    while path is not None:
        chosen.append(path.place)
        path = path.before
    return chosen[::-1]


class _Path(NamedTuple):
    place: int
    before: _Path | None


def _price_question(candidate: Candidate, last: int, carry: int | None, start_price: float) -> float | None:
    value = candidate.value
    if last == 0:
        is_start = value == 1 or (carry is not None and value == carry + 1)
        price = 0.0 if is_start else start_price
        is_next = is_start
    elif value == last + 1 or (candidate.after_break and value == 1):
        price, is_next = 0.0, True
    elif last + 1 < value <= last + 6:
        price, is_next = 2.0 + (value - last - 1), False
    elif value == 1 and last > 1:
        price, is_next = 4.0, False
    elif value == last:
        price, is_next = 5.0, False
    elif value < last and candidate.has_options:
        price, is_next = 7.0, False
    else:
        price, is_next = 9.0, False
    if candidate.is_inline and not is_next:
        return None
    if candidate.is_weak:
        price += 0.1 if is_next else 4.0
    if candidate.is_inline:
        price += 0.8
    if candidate.has_options:
        price -= 0.5
    return price


def _nest(
    candidate: Candidate, last: int, nested: int, cost: float, expects_options: bool
) -> tuple[tuple[int, int], float]:
    extra = 3.0 if candidate.has_options and expects_options else (1.5 if candidate.has_options else 0.0)
    if last == 0:
        # numbers before the first question: instructions to candidates
        return (0, 0), cost + 1.2 + extra
    if candidate.value == 1:
        return (last, 1), cost + 1.0 + extra
    if nested and candidate.value == nested + 1:
        return (last, nested + 1), cost + 0.1 + extra
    return (last, nested), cost + (0.3 if candidate.is_weak else 3.0) + extra
