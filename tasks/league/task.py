"""The league as Prefect sees it: play → land. Ids and counts only pass through Prefect."""

from __future__ import annotations

import asyncio

from prefect import task

from schemas.settings import load_settings
from tasks.faults import hide_content
from tasks.flow_runs.task import sign_landings
from tasks.league.play import play_league
from tasks.progress import Progress
from warehouse.lake.store import open_lake
from warehouse.ledger.engine import open_ledger


@task(name="play_rounds")
@hide_content
@sign_landings
def play_rounds(
    league_id: str,
    run_type: str = "full",
    budget_usd: float | None = None,
    voids_failures: bool = False,
) -> dict[str, object]:
    """Play the rounds of a claimed league that are not finished; what was paid for is not paid again."""
    settings = load_settings()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress(f"league {league_id}: rounds") as progress,
    ):
        summary = asyncio.run(
            play_league(
                ledger,
                lake,
                settings,
                league_id,
                run_type,
                budget_usd=budget_usd,
                voids_failures=voids_failures,
                progress=progress.reach,
            )
        )
    return {
        "run_type": summary.run_type,
        "rounds": summary.round_count,
        "finished_rounds": summary.finished_count,
        "new_rounds": summary.new_count,
        "void_evaluations": summary.void_count,
        "open_rounds": summary.round_count - summary.finished_count,
        "failure": summary.failure,
        "calls": dict(summary.calls),
        "cost_usd": summary.cost_usd,
    }
