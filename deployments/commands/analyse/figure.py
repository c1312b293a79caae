"""A figure for a talk or a paper: `figure`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.errors import UsageError
from schemas.settings import load_settings
from schemas.vocabulary import PROMPT_STYLES
from tasks.report import Asked, draw_figure
from warehouse.lake import open_lake

if TYPE_CHECKING:
    from tasks.report import Language


def figure(
    name: Annotated[str, typer.Argument(help="leaderboard, pair or history.")],
    candidates: Annotated[
        list[str] | None, typer.Argument(help="pair: the two candidates. history: those to show.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A file that ends in .svg or .png. Default: both, named for the figure."
        ),
    ] = None,
    month: Annotated[str, typer.Option("--month", help="Month of the leaderboard. Empty: the latest.")] = "",
    style: Annotated[str, typer.Option("--style", help="Prompt style.")] = "zero_shot",
    language: Annotated[str, typer.Option("--language", help="Language of its texts: en or zh.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Draw one figure with its caption, as SVG and as PNG of 300 dots an inch.

    The caption, which is printed too, states the method, the edition, and what is to be known of it.

    Example: proctor figure leaderboard --month 2026-11

    Example: proctor figure pair sim-basalt-2 sim-aurora-2 --output pair.svg

    Example: proctor figure history sim-basalt-2 --language zh
    """
    if style not in PROMPT_STYLES:
        raise UsageError(f"--style is one of {', '.join(PROMPT_STYLES)}, not {style!r}.")
    paths = [Path(f"{name}.svg"), Path(f"{name}.png")] if output is None else [output]
    if paths[0].suffix.lower() not in (".svg", ".png"):
        raise UsageError(f"{paths[0]} says no format of a figure: let it end in .svg or .png.")
    asked = Asked(candidates or (), month, style, cast("Language", language))
    with open_lake(load_settings(), read_only=True) as lake:
        drawn = draw_figure(name, lake.run_named, asked)
    for path in paths:
        data = drawn.render_png() if path.suffix.lower() == ".png" else drawn.render_svg().encode("utf-8")
        try:
            path.write_bytes(data)
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror}. Name another file with --output."
            ) from None
    written = [str(path) for path in paths]
    print_result(
        {"files": written, "title": drawn.title, "caption": drawn.caption},
        as_json=as_json,
        lines=[drawn.title, drawn.caption, f"Written: {', '.join(written)}"],
    )
