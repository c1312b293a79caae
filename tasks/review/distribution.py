"""Sharing work out: how many questions of each discipline each annotator gets, then which ones. Pure.

The loads are as even as the annotators' disciplines allow: no exchange, direct or through others, could make two
loads more equal. That also makes the largest load the smallest possible, so if it exceeds an annotator's capacity,
no other distribution would fit either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from tasks.questions.draws import compute_short_rank

# Each round evens the loads further; what is left after these is for the exchanges.
MOST_ROUNDS = 200

Shares = dict[str, dict[str, int]]


def distribute_work(
    demand: Mapping[str, int],
    eligible: Mapping[str, Sequence[str]],
    review_count: int,
    loads: Mapping[str, int],
) -> Shares:
    """Questions per discipline and annotator.

    Args:
        demand: questions per discipline.
        eligible: annotators per discipline, at least `review_count` of them each.
        review_count: different annotators per question.
        loads: work that annotators have already; absent means none.

    Returns:
        `shares[discipline][annotator]`, at most `demand[discipline]` each, summing to `demand × review_count`.
    """
    totals = {annotator: loads.get(annotator, 0) for names in eligible.values() for annotator in names}
    shares: Shares = {discipline: dict.fromkeys(eligible[discipline], 0) for discipline in demand}
    # The scarcest discipline first: the others then fill up around what nobody else can do.
    for discipline in sorted(demand, key=lambda name: (len(eligible[name]), name)):
        _fill(shares[discipline], demand[discipline], demand[discipline] * review_count, totals)
    for _ in range(MOST_ROUNDS):
        if not any(
            _refill(shares, discipline, demand, review_count, totals) for discipline in sorted(demand)
        ):
            break
    while _exchange(shares, demand, totals):
        pass
    return shares


def draw_annotators(
    question_uuids: Sequence[str],
    shares: Mapping[str, int],
    review_count: int,
    salt: str,
) -> dict[str, list[str]]:
    """Annotators of each question so that everyone gets exactly their share, nobody twice on one question.

    Partners are mixed by a hash of `salt` and the question, so that agreement can be measured between many pairs.
    """
    left = dict(shares)
    drawn: dict[str, list[str]] = {}
    for question_uuid in sorted(question_uuids, key=lambda uuid: compute_short_rank(salt, uuid)):
        # Largest remainders first: the only order that can never leave somebody with more than there are questions.
        names = sorted(left, key=lambda name: (-left[name], compute_short_rank(salt, question_uuid, name)))[
            :review_count
        ]
        for name in names:
            left[name] -= 1
        drawn[question_uuid] = names
    return drawn


def _fill(share: dict[str, int], most: int, amount: int, totals: dict[str, int]) -> None:
    """Pour `amount` into the lowest totals, at most `most` each."""
    names = sorted(share)
    low, high = min(totals[name] for name in names), max(totals[name] for name in names) + amount
    while low < high:  # the highest level that does not take more than the amount
        level = (low + high + 1) // 2
        if sum(min(most, max(0, level - totals[name])) for name in names) <= amount:
            low = level
        else:
            high = level - 1
    for name in names:
        share[name] = min(most, max(0, low - totals[name]))
    rest = amount - sum(share.values())
    for name in names:
        if rest and share[name] < most and totals[name] <= low:
            share[name] += 1
            rest -= 1
    for name in names:
        totals[name] += share[name]


def _refill(
    shares: Shares, discipline: str, demand: Mapping[str, int], review_count: int, totals: dict[str, int]
) -> bool:
    """Take one discipline's work back and pour it again around the others'; whether that changed anything."""
    before = dict(shares[discipline])
    for name, count in before.items():
        totals[name] -= count
    _fill(shares[discipline], demand[discipline], demand[discipline] * review_count, totals)
    return shares[discipline] != before


def _exchange(shares: Shares, demand: Mapping[str, int], totals: dict[str, int]) -> bool:
    """Move one question along a chain of annotators from a higher to a lower load; false when none is left."""
    for giver in sorted(totals, key=lambda name: (-totals[name], name)):
        chain = _find_chain(shares, demand, totals, giver)
        if chain:
            for discipline, source, target in chain:
                shares[discipline][source] -= 1
                shares[discipline][target] += 1
            totals[giver] -= 1
            totals[chain[-1][2]] += 1
            return True
    return False


def _find_chain(
    shares: Shares, demand: Mapping[str, int], totals: Mapping[str, int], giver: str
) -> list[tuple[str, str, str]]:
    came_from: dict[str, tuple[str, str, str] | None] = {giver: None}
    queue = deque([giver])
    while queue:
        source = queue.popleft()
        if totals[source] <= totals[giver] - 2:
            chain = []
            while (step := came_from[source]) is not None:
                chain.append(step)
                source = step[1]
            return chain[::-1]
        for discipline, share in shares.items():
            if share.get(source, 0) == 0:
                continue
            for target, count in share.items():
                if target not in came_from and count < demand[discipline]:
                    came_from[target] = (discipline, source, target)
                    queue.append(target)
    return []
