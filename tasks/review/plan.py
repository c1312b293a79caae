"""Who reviews which question of a new batch; refused where there are too few people or too little time. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.review.annotators import NO_DISCIPLINE, Annotator
from tasks.review.distribution import Shares, distribute_work, draw_annotators
from tasks.review.item import Item


def plan_assignments(
    items: Sequence[Item],
    people: Sequence[Annotator],
    settings: Settings,
    loads: Mapping[str, int],
    past: Mapping[str, set[str]],
    salt: str,
) -> dict[str, list[str]]:
    """Annotators of each question.

    Args:
        items: the questions.
        people: who may review.
        settings: reviews per question, daily quota, days of the window.
        loads: work that annotators have already; absent means none.
        past: who decided on a question before, and is not given it again.
        salt: what the mixing of partners depends on besides the questions.

    Raises:
        GateError: a discipline has too few annotators, or the work exceeds what they can do in the window.
    """
    groups: dict[str, list[str]] = {}
    eligible: dict[str, list[str]] = {}
    for item in items:
        discipline = item.content.discipline or NO_DISCIPLINE
        before = past.get(item.question_uuid, set())
        # Questions share a group when the same people may review them.
        group = discipline + (f" (read before by {', '.join(sorted(before))})" if before else "")
        groups.setdefault(group, []).append(item.question_uuid)
        if group not in eligible:
            eligible[group] = [
                person.user_id
                for person in people
                if person.can_review(discipline) and person.user_id not in before
            ]
    demand = {group: len(uuids) for group, uuids in groups.items()}
    _check_headcount(eligible, demand, settings.review_count)
    shares = distribute_work(demand, eligible, settings.review_count, loads)
    _check_capacity(shares, demand, loads, settings)

    plan: dict[str, list[str]] = {}
    for group, uuids in sorted(groups.items()):
        plan |= draw_annotators(uuids, shares[group], settings.review_count, salt)
    return plan


def _check_headcount(
    eligible: Mapping[str, Sequence[str]], demand: Mapping[str, int], review_count: int
) -> None:
    short = [
        f"{group}: {len(names)} of {review_count} ({', '.join(names) or 'nobody'}) for {demand[group]} questions"
        for group, names in eligible.items()
        if len(names) < review_count
    ]
    if short:
        raise GateError(
            f"Too few annotators for {review_count} reviews per question: {'; '.join(short)}. "
            "Register more annotators for these disciplines, or lower PROCTOR_REVIEW_COUNT. Nothing was assigned."
        )


def _check_capacity(
    shares: Shares,
    demand: Mapping[str, int],
    loads: Mapping[str, int],
    settings: Settings,
) -> None:
    capacity = settings.review_daily_quota * settings.review_due_days
    totals = dict(loads)
    for share in shares.values():
        for name, count in share.items():
            totals[name] = totals.get(name, 0) + count
    given = {name for share in shares.values() for name, count in share.items() if count}
    over = sorted((name for name in given if totals[name] > capacity), key=lambda name: (-totals[name], name))
    if not over:
        return
    tight = [
        f"{discipline}: {demand[discipline]} questions × {settings.review_count} reviews among "
        f"{sum(1 for count in share.values() if count)} annotators"
        for discipline, share in shares.items()
        if any(share.get(name) for name in over)
    ]
    raise GateError(
        f"The work does not fit the window: even in equal shares {over[0]} would hold {totals[over[0]]} questions, "
        f"and {settings.review_daily_quota} a day for {settings.review_due_days} days are {capacity}. "
        f"It concerns {'; '.join(tight)}. Assign fewer questions, add annotators, or raise "
        "PROCTOR_REVIEW_DAILY_QUOTA or PROCTOR_REVIEW_DUE_DAYS. Nothing was assigned."
    )
