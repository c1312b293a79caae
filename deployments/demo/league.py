"""A small league in the demo: six simulated candidates, two domains, two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schemas.settings import Settings

LEAGUE = "demo"
CANDIDATES = (
    "sim-aurora-2",
    "sim-aurora-2-thinking",
    "sim-basalt-1",
    "sim-basalt-2",
    "sim-cirrus-mini",
    "sim-dune-4",
)
DOMAINS = ("mathematics", "law")


def play_demo_league(settings: Settings) -> dict[str, Any]:
    """Claim and play the league; the second time there is nothing to play. Returns what the flow counted."""
    from deployments.flow_runs.flow_runner import run_flow
    from tasks.league.claim import LeagueRules, claim_league
    from tasks.league.domain import read_domain
    from tasks.models.registry import read_registry
    from warehouse.lake.store import open_lake

    rules = LeagueRules(CANDIDATES, {name: read_domain(name).content for name in DOMAINS}, run_count=2)
    with open_lake(settings) as lake:
        claim_league(lake, settings, read_registry(settings.registry_path), LEAGUE, rules)
    result: dict[str, Any] = run_flow("league", league_id=LEAGUE)
    return result


def report_demo_league(settings: Settings, *, is_new: bool) -> Path:
    """Land the league's statistics and write its page, as `proctor league report` does; returns the page.

    A league that was not played on keeps its page: it compares with the standings as they were then.
    """
    from tasks.league_statistics.landing import write_statistics
    from tasks.league_statistics.tables import StatisticsRequest
    from tasks.report.league_page import render_league
    from warehouse.lake.store import open_lake

    page = settings.home / "reports" / f"league-{LEAGUE}.html"
    if page.exists() and not is_new:
        return page
    with open_lake(settings) as lake:
        write_statistics(lake, LEAGUE, StatisticsRequest(seed=0, resamples=2_000, repeats=20))
        return render_league(lake.run_named, LEAGUE, settings.home / "reports")
