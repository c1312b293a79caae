"""Models examine each other: they ask, answer, judge, and are ranked."""

from __future__ import annotations

from typing import Literal

from prefect import flow

from tasks.flow_runs.success import check_played
from tasks.flow_runs.task import name_run, publish_summary
from tasks.league.task import play_rounds
from tasks.reconcile.task import reconcile_stores


@flow(name="league", flow_run_name=name_run)
def league(
    league_id: str,
    run_type: Literal["full", "without_reference"] = "full",
    budget_usd: float | None = None,
    voids_failures: bool = False,
) -> dict[str, object]:
    """Play every round of a claimed league that is not finished yet, and land it.

    `run_type` `without_reference` judges finished rounds again without their reference answers. `voids_failures` takes calls
    that fail for good as void, so that one endpoint cannot hold a league up.
    """
    reconcile_stores()
    result = {"league_id": league_id} | play_rounds(league_id, run_type, budget_usd, voids_failures)
    publish_summary(result)
    check_played(result)
    return result
