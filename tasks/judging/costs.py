"""What judging is expected to cost: by what a judge's calls have cost, else by its price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from schemas.settings import Settings
from tasks.judging.asking import list_judges
from tasks.models.budget import compute_cost
from tasks.models.registry import RegisteredModel, Registry
from warehouse.lake import Lake

# What one judgement is expected to take; it serves only for what is said before.
_TOKENS: Final = (900, 150)


def estimate_judging(judge: RegisteredModel, count: int) -> float | None:
    """What so many judgements are expected to cost in USD; null when the registry has no price."""
    cost = compute_cost(judge, *_TOKENS)
    return None if cost is None else cost * count


def read_past_costs(
    lake: Lake, judges: Sequence[RegisteredModel], month: str
) -> dict[str, dict[str, tuple[float, int]]]:
    """Judge → candidate → cost of calls about its answers in the year before, and their number."""
    asked = {
        "judges": [judge.name for judge in judges],
        "from_month": f"{int(month[:4]) - 1:04}{month[4:]}",
    }
    found: dict[str, dict[str, tuple[float, int]]] = {judge.name: {} for judge in judges}
    for judge, candidate, cost, count in lake.read("judging_costs", asked).iter_rows():
        found[judge][candidate] = cost, count
    return found


def compute_mean_cost(past: Mapping[str, tuple[float, int]]) -> float | None:
    """Mean cost in USD of a judge's past calls; null for none."""
    return sum(cost for cost, _ in past.values()) / sum(count for _, count in past.values()) if past else None


def estimate_answers(
    lake: Lake,
    settings: Settings,
    registry: Registry,
    answer_counts: Mapping[str, int],
    month: str,
    *,
    is_simulated: bool,
) -> list[dict[str, object]]:
    """What judging a run's answers costs by judge in USD; null without a price.

    A judge reads the whole answer, so that who answers at length costs more. A candidate counts by what the judge's calls about it have
    cost in the year before; one that it has not met (`unmet`) by those about the others, and where it has met nobody (`has_met` is
    false) by `estimate_judging`, which takes answers for short.
    """
    judges = list_judges(registry, settings, is_simulated=is_simulated)
    past = read_past_costs(lake, judges, month)
    rows: list[dict[str, object]] = []
    for judge in judges:
        own = past[judge.name]
        met = {candidate: cost / count for candidate, (cost, count) in own.items()}
        other = compute_mean_cost(own) if own else estimate_judging(judge, 1)
        costs = [
            None if (cost := met.get(candidate, other)) is None else cost * count
            for candidate, count in answer_counts.items()
        ]
        rows.append(
            {
                "judge": judge.name,
                "answer_count": sum(answer_counts.values()),
                "cost_usd": None if None in costs else sum(cost for cost in costs if cost is not None),
                "has_met": bool(own),
                "unmet": sorted(answer_counts.keys() - met.keys()),
            }
        )
    return rows
