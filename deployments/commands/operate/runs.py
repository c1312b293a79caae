"""Runs: `runs list|start|leave-out|budget|progress`, and `logs`."""

from __future__ import annotations

import getpass
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from deployments.command_line import group_with_default
from deployments.command_line.printing import (
    is_json,
    print_note,
    print_records,
    print_result,
    render_duration,
)
from deployments.commands.options import NoServer, read_month
from deployments.flow_runs import PAID, check_budget, find_deployment, run_flow, start_on_worker
from deployments.flow_runs.server import fetch_run_lines
from schemas.counting import say_count
from schemas.errors import FlowError, UsageError, suggest
from schemas.settings import load_settings
from tasks.models.budget import raise_limit, read_run_account
from tasks.models.registry import read_registry
from tasks.running import iter_run_lines, render_text
from tasks.running.flow_runs.record import find_missed_runs, leave_month_out, select_unmade
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import find_flow_runs, list_flow_runs
from warehouse.ledger.money.budgets import is_provider_account
from warehouse.stores.away import not_waiting

if TYPE_CHECKING:
    from tasks.exam import RunProgress
    from tasks.running.flow_runs.record import FlowRunState

# Imported within a function: what brings asyncio. Not every command here needs it.

_PROGRESS_COLUMNS = ("candidate", "sessions", "done", "per_minute", "left", "cost_usd", "failed_calls")

# A name that is near one of these may be meant.
_RECENT = 1_000
_MOST_USD = 1e12
# More than anybody has, and a number that every database knows.
_MOST_RUNS = 1_000_000
# Of what a run came to, a list shows what is something, and not all of it; --json has every count.
_NOTHING = ("0", "False")
_MOST_COUNTS = 6
_RUN_COLUMNS = ("name", "state", "started_at", "took", "started_by", "deployment", "flow_run_id", "counts")

runs_app = typer.Typer(cls=group_with_default("list"))


@runs_app.command(name="list")
def list_runs(
    flow: Annotated[str, typer.Option("--flow", help="Only runs of this flow.")] = "",
    most: Annotated[
        int, typer.Option("--most", min=1, max=_MOST_RUNS, help="How many, the newest first.")
    ] = 20,
) -> None:
    """What has run, newest first, and how it ended.

    Each run was started by schedule, event, a person or a command; its outcome is shown in ids and counts.

    A run that was killed with its process is `lost`: what it acknowledged is kept, and the next one continues. Scheduled runs that did not
    happen are named below, each with the command that makes up for it.

    Example: proctor runs list --flow monthly
    """
    from tasks.running.flow_runs.record import list_run_states

    with not_waiting(), open_ledger(load_settings().ledger_address) as ledger:
        found = list_run_states(ledger, most=most, flow=flow or None)
        missed = select_unmade(find_missed_runs(ledger))
    if is_json():
        print_result(
            {
                "runs": [asdict(one) for one in found],
                "missed": [
                    {"deployment": one.deployment, "due_at": one.due_at.isoformat(), "remedy": one.remedy}
                    for one in missed
                ],
            }
        )
        return
    print_records(_RUN_COLUMNS, [_render_run(one) for one in found])
    for one in missed:
        print_note(f"{one.describe()}. Next: {one.remedy}")


def _render_run(run: FlowRunState) -> dict[str, object]:
    told = [f"{name} {value}" for name, value in (run.counts or {}).items() if value not in _NOTHING]
    counts = ", ".join(told[:_MOST_COUNTS]) + (" …" if len(told) > _MOST_COUNTS else "")
    return {
        "name": run.name,
        "state": run.state,
        "started_at": run.started_at[:19],
        "took": None if run.took_s is None else render_duration(run.took_s),
        "started_by": run.started_by,
        "deployment": run.deployment,
        "flow_run_id": run.flow_run_id,
        "counts": counts or None,
    }


@runs_app.command()
def start(
    deployment: Annotated[str, typer.Argument(help="A deployment of deployments/prefect.yaml.")],
    on_worker: Annotated[
        bool,
        typer.Option(
            "--on-worker", help="Let a worker run it, as its schedule would, and do not wait for its end."
        ),
    ] = False,
    no_server: NoServer = False,
) -> None:
    """Run a deployment now, in this process, with its own parameters.

    This makes up for a scheduled run that did not happen.

    With --on-worker a worker runs it, and all workers share a month's run. Else exit code 1 when the run has failed.

    Example: proctor runs start seal
    """
    from tasks.running.flow_runs.record import as_deployment

    found = find_deployment(deployment)
    if PAID in found.tags:
        check_budget(load_settings())
    if on_worker:
        print_result({"flow_run_id": start_on_worker(found)}, then="proctor runs")
        return
    try:
        with as_deployment(found.name):
            result = run_flow(found.flow, without_server=no_server, must_succeed=True, **found.parameters)
    except FlowError as error:
        if error.result:
            print_result(error.result)
        raise
    print_result(result, then="proctor runs")


@runs_app.command("leave-out")
def leave_out(
    month: Annotated[str, typer.Argument(help="A month that passed without its run, YYYY-MM.")],
) -> None:
    """Say that a month which passed without its run is to have none.

    It is not named as missed any more. The audit log says who did. `proctor monthly --month` can examine it all the same.

    Example: proctor runs leave-out 2026-12
    """
    with open_ledger(load_settings().ledger_address) as ledger:
        leave_month_out(ledger, read_month(month, "MONTH"))
    print_result({"left_out": month}, then="proctor runs")


