"""Does a candidate know the questions: `contamination run|report|leaks`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_note, print_result
from deployments.commands.checks import check_registry, check_run
from deployments.commands.options import NoServer, split_names
from deployments.flow_runs import run_flow
from schemas.errors import GateError, UsageError
from schemas.settings import load_settings
from tasks.contamination import (
    BANK,
    SET_FIELDS,
    compare_sources,
    describe_comparison,
    describe_leaks,
    watch_leaks,
)
from tasks.exchange.imports import parse_mapping
from warehouse.lake import open_lake

contamination_app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Option("--name", help="Name of the replay. Default: replay- and the month.")]


@contamination_app.command()
def run(
    models: Annotated[str, typer.Option("--models", help="Models of the registry, comma separated.")],
    sets: Annotated[
        list[str],
        typer.Option(
            "--set", help="`bank`, or a file of a public set (CSV, JSONL, Parquet); may be repeated."
        ),
    ],
    name: Name = "",
    size: Annotated[int, typer.Option("--size", help="Questions of each.")] = 1000,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="Our field (item_id, question, options, language) and the file's column."),
    ] = None,
    no_server: NoServer = False,
) -> None:
    """Blank a key span of each question and let every model complete it three times.

    A key span is a number, a term or an option.

    Of the bank a model is shown only what its organisation was put before, so that nothing new is given away. Interrupted or
    killed, the same command continues: what was paid for is not paid for again.

    Example: proctor contamination run --models sim-basalt-2 --set bank --set agieval_1000.parquet
    """
    names = split_names(models) or []
    check_registry(names)
    if not names:
        raise UsageError("--models names nobody; write for example --models sim-basalt-2.")
    if missing := [one for one in sets if one != BANK and not Path(one).is_file()]:
        raise UsageError(f"--set {missing[0]} is neither `bank` nor a file that exists.")
    if size < 1:
        raise UsageError(f"--size is at least 1, not {size}.")
    result = run_flow(
        "contamination",
        without_server=no_server,
        replay_id=name or _name_month(),
        models=names,
        sources=[one if one == BANK else str(Path(one).resolve()) for one in sets],
        size=size,
        columns=parse_mapping(columns or [], SET_FIELDS),
    )
    if begun := result["begun_otherwise"]:
        print_note(
            f"The replay {result['replay_id']} was begun with another number of questions of {', '.join(begun)}, and keeps them: "
            f"--size {size} changes nothing. Give another --name to begin one."
        )
    print_result(result, then="proctor contamination report")


@contamination_app.command()
def report(name: Name = "") -> None:
    """Shares recalled by candidate and source, and ours beside each public set.

    A question is recalled when two of three match.

    Exit code 3 when a candidate recalls the bank: the lower end of its interval is above 5%.

    Example: proctor contamination report
    """
    with open_lake(load_settings(), read_only=True) as lake:
        found = compare_sources(lake, name or _name_month())
    print_result(found, lines=describe_comparison(found), then="proctor sql contamination_recall")
    if flagged := [row["model"] for row in found["shares"] if row["is_flagged"] and row["source"] == BANK]:
        raise GateError(f"Questions of the bank are known to {', '.join(flagged)}.")


@contamination_app.command()
def leaks(run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run that was published.")]) -> None:
    """What organisations score on questions that were met before.

    These are questions that they, or the reference's provider, have met before. The scores are compared with what
    the difficulty of the questions lets one expect; the smallest gain that would have been found is shown too.
    Nothing is written.

    Exit code 3 when an organisation gains more than chance explains.

    Example: proctor contamination leaks 2026-12
    """
    check_run(run_id)
    with open_lake(load_settings(), read_only=True) as lake:
        rows = watch_leaks(lake, run_id)
    print_result({"run_id": run_id, "organisations": rows}, lines=describe_leaks(rows))
    if found := [row["organisation"] for row in rows if row["is_found"]]:
        raise GateError(f"Questions met before are easier than they should be for {', '.join(found)}.")


def _name_month() -> str:
    return f"replay-{datetime.now(UTC):%Y-%m}"
