"""Keeping heads of the public log: `proctor witness`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import is_json
from schemas.settings import load_settings
from tasks.exam.public import name_public_files, run_verifier


def witness(
    file: Annotated[Path, typer.Argument(help="Where this witness keeps heads; it is made the first time.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="The published folder, or a copy of it. Default: what this home has published.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    public_key: Annotated[
        str, typer.Option("--key", help="The installation's key (GET /log/key), in base64, or its name.")
    ] = "",
) -> None:
    """Be a witness: check the public log, and keep its last signed head.

    It is to be kept where the exam's operator cannot change it.

    Nothing is kept of a log that does not hold or does not continue what was kept before. Exit code 1 then: tell other witnesses.

    Anybody can run it, on another machine, under another account: it needs a copy of the folder and one file, `python verifier.py PUBLIC
    --keep FILE`, that knows nothing of Proctor.

    Example: proctor witness ~/heads-of-the-exam.jsonl /mirror/public
    """
    public = folder or name_public_files(load_settings())
    if not run_verifier(public, keep=file, key=public_key, as_json=is_json()):
        raise typer.Exit(1)
