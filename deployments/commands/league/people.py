"""What people decide in a league: `league validate export|import`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.judging.marking import land_marks
from tasks.league.people import export_waiting, import_decisions
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

validate_app = typer.Typer(
    no_args_is_help=True,
    help="People judge a league's questions, and the answers that judges took for memorised.",
)

LeagueId = Annotated[str, typer.Argument(help="Id of the league.")]


@validate_app.command("export")
def export(
    league_id: LeagueId,
    out: Annotated[Path, typer.Argument(help="Workbook (.xlsx) to write.")],
    user_id: Annotated[
        str, typer.Option("--user", help="Person who judges; what they judged before is left out.")
    ],
    as_json: AsJson = False,
) -> None:
    """Write the workbook in which a person judges questions and flagged answers of a league.

    The person states which questions may stand, and which flagged answers are memorised.

    It names no candidate.

    Example: proctor league validate export autumn questions.xlsx --user eve
    """
    if out.suffix != ".xlsx" or not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: name a file .xlsx in a folder that exists.")
    with open_lake(load_settings(), read_only=True) as lake:
        exported = export_waiting(lake, league_id, out, user_id)
    then = f"proctor league validate import {league_id} {out} --user {user_id}"
    print_result({"out": str(out)} | asdict(exported), as_json=as_json, then=then)


@validate_app.command("import")
def import_(
    league_id: LeagueId,
    file: Annotated[Path, typer.Argument(help="The workbook, filled in.")],
    user_id: Annotated[str, typer.Option("--user", help="Who judged; it is kept with the decisions.")],
    as_json: AsJson = False,
) -> None:
    """Take in what a person decided.

    The same workbook again changes nothing; if a cell is faulty, it is named and nothing is landed.

    Example: proctor league validate import autumn questions.xlsx --user eve
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        # What was given on the web until now is the earlier of the two.
        land_marks(ledger, lake)
        imported = import_decisions(ledger, lake, league_id, file, user_id)
    print_result(asdict(imported), as_json=as_json, then=f"proctor league status {league_id}")
