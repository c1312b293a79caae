"""How far a published order rests on the questions that were drawn: stability."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_run
from deployments.commands.options import AsJson
from schemas.errors import UsageError
from schemas.settings import load_settings
from schemas.vocabulary import PROMPT_STYLES
from tasks.editions import StabilityRequest, write_stability
from warehouse.lake import open_lake


def stability(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run that was published.")],
    style: Annotated[str, typer.Option("--style", help="Prompt style whose stars are taken.")] = "zero_shot",
    sizes: Annotated[
        str,
        typer.Option(
            "--sizes", help="Questions in each resample, drawn with replacement; a size may be named again."
        ),
    ] = "1000,1000,1000,2000,4000",
    curve_sizes: Annotated[
        str,
        typer.Option(
            "--curve-sizes",
            help="Questions in the samples on which Elo and Bradley-Terry are compared with the score. "
            "Default: 10, 20, 50, 100, … and all of the set.",
        ),
    ] = "",
    samples: Annotated[int, typer.Option("--samples", help="Samples of each of those sizes.")] = 20,
    seed: Annotated[
        int, typer.Option("--seed", help="Where the draws start: the same seed gives the same rows.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Draw other samples from the questions of a published edition.

    They show how far S, R and the order would move.

    Writes two tables, and changes nothing of the edition. bootstrap_scores has S on resamples, with replacement: one of 4,000
    from a set of 1,000 is allowed and marked. rating_curves has the score, Elo and Bradley-Terry on growing samples, without
    replacement, beside the order on all questions. Run again with another seed or other sizes, it replaces both.

    Example: proctor stability 2026-12

    Example: proctor stability 2026-12 --style chain_of_thought --sizes 500,500,500 --seed 7
    """
    request = StabilityRequest(
        prompt_style=_read_style(style, PROMPT_STYLES),
        sample_sizes=_read_sizes("--sizes", sizes),
        curve_sizes=_read_sizes("--curve-sizes", curve_sizes),
        samples=samples,
        seed=seed,
    )
    check_run(run_id)
    with open_lake(load_settings()) as lake:
        found = write_stability(lake, run_id, request)
    print_result(
        {
            "edition_id": found.edition_id,
            "prompt_style": found.prompt_style,
            "is_new": found.is_new,
            "questions": dict(found.question_counts),
            "sets_left_out": list(found.sets_left_out),
            "bootstrap_scores": found.frames["bootstrap_scores"].height,
            "rating_curves": found.frames["rating_curves"].height,
        },
        as_json=as_json,
        then="proctor sql repeat_stability, proctor sql rating_stability",
    )


def _read_style(style: str, known: tuple[str, ...]) -> str:
    if style not in known:
        raise UsageError(f"--style {style!r} is not a prompt style; they are {', '.join(known)}.")
    return style


def _read_sizes(option: str, text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := [part for part in parts if not part.isascii() or not part.isdigit()]:
        raise UsageError(
            f"{option}: {wrong[0]!r} is not a number of questions. Write 1000,2000, for example."
        )
    return [int(part) for part in parts]