def logs(
    run: Annotated[
        str, typer.Argument(help="Name of a run (the newest of that name), or how its id begins.")
    ],
) -> None:
    """The log of a run: what began and ended when, with ids and counts. Never any content.

    It also shows what kind of error ended the run.

    Example: proctor logs monthly-2026-12
    """
    from warehouse.ledger.engine.leases.processes import name_host

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        found = find_flow_runs(connection, run)
        known = [] if found else [one.name for one in list_flow_runs(connection, most=_RECENT)]
    if not found:
        near = suggest(run, known)
        raise UsageError(f"There is no run {run!r}.{near} `proctor runs` lists them.")
    newest = found[0]
    lines = list(iter_run_lines(settings.home, newest.flow_run_id, newest.started_at))
    elsewhere = "" if lines or newest.host == name_host() else newest.host
    if elsewhere:
        # Its own file is on that host; the Prefect server has the same lines from all hosts.
        lines = fetch_run_lines(newest.flow_run_id)
    if is_json():
        print(json.dumps(lines, ensure_ascii=False, indent=2))
        return
    for line in lines:
        print(render_text(line))
    more = (
        f" {say_count(len(found) - 1, 'more run has', 'more runs have')} this name; name one by its id."
        if len(found) > 1
        else ""
    )
    if elsewhere:
        more = f" It ran on {elsewhere}, where its lines lie in logs/ of the home{', too' if lines else ''}.{more}"
    print_note(
        f"{newest.name} ({newest.flow_run_id}): {newest.state}, {say_count(len(lines), 'line')}.{more}"
    )


@runs_app.command()
def progress(
    run: Annotated[str, typer.Argument(help="The run. Default: every run that is not closed.")] = "",
) -> None:
    """How far a run is, by candidate: done, pace, time left, cost, failed calls.

    The pace is that of the last twenty questions of each open session; it is 0 when nothing was handed out for a quarter of an hour.

    Example: proctor runs progress 2026-12
    """
    from tasks.exam import list_runs_under_way, read_run_progress

    with open_ledger(load_settings().ledger_address) as ledger:
        names = [run] if run else list_runs_under_way(ledger)
        found = [read_run_progress(ledger, name) for name in names]
    if is_json():
        print_result({"runs": [asdict(one) for one in found]})
        return
    for one in found:
        print_records(_PROGRESS_COLUMNS, _render_candidates(one), title=f"{one.run_id} ({one.status})")
    if not found:
        print_note("No run is under way. Next: proctor exam plan")


def _render_candidates(progress: RunProgress) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {
            "candidate": one.model + (" (outside)" if one.is_outside else ""),
            "sessions": f"{one.closed_count} of {one.session_count}",
            "done": f"{one.done} of {one.total}",
            "per_minute": round(one.per_minute, 1),
            "left": None if one.left_s is None else render_duration(one.left_s),
            "cost_usd": None if one.cost_usd is None else round(one.cost_usd, 4),
            "failed_calls": ", ".join(f"{count} × {name}" for name, count in one.failed_calls.items())
            or None,
        }
        for one in progress.candidates
    ]
    closed = sum(one.closed_count for one in progress.candidates)
    whole = {
        "candidate": "all",
        "sessions": f"{closed} of {sum(one.session_count for one in progress.candidates)}",
        "done": f"{progress.done} of {progress.total}",
        "per_minute": round(progress.per_minute, 1),
        "left": None if progress.left_s is None else render_duration(progress.left_s),
        "cost_usd": None if progress.cost_usd is None else round(progress.cost_usd, 4),
        "failed_calls": sum(sum(one.failed_calls.values()) for one in progress.candidates) or None,
    }
    return [*rows, whole]


@runs_app.command()
def budget(
    run: Annotated[
        str, typer.Argument(help="The run, or what stands for one, as an error of the budget names it.")
    ],
    limit: Annotated[
        float | None,
        typer.Option("--raise", min=0, max=_MOST_USD, help="USD that it may spend from now on, in all."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept beside the limit.")] = "",
) -> None:
    """What a run has spent on exam and judging, and what it may spend.

    With --raise, a stopped run can continue.

    One limit holds for all that the run pays, over all processes and hosts. Earlier limits stay on record with their reasons.

    Example: proctor runs budget 2026-12 --raise 400 --reason "two candidates more than planned"
    """
    settings = load_settings()
    # Of a provider the registry says what it may be paid.
    registry = read_registry(settings.registry_path) if is_provider_account(run) else None
    with open_ledger(settings.ledger_address) as ledger:
        if limit is None:
            found = read_run_account(ledger, run, registry)
        else:
            found = raise_limit(ledger, run, limit, reason=reason, set_by=getpass.getuser(), now=now_text())
    lines = [
        f"{found.run_id}: ${found.spent_usd:.4f} spent"
        + (f", ${found.reserved_usd:.4f} set aside for calls in flight" if found.reserved_usd else "")
        + (", no limit" if found.limit_usd is None else f" of ${found.limit_usd:.2f}"),
        *(f"{one.set_at[:16]} ${one.limit_usd:.2f} by {one.set_by}: {one.reason}" for one in found.limits),
    ]
    print_result(
        asdict(found), lines=lines, then="run the command that stopped again" if limit is not None else ""
    )
