"""proctor gscore: scores of any file of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_note, print_result
from schemas.settings import load_settings
from tasks.gscore import FileScoring, score_file
from tasks.running import Progress

Profile = Annotated[str, typer.Option("--profile", help="cgeval-paper or standard.")]

Embedding = Annotated[
    str,
    typer.Option("--embedding", help="Embedding model: name or folder; `none` leaves the similarity out."),
]

Several = Annotated[str, typer.Option("--several", help="Several references of a question: best or mean.")]


def gscore(
    file: Annotated[
        Path, typer.Argument(help="CSV, JSONL or Parquet with the columns reference and response.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Where to write; default: next to FILE.")] = None,
    profile: Profile = "standard",
    model: Annotated[
        str,
        typer.Option("--model", help="Embedding model: name or folder; `none` leaves the similarity out."),
    ] = "",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", help="A further metric, of a package that is installed beside; may be repeated."
        ),
    ] = None,
) -> None:
    """Score generated text against references.

    It gives bleu4, rouge2, chrf, similarity and Gscore per pair.

    Interrupted, the same command continues where it stopped. Without the model, similarity and Gscore stay null.

    Example: proctor gscore answers.parquet --profile cgeval-paper --model models/bge-large-zh-v1.5
    """
    target = out or file.with_name(f"{file.stem}.gscore.parquet")
    name = None if model == "none" else model or load_settings().similarity_model
    with Progress("gscore: pairs") as progress:
        result = score_file(
            file,
            target,
            FileScoring(profile=profile, model=name, metrics=metrics or ()),
            progress=progress.reach,
        )
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
        }
    )
