"""What runs may spend: `runs budget`."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.commands.options import AsJson

runs_app = typer.Typer(no_args_is_help=True, help="What runs have spent and may spend.")


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.add_typer(runs_app, name="runs")


# A group with one command would become that command.
@runs_app.callback()
def _root() -> None:
    pass


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
