"""Stars, what is published of them, and the page: judge, publish, report, unparsed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_registry, check_run, has_published, list_unpublished
from deployments.commands.exam.month_told import describe_edition
from deployments.commands.options import AnyRun, NoServer
from deployments.flow_runs import run_flow
from schemas.errors import GateError, UsageError
from schemas.settings import load_settings
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

unparsed_app = typer.Typer(no_args_is_help=True)


def judge(
    run_id: Annotated[
        str, typer.Option("--run", help="The run. Default: every run that is not judged whole.")
    ] = "",
    unparsed: Annotated[
        bool,
        typer.Option("--unparsed", help="Only ask again, judge by judge, where no judgement could be read."),
    ] = False,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch", help="Submit the calls of judges that take batches together, at their price."
        ),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Stay until no call is in a batch any more, and land everything.")
    ] = False,
    no_server: NoServer = False,
) -> None:
    """Judge every landed response that has no judgement yet.

    What could not be parsed goes to the next judge of the registry.

    A changed prompt judges again only the run that is named; without --run, what was judged before is left. What nobody could
    be read of counts 0 and blocks publication above 0.5% of a candidate's answers: ask again with --unparsed, then let a
    person give the stars (proctor unparsed export).

    With --batch the command ends when the calls are submitted; run it again, in hours, to collect what was answered and to
    continue. A judge without `batch` in the registry is asked singly.

    Exit code 1 when a judgement could not be had (an endpoint that failed); run it again and it continues.

    Example: proctor judge --run 2026-11

    Example: proctor judge --run 2026-11 --batch
    """
    check_registry()
    check_run(run_id)
    result = run_flow(
        "judge", without_server=no_server, run_id=run_id, only_unparsed=unparsed, in_batches=batch, waits=wait
    )
    then = f"proctor publish {run_id}".rstrip()
    if not run_id and not list_unpublished():
        then = "proctor sql leaderboard" if has_published() else "proctor evaluate"
    if result["unresolved_responses"]:
        then = "proctor unparsed export FILE.xlsx" if unparsed else "proctor judge --unparsed"
    if result["pending_calls"]:
        again = f"proctor judge --run {run_id} --batch" if run_id else "proctor judge --batch"
        then = f"{again} when the batches have ended (proctor models batches)"
    print_result(result, then=then)
    if result["failed_judgements"]:
        raise typer.Exit(1)


def publish(
    run_id: Annotated[
        str, typer.Argument(metavar="[RUN]", help="The run. Default: every judged run that is not published.")
    ] = "",
    revise: Annotated[
        bool,
        typer.Option(
            "--revise", help="Publish a correction of what was published; both stay. Needs --reason."
        ),
    ] = False,
    override: Annotated[
        list[str] | None,
        typer.Option(
            "--override", help="Publish although this gate is shut; may be repeated. Needs --reason."
        ),
    ] = None,
    recalibrate: Annotated[
        bool,
        typer.Option(
            "--recalibrate",
            help="Fit the questions of all editions again, on a new scale; `proctor recalibrate` says what that moves.",
        ),
    ] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why; the leaderboard shows it.")] = "",
    no_server: NoServer = False,
) -> None:
    """Freeze what a judged run came to and publish it.

    What is published are scores, ranks and their errors, which never change again.

    Published once, a run stays as it is; a later fact makes a new revision that names the old one. Exit code 3 when a gate
    is shut: open sessions, unreadable judgements, a judge that has not shown that it can judge, or that agrees too little with people.

    Example: proctor publish 2026-11

    Example: proctor publish 2026-11 --revise --reason "judged again after a fault of the judge"
    """
    check_run(run_id)
    if not run_id and (revise or override or reason or recalibrate):
        raise UsageError(
            "Name the run that is to be corrected, recalibrated or published in spite of a gate."
        )
    done: list[dict[str, Any]] = []
    refused: list[str] = []
    for name in [run_id] if run_id else list_unpublished():
        try:
            done.append(
                run_flow(
                    "publish",
                    without_server=no_server,
                    run_id=name,
                    is_revision=revise,
                    reason=reason,
                    overridden=override or [],
                    is_recalibrated=recalibrate,
                )
            )
        except GateError as error:
            if run_id:
                raise
            refused.append(str(error))
    lines, then = [describe_edition(one) for one in done], "proctor sql leaderboard"
    if not lines and not refused:
        lines, then = _describe_nothing_to_publish()
    print_result({"editions": done, "refused": refused}, lines=lines, then=then)
    if refused:
        raise GateError("\n".join(refused))


def _describe_nothing_to_publish() -> tuple[list[str], str]:
    """Why no run is published now, and the next step."""
    if has_published():
        return ["Every judged run is published."], "proctor sql leaderboard"
    return ["No run is judged, so there is nothing to publish."], "proctor evaluate, then proctor judge"


def report(
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder; default: reports under PROCTOR_HOME.")
    ] = None,
    team: Annotated[
        str,
        typer.Option(
            "--team", help="The report for the members of this team: of its models, and of nobody else's."
        ),
    ] = "",
    no_server: NoServer = False,
) -> None:
    """Render the report over the whole lake.

    With --team over what the members of a team see of it. It is a site of pages that works offline, with figures, their data and SQL.

    Example: proctor report --out /srv/www/exam

    Example: proctor report --team research
    """
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; the report is written to a folder. Name another with --out.")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    folder = "" if out is None else str(out.resolve())
    result = run_flow("report", without_server=no_server, out_dir=folder, team=team)
    print_result(result, then="open the page in a browser; the folder needs no network")


@unparsed_app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="Workbook (.xlsx) to write.")], run_id: AnyRun = ""
) -> None:
    """Write the workbook in which a person gives stars where no judge's reply could be read.

    The person gives 0 to 3 stars, and the reason.

    It names no candidate. `proctor judge --unparsed` asks the judges again first.

    Example: proctor unparsed export unparsed.xlsx --run 2026-11
    """
    from tasks.judging import export_unparsed

    check_run(run_id)
    if out.suffix != ".xlsx" or not out.parent.is_dir():
        raise UsageError(f"{out} cannot be written: name a file .xlsx in a folder that exists.")
    with open_lake(load_settings(), read_only=True) as lake:
        count = export_unparsed(lake, out, run_id or None)
    then = f"proctor unparsed import {out} --user USER" if count else ""
    print_result({"out": str(out), "responses": count}, then=then)


@unparsed_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The workbook, filled in.")],
    user_id: Annotated[str, typer.Option("--user", help="Who gave the stars; it is kept with them.")],
    run_id: AnyRun = "",
) -> None:
    """Take in the stars that a person gave; they count from now on.

    What has stars already stays as it is.

    Example: proctor unparsed import unparsed.xlsx --user eve
    """
    from tasks.judging import import_unparsed

    check_run(run_id)
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        imported = import_unparsed(ledger, lake, file, user_id, run_id or None)
    print_result(asdict(imported), then="proctor sql resolved_judgements")
