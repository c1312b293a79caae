"""What a league came to: `league report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.league.statistics import StatisticsRequest, write_statistics
from tasks.report import render_league
from warehouse.lake import open_lake


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
    as_json: AsJson = False,
) -> None:
    """Compute a league's statistics, land them, and write its page, which needs no network.

    Means with intervals, analysis of variance and Tukey's HSD, favour of families, top-k overlap beside its chance level, solving
    against setting, sparse replays. Run again with another seed, it replaces them. Questions are left out of the page unless
    --with-questions is given.

    Example: proctor league report summer
    """
    from tasks.proof import close_report
    from warehouse.ledger.engine.opening import open_ledger

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
            "scores": found.parts,
            "rows": found.row_counts,
            "has_questions": with_questions,
            "report": str(page),
        },
        as_json=as_json,
        then="open the page in a browser; proctor sql league_ranking",
    )
