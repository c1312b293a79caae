"""`exam database`: what the exam API opens, made ready by the ledger's owner."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_note, print_result
from deployments.commands.options import AsJson
from schemas.errors import UsageError
from schemas.settings import load_settings
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.sides import find_exam_address, find_ledger_file, show_address


def database(
    role: Annotated[
        str, typer.Option("--role", help="On PostgreSQL: the role of the exam API, made or granted again.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Make the exam's database ready for `exam serve`.

    It is what `exam serve` opens, without answers, reviews, judgements, seeds and keys.

    On SQLite it is a file beside the ledger, which any command makes. On PostgreSQL it is a role that may use the exam's tables
    only: run this as the ledger's owner, again after an upgrade. The URL to serve with is printed once, when the role is made.

    Example: proctor exam database --role proctor_exam
    """
    settings = load_settings()
    if (find_ledger_file(settings.ledger_address) is None) is not bool(role):
        raise UsageError(
            "--role is for a ledger on PostgreSQL; this one is a file, and the exam's database is a file beside it."
            if role
            else "The ledger is on a server: name the role that `exam serve` is to use with --role."
        )
    with open_ledger(settings.ledger_address) as ledger:
        if not role:
            address = find_exam_address(settings)
            print_result(
                {"database": show_address(address)},
                as_json=as_json,
                lines=[
                    f"The exam's database is {show_address(address)}; `proctor exam serve` opens it alone."
                ],
                then="proctor exam serve",
            )
            return
        granted = grant_role(ledger, role)
    lines = [f"The role {granted.name} may use the exam's tables, and nothing else of the ledger."]
    if granted.is_new:
        lines.append(f"PROCTOR_EXAM_DATABASE_URL={granted.address}")
    print_result(
        {"role": granted.name, "is_new": granted.is_new, "url": granted.address if granted.is_new else None},
        as_json=as_json,
        lines=lines,
    )
    if granted.is_new:
        print_note(
            "The URL holds the role's password and is not shown again: set it where `proctor exam serve` runs."
        )
