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
    """Claim and play the league; returns what the flow counted.

    The second time there is nothing to play.
    """
    from deployments.flow_runs import run_flow
    from tasks.league import LeagueRules, claim_league, read_domain
    from tasks.models.registry import read_registry
    from warehouse.lake import open_lake

    rules = LeagueRules(CANDIDATES, {name: read_domain(name).content for name in DOMAINS}, run_count=2)
    with open_lake(settings) as lake:
        claim_league(lake, settings, read_registry(settings.registry_path), LEAGUE, rules)
    result: dict[str, Any] = run_flow("league", league_id=LEAGUE)
    return result


def report_demo_league(settings: Settings, *, is_new: bool) -> Path:
    """Land the league's statistics and write its page; returns the page.

    This does what `proctor league report` does.

    A league that was not played on keeps its page: it compares with the standings as they were then.
    """
    from tasks.league.statistics import StatisticsRequest, write_statistics
    from tasks.proof import close_report
    from tasks.report import render_league
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    page = settings.home / "reports" / f"league-{LEAGUE}.html"
    if page.exists() and not is_new:
        return page
    with open_lake(settings) as lake:
        write_statistics(lake, LEAGUE, StatisticsRequest(seed=0, resamples=2_000, repeats=20))
        written = render_league(lake.run_named, LEAGUE, settings.home / "reports")
    with open_ledger(settings.ledger_address) as ledger:
        close_report(ledger, settings, settings.home / "reports")
    return written
