"""Draw sets: lineages by discipline, one question of each, and the secret order of a session.

Everything drawn follows from a secret and a label, so that a draw can be repeated and, once the secret is disclosed,
checked. The paper draws 1,000 questions per sitting without replacement (LLMEval-Fair §2.2.1).

Two secrets: a *set* follows from a key of its own (`set_keys.draw_key`), the *order* of a session from the run's seed.
A run's seed may be disclosed when the run is closed; it says nothing about any set, neither those drawn before it
nor those to come.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tasks.exam.plan.bank_index import BankIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class DrawnQuestion:
    """One question of a set, as drawn; `is_anchor` where other organisations have answered the same question before."""

    lineage_uuid: str
    question_uuid: str
    discipline: str
    is_anchor: bool = False


def draw_set(
    index: BankIndex,
    shares: Mapping[str, int],
    *,
    excluded: NDArray[np.bool_],
    avoided: NDArray[np.bool_],
    asked: Mapping[int, str],
    anchor_share: float,
    key: str,
    label: str,
) -> list[DrawnQuestion]:
    """Draw one set without replacement, in the order of disciplines.

    Args:
        index: the bank version.
        shares: discipline → lineages to draw; each has as many that are not excluded.
        excluded: mask of lineages that are never drawn.
        avoided: mask of lineages that are drawn only where a discipline has no others, beside the anchors.
        asked: position of a lineage that others have answered → the question that they answered.
        anchor_share: share of the set that is taken from `asked`, as far as it goes; the same question is asked again.
        key: the set's secret.
        label: what is drawn, for the secret's sake.
    """
    drawn: list[DrawnQuestion] = []
    wanted_before = wanted = 0
    size = 0
    for discipline, share in shares.items():
        # Rounded over the set, not in each discipline: small shares would have no anchor at all.
        size += share
        wanted_before, wanted = wanted, round(size * anchor_share)
        random_source = make_random(key, f"{label}|{discipline}")
        first, end = index.spans[discipline]
        allowed = (np.flatnonzero(~excluded[first:end]) + first).tolist()
        known = [position for position in allowed if position in asked]
        anchors = random_source.sample(known, min(wanted - wanted_before, len(known)))
        taken = set(anchors)
        others = [position for position in allowed if position not in taken]
        drawn += [
            DrawnQuestion(index.lineage_uuids[position], asked[position], discipline, is_anchor=True)
            for position in anchors
        ]
        drawn += [
            DrawnQuestion(
                index.lineage_uuids[position], draw_question(index, position, random_source), discipline
            )
            for position in _draw_positions(others, share - len(anchors), avoided, random_source)
        ]
    return drawn


def draw_question(index: BankIndex, position: int, random_source: random.Random) -> str:
    """One question of a lineage.

    Statements made from a choice are mostly false, because most options are wrong. When one is drawn, its key is drawn
    first, true and false with equal probability; a lineage whose statements all have one key is asked in another form.
    """
    questions: list[str] = index.questions[position]
    truths: list[str | None] = index.truths[position]
    chosen = random_source.randrange(len(questions))
    if truths[chosen] is None:
        return questions[chosen]
    wanted = random_source.choice(("true", "false"))
    if "true" in truths and "false" in truths:
        same = [place for place, truth in enumerate(truths) if truth == wanted]
    else:
        same = [place for place, truth in enumerate(truths) if truth is None] or [chosen]
    return questions[random_source.choice(same)]


def draw_order(lineages: Collection[str], seed: str, label: str) -> list[str]:
    """The lineages of a set in the secret order of one session."""
    order = sorted(lineages)
    make_random(seed, label).shuffle(order)
    return order


def make_random(seed: str, label: str) -> random.Random:
    """A generator that follows from the secret and the label alone."""
    digest = hmac.new(seed.encode(), label.encode(), hashlib.sha256).digest()
    return random.Random(int.from_bytes(digest, "big"))


def _draw_positions(
    allowed: list[int], count: int, avoided: NDArray[np.bool_], random_source: random.Random
) -> list[int]:
    preferred = [position for position in allowed if not avoided[position]]
    if len(preferred) >= count:
        return random_source.sample(preferred, count)
    others = [position for position in allowed if avoided[position]]
    return preferred + random_source.sample(others, count - len(preferred))
