"""Hold what has landed to its rules: validate."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import NoServer, read_month
from deployments.flow_runs import run_flow
from schemas.counting import say_count
from tasks.operations.validation import select_tables

_BROKEN_SHOWN = 50


def validate(
    table: Annotated[str, typer.Option("--table", help="Only this table. Default: every table.")] = "",
    month: Annotated[
        str, typer.Option("--month", help="Only rows of this month, YYYY-MM. Default: all rows.")
    ] = "",
    no_server: NoServer = False,
) -> None:
    """Run the Great Expectations suite of every table over what has landed.

    Data Docs go to PROCTOR_HOME/validation.

    Names table, unit and rule of what breaks one, never a value. Exit code 1 when a landed row breaks a rule.

    Example: proctor validate --table responses --month 2026-11
    """
    month = read_month(month) if month else ""
    select_tables(table, month)  # A mistake is reported before a flow starts.
    result = run_flow("validate", without_server=no_server, table=table, month=month)
    broken = result["broken"]
    lines = [
        f"{one['table']}, unit {one['unit']}: {one['rule']} ({say_count(one['row_count'], 'row')})"
        for one in broken[:_BROKEN_SHOWN]
    ]
    if len(broken) > _BROKEN_SHOWN:
        lines.append(f"… and {len(broken) - _BROKEN_SHOWN} more: proctor validate --json lists all.")
    verdict = "every rule is kept" if not broken else f"rules are broken in {len(broken)} places"
    lines.append(
        f"{say_count(result['row_count'], 'row')} in {say_count(len(result['tables']), 'table')}: {verdict}."
    )
    print_result(result, lines=[*lines, f"page: {result['page']}"])
    if broken:
        raise typer.Exit(1)
