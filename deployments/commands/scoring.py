"""Stars, Gscore and the page: judge, gscore, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.commands.options import AsJson, Run


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(judge)
    app.command()(gscore)
    app.command()(report)


def judge(run_id: Run = "", as_json: AsJson = False) -> None:
    """Judge every landed response that has no judgement yet; what could not be parsed stays unparsed, never 0.

    Exit code 1 when a judgement could not be had (an endpoint that failed); run it again to go on.

    Example: proctor judge --run 2026-11
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    result = run_flow("judge", run_id=run_id)
    print_result(result, as_json=as_json)
    if result["failed_judgements"]:
        raise typer.Exit(1)


def gscore(
    file: Annotated[
        Path, typer.Argument(help="CSV, JSONL or Parquet with the columns reference and response.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Where to write; default: beside FILE.")] = None,
    profile: Annotated[str, typer.Option("--profile", help="cgeval-paper or standard.")] = "standard",
    model: Annotated[
        str,
        typer.Option("--model", help="Embedding model: name or folder; `none` leaves the similarity out."),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Score generated text against references: bleu4, rouge2, chrf, similarity and Gscore per pair.

    Interrupted, the same command goes on where it stopped. Without the model, similarity and Gscore stay null.

    Example: proctor gscore answers.parquet --profile cgeval-paper --model models/bge-large-zh-v1.5
    """
    from deployments.output import print_note, print_result
    from schemas.settings import load_settings
    from tasks.gscore.score_file import score_file
    from tasks.progress import Progress

    target = out or file.with_name(f"{file.stem}.gscore.parquet")
    name = None if model == "none" else model or load_settings().similarity_model
    with Progress("gscore: pairs") as progress:
        result = score_file(file, target, profile, name, lambda done, total: progress.reach(done, total))
    if result.message:
        print_note(result.message)
    print_result(
        {
            "out": str(result.out),
            "rows": result.row_count,
            "scored": result.scored_count,
            "with_gscore": result.gscore_count,
            "resumed": result.resumed_count,
            "profile": result.profile,
            "similarity_model": result.similarity_model,
        },
        as_json=as_json,
    )


def report(
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder; default: reports under PROCTOR_HOME.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Render the report over the whole lake: leaderboard, disciplines, trends; one page that works offline.

    Example: proctor report --out /srv/www/exam
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result

    print_result(run_flow("report", out_dir="" if out is None else str(out.resolve())), as_json=as_json)
