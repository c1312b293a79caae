"""Why answers fail: `errors draw|prelabel|export|import|report`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_registry, check_run
from schemas.settings import load_settings
from tasks.judging import compare_labels, draw_failures, export_failures, import_failures, prelabel_failures
from tasks.judging.marking import land_marks
from tasks.models.registry import read_registry
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

errors_app = typer.Typer(no_args_is_help=True)

Sample = Annotated[str, typer.Option("--sample", help="The sample. Default: the one drawn last.")]


@errors_app.command()
def draw(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A judged run.")],
    per_model: Annotated[
        int, typer.Option("--per-model", help="Failed responses of each candidate, or all it has.")
    ] = 50,
    name: Annotated[str, typer.Option("--name", help="Tells several samples of a run apart.")] = "",
) -> None:
    """Draw responses with 0 or 1 star, by candidate.

    All of a candidate's responses have the same chance. A sample is drawn once and stays.

    Example: proctor errors draw 2026-12 --per-model 100
    """
    check_run(run_id)
    with open_lake(load_settings()) as lake:
        drawn = draw_failures(lake, run_id, per_model=per_model, name=name)
    print_result(
        {
            "sample_id": drawn["sample_id"][0],
            "responses": drawn.height,
            "by_candidate": dict(drawn.group_by("model").len().sort("model").iter_rows()),
        },
        then="proctor errors prelabel --model MODEL, or proctor errors export FILE.xlsx",
    )


@errors_app.command()
def prelabel(
    model: Annotated[str, typer.Option("--model", help="A model of the registry.")], sample: Sample = ""
) -> None:
    """Let a model say which class each failure belongs to; people confirm or correct it.

    Interrupted or killed, the same command continues: what was paid for is not paid for again.

    Example: proctor errors prelabel --model sim-judge-north
    """
    check_registry([model])
    settings = load_settings()
    labeller = read_registry(settings.registry_path).outsider(model)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        result = asyncio.run(prelabel_failures(ledger, lake, settings, labeller, sample or None))
    print_result(result, then="proctor errors export FILE.xlsx")


@errors_app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="Workbook (.xlsx) to write.")],
    sample: Sample = "",
    blind: Annotated[bool, typer.Option("--blind", help="Without what a model thought.")] = False,
) -> None:
    """Write the workbook in which a person gives each failure its class.

    What a model thought stands in the note.

    Example: proctor errors export failures.xlsx
    """
    with open_lake(load_settings(), read_only=True) as lake:
        count = export_failures(lake, out, sample_id=sample or None, is_blind=blind)
    print_result({"out": str(out), "responses": count}, then=f"proctor errors import {out} --user USER")


@errors_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="The workbook, filled in.")],
    user: Annotated[str, typer.Option("--user", help="Who gave the classes; it is kept with them.")],
    sample: Sample = "",
) -> None:
    """Take in the classes that a person gave. The same workbook again changes nothing.

    Example: proctor errors import failures.xlsx --user ann
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        # What was given on the web until now is the earlier of the two.
        land_marks(ledger, lake)
        imported = import_failures(ledger, lake, file, user, sample_id=sample or None)
    print_result(asdict(imported), then="proctor errors report")


@errors_app.command()
def report(sample: Sample = "") -> None:
    """How much of a sample is labelled, and how far model and people agree.

    It also shows the shares of the classes with their intervals.

    Example: proctor errors report
    """
    with open_lake(load_settings(), read_only=True) as lake:
        found = compare_labels(lake, sample or None)
    lines = [
        f"Sample {found['sample_id']}: {found['drawn']} drawn, {found['labelled_by_people']} labelled by people."
    ]
    for name, one in found["labelled_by_models"].items():
        kappa = "undefined" if one["kappa"] is None else f"{one['kappa']:.3f}"
        if one["kappa_low"] is not None:
            kappa += f" ({one['kappa_low']:.3f} to {one['kappa_high']:.3f})"
        lines.append(f"{name} labelled {one['labelled']}; kappa with people on {one['compared']}: {kappa}.")
    lines += [
        f"{row['model']}: {row['error_class']} {row['error_share']:.0f}% of {row['labelled_count']} "
        f"({row['error_share_low']:.0f} to {row['error_share_high']:.0f})"
        for row in found["shares"]
    ]
    print_result(found, lines=lines)
