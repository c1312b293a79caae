"""What no judge could be read of, for people: `unparsed export|import`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_run
from deployments.commands.options import AnyRun, AsJson
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.judging import export_unparsed, import_unparsed
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

unparsed_app = typer.Typer(no_args_is_help=True)


@unparsed_app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="Workbook (.xlsx) to write.")],
    run_id: AnyRun = "",
    as_json: AsJson = False,
) -> None:
    """Write the workbook in which a person gives stars where no judge's reply could be read.

    The person gives 0 to 3 stars, and the reason.

    It names no candidate. `proctor judge --unparsed` asks the judges again first.

    Example: proctor unparsed export unparsed.xlsx --run 2026-11
    """
    check_run(run_id)
    if out.suffix != ".xlsx" or not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: name a file .xlsx in a folder that exists.")
    with open_lake(load_settings(), read_only=True) as lake:
        count = export_unparsed(lake, out, run_id or None)
    then = f"proctor unparsed import {out} --user USER" if count else ""
    print_result({"out": str(out), "responses": count}, as_json=as_json, then=then)


@unparsed_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The workbook, filled in.")],
    user_id: Annotated[str, typer.Option("--user", help="Who gave the stars; it is kept with them.")],
    run_id: AnyRun = "",
    as_json: AsJson = False,
) -> None:
    """Take in the stars that a person gave; they count from now on.

    What has stars already stays as it is.

    Example: proctor unparsed import unparsed.xlsx --user eve
    """
    check_run(run_id)
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        imported = import_unparsed(ledger, lake, file, user_id, run_id or None)
    print_result(asdict(imported), as_json=as_json, then="proctor sql resolved_judgements")
