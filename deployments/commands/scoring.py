"""Stars and the page: judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.commands.options import AsJson, NoServer


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(judge)
    app.command()(report)


def judge(
    run_id: Annotated[
        str, typer.Option("--run", help="The run. Default: every run that is not judged whole.")
    ] = "",
    unparsed: Annotated[
        bool,
        typer.Option("--unparsed", help="Only ask again, judge by judge, where no judgement could be read."),
    ] = False,
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """Judge every landed response that has no judgement yet; what could not be parsed goes to the next judge of the registry.

    A changed prompt judges again only the run that is named; without --run, what was judged before is left. What nobody could
    be read of counts 0 and blocks publication above 0.5% of a candidate's answers: ask again with --unparsed, then let a
    person give the stars (proctor unparsed export).

    Exit code 1 when a judgement could not be had (an endpoint that failed); run it again and it continues.

    Example: proctor judge --run 2026-11
    """
    from deployments.commands.checks import check_registry, check_run
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    check_registry()
    check_run(run_id)
    result = run_flow("judge", without_server=no_server, run_id=run_id, only_unparsed=unparsed)
    then = "proctor report; proctor sql leaderboard"
    if result["unresolved_responses"]:
        then = "proctor unparsed export FILE.xlsx" if unparsed else "proctor judge --unparsed"
    print_result(result, as_json=as_json, then=then)
    if result["failed_judgements"]:
        raise typer.Exit(1)


def report(
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder; default: reports under PROCTOR_HOME.")
    ] = None,
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """Render the report over the whole lake: leaderboard, disciplines, trends; one page that works offline.

    Example: proctor report --out /srv/www/exam
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result
    from schemas.errors import UsageError

    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; the report is written to a folder. Name another with --out.")
    folder = "" if out is None else str(out.resolve())
    result = run_flow("report", without_server=no_server, out_dir=folder)
    print_result(result, as_json=as_json, then="open the page in a browser; it needs no network")
