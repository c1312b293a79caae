"""Stars and the page: judge, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.commands.options import AsJson, Run


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(judge)
    app.command()(report)


def judge(run_id: Run = "", as_json: AsJson = False) -> None:
    """Judge every landed response that has no judgement yet; what could not be parsed stays unparsed, never 0.

    Exit code 1 when a judgement could not be had (an endpoint that failed); run it again to go on.

    Example: proctor judge --run 2026-11
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    result = run_flow("judge", run_id=run_id)
    print_result(result, as_json=as_json)
    if result["failed_judgements"]:
        raise typer.Exit(1)


def report(
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder; default: reports under PROCTOR_HOME.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Render the report over the whole lake: leaderboard, disciplines, trends; one page that works offline.

    Example: proctor report --out /srv/www/exam
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    print_result(run_flow("report", out_dir="" if out is None else str(out.resolve())), as_json=as_json)
