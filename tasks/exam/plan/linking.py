"""How far a run's scores will compare with those of other months.

It is said before the run is committed to. What others have answered before, put again to who has not met it, links a month to those before it: the anchors of new sets, and
sets that are sat again. Where nothing can link, the plan says why, from when on it will, and what would.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.exam.plan.bank import split_anchors
from tasks.statistics.items import LEAST_LINK, expect_equated_se

if TYPE_CHECKING:
    from tasks.exam.plan.request import LedgerState, PlanRequest
    from tasks.exam.plan.sharing import Distribution


@dataclass(frozen=True)
class LinkForecast:
    """What links the run's sets to what was answered before it.

    Attributes:
        link_answers: answers to what was answered before, by those who are to sit, for each discipline on average; of the next run
            where this one is not linked. With too few the link is weaker than S itself, and an edition may withhold its equated
            scores.
        anchor_count: anchors of the sets that it draws.
        wanted_count: how many they should have.
        again_count: questions of sets that were drawn before and are sat again, all of them answered.
        answers_behind: how many candidates have answered one of those, on average; null where there is none.
        expected_se: standard error of an equated score to be expected, in points of 100: of the set with the largest one, or of the
            next run where this one is not linked; null where no run would be.
        months_until: months until equated scores can be told: 0 now, 1 from the next month on, null never as things stand.
        reason: `linked`; `few` anchors; `first`: nothing was answered before; `parted`: who would share met all of it, and shares
            in two groups from now on; `alone`: one organisation has met all of it; `one_group`: all that sit have; `unwanted`:
            no anchors are asked for.
        offers: what would link: `groups`, `bridge`, `rest`, `share`.
    """

    anchor_count: int
    wanted_count: int
    again_count: int
    answers_behind: float | None
    expected_se: float | None
    months_until: int | None
    reason: str
    offers: tuple[str, ...] = ()
    link_answers: float | None = None

    @property
    def is_thin(self) -> bool:
        """Whether so few answers link it that equated scores may be withheld."""
        return self.link_answers is not None and self.link_answers < LEAST_LINK


def forecast_link(request: PlanRequest, state: LedgerState, found: Distribution) -> LinkForecast | None:
    """What links the sets that were given out; null where nobody sits."""
    if not found.taken:
        return None
    new = {drawn.set_id: drawn for drawn in found.new_sets}
    # What a reference sits of its own is drawn from the others' sets, and linked as those are.
    sitting = {
        taken.set_id: 0
        for taken in found.taken.values()
        if taken.set_id not in new or not new[taken.set_id].is_from_others
    }
    for sitter in request.candidates:
        if sitter.organisation in found.taken and found.taken[sitter.organisation].set_id in sitting:
            sitting[found.taken[sitter.organisation].set_id] += 1
    behind: list[int] = []
    errors: list[float | None] = []
    links: list[int] = []
    again = 0
    for set_id, taken in {taken.set_id: taken for taken in found.taken.values()}.items():
        if set_id not in sitting:
            continue
        drawn = new.get(set_id)
        places = (
            taken.positions.tolist() if drawn is None else [i.position for i in drawn.items if i.is_anchor]
        )
        answered = [state.asked_of[place] for place in places if place in state.asked_of]
        again += len(answered) if drawn is None else 0
        behind += answered
        errors.append(_expect(request, state, len(taken.positions), answered, sitting[set_id]))
        # The reference answers every set, too.
        links.append(len(answered) * (sitting[set_id] + 1))
    anchors = sum(
        item.is_anchor for drawn in found.new_sets if drawn.set_id in sitting for item in drawn.items
    )
    wanted = sum(share.anchors for drawn in found.new_sets for share in drawn.shares)
    reason, months = _find_reason(request, state, found, anchors, wanted, again)
    if months is None:
        errors, links = [None], []
    elif months:
        # What the next run of the same candidates will have.
        errors = [_expect_next(request, state, sitting)]
        share = split_anchors(request.rule.planned, request.settings.anchor_share)
        links = [sum(one.anchors for one in share) * (count + 1) for count in sitting.values()]
    return LinkForecast(
        anchor_count=anchors,
        wanted_count=wanted,
        again_count=again,
        answers_behind=round(sum(behind) / len(behind), 1) if behind else None,
        expected_se=None if None in errors else round(max(error or 0.0 for error in errors), 2),
        months_until=months,
        reason=reason,
        offers=_list_offers(request, found, reason) if months != 0 or reason == "few" else (),
        link_answers=round(sum(links) / len(request.rule.planned), 1) if links else None,
    )


def _find_reason(
    request: PlanRequest, state: LedgerState, found: Distribution, anchors: int, wanted: int, again: int
) -> tuple[str, int | None]:
    """Why the run is linked or not, and in how many months it is."""
    if anchors or again:
        return ("linked" if anchors >= wanted else "few"), 0
    if not request.settings.anchor_share:
        return "unwanted", None
    # Who answers apart from others now links with them the next time.
    are_several = len({taken.set_id for taken in found.taken.values()}) > 1
    if not state.met_by_any.any():
        return "first", 1 if are_several else request.settings.rest_months
    if found.is_dealt_anew and are_several:
        return "parted", 1
    return ("alone" if len(found.taken) == 1 else "one_group"), request.settings.rest_months


def _list_offers(request: PlanRequest, found: Distribution, reason: str) -> tuple[str, ...]:
    if reason == "unwanted":
        return ("share",)
    if reason in ("parted", "few") or len({taken.set_id for taken in found.taken.values()}) > 1:
        return ()
    shares_all = request.policy == "shared" and request.settings.set_groups == 1 and len(found.taken) > 1
    return (
        *(["groups"] if shares_all else []),
        *(["bridge"] if len(found.taken) == 1 else []),
        *(["rest"] if request.settings.rest_months is None else []),
    )


def _expect(
    request: PlanRequest, state: LedgerState, question_count: int, answered: list[int], sitting: int
) -> float | None:
    return expect_equated_se(
        question_count,
        anchor_count=len(answered),
        answers_before=sum(answered) / len(answered) if answered else 0.0,
        answers_now=sitting,
        is_same_bank=state.first_bank in (None, request.index.bank_version),
    )


def _expect_next(request: PlanRequest, state: LedgerState, sitting: Mapping[str, int]) -> float | None:
    """The same of the next run of these candidates, whose anchors others answer in this one."""
    fewest = min(sitting.values())
    share = split_anchors(request.rule.planned, request.settings.anchor_share)
    answered = [fewest] * sum(one.anchors for one in share)
    return _expect(request, state, sum(one.size for one in share), answered, fewest)
