"""Models examine each other: they ask, answer, judge, and are ranked."""

from __future__ import annotations

from typing import Literal

from tasks.league import claim_season, play_rounds
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import check_played, flow, publish_summary, require_budget
from tasks.running.sharing import conducting


@flow
def league(
    league_id: str = "",
    run_type: Literal["full", "without_reference"] = "full",
    budget_usd: float | None = None,
    voids_failures: bool = False,
    candidates: list[str] | None = None,
    domains: list[str] | None = None,
) -> dict[str, object]:
    """Play every round of a claimed league that is not finished yet, and land it.

    Without an id it is the league of the present season, claimed by its first run.

    Args:
        league_id: league to play; empty for this season's.
        run_type: `without_reference` judges finished rounds again without their reference answers.
        budget_usd: USD that it may cost; null for the setting's.
        voids_failures: take calls that fail for good as void, so that one endpoint cannot hold a league up.
        candidates: models of this season's league where it is not claimed yet; null for all candidates of the registry.
        domains: its domains; null for mathematics.
    """
    require_budget(budget_usd)
    reconcile_stores()
    league_id = league_id or claim_season(candidates, domains)
    with conducting(
        f"league/{league_id}",
        "league",
        league_id=league_id,
        run_type=run_type,
        budget_usd=budget_usd,
        voids_failures=voids_failures,
    ):
        played = play_rounds(league_id, run_type, budget_usd, voids_failures)

    result = {"league_id": league_id} | played
    publish_summary(result)
    check_played(result)
    return result
