"""Runs while they are under way: `runs budget`, `runs progress`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deployments.commands.options import AsJson

if TYPE_CHECKING:
    from tasks.exam.run_progress import RunProgress

_PROGRESS_COLUMNS = ("candidate", "sessions", "done", "per_minute", "left", "cost_usd", "failed_calls")

runs_app = typer.Typer(no_args_is_help=True, help="How far runs are, and what they have spent and may spend.")


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.add_typer(runs_app, name="runs")


@runs_app.command()
def progress(
    run: Annotated[str, typer.Argument(help="The run. Default: every run that is not closed.")] = "",
    as_json: AsJson = False,
) -> None:
    """How far a run is, by candidate: done, pace, time left, cost, failed calls.

    While a run is sat, the same stands in `progress.json` in the home, renewed every few seconds. The pace is that of the last
    twenty questions of each open session; it is 0 when nothing was handed out for a quarter of an hour.

    Example: proctor runs progress 2026-12
    """
    from dataclasses import asdict

    from deployments.output import print_note, print_records, print_result
    from schemas.settings import load_settings
    from tasks.exam.run_progress import list_runs_under_way, read_run_progress
    from warehouse.ledger.engine import open_ledger

    with open_ledger(load_settings().ledger_address) as ledger:
        names = [run] if run else list_runs_under_way(ledger)
        found = [read_run_progress(ledger, name) for name in names]
    if as_json:
        print_result({"runs": [asdict(one) for one in found]}, as_json=True)
        return
    for one in found:
        print_records(
            _PROGRESS_COLUMNS, _render_candidates(one), as_json=False, title=f"{one.run_id} ({one.status})"
        )
    if not found:
        print_note("No run is under way. Next: proctor exam plan")


def _render_candidates(progress: RunProgress) -> list[dict[str, object]]:
    from deployments.output import render_duration

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
        float | None, typer.Option("--raise", min=0, help="USD that it may spend from now on, in all.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept beside the limit.")] = "",
    as_json: AsJson = False,
) -> None:
    """What a run has spent on exam and judging, and what it may spend; --raise lets a stopped run go on.

    One limit holds for all that the run pays, over all processes and hosts. Earlier limits stay on record with their reasons.

    Example: proctor runs budget 2026-12 --raise 400 --reason "two candidates more than planned"
    """
    import getpass
    from dataclasses import asdict

    from deployments.output import print_result
    from schemas.settings import load_settings
    from tasks.models.accounts import raise_limit, read_run_account
    from warehouse.ledger.engine import now_text, open_ledger

    with open_ledger(load_settings().ledger_address) as ledger:
        if limit is None:
            found = read_run_account(ledger, run)
        else:
            found = raise_limit(ledger, run, limit, reason=reason, set_by=getpass.getuser(), now=now_text())
    lines = [
        f"{found.run_id}: ${found.spent_usd:.4f} spent"
        + (f", ${found.reserved_usd:.4f} set aside for calls in flight" if found.reserved_usd else "")
        + (", no limit" if found.limit_usd is None else f" of ${found.limit_usd:.2f}"),
        *(f"{one.set_at[:16]} ${one.limit_usd:.2f} by {one.set_by}: {one.reason}" for one in found.limits),
    ]
    print_result(
        asdict(found),
        as_json=as_json,
        lines=lines,
        then="run the command that stopped again" if limit is not None else "",
    )
