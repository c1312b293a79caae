"""How long the bank lasts, by organisation and discipline; the reference sits for its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tasks.exam.plan.due import Schedule, add_months
from tasks.exam.plan.shares import ShareRule

if TYPE_CHECKING:
    from tasks.exam.plan.request import PlanRequest

# The months that the pace is read from.
_MONTHS_AHEAD: Final = 12
# How long a bank is hoped to last: what `bearable_months` is measured against.
HORIZON_MONTHS: Final = 36


@dataclass(frozen=True)
class Forecast:
    """What an organisation has left after a run.

    Attributes:
        organisation: as people know it.
        sets_per_month: sets that it meets in a month, on average over the next twelve.
        sets_left: discipline → sets that could still be drawn for it.
        months_left: discipline → months that these last at this pace; null where nothing is due.
        scarcest: the discipline that ends first.
        bearable_months: months between two sets with which the scarcest discipline lasts three years; null when none is left.
    """

    organisation: str
    sets_per_month: float
    sets_left: Mapping[str, int]
    months_left: Mapping[str, int | None]
    scarcest: str
    bearable_months: int | None


def forecast_runs(
    request: PlanRequest, rule: ShareRule, left: Mapping[str, Mapping[str, int]], sitting_now: Iterable[str]
) -> list[Forecast]:
    """The forecasts of a request's organisations, of which `left` says by key what is unmet."""
    return forecast_sets(
        request.month,
        rule,
        {request.name_organisation(owner): unmet for owner, unmet in left.items()},
        [
            replace(entry, organisation=request.name_organisation(request.find_key(entry.organisation)))
            for entry in request.schedule
        ],
        sitting_now=sitting_now,
        reference_owners={request.name_organisation(sitter.organisation) for sitter in request.references},
        is_shared=request.policy == "shared",
    )


def forecast_sets(
    month: str,
    rule: ShareRule,
    left: Mapping[str, Mapping[str, int]],
    schedule: Sequence[Schedule],
    *,
    sitting_now: Iterable[str],
    reference_owners: Iterable[str],
    is_shared: bool,
) -> list[Forecast]:
    """A forecast for each organisation (by name) of `left`, the one that ends first first."""
    now = set(sitting_now)
    due: dict[str, set[int]] = {}
    for entry in schedule:
        due.setdefault(entry.organisation, set()).update(
            _list_due_months(entry, month, is_now=entry.model in now)
        )
    # Where sets are shared, all that are due in a month meet about one set; otherwise one for each organisation.
    every = set().union(*due.values()) if due else set()
    of_all = len(every) if is_shared else sum(map(len, due.values()))
    references = set(reference_owners)
    found = []
    for organisation, available in left.items():
        sets_left = rule.count_sets(available)
        met = of_all if organisation in references else len(due.get(organisation, ()))
        pace = met / _MONTHS_AHEAD
        months = {name: None if not met else math.floor(count / pace) for name, count in sets_left.items()}
        scarcest = min(sets_left, key=lambda name: (sets_left[name], name))
        fewest = sets_left[scarcest]
        found.append(
            Forecast(
                organisation=organisation,
                sets_per_month=round(pace, 2),
                sets_left=sets_left,
                months_left=months,
                scarcest=scarcest,
                bearable_months=max(1, math.ceil(HORIZON_MONTHS / fewest)) if fewest else None,
            )
        )
    return sorted(
        found,
        key=lambda one: (
            min((value for value in one.months_left.values() if value is not None), default=math.inf),
            one.organisation,
        ),
    )


def _list_due_months(entry: Schedule, month: str, *, is_now: bool) -> set[int]:
    """The months ahead, 1 to 12, in which the candidate will be due."""
    first = add_months(month, entry.every_months) if is_now else entry.next_month
    if first is None:
        return set()
    start = max(1, (int(first[:4]) - int(month[:4])) * 12 + int(first[5:]) - int(month[5:]))
    return set(range(start, _MONTHS_AHEAD + 1, entry.every_months))
