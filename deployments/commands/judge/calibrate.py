"""Judges held to people: `calibrate draw|export|import|status|report`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_run
from deployments.commands.options import NoServer, split_names
from deployments.flow_runs import run_flow
from schemas.errors import GateError, UsageError
from schemas.settings import load_settings
from tasks.judging.calibration import (
    compare_marks,
    describe_calibration,
    read_calibration,
    read_marks,
    try_judge,
)
from tasks.judging.calibration.ratings import (
    DrawRequest,
    count_ratings,
    draw_calibration,
    export_ratings,
    import_ratings,
    read_round,
)
from tasks.judging.marking import land_marks
from tasks.models.registry import read_registry
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

calibrate_app = typer.Typer(no_args_is_help=True)

Occasion = Annotated[
    str, typer.Option("--occasion", help="`first`, or the month of a later one. Default: the one drawn last.")
]
Round = Annotated[int, typer.Option("--round", help="Round, from 1. Default: the one drawn last.")]
User = Annotated[str, typer.Option("--user", help="The rater.")]


@dataclass(frozen=True)
class DrawOptions:
    """What is drawn for a round, and who rates it."""

    raters: Annotated[
        str, typer.Option("--raters", help="Users who rate, comma separated; two rate every response.")
    ]
    size: Annotated[
        int,
        typer.Option("--size", help="Responses to draw. Default: as many as a judge needs to be believed."),
    ] = 0
    number: Annotated[int, typer.Option("--round", help="Round, from 1; there are to be two.")] = 1
    occasion: Annotated[
        str, typer.Option("--occasion", help="`first`, or the month of a later calibration.")
    ] = "first"
    styles: Annotated[
        str, typer.Option("--styles", help="Only these prompt styles, comma separated. Default: all.")
    ] = ""
    seed: Annotated[str, typer.Option("--seed", help="Another seed, another draw.")] = ""

    def read(self, run_id: str, usual_size: int) -> DrawRequest:
        """The draw of a run; `usual_size` responses where no size is given."""
        return DrawRequest(
            run_id=run_id,
            occasion=self.occasion,
            round=self.number,
            size=self.size or usual_size,
            raters=split_names(self.raters) or [],
            styles=split_names(self.styles) or (),
            seed=self.seed,
        )


@calibrate_app.command()
def draw(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A judged run.")], wanted: DrawOptions
) -> None:
    """Draw responses for people to rate.

    There are as many of each candidate, with disciplines and stars in their shares.

    A round is drawn once and stays; the same command again changes nothing. No response is drawn for two rounds.

    Example: proctor calibrate draw 2026-12 --raters ann,bo,cy

    Example: proctor calibrate draw 2026-12 --raters ann,bo,cy --round 2 --size 400
    """
    check_run(run_id)
    settings = load_settings()
    request = wanted.read(run_id, settings.judge_ratings_gate)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        drawn = draw_calibration(ledger, lake, request)
    print_result(
        {
            "occasion": request.occasion,
            "round": request.round,
            "responses": drawn.height,
            "candidates": drawn["model"].n_unique(),
            "disciplines": drawn["discipline"].n_unique(),
            "raters": sorted(request.raters),
        },
        then=f"proctor calibrate export {request.raters[0]}.xlsx --user {request.raters[0]}, and for every rater",
    )


@calibrate_app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="Workbook (.xlsx) to write.")],
    user: User,
    disputes: Annotated[
        bool,
        typer.Option("--disputes", help="What two others differ on by two stars or more, to be settled."),
    ] = False,
    occasion: Occasion = "",
    number: Round = 0,
) -> None:
    """Write a rater's workbook: question, reference and response.

    It shows neither the candidate nor anybody's stars.

    Example: proctor calibrate export ann.xlsx --user ann

    Example: proctor calibrate export cy.xlsx --user cy --disputes
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        count = export_ratings(
            ledger, lake, out, user, occasion=occasion or None, number=number or None, disputes_only=disputes
        )
    print_result({"out": str(out), "responses": count}, then=f"proctor calibrate import {out} --user {user}")


