"""The league as Prefect sees it: play → land. Ids and counts only pass through Prefect."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from schemas.settings import load_settings
from tasks.league.claim import MOST_CANDIDATES, LeagueRules, claim_league, find_league
from tasks.league.domain import name_season, read_domain
from tasks.league.play import Playing, play_league
from tasks.models.registry import Registry, read_registry
from tasks.running import Progress
from tasks.running.flow_runs import step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
def claim_season(candidates: list[str] | None = None, domains: list[str] | None = None) -> str:
    """The id of the present season's league, for example `season-2026-Q4`.

    The league is claimed with these rules unless it is claimed already. Without `candidates` every candidate of the registry
    that is no simulation plays (simulated ones where there are no others); without `domains` the domain is mathematics. Raises
    UsageError where they cannot play.
    """
    settings = load_settings()
    season = name_season(datetime.now(UTC).date())
    league_id = f"season-{season}"
    registry = read_registry(settings.registry_path)
    with open_lake(settings) as lake:
        if find_league(lake, settings, league_id) is None:
            found = [read_domain(name) for name in domains or ["mathematics"]]
            named = candidates or _choose_candidates(registry)
            rules = LeagueRules(
                tuple(named), {domain.name: domain.content for domain in found}, season=season
            )
            claim_league(lake, settings, registry, league_id, rules)
    return league_id


def _choose_candidates(registry: Registry) -> list[str]:
    candidates = registry.callable_candidates()
    real = [model.name for model in candidates if not model.is_simulated]
    return (real or [model.name for model in candidates])[:MOST_CANDIDATES]


@step()
def play_rounds(
    league_id: str, run_type: str = "full", budget_usd: float | None = None, voids_failures: bool = False
) -> dict[str, object]:
    """Play the unfinished rounds of a claimed league; what was paid for is not paid again."""
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
                Playing(run_type, budget_usd, voids_failures),
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
