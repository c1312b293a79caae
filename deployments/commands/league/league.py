"""The league: plan|run|status|report|season|enter, and validate, where people decide."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.command_line.printing import print_records, print_result
from deployments.commands.league.rules import (
    Candidates,
    Domains,
    RuleOptions,
    build_rules,
    check_language,
)
from deployments.commands.options import NoServer, split_names
from deployments.flow_runs import run_flow
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.judging.marking import land_marks
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
from tasks.league.people import export_waiting, import_decisions
from tasks.league.statistics import StatisticsRequest, write_statistics
from tasks.models.registry import read_registry
from tasks.report import render_league
from tasks.running import Progress
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

validate_app = typer.Typer(
    no_args_is_help=True,
    help="People judge a league's questions, and the answers that judges took for memorised.",
)

JudgedLeague = Annotated[str, typer.Argument(help="Id of the league.")]
league_app = typer.Typer(no_args_is_help=True)
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


@validate_app.command("export")
def export(
    league_id: JudgedLeague,
    out: Annotated[Path, typer.Argument(help="Workbook (.xlsx) to write.")],
    user_id: Annotated[
        str, typer.Option("--user", help="Person who judges; what they judged before is left out.")
    ],
) -> None:
    """Write the workbook in which a person judges questions and flagged answers of a league.

    The person states which questions may stand, and which flagged answers are memorised.

    It names no candidate.

    Example: proctor league validate export autumn questions.xlsx --user eve
    """
    if out.suffix != ".xlsx" or not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: name a file .xlsx in a folder that exists.")
    with open_lake(load_settings(), read_only=True) as lake:
        exported = export_waiting(lake, league_id, out, user_id)
    then = f"proctor league validate import {league_id} {out} --user {user_id}"
    print_result({"out": str(out)} | asdict(exported), then=then)


@validate_app.command("import")
def import_(
    league_id: JudgedLeague,
    file: Annotated[Path, typer.Argument(help="The workbook, filled in.")],
    user_id: Annotated[str, typer.Option("--user", help="Who judged; it is kept with the decisions.")],
) -> None:
    """Take in what a person decided.

    The same workbook again changes nothing; if a cell is faulty, it is named and nothing is landed.

    Example: proctor league validate import autumn questions.xlsx --user eve
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        # What was given on the web until now is the earlier of the two.
        land_marks(ledger, lake)
        imported = import_decisions(ledger, lake, league_id, file, user_id)
    print_result(asdict(imported), then=f"proctor league status {league_id}")


def report(
    league_id: Annotated[str, typer.Argument(metavar="LEAGUE", help="The league, played or imported.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder; default: reports under PROCTOR_HOME.")
    ] = None,
    with_questions: Annotated[
        bool,
        typer.Option(
            "--with-questions",
            help="Show every question and its reference answer on the page: for roles that may see questions only.",
        ),
    ] = False,
    resamples: Annotated[int, typer.Option("--resamples", help="Resamples behind each interval.")] = 10_000,
    repeats: Annotated[
        int, typer.Option("--repeats", help="Samples of each share of the comparisons that are replayed.")
    ] = 100,
    seed: Annotated[
        int, typer.Option("--seed", help="Where the draws start: the same seed gives the same rows.")
    ] = 0,
) -> None:
    """Compute a league's statistics, land them, and write its page, which needs no network.

    Means with intervals, analysis of variance and Tukey's HSD, favour of families, top-k overlap beside its chance level, solving
    against setting, sparse replays. Run again with another seed, it replaces them. Questions are left out of the page unless
    --with-questions is given.

    Example: proctor league report summer
    """
    from tasks.proof import close_report

    settings = load_settings()
    folder = out or settings.home / "reports"
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; the report is written to a folder. Name another with --out.")
    with open_lake(settings) as lake:
        request = StatisticsRequest(seed=seed, resamples=resamples, repeats=repeats)
        found = write_statistics(lake, league_id, request)
        page = render_league(lake.run_named, league_id, folder, with_questions=with_questions)
    with open_ledger(settings.ledger_address) as ledger:
        close_report(ledger, settings, folder)
    print_result(
        {
            "league_id": found.league_id,
            "is_new": found.is_new,
            "refused_questions": found.refused_count,
            "scores": found.parts,
            "rows": found.row_counts,
            "has_questions": with_questions,
            "report": str(page),
        },
        then="open the page in a browser; proctor sql league_ranking",
    )


league_app.add_typer(validate_app, name="validate")


@league_app.command()
def plan(
    candidates: Candidates,
    domains: Domains = "mathematics",
    *,
    options: RuleOptions,
    without_reference: WithoutReference = False,
) -> None:
    """Show calls, tokens and cost of each candidate before anything is paid.

    Nothing is called and nothing is written.

    Tokens are those of usual replies; most_usd is the cost if every reply were as long as its limit. Replies that cannot be
    read and are asked for again are not in it.

    Example: proctor league plan --candidates sim-example,sim-example-2,sim-example-3 --domain mathematics,programming
    """
    rules = build_rules(candidates, domains, options)
    models = check_rules(rules, read_registry(load_settings().registry_path))
    _print_rows([asdict(one) for one in preview_league(rules, models, with_reference=not without_reference)])


@league_app.command()
def run(
    league_id: LeagueId,
    candidates: Candidates = "",
    domains: Domains = "",
    *,
    options: RuleOptions,
    play: PlayOptions,
    no_server: NoServer = False,
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
        without_server=no_server,
        league_id=league_id,
        run_type="without_reference" if play.without_reference else "full",
        budget_usd=play.budget,
        voids_failures=play.void_failed,
    )
    print_result(result, then=f"proctor league status {league_id}")
    if result["open_rounds"]:
        raise typer.Exit(1)


@league_app.command()
def status(
    league_id: Annotated[str, typer.Argument(help="Id of the league. Default: every league.")] = "",
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
    _print_rows(found.to_dicts())


@league_app.command()
def season(
    domains: Domains = "mathematics",
    season: Annotated[
        str, typer.Option("--season", help="For example 2026-Q4. Default: the present one.")
    ] = "",
    language: Annotated[str, typer.Option("--language", help="Language of the topics, en or zh.")] = "en",
) -> None:
    """Show the topics of a season.

    Each quarter takes the next ones of a domain's list, so that every topic has its turn.

    Example: proctor league season --domain mathematics,law --season 2026-Q4
    """
    check_language(language)
    named = season or name_season(datetime.now(UTC).date())
    rows = [
        {"season": named, "domain": domain.name, "topic": topic}
        for domain in map(read_domain, split_names(domains) or [])
        for topic in list_topics(domain, named, language)
    ]
    _print_rows(rows)


@league_app.command()
def enter(
    league_id: LeagueId,
    candidate: Annotated[
        str, typer.Option("--candidate", help="The model that enters; the league does not have it yet.")
    ],
    matches: Annotated[int, typer.Option("--matches", min=1, help="Matches in each domain.")] = 60,
    budget: Budget = None,
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
    _print_rows([asdict(rating) for rating in ratings])


def _print_rows(rows: list[dict[str, Any]]) -> None:
    print_records(tuple(rows[0]) if rows else (), rows)


league_app.command()(report)
