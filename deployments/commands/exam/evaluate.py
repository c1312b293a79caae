"""A month's exam in one command: evaluate, monthly; and how what was sat is shown."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Annotated, Any

import typer

from deployments.command_line import print_note, print_result, render_entries
from deployments.commands.exam.plans import render_plan
from deployments.commands.options import AsJson, Month, NoServer, read_month, split_names
from deployments.flow_runs import run_flow
from schemas.errors import GateError
from schemas.settings import load_settings
from tasks.exam.month import check_reachable, preview_month, shape_draw
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

Candidates = Annotated[
    str,
    typer.Option(
        "--candidates", help="Names from the registry, comma separated. Default: those that are due."
    ),
]

RunName = Annotated[
    str,
    typer.Option(
        "--run",
        "--run-id",
        help="The run; a name that is not there yet names a further run of the month. Default: the month's own.",
    ),
]

Outside = Annotated[
    str,
    typer.Option(
        "--outside", help="Candidates that sit through the exam API with their own client, comma separated."
    ),
]


Repetition = Annotated[
    str,
    typer.Option(
        "--repetition",
        help="Name of a further run of the month; `week` names it for this week. Default: the month's own run.",
    ),
]

RenewReference = Annotated[
    bool,
    typer.Option("--renew-reference", help="Let the reference answer again every set of the run."),
]

Bridge = Annotated[
    bool,
    typer.Option(
        "--bridge/--no-bridge",
        help="Let the former reference sit the run too when the reference has changed and no run has bridged the two.",
    ),
]


DrawSize = Annotated[
    int,
    typer.Option(
        "--draw",
        min=0,
        help="A fresh draw of so many questions beside the month's run: zero-shot, once each, as a repetition draw-SIZE.",
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(evaluate)
    app.command()(monthly)


def evaluate(
    month: Month = "",
    candidates: Candidates = "",
    outside: Outside = "",
    run_id: RunName = "",
    repetition: Repetition = "",
    draw: DrawSize = 0,
    renew_reference: RenewReference = False,
    bridge: Bridge = True,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch", help="Submit the pending questions of candidates that take batches together."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before calls are paid for.")] = False,
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """Let the due candidates sit the month's exam: the plan is shown first, then it runs; it resumes where it stopped.

    With --batch the command ends when the questions that are pending are submitted; run it again, in hours, to hand in what was
    answered and to continue. PROCTOR_PENDING_WINDOW, when the run is planned, says how many questions of a session are pending at once.

    Exit code 1 when a session stayed open (an endpoint that failed); run it again and it continues.

    Example: proctor evaluate --month 2026-11 --yes

    Example: proctor evaluate --draw 2000 --candidates north-1,south-2 --yes
    """
    _run_exam(
        "evaluate",
        month,
        candidates,
        {
            "run_id": run_id,
            "outside": split_names(outside),
            "repetition": repetition,
            "renew_reference": renew_reference,
            "bridge": bridge,
            "draw": draw,
        },
        how={"in_batches": batch},
        yes=yes,
        no_server=no_server,
        as_json=as_json,
    )


def monthly(
    month: Month = "",
    candidates: Candidates = "",
    repetition: Repetition = "",
    renew_reference: RenewReference = False,
    bridge: Bridge = True,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before calls are paid for.")] = False,
    no_server: NoServer = False,
    as_json: AsJson = False,
) -> None:
    """The whole exam of a month: evaluate, judge, report.

    Example: proctor monthly --month 2026-11 --yes
    """
    _run_exam(
        "monthly",
        month,
        candidates,
        {"repetition": repetition, "renew_reference": renew_reference, "bridge": bridge},
        yes=yes,
        no_server=no_server,
        as_json=as_json,
    )


def preview(
    month: str,
    candidates: str,
    *,
    outside: list[str] | None = None,
    run_id: str = "",
    repetition: str = "",
    renew_reference: bool = False,
    bridge: bool = True,
    draw: int = 0,
    is_to_run: bool = False,
) -> dict[str, Any] | None:
    """What the run of the month would be, as plain values; None when nobody is due.

    `is_to_run`: raises RegistryError where a model that would sit has no key or no address.
    """
    settings, named = shape_draw(load_settings(), draw, repetition or None)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        found = preview_month(
            ledger,
            lake,
            settings,
            month=month,
            candidates=split_names(candidates),
            outside=outside or (),
            run_id=run_id or None,
            repetition=named,
            is_reference_renewed=renew_reference,
            is_bridging=bridge,
        )
        if found is not None and is_to_run:
            check_reachable(settings, found)
        return None if found is None else found.summary()


def render_exam(result: dict[str, Any]) -> list[str]:
    """What was sat, judged and landed; sessions that stayed open are counted by their cause, not listed one by one."""
    left_open = result["open_sessions"]
    lines = render_entries({name: value for name, value in result.items() if name != "open_sessions"})
    if not left_open:
        return lines
    lines.append(f"Sessions that stayed open: {len(left_open)}")
    for reason, count in Counter(str(session["reason"]) for session in left_open).most_common():
        models = sorted({str(session["model"]) for session in left_open if session["reason"] == reason})
        lines.append(f"  {count} of {', '.join(models)}: {reason}")
    return lines


def _run_exam(
    flow: str,
    month: str,
    candidates: str,
    options: dict[str, Any],
    *,
    how: dict[str, Any] | None = None,
    yes: bool,
    no_server: bool,
    as_json: bool,
) -> None:
    month = read_month(month)
    # A missing key would be found by the flow too, but only after a server was started for it.
    summary = preview(month, candidates, **options, is_to_run=True)
    for line in render_plan(summary):
        print_note(line)
    if summary is not None and not yes and not summary["is_published"] and sys.stdin.isatty() and not as_json:
        typer.confirm("Run it?", abort=True)
    result = run_flow(
        flow,
        without_server=no_server,
        month=month,
        candidates=split_names(candidates),
        **options,
        **(how or {}),
    )
    if result.get("waits_for"):
        then = "proctor approvals list"
    elif not result["run_id"]:
        then = "proctor models shows who is registered"
    elif result["open_sessions"]:
        then = f"proctor exam sit {result['run_id']}"
    elif result["pending_sessions"]:
        then = "the same command again when the batches have ended (proctor models batches)"
    else:
        then = f"proctor judge --run {result['run_id']}" if flow == "evaluate" else "proctor sql leaderboard"
    print_result(result, as_json=as_json, lines=render_exam(result), then=then)
    if result.get("waits_for"):
        raise GateError(str(result["waits_for"]))
    if result["open_sessions"] or result.get("failed_judgements"):
        raise typer.Exit(1)
