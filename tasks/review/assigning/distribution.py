"""Sharing work out: how many questions of a discipline each annotator gets, and which. Pure.

The loads are as even as the annotators' disciplines allow: no exchange, direct or through others, could make two
loads more equal. That also makes the largest load the smallest possible, so if it exceeds an annotator's capacity,
no other distribution would fit either.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Mapping, Sequence

from tasks.questions import compute_rank, draw_short_order

# Each round evens the loads further; what is left after these is for the exchanges.
MOST_ROUNDS = 200

Shares = dict[str, dict[str, int]]


def distribute_work(
    demand: Mapping[str, int],
    eligible: Mapping[str, Sequence[str]],
    review_count: int,
    loads: Mapping[str, int],
    novices: Mapping[str, Collection[str]] | None = None,
) -> Shares:
    """Questions per discipline and annotator.

    Args:
        demand: questions per discipline.
        eligible: annotators per discipline, at least `review_count` of them each.
        review_count: different annotators per question.
        loads: work that annotators have already; absent means none.
        novices: those of a discipline of whom every question is to get at most `review_count - 1`; at least one of its
            annotators is none.

    Returns:
        `shares[discipline][annotator]`, at most `demand[discipline]` each, summing to `demand × review_count`.
    """
    crowded: set[str] = set()
    while True:
        shares = _distribute_apart(demand, eligible, review_count, loads, novices or {}, crowded)
        more = {
            name
            for name in (novices or {}).keys() & demand.keys()
            if sum(shares[name][one] for one in (novices or {})[name]) > demand[name] * (review_count - 1)
        }
        if not more:
            return shares
        crowded |= more


def _distribute_apart(
    demand: Mapping[str, int],
    eligible: Mapping[str, Sequence[str]],
    review_count: int,
    loads: Mapping[str, int],
    novices: Mapping[str, Collection[str]],
    crowded: Collection[str],
) -> Shares:
    """Shares in which the novices' part and the others' of crowded disciplines are fixed."""
    parts = {name: (name,) for name in demand if name not in crowded} | {
        name: (f"{name}\0novices", f"{name}\0others") for name in crowded
    }
    sizes = {name: demand[name] for name in demand if name not in crowded}
    amounts = {name: count * review_count for name, count in sizes.items()}
    people = {name: eligible[name] for name in sizes}
    for name in crowded:
        learning = set(novices[name])
        reviews = (demand[name] * (review_count - 1), demand[name])
        for part, amount, is_novice in zip(parts[name], reviews, (True, False), strict=True):
            sizes[part], amounts[part] = demand[name], amount
            people[part] = [one for one in eligible[name] if (one in learning) == is_novice]
    found = _distribute(sizes, amounts, people, loads)
    return {name: {one: n for part in parts[name] for one, n in found[part].items()} for name in demand}


def draw_annotators(
    question_uuids: Sequence[str],
    shares: Mapping[str, int],
    review_count: int,
    salt: str,
    novices: Collection[str] = (),
) -> dict[str, list[str]]:
    """Annotators of each question so that everyone gets exactly their share.

    Nobody is twice on one question. Partners are mixed by a hash of `salt` and the questions, so that
    agreement can be measured between many pairs. Where the shares of `novices` leave room for it, none of
    them are alone on a question.
    """
    order = draw_short_order(question_uuids, salt)
    # Small blocks, each with its own order of people: within one, neighbours in that order are partners.
    size = max(1, min(64, len(order) // 64))
    mixer = random.Random(compute_rank(salt, *shares))
    classes = [[name for name in sorted(shares) if (name in novices) == is_novice] for is_novice in (1, 0)]
    left = dict(shares)
    drawn: dict[str, list[str]] = {}
    for start in range(0, len(order), size):
        block = order[start : start + size]
        taken = _draw_block(left, classes, len(block), len(order) - start, review_count, mixer)
        row = [name for people in classes for name in _mix(people, mixer) for _ in range(taken[name])]
        # A run of one person is no longer than the block: laid round it, nobody meets a question twice.
        for place, uuid in enumerate(block):
            drawn[uuid] = row[place :: len(block)]
        for name, count in taken.items():
            left[name] -= count
    return drawn


def _mix(people: Sequence[str], mixer: random.Random) -> list[str]:
    return sorted(people, key=lambda _: mixer.random())


def _draw_block(
    left: Mapping[str, int],
    classes: Sequence[Sequence[str]],
    size: int,
    rest: int,
    review_count: int,
    mixer: random.Random,
) -> dict[str, int]:
    """How many of a block of `size` questions each takes, of `rest` left: their part, rounded.

    Rounded so, nobody is left with more than there are questions, and novices never with more than may be theirs.
    """
    parts = {name: divmod(left[name] * size, rest) for people in classes for name in people}
    taken = {name: whole for name, (whole, _) in parts.items()}
    first = classes[0]
    most_of_first = -(-sum(left[name] for name in first) * size // rest)
    open_count = size * review_count - sum(taken.values())
    spare_of_first = most_of_first - sum(taken[name] for name in first)
    # Rounding is settled class by class: the first gets its part rounded to the nearest, the second what remains.
    of_first = min(spare_of_first, open_count, round(sum(parts[name][1] for name in first) / rest))
    for people, count in zip(classes, (of_first, open_count - of_first), strict=True):
        ranked = sorted(people, key=lambda name: (-parts[name][1], mixer.random()))
        for name in ranked[:count]:
            taken[name] += 1
    return taken


def _distribute(
    demand: Mapping[str, int],
    amounts: Mapping[str, int],
    eligible: Mapping[str, Sequence[str]],
    loads: Mapping[str, int],
) -> Shares:
    """`amounts` of each group among those who may take it, at most `demand` each."""
    totals = {annotator: loads.get(annotator, 0) for names in eligible.values() for annotator in names}
    shares: Shares = {discipline: dict.fromkeys(eligible[discipline], 0) for discipline in demand}
    # The scarcest discipline first: the others then fill up around what nobody else can do.
    for discipline in sorted(demand, key=lambda name: (len(eligible[name]), name)):
        _fill(shares[discipline], demand[discipline], amounts[discipline], totals)
    for _ in range(MOST_ROUNDS):
        if not any(_refill(shares, name, demand[name], amounts[name], totals) for name in sorted(demand)):
            break
    while _exchange(shares, demand, totals):
        pass
    return shares


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


def _refill(shares: Shares, discipline: str, most: int, amount: int, totals: dict[str, int]) -> bool:
    """Pour one discipline's work again around that of the others; whether that changed anything."""
    before = dict(shares[discipline])
    for name, count in before.items():
        totals[name] -= count
    _fill(shares[discipline], most, amount, totals)
    return shares[discipline] != before


def _exchange(shares: Shares, demand: Mapping[str, int], totals: dict[str, int]) -> bool:
    """Move work along a chain from a higher to a lower load, all that evens the ends; or False."""
    for giver in sorted(totals, key=lambda name: (-totals[name], name)):
        chain = _find_chain(shares, demand, totals, giver)
        if chain:
            taker = chain[-1][2]
            amount = (totals[giver] - totals[taker]) // 2
            for discipline, source, target in chain:
                share = shares[discipline]
                amount = min(amount, share[source], demand[discipline] - share[target])
            for discipline, source, target in chain:
                shares[discipline][source] -= amount
                shares[discipline][target] += amount
            totals[giver] -= amount
            totals[taker] += amount
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
