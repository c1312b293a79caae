"""The clock as the ledger sees it: clock."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.settings import load_settings
from warehouse.ledger.engine.leases.clock import confirm_clock, measure_clock
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.opening import open_ledger


def clock(
    confirm: Annotated[
        bool,
        typer.Option("--confirm", help="Take the clock as right; the audit log records who, and both times."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare the clock with other evidence of the time.

    That is the database's clock, this host's uptime, and the last entry of the logs.

    Deadlines are decided by the database's clock (of an embedded ledger: this host's). Where it is behind the others, or far ahead of
    the uptime, commands that decide stop and name both times, and this command has exit code 1. Set the clock; where it is right all the
    same (the machine was paused, or an earlier clock was wrong), confirm it.

    Example: proctor clock
    """
    with open_ledger(load_settings().ledger_address) as ledger:
        found = confirm_clock(ledger) if confirm else measure_clock(ledger)
    doubt_s = sum(doubt.seconds for doubt in found.doubts)
    result = {
        "is_believed": found.problem is None,
        "database_at": write_moment(found.database),
        "host_at": write_moment(found.host),
        "last_entry_at": None if found.last is None else write_moment(found.last),
        "expected_at": None if found.expected is None else write_moment(found.expected),
        "doubt_s": round(doubt_s, 3),
        "problem": found.problem,
    }
    print_result(result, as_json=as_json)
    if found.problem is not None:
        raise typer.Exit(1)
