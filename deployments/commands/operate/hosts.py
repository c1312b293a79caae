"""What the hosts of an installation share, and their clocks: hosts list|accept, clock."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line import group_with_default
from deployments.command_line.printing import print_records, print_result
from deployments.home import accept_files, list_shared
from schemas.errors import UsageError
from schemas.settings import load_settings
from warehouse.ledger.engine.leases.clock import confirm_clock, measure_clock
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.opening import open_ledger
from warehouse.stores.shared_files import has_hosts

_COLUMNS = ("name", "state", "path", "noted_by", "noted_at")

hosts_app = typer.Typer(cls=group_with_default("list"))


@hosts_app.command(name="list")
def list_hosts() -> None:
    """List keys, registry and archive as this host has them.

    Each is the same as the installation's, different, or missing.

    Exit code 1 when something differs. With an embedded ledger there is one host, and nothing is compared.

    Example: proctor hosts
    """
    rows = list_shared(load_settings())
    print_records(_COLUMNS, rows)
    if any(row["state"] in ("differs", "missing here") for row in rows):
        raise typer.Exit(1)


@hosts_app.command()
def accept(names: Annotated[list[str], typer.Argument(help="As `proctor hosts` names them.")]) -> None:
    """Let keys, registry or archive hold for all hosts as this one has them.

    This is for the time after they were changed on purpose.

    Hosts that have them otherwise are refused until they are given the same. The audit log says who accepted what.

    Example: proctor hosts accept models.yaml
    """
    settings = load_settings()
    if not has_hosts(settings):
        raise UsageError(
            "The ledger of this home is embedded: it has one host, and nothing needs to be accepted."
        )
    accepted = accept_files(settings, names)
    print_result(
        {"accepted": [file.name for file in accepted]},
        lines=[f"{file.name} holds for all hosts as it is in {file.path}." for file in accepted],
        then="give the other hosts the same",
    )


def clock(
    confirm: Annotated[
        bool,
        typer.Option("--confirm", help="Take the clock as right; the audit log records who, and both times."),
    ] = False,
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
    print_result(result)
    if found.problem is not None:
        raise typer.Exit(1)
