"""What the control answers of a run will cost, before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.settings import Settings
from tasks.judging.asking import list_judges
from tasks.judging.controls.drawing import count_asked
from tasks.judging.controls.trials import estimate_judging
from tasks.models.registry import Registry

if TYPE_CHECKING:
    from warehouse.lake import Lake


def estimate_controls(
    lake: Lake, settings: Settings, registry: Registry, *, is_simulated: bool
) -> list[dict[str, object]]:
    """The calls for control answers that a run adds, for each judge in use, and USD.

    The cost is the mean of the judge's judgements so far, else what its prices say of one of usual length; null without either.
    """
    judges = list_judges(registry, settings, is_simulated=is_simulated)
    costs = dict(
        lake.read("judge_call_costs", {"models": [judge.name for judge in judges]})
        .select("model", "cost_usd")
        .iter_rows()
    )
    count = count_asked(settings.judge_controls)
    return [
        {
            "judge": judge.name,
            "call_count": count,
            "cost_usd": costs[judge.name] * count if judge.name in costs else estimate_judging(judge, count),
        }
        for judge in judges
    ]
