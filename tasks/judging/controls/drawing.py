"""Which control answers a judge is given: drawn by a seed, over disciplines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tasks.judging.controls.answers import ALONE, ControlQuestion, write_other
from tasks.questions import compute_rank

# Of sixty control answers; chosen by `python -m tests.benchmarks.validity_controls`. An empty answer gets its 0 stars by rule, so
# that no judge is asked for it.
CONTROL_SHARES: Final[Mapping[str, int]] = {
    "reference": 20,
    "wrong_option": 12,
    "nonsense": 8,
    "other": 8,
    "echo": 8,
    "empty": 4,
}
_EMPTY: Final = "empty"
# Of each discipline so many are looked at; more would only cost time.
_MOST_PER_DISCIPLINE: Final = 120


@dataclass(frozen=True)
class Control:
    """A control answer.

    Attributes:
        number: its place among them, from 1: by lot.
        kind: one of CONTROL_SHARES.
        question: what it is given to.
        response: what it says.
        other_uuid: the question that it answers, where it is of the kind `other`.
    """

    number: int
    kind: str
    question: ControlQuestion
    response: str
    other_uuid: str | None = None


def count_kinds(size: int, *, is_asked: bool = False) -> dict[str, int]:
    """How many of each kind `size` control answers are.

    With `is_asked` there is none that no judge is asked for.
    """
    shares = {kind: share for kind, share in CONTROL_SHARES.items() if not (is_asked and kind == _EMPTY)}
    whole, before = sum(shares.values()), 0
    found: dict[str, int] = {}
    for kind, share in shares.items():
        before += share
        found[kind] = round(size * before / whole) - sum(found.values())
    return found


def count_asked(size: int) -> int:
    """How many of so many control answers a judge is asked for."""
    return size - count_kinds(size)[_EMPTY]


def draw_controls(
    pool: Sequence[ControlQuestion], size: int, seed: str, *, is_asked: bool = False
) -> list[Control]:
    """Control answers to the questions of a pool; the same pool, size and seed give the same.

    Those of a kind are spread over disciplines, and over texts as far as there are enough. A kind that no question allows (a wrong option
    where there is no choice) gives its place to the others that are wrong.
    """
    pool = _narrow(pool, seed)
    counts = count_kinds(size, is_asked=is_asked)
    used: Counter[str] = Counter()
    drawn: list[tuple[str, ControlQuestion, str, str | None]] = []
    left = 0
    for kind, count in counts.items():
        taken = list(
            _draw_kind(pool, kind, count + (left if kind not in ("reference", _EMPTY) else 0), seed, used)
        )
        drawn += taken
        if kind not in ("reference", _EMPTY):
            left += count - len(taken)
    drawn.sort(key=lambda one: compute_rank(seed, "control order", one[0], one[1].question_uuid))
    return [Control(number, *one) for number, one in enumerate(drawn, start=1)]


def _narrow(pool: Sequence[ControlQuestion], seed: str) -> list[ControlQuestion]:
    taken: Counter[str] = Counter()
    found: list[ControlQuestion] = []
    for question in sorted(pool, key=lambda one: compute_rank(seed, "control pool", one.question_uuid)):
        if taken[question.discipline] < _MOST_PER_DISCIPLINE:
            taken[question.discipline] += 1
            found.append(question)
    return found


def _draw_kind(
    pool: Sequence[ControlQuestion], kind: str, count: int, seed: str, used: Counter[str]
) -> Iterator[tuple[str, ControlQuestion, str, str | None]]:
    """Up to `count` control answers of a kind, each to a question of its own."""
    waiting = sorted(pool, key=lambda one: compute_rank(seed, "control", kind, one.question_uuid))
    clusters: Counter[str] = Counter()
    disciplines: Counter[str] = Counter()
    while count and waiting:
        # Of equal worth, the first by lot.
        question = min(
            waiting, key=lambda one: (clusters[one.cluster], disciplines[one.discipline], used[one.cluster])
        )
        waiting.remove(question)
        found = _write(kind, question, pool, seed)
        if found is None:
            continue
        clusters[question.cluster] += 1
        disciplines[question.discipline] += 1
        used[question.cluster] += 1
        count -= 1
        yield kind, question, *found


def _write(
    kind: str, question: ControlQuestion, pool: Sequence[ControlQuestion], seed: str
) -> tuple[str, str | None] | None:
    """What the answer says and whose it is; null where the question allows none of the kind."""
    if kind in ALONE:
        response = ALONE[kind](question.content)
        return None if response is None else (response, None)
    for other in sorted(
        pool, key=lambda one: compute_rank(seed, "other", question.question_uuid, one.question_uuid)
    ):
        if other.cluster != question.cluster and (text := write_other(question.content, other.content)):
            return text, other.question_uuid
    return None