@calibrate_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The workbook, filled in.")],
    user: User,
    occasion: Occasion = "",
    number: Round = 0,
) -> None:
    """Take in a rater's stars.

    The same workbook again changes nothing; another value replaces the rater's earlier one.

    Example: proctor calibrate import ann.xlsx --user ann
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        # What was given on the web until now is the earlier of the two.
        land_marks(ledger, lake)
        imported = import_ratings(ledger, lake, file, user, occasion=occasion or None, number=number or None)
    print_result(asdict(imported), then="proctor calibrate status")


@calibrate_app.command()
def status(occasion: Occasion = "", number: Round = 0) -> None:
    """How far a round is.

    It shows what is rated, in dispute and settled, and what each rater still has to do.

    Example: proctor calibrate status
    """
    with open_lake(load_settings(), read_only=True) as lake:
        counts = count_ratings(lake, read_round(lake, occasion or None, number or None))
    then = "proctor calibrate report"
    if counts["in_dispute"]:
        then = "proctor calibrate export FILE.xlsx --user USER --disputes"
    elif not counts["settled"]:
        then = "proctor calibrate export FILE.xlsx --user USER, and import for every rater"
    print_result(counts, then=then)


@calibrate_app.command()
def report(occasion: Occasion = "", no_server: NoServer = False) -> None:
    """Compare every judge with the people; keep and show the result.

    From now on the judge that agrees most, on enough responses, is the first one of runs that are not published yet. Exit code
    3 while no judge was compared on enough.

    Example: proctor calibrate report
    """
    result = run_flow("calibrate", without_server=no_server, occasion=occasion)
    settings = load_settings()
    with open_lake(settings, read_only=True) as lake:
        found = read_calibration(lake, str(result["occasion"]), settings.judge_ratings_gate)
    is_settled = found["primary_judge"] is not None
    print_result(
        {**result, **found},
        lines=describe_calibration(found),
        then="proctor sql judge_groups, proctor sql judge_confusion, proctor sql judge_choice"
        if is_settled
        else "",
    )
    if not is_settled:
        raise GateError(
            f"No judge was compared with people on {settings.judge_ratings_gate} responses or more (the setting "
            "judge_ratings_gate). Draw another round, or have more of this one rated."
        )


@calibrate_app.command()
def marks(
    file: Annotated[Path, typer.Argument(help="CSV, JSONL or Parquet with a row per marked answer.")],
    columns: Annotated[str, typer.Option("--columns", help="The two columns of marks, comma separated.")],
) -> None:
    """How far two columns of marks agree: kappa in three weightings, equal marks, bias.

    Nothing is kept.

    Example: proctor calibrate marks double_marked.parquet --columns human_1,human_2
    """
    names = split_names(columns) or []
    if len(names) != 2:
        raise UsageError("--columns names two columns, for example --columns human_1,human_2.")
    print_result(asdict(compare_marks(read_marks(file, *names))))


@calibrate_app.command()
def selftest(judge: Annotated[str, typer.Option("--judge", help="A judge of the registry.")]) -> None:
    """Try a judge with wrong answers that speak to it.

    Such answers hold orders, false references or ready-made verdicts.

    Shows how many stars each kind wins over the same answers without it. A few dozen calls; in one month the same are paid for
    once. Exit code 3 when an address wins a star or more on average.

    Example: proctor calibrate selftest --judge sim-judge-north
    """
    settings = load_settings()
    registered = read_registry(settings.registry_path).get(judge)
    with open_ledger(settings.ledger_address) as ledger:
        rows = asyncio.run(try_judge(ledger, settings, registered))
    lines = [
        f"{row['address']}: {row['mean_stars']:.2f} stars on average, {row['stars_won']:+.2f} won"
        + (f", {row['unparsed_count']} unreadable" if row["unparsed_count"] else "")
        for row in rows
    ]
    print_result({"judge": judge, "addresses": rows}, lines=lines)
    if won := [str(row["address"]) for row in rows if float(str(row["stars_won"])) >= 1.0]:
        raise GateError(
            f"{judge} gives stars to wrong answers that speak to it ({', '.join(won)}). Judge with another model, or look at every "
            "response that `proctor sql responses_to_judges` lists."
        )
