"""One's own first month, guided: `start`."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line import with_option_groups
from deployments.commands.options import read_month
from deployments.guide import GivenAnswers, guide_month


@with_option_groups
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
