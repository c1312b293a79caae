"""What judging the answers of a run is expected to cost, before the run is held."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.settings import Settings
from tasks.judging.asking import list_judges
from tasks.judging.controls import estimate_judging
from tasks.models.registry import Registry
from warehouse.lake import Lake


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
    past = lake.read(
        "judging_costs",
        {"judges": [judge.name for judge in judges], "from_month": f"{int(month[:4]) - 1:04}{month[4:]}"},
    ).rows()
    rows: list[dict[str, object]] = []
    for judge in judges:
        own = {candidate: (cost, count) for name, candidate, cost, count in past if name == judge.name}
        met = {candidate: cost / count for candidate, (cost, count) in own.items()}
        other = (
            sum(cost for cost, _ in own.values()) / sum(count for _, count in own.values())
            if own
            else estimate_judging(judge, 1)
        )
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
