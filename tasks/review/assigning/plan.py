"""Who reviews what of a new batch, and what finds no place for want of people or time. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from schemas.errors import ContractError
from schemas.lazy import np
from tasks.review.assigning.annotators import NO_DISCIPLINE, Annotator
from tasks.review.assigning.distribution import Shares, distribute_work, draw_annotators

# Rounds in which people who can hold less than an even share are made to get less.
_MOST_TRIES = 6


@dataclass(frozen=True, slots=True)
class Waiting:
    """A question that waits to be assigned; `discipline` null where it is not known."""

    question_uuid: str
    discipline: str | None
    has_answer: bool = True


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Questions of a discipline that were not assigned, and why in a sentence."""

    discipline: str
    question_count: int
    reason: str


@dataclass(frozen=True)
class ReviewPlan:
    """Annotators of each question that has a place, and what was left out."""

    annotators: Mapping[str, Sequence[str]] = field(repr=False)
    left_out: Sequence[LeftOut]


def plan_assignments(
    waiting: Sequence[Waiting],
    people: Sequence[Annotator],
    review_count: int,
    capacities: Mapping[str, int],
    loads: Mapping[str, int],
    past: Mapping[str, set[str]],
    salt: str,
) -> ReviewPlan:
    """As many of the questions as the people can take, each with its annotators.

    Where not all find a place, those that came with an answer go first: only they can be put to candidates as they stand. Each
    discipline gets as many as any other, as far as it has them and its people allow, because the smallest limits a set.

    Args:
        waiting: the questions, in the order in which they are to be read.
        people: who may review.
        review_count: different annotators per question.
        capacities: questions that each of them can hold at once: daily quota × days of the window.
        loads: work that annotators have already; absent means none.
        past: who decided on a question before, and is not given it again.
        salt: what the mixing of partners depends on besides the questions.
    """
    waiting = sorted(waiting, key=lambda one: not one.has_answer)
    answered: Counter[str] = Counter()
    groups: dict[str, list[str]] = {}
    eligible: dict[str, list[str]] = {}
    novices: dict[str, list[str]] = {}
    disciplines: dict[str, str] = {}
    nobody: frozenset[str] = frozenset()
    for one in waiting:
        discipline = one.discipline or NO_DISCIPLINE
        before = past.get(one.question_uuid, nobody)
        # Questions share a group when the same people may review them.
        group = discipline + (f" (read before by {', '.join(sorted(before))})" if before else "")
        if group not in groups:
            groups[group] = []
            disciplines[group] = discipline
            able = [
                person for person in people if person.can_review(discipline) and person.user_id not in before
            ]
            eligible[group] = [person.user_id for person in able]
            novices[group] = [person.user_id for person in able if person.is_novice(discipline)]
        groups[group].append(one.question_uuid)
        answered[group] += one.has_answer
    left_out = [
        LeftOut(group, len(groups[group]), _explain_headcount(names, novices[group], review_count))
        for group, names in eligible.items()
        if len(names) < review_count or len(names) == len(novices[group])
    ]
    for one_left in left_out:
        del groups[one_left.discipline], eligible[one_left.discipline], novices[one_left.discipline]
    shift = _Shift(capacities, loads, review_count, eligible, novices)
    demand = {group: len(uuids) for group, uuids in groups.items()}
    taken = demand if not demand or shift.has_room(demand) else _find_what_fits(shift, demand, answered)
    left_out += [
        LeftOut(group, demand[group] - taken[group], _explain_capacity(eligible[group], capacities, loads))
        for group in demand
        if taken[group] < demand[group]
    ]
    shares = shift.share(taken)
    plan: dict[str, list[str]] = {}
    for group, uuids in sorted(groups.items()):
        if taken[group]:
            plan |= draw_annotators(
                uuids[: taken[group]], shares[group], review_count, salt, novices=novices[group]
            )
    return ReviewPlan(plan, sorted(left_out, key=lambda one: one.discipline))


