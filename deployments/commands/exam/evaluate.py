"""A month's exam in one command: evaluate, monthly; and how what was sat is shown."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from deployments.command_line.printing import ask_whether, is_json, print_note, print_result, render_entries
from deployments.commands.exam.month_told import render_month
from deployments.commands.exam.plans import render_ahead, render_plan
from deployments.commands.exam.run_options import Bridge, Candidates, RenewReference, Repetition, RunOptions
from deployments.commands.options import Month, NoServer
from deployments.flow_runs import run_flow
from schemas.settings import GUIDED_VARIABLE, load_settings
from tasks.exam.month import check_reachable, preview_month, preview_target
from tasks.exam.plan import RunWishes
from tasks.running.flow_runs import describe_left_open
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before calls are paid for.")]


def evaluate(
    wished: RunOptions,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch", help="Submit the pending questions of candidates that take batches together."
        ),
    ] = False,
    yes: Yes = False,
    *,
    no_server: NoServer = False,
) -> None:
    """Let the due candidates sit the month's exam.

    The plan is shown first, then it runs; it resumes where it stopped.

    With --batch the command ends when the questions that are pending are submitted; run it again, in hours, to hand in what was
    answered and to continue. PROCTOR_PENDING_WINDOW, when the run is planned, says how many questions of a session are pending at once.

    Exit code 1 when a session stayed open (an endpoint that failed); run it again and it continues.

    Example: proctor evaluate --month 2026-11 --yes

    Example: proctor evaluate --draw 2000 --candidates north-1,south-2 --yes
    """
    _run_exam(
        "evaluate",
        wished.read(),
        {**wished.list_parameters(), "in_batches": batch},
        no_server=no_server,
        yes=yes,
    )


def monthly(
    month: Month = "",
    candidates: Candidates = "",
    repetition: Repetition = "",
    renew_reference: RenewReference = False,
    bridge: Bridge = True,
    yes: Yes = False,
    *,
    no_server: NoServer = False,
) -> None:
    """The whole exam of a month: evaluate, judge, publish, report.

    Example: proctor monthly --month 2026-11 --yes
    """
    wished = RunOptions(
        month, candidates, repetition=repetition, renew_reference=renew_reference, bridge=bridge
    )
    parameters = wished.list_parameters()
    for name in ("run_id", "outside", "draw"):  # A month is its own run, of nobody outside
        del parameters[name]
    _run_exam("monthly", wished.read(), parameters, no_server=no_server, yes=yes)


def preview(
    wishes: RunWishes, *, is_to_run: bool = False, target_se: float | None = None
) -> dict[str, Any] | None:
    """What the run of the month would be, as plain values; None when nobody is due.

    `is_to_run`: raises RegistryError where a model that would sit has no key or no address. With `target_se` its sets give S that
    error, and `target` says what other sizes come to.
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        if target_se is not None:
            aimed = preview_target(ledger, lake, settings, wishes, target_se)
            return None if aimed is None else {**aimed[0].summary(), "target": asdict(aimed[1])}
        found = preview_month(ledger, lake, settings, wishes)
        if found is not None and is_to_run:
            check_reachable(ledger, settings, found)
        return None if found is None else found.summary()


def render_exam(result: dict[str, Any]) -> list[str]:
    """What was sat, judged and landed; sessions that stayed open are counted by their cause."""
    # Where nobody was due there is no run to name.
    left_out = {"open_sessions", *(name for name in ("run_id", "outside") if not result.get(name))}
    lines = render_entries({name: value for name, value in result.items() if name not in left_out})
    return [*lines, *describe_left_open(result["open_sessions"])]


def _run_exam(
    flow: str, wishes: RunWishes, parameters: dict[str, Any], *, no_server: bool, yes: bool
) -> None:
    # A missing key would be found by the flow too, but only after a server was started for it.
    summary = preview(wishes, is_to_run=True)
    # Within `proctor start` it was shown and agreed to a moment ago.
    for line in render_plan(summary) if GUIDED_VARIABLE not in os.environ else ():
        print_note(line)
    for line in render_ahead(wishes.month):
        print_note(line)
    is_asked = sys.stdin.isatty() and not is_json() and not yes
    # Where nobody is due there is nothing to agree to; the flow says so, and closes what is overdue.
    is_open = summary is not None and summary["session_count"] > 0 and not summary["is_published"]
    if is_asked and is_open:
        ask_whether("Run it?", abort=True)
    result = run_flow(flow, without_server=no_server, **parameters)
    if not result["run_id"]:
        then = "proctor models shows who is registered"
    elif result["open_sessions"]:
        then = f"proctor exam sit {result['run_id']}"
    elif result["pending_sessions"]:
        then = "the same command, when the batches have ended (proctor models batches)"
    elif result.get("outside"):
        first = result["outside"][0]
        then = (
            f"`proctor exam sessions --run {result['run_id']}` lists the sessions to sit; "
            f"`proctor exam token candidate:{first} --session SESSION` lets {first} sit it (`proctor exam serve`)"
        )
    else:
        then = f"proctor judge --run {result['run_id']}" if flow == "evaluate" else "proctor sql leaderboard"
    lines = render_exam(result) if flow == "evaluate" else render_month(result)
    print_result(result, lines=lines, then=then)
    if result["open_sessions"] or result.get("failed_judgements"):
        raise typer.Exit(1)
