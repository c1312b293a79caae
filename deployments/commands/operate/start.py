"""A first month, guided or on sample papers: start, demo."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import NoServer, read_month
from deployments.demo import render_stages, run_demo
from deployments.guide import GivenAnswers, guide_month
from schemas.settings import load_settings
from tasks.exam.public.log import name_public_folder


def start(
    *,
    answers: GivenAnswers,
    month: Annotated[
        str, typer.Option("--month", help="Month of the exam, YYYY-MM. Default: this month.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: take every default.")] = False,
) -> None:
    """Your own first month, step by step: from papers to a leaderboard.

    Each step looks at what is there, asks with a default, and runs the command that does it, which it prints. Stop anywhere;
    the same command continues. When a month is published, it leads through the next one.

    Exit code 0 also where it waits for people to review: it says so.

    Example: proctor start

    Example: proctor start papers --url http://127.0.0.1:8000/v1 --candidates my-model --judge my-judge
    """
    if month:
        read_month(month)
    code = guide_month(answers, month=month, is_silent=yes)
    if code:
        raise typer.Exit(code)


def demo(
    everything: Annotated[
        bool,
        typer.Option(
            "--everything",
            help="Also what fills every analysis that simulated data can fill; 3 minutes more at most.",
        ),
    ] = False,
    keep_server: Annotated[
        bool, typer.Option("--keep-server", help="Leave the local Prefect server running.")
    ] = False,
    no_server: NoServer = False,
) -> None:
    """Run a whole exam of two months on our own sample papers.

    Candidates and judges are simulated.

    No key, no network, no server to start. Run again, it makes no paid call and changes no row. With --everything it continues:
    a further month, judges held to people, errors labelled, a fresh draw, replays, writing tasks, the league without references.

    Example: proctor demo

    Example: proctor demo --everything
    """
    result = run_demo(everything=everything, keep_server=keep_server, without_server=no_server)
    lines = [
        "",
        *render_stages(result.stages),
        "",
        result.text,
        f"Report   {result.report}",
        f"League   {result.league_report}",
        f"Lake     {result.lake}  (query it: proctor sql leaderboard)",
        f"Public   {name_public_folder(load_settings())}  (check it: proctor exam verify)",
        f"Reviews  {', '.join(result.workbooks)}",
        f"Calls    {result.new_calls} new",
    ]
    if everything:
        lines.append(f"Analyses {result.analyses_with_rows} have rows; without any:")
        lines += [f"  {name}: {why}" for name, why in result.analyses_without_rows.items()]
    print_result(result.as_dict(), lines=lines, then="proctor sql leaderboard")
