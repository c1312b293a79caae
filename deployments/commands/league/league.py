"""The league: `league plan|run|status|report|season|enter`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from deployments.command_line import with_option_groups
from deployments.command_line.printing import print_records, print_result
from deployments.commands.league.people import validate_app
from deployments.commands.league.report import report
from deployments.commands.league.rules import Candidates, Domains, RuleOptions, build_rules
from deployments.commands.options import AsJson, FlowOptions, split_names
from deployments.flow_runs import run_flow
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.league import (
    EntryRequest,
    check_rules,
    claim_league,
    enter_candidate,
    find_league,
    list_topics,
    name_season,
    preview_league,
    read_domain,
)
from tasks.models.registry import read_registry
from tasks.running import Progress
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

league_app = typer.Typer(no_args_is_help=True)
league_app.add_typer(validate_app, name="validate")

LeagueId = Annotated[
    str, typer.Argument(help="Id of the league: letters, digits, dots, hyphens, underscores.")
]
WithoutReference = Annotated[
    bool,
    typer.Option(
        "--without-reference", help="Judge the finished rounds again without the reference answers."
    ),
]
Budget = Annotated[
    float | None,
    typer.Option("--budget", min=0, help="USD that the league may cost. Default: PROCTOR_BUDGET_USD."),
]
VoidFailed = Annotated[
    bool,
    typer.Option(
        "--void-failed", help="Take calls that fail for good as void instead of leaving rounds open."
    ),
]


@dataclass(frozen=True)
class PlayOptions:
    """How a league is played: what it may cost, and what becomes of calls that fail."""

    without_reference: WithoutReference = False
    budget: Budget = None
    void_failed: VoidFailed = False


@league_app.command()
@with_option_groups
def plan(
    candidates: Candidates,
    domains: Domains = "mathematics",
    *,
    options: RuleOptions,
    without_reference: WithoutReference = False,
    as_json: AsJson = False,
) -> None:
    """Show calls, tokens and cost of each candidate before anything is paid.

    Nothing is called and nothing is written.

    Tokens are those of usual replies; most_usd is the cost if every reply were as long as its limit. Replies that cannot be
    read and are asked for again are not in it.

    Example: proctor league plan --candidates sim-example,sim-example-2,sim-example-3 --domain mathematics,programming
    """
    rules = build_rules(candidates, domains, options)
    models = check_rules(rules, read_registry(load_settings().registry_path))
    _print_rows(
        [asdict(one) for one in preview_league(rules, models, with_reference=not without_reference)], as_json
    )


@league_app.command()
@with_option_groups
def run(
    league_id: LeagueId,
    candidates: Candidates = "",
    domains: Domains = "",
    *,
    options: RuleOptions,
    play: PlayOptions,
    how: FlowOptions,
) -> None:
    """Play a league to its end.

    The first time its rules are claimed under its id; later its id alone continues it.

    Interrupted or killed, the same command continues: no finished round is played again, and nothing that was paid for is
    paid again. Exit code 1 when rounds stayed open, 3 when the budget stopped it.

    Example: proctor league run autumn --candidates sim-example,sim-example-2,sim-example-3 --domain mathematics --runs 1
    """
    settings = load_settings()
    with open_lake(settings) as lake:
        claimed = find_league(lake, settings, league_id)
        if claimed is None and not candidates:
            raise UsageError(
                f"League {league_id!r} is not claimed yet. Name its candidates with --candidates and its domains with --domain."
            )
        if claimed is None or candidates or domains or options.is_given:
            defaults = None if claimed is None else claimed.rules
            rules = build_rules(candidates, domains, options, defaults)
            claim_league(lake, settings, read_registry(settings.registry_path), league_id, rules)
    result = run_flow(
        "league",
        without_server=how.no_server,
        league_id=league_id,
        run_type="without_reference" if play.without_reference else "full",
        budget_usd=play.budget,
        voids_failures=play.void_failed,
    )
    print_result(result, as_json=how.as_json, then=f"proctor league status {league_id}")
    if result["open_rounds"]:
        raise typer.Exit(1)


@league_app.command()
def status(
    league_id: Annotated[str, typer.Argument(help="Id of the league. Default: every league.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show how far leagues are.

    It shows rounds, void evaluations, cost, questions that wait for people, and flags to be confirmed.

    Example: proctor league status
    """
    settings = load_settings()
    with open_lake(settings, read_only=True) as lake:
        found = lake.run_named("league_progress", {"league_id": league_id or None})
    if league_id and found.is_empty():
        raise UsageError(f"There is no league {league_id!r}. `proctor league status` shows all.")
    _print_rows(found.to_dicts(), as_json)


@league_app.command()
def season(
    domains: Domains = "mathematics",
    season: Annotated[
        str, typer.Option("--season", help="For example 2026-Q4. Default: the present one.")
    ] = "",
    language: Annotated[str, typer.Option("--language", help="Language of the topics, en or zh.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Show the topics of a season.

    Each quarter takes the next ones of a domain's list, so that every topic has its turn.

    Example: proctor league season --domain mathematics,law --season 2026-Q4
    """
    named = season or name_season(datetime.now(UTC).date())
    rows = [
        {"season": named, "domain": domain.name, "topic": topic}
        for domain in map(read_domain, split_names(domains) or [])
        for topic in list_topics(domain, named, language)
    ]
    _print_rows(rows, as_json)


@league_app.command()
def enter(
    league_id: LeagueId,
    candidate: Annotated[
        str, typer.Option("--candidate", help="The model that enters; the league does not have it yet.")
    ],
    matches: Annotated[int, typer.Option("--matches", min=1, help="Matches in each domain.")] = 60,
    budget: Budget = None,
    as_json: AsJson = False,
) -> None:
    """Let a new candidate enter a finished league by matches, without playing it again.

    It answers questions of the league; its answers meet the others' answers under letters before judges of the league. The
    rating is on the Elo scale, the league's mean is 1000; its interval shrinks with every match. More matches later begin
    with the same ones, which are not paid again.

    Example: proctor league enter autumn --candidate sim-example-4 --matches 40
    """
    settings = load_settings()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress(f"league {league_id}: matches") as progress,
    ):
        ratings = asyncio.run(
            enter_candidate(
                ledger,
                lake,
                settings,
                league_id,
                EntryRequest(candidate, matches, budget),
                progress=progress.reach,
            )
        )
    _print_rows([asdict(rating) for rating in ratings], as_json)


def _print_rows(rows: list[dict[str, Any]], as_json: bool) -> None:
    print_records(tuple(rows[0]) if rows else (), rows, as_json=as_json)


league_app.command()(report)