@dataclass(frozen=True)
class _Shift:
    """The people of an assignment: what each can still take, and of what."""

    capacities: Mapping[str, int]
    loads: Mapping[str, int]
    review_count: int
    eligible: Mapping[str, Sequence[str]]
    novices: Mapping[str, Sequence[str]]

    def share(self, demand: Mapping[str, int]) -> Shares:
        """Shares as even as what each can hold allows; ContractError where none are found."""
        wanted = {group: count for group, count in demand.items() if count}
        people = {group: self.eligible[group] for group in wanted}
        names = {name for group in people.values() for name in group}
        begun = {name: self.loads.get(name, 0) for name in names}
        most = max((self.capacities[name] for name in names), default=0)
        for is_last in (*[False] * _MOST_TRIES, True):
            if is_last:
                # Even is what each has still free: if that does not fit, nothing does.
                begun = {name: self.loads.get(name, 0) + most - self.capacities[name] for name in names}
            shares = distribute_work(wanted, people, self.review_count, begun, self.novices)
            given: Counter[str] = Counter()
            for share in shares.values():
                given.update(share)
            over = {
                name: self.loads.get(name, 0) + count - self.capacities[name]
                for name, count in given.items()
                if count and self.loads.get(name, 0) + count > self.capacities[name]
            }
            if not over:
                return shares | {group: {} for group in demand if group not in wanted}
            # Who can hold less than the others counts as busy by so much more.
            begun = {name: count + over.get(name, 0) for name, count in begun.items()}
        raise ContractError(f"No shares were found for {sum(demand.values())} questions that have room.")

    def has_room(self, demand: Mapping[str, int]) -> bool:
        """Whether the work has a place: a flow from the groups through what each person can hold."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_flow

        names = sorted({name for group in demand for name in self.eligible[group]})
        places = {name: 2 + place for place, name in enumerate(names)}
        edges = [(places[name], 1, max(0, self.capacities[name] - self.loads.get(name, 0))) for name in names]
        first = 2 + len(names)
        for number, (group, count) in enumerate(demand.items()):
            node, learners = first + 2 * number, first + 2 * number + 1
            edges.append((0, node, count * self.review_count))
            # Of its reviews, all but one may be given by novices.
            edges.append((node, learners, count * (self.review_count - 1)))
            edges += [
                (learners if name in self.novices[group] else node, places[name], count)
                for name in self.eligible[group]
            ]
        size = first + 2 * len(demand)
        rows, columns, limits = (np.array(part, dtype=np.int32) for part in zip(*edges, strict=True))
        graph = csr_array((limits, (rows, columns)), shape=(size, size))
        flow = maximum_flow(graph, 0, 1).flow_value
        return bool(flow == self.review_count * sum(demand.values()))


def _find_what_fits(shift: _Shift, demand: Mapping[str, int], answered: Mapping[str, int]) -> dict[str, int]:
    """As many of every group as of any other: of the answered first, then of the others."""
    first = {group: answered[group] for group in demand}
    taken = _share_evenly(shift, dict.fromkeys(demand, 0), first)
    return _share_evenly(shift, taken, demand) if taken == first else taken


def _share_evenly(shift: _Shift, begun: Mapping[str, int], demand: Mapping[str, int]) -> dict[str, int]:
    """What of each group has room, from what has a place already to what is wanted."""
    steps = max(count - begun[group] for group, count in demand.items())

    def fill(most: int) -> dict[str, int]:
        return {group: begun[group] + min(count - begun[group], most) for group, count in demand.items()}

    taken = fill(_find_most(0, steps, lambda most: shift.has_room(fill(most))))
    for group in sorted(demand):
        before = dict(taken)
        taken[group] = _find_most(
            before[group],
            demand[group],
            lambda count, before=before, group=group: shift.has_room(before | {group: count}),  # type: ignore[misc]
        )
    return taken


def _find_most(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest number from `low`, which fits, to `high` that still does."""
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _explain_headcount(names: Sequence[str], novices: Sequence[str], review_count: int) -> str:
    if len(names) < review_count:
        return f"{len(names)} of {review_count} annotators ({', '.join(names) or 'nobody'})"
    return f"only novices ({', '.join(novices)}): one of the annotators must be none"


def _explain_capacity(names: Sequence[str], capacities: Mapping[str, int], loads: Mapping[str, int]) -> str:
    room = sum(capacities[name] for name in names)
    held = sum(loads.get(name, 0) for name in names)
    return f"its {len(names)} annotators have time for {room:,} reviews until the batch is due" + (
        f", of which {held:,} were with them already" if held else ""
    )
