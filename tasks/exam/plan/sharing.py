"""Which set each organisation of a run sits (SPEC §5.1).

All candidates of an organisation sit one set in a run; across runs it never meets a lineage again. With the policy `shared`
as many organisations of a run as possible sit the same set, so that candidates are compared on the same questions; with
`unique` each has a set of its own. Who cannot be served is refused alone, with the numbers; the others go on.

Where all sat one set every month, nothing that was answered before would be new to anybody, and no set could have an anchor. So
organisations share in groups (two by default): each group's sets take their anchors from what the other one has answered.

A reference answers every set, so that nothing old is new to it. Where it is a candidate, too, its set is drawn from what the others of the
run are asked for the first time: a question that it alone had answered would say nothing of how hard it is.

Who sits what follows from the request and the ledger, never from the seed: it is committed to before the seed is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tasks.exam.plan.bank import DisciplineShare, DrawnQuestion, Masks, draw_set, split_anchors
from tasks.exam.plan.request import KnownSet, LedgerState, PlanRequest
from tasks.exam.plan.shares import Shortfall


@dataclass(frozen=True)
class DrawnSet:
    """A set that this run draws, for whom, of what; `is_from_others`: of what its sets drew."""

    set_number: int
    set_id: str
    set_group: int
    items: Sequence[DrawnQuestion] = field(repr=False)
    drawn_for: Sequence[str]
    shares: Sequence[DisciplineShare]
    is_from_others: bool = False


@dataclass
class Distribution:
    """Who sits which set.

    Attributes:
        taken: organisation key → the set that its candidates sit.
        shortfalls: organisation key that cannot be served → the disciplines that fall short.
        avoided: mask of lineages that new sets avoid, before the first of them.
        groups: organisation key → the group in which it shares sets; empty where each has a set of its own.
        is_dealt_anew: whether organisations of one group were parted, as a set for all of them could not have its anchors.
    """

    avoided: NDArray[np.bool_]
    taken: dict[str, KnownSet] = field(default_factory=dict)
    new_sets: list[DrawnSet] = field(default_factory=list)
    shortfalls: dict[str, list[Shortfall]] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    is_dealt_anew: bool = False


def distribute_sets(request: PlanRequest, state: LedgerState) -> Distribution:
    """Give every organisation with candidates a set, or the numbers that say why it has none."""
    return _Dealer(request, state).deal()


class _Dealer:
    """One run's sets, given out one after the other."""

    def __init__(self, request: PlanRequest, state: LedgerState) -> None:
        self._request = request
        self._state = state
        self._season = list(state.season_sets)
        self._avoided = state.met_by_any.copy()
        for known in self._season:
            self._avoided[known.positions] = True
        self._found = Distribution(avoided=self._avoided.copy())
        # What sets of this run have drawn, by position.
        self._drawn: dict[int, DrawnQuestion] = {}
        # By discipline the lineages that sets of this run take, whichever they are.
        self._drawn_counts: dict[str, int] = {}

    def deal(self) -> Distribution:
        """Everybody's set; see `distribute_sets`."""
        owners = sorted({sitter.organisation for sitter in self._request.candidates})
        if self._request.policy == "unique":
            for owner in owners:
                self._draw([owner])
            return self._found
        # A reference answers every set, so its organisation has met all of them. It joins a set of the others only where
        # that costs them nothing: with it, no set could have an anchor.
        references = {sitter.organisation for sitter in self._request.references}
        groups = self._found.groups = self._form_groups(
            [owner for owner in owners if owner not in references]
        )
        for group in sorted(set(groups.values())):
            self._share([owner for owner in owners if groups.get(owner) == group], group)
        for owner in owners:
            if owner in references:
                self._join(owner)
        return self._found

    def _form_groups(self, owners: Sequence[str]) -> dict[str, int]:
        """The group of each organisation: that of its last set, for a new one the lightest.

        Groups weigh what candidates they have in the run. Where all would be in one group, and a set for them could not have
        its anchors, they are parted: from their next run on either group has answered what is new to the other.
        """
        groups, known = self._request.settings.set_groups, self._state.groups
        found = {owner: known[owner] for owner in owners if known.get(owner, groups + 1) <= groups}
        if len(found) == len(owners) > 1 and len(set(found.values())) == 1 and self._lacks_anchors(owners):
            self._found.is_dealt_anew = groups > 1
            found = {}
        weights = Counter(sitter.organisation for sitter in self._request.candidates)
        loads = Counter(dict.fromkeys(range(1, groups + 1), 0))
        for owner, group in found.items():
            loads[group] += weights[owner]
        for owner in sorted(owners, key=lambda owner: (-weights[owner], owner)):
            if owner not in found:
                found[owner] = min(loads, key=lambda group: (loads[group], group))
                loads[found[owner]] += weights[owner]
        return found

    def _lacks_anchors(self, owners: Sequence[str]) -> bool:
        """Whether a new set for all of them would have fewer anchors than it should."""
        met, asked = self._unite(owners), list(self._state.asked)
        unmet = self._request.index.make_mask()
        unmet[asked] = ~met[asked]
        shares = split_anchors(self._fit(owners)[0], self._request.settings.anchor_share)
        return any(
            int(np.count_nonzero(unmet[slice(*self._request.index.spans[share.discipline])])) < share.anchors
            for share in shares
        )

    def _share(self, owners: Sequence[str], set_group: int) -> None:
        """Give the waiting organisations the set that serves most, drawn ones first; and again."""
        waiting = list(owners)
        while waiting:
            known = max(
                (found for found in self._season if found.set_group == set_group),
                key=lambda found: (len(self._list_unmet(found, waiting)), -found.set_number),
                default=None,
            )
            served = [] if known is None else self._list_unmet(known, waiting)
            group = [] if len(served) == len(waiting) else self._gather(waiting)
            if known is not None and served and len(served) >= len(group):
                self._found.taken |= dict.fromkeys(served, known)
            elif group:
                self._draw(group, set_group)
                served = group
            else:
                for owner in waiting:
                    self._refuse(owner)
                return
            waiting = [owner for owner in waiting if owner not in served]

    def _join(self, owner: str) -> None:
        """A set that others sit in this run, one of the season, or one from what they are asked."""
        by_use = sorted(
            self._season,
            key=lambda found: (
                -sum(taken.set_id == found.set_id for taken in self._found.taken.values()),
                found.set_number,
            ),
        )
        for found in by_use:
            if self._list_unmet(found, [owner]):
                self._found.taken[owner] = found
                return
        # No group shares it: a later set of theirs has its anchors.
        self._draw([owner], self._request.settings.set_groups + 1, is_from_others=bool(self._found.new_sets))

    def _list_unmet(self, found: KnownSet, owners: Iterable[str]) -> list[str]:
        may_hold = found.positions if found.possible is None else found.possible
        return [owner for owner in owners if not self._state.met[owner][may_hold].any()]

    def _gather(self, owners: Sequence[str]) -> list[str]:
        """As many organisations as one new set can serve: those that have met least first."""
        by_met = sorted(owners, key=lambda owner: (int(self._state.met[owner].sum()), owner))
        group: list[str] = []
        for owner in by_met:
            if not self._fit([*group, owner])[1]:
                group.append(owner)
        return group

    def _unite(self, owners: Iterable[str]) -> NDArray[np.bool_]:
        met = self._request.index.make_mask()
        for owner in owners:
            met |= self._state.met[owner]
        return met

    def _fit(self, owners: Iterable[str]) -> tuple[Mapping[str, int], list[Shortfall]]:
        shares, shortfalls = self._request.rule.fit(self._request.index.count_unmet(self._unite(owners)))
        return shares, shortfalls

    def _refuse(self, owner: str) -> None:
        self._found.shortfalls[owner] = self._fit([owner])[1]

    def _draw(self, owners: Sequence[str], set_group: int = 1, *, is_from_others: bool = False) -> None:
        """Draw a set that all these sit, or refuse who it is for; from others', without anchors."""
        request = self._request
        shares, shortfalls = self._fit(owners)
        if shortfalls:
            for owner in owners:
                self._refuse(owner)
            return
        number = max((found.set_number for found in self._season), default=0) + 1
        set_id = f"{request.season}/{number:04d}"
        excluded = self._unite(owners)
        split = split_anchors(shares, 0.0 if is_from_others else request.settings.anchor_share)
        avoided = self._avoided if request.policy == "shared" else request.index.make_mask()
        possible = ~excluded if is_from_others else self._find_possible(split, excluded)
        if is_from_others:
            avoided = ~request.index.make_mask()
            avoided[list(self._drawn)] = False
        items = draw_set(
            request.index,
            split,
            Masks(excluded=excluded, avoided=avoided, rested=self._state.rested),
            asked=self._state.asked,
            seed=request.chance.seed,
            set_id=set_id,
        )
        if is_from_others:
            # The question of the lineage that the others are asked.
            items = [self._drawn.get(item.position, item) for item in items]
        self._drawn |= {item.position: item for item in items}
        positions = np.array([item.position for item in items], dtype=np.int64)
        self._avoided[positions] = True
        for discipline, count, _ in split:
            self._drawn_counts[discipline] = self._drawn_counts.get(discipline, 0) + count
        drawn = KnownSet(number, set_id, set_group, positions, possible)
        self._season.append(drawn)
        self._found.new_sets.append(
            DrawnSet(number, set_id, set_group, items, tuple(owners), split, is_from_others)
        )
        self._found.taken |= dict.fromkeys(owners, drawn)

    def _find_possible(
        self, shares: Sequence[DisciplineShare], excluded: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """What a new set can hold, whatever the seed: who has met none of it can sit it as well."""
        request, found = self._request, self._request.index.make_mask()
        asked = request.index.make_mask()
        asked[list(self._state.asked)] = True
        for discipline, count, anchors in shares:
            span = slice(*request.index.spans[discipline])
            allowed = ~excluded[span]
            others = count - min(anchors, int(np.count_nonzero(allowed & asked[span])))
            if others:
                # Other sets of the run, and the anchors, may have as many of the passages.
                gone = self._drawn_counts.get(discipline, 0), anchors
                found[span] = self._find_drawable(span, allowed, others, *gone)
            if anchors:
                found[span] |= allowed & asked[span]
        return found

    def _find_drawable(
        self, span: slice, allowed: NDArray[np.bool_], count: int, drawn: int, anchors: int
    ) -> NDArray[np.bool_]:
        """The allowed lineages to draw `count` from; those put off only where others are too few.

        One of each passage: a second one is drawn after all that are put off.
        """
        rested = self._state.rested
        fresh = allowed if rested is None else allowed & ~rested[span]
        preferred = fresh & ~self._found.avoided[span] if self._request.policy == "shared" else fresh
        index = self._request.index
        if index.count_texts(span, preferred) - drawn - anchors >= count:
            return preferred
        return fresh if index.count_texts(span, fresh) - anchors >= count else allowed
