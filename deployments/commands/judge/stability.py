"""What published editions rest on and show together: stability, recalibrate, improvement."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_run
from deployments.commands.options import read_month
from schemas.counting import say_count
from schemas.errors import UsageError
from schemas.settings import load_settings
from schemas.vocabulary import PROMPT_STYLES
from tasks.editions import StabilityRequest, compute_recalibration, write_improvements, write_stability
from warehouse.lake import open_lake

_SHOWN = 10


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


def recalibrate(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run that was published.")],
) -> None:
    """Show what a new fit of all editions would move; write nothing.

    An edition takes earlier questions as they were published, so that it costs the same however many came before. This fits all
    of them again, up to the run's last edition, which takes the longer the more there are, and sets every equated score and every
    question beside what was published. To publish on the new scale, revise the run with --recalibrate, or publish the next one so.

    Example: proctor recalibrate 2026-12

    Example: proctor publish 2026-12 --revise --recalibrate --reason "the scale is fitted again after a year"
    """
    check_run(run_id)
    with open_lake(load_settings(), read_only=True) as lake:
        found = compute_recalibration(lake, run_id)
    candidates, questions = found.candidates.to_dicts(), found.questions.to_dicts()
    lines = [
        f"Edition {found.edition_id}: {say_count(found.edition_count, 'edition')} and {say_count(found.question_count, 'question')} were fitted again.",
        "No candidate of it was equated, so that nothing would move."
        if found.largest_move is None
        else f"Equated scores would move by {found.mean_move:.2f} points on average, and by {found.largest_move:.2f} at most.",
        *(
            f"  {row['model']}: {row['equated_score']:.1f} ({row['equated_low']:.1f}–{row['equated_high']:.1f}) "
            f"would be {row['recalibrated_score']:.1f}"
            for row in candidates[:_SHOWN]
            if row["move"] is not None
        ),
        f"{say_count(len(questions), 'question')} would move by more than two of their errors.",
    ]
    print_result(
        {
            "edition_id": found.edition_id,
            "edition_count": found.edition_count,
            "question_count": found.question_count,
            "mean_move": found.mean_move,
            "largest_move": found.largest_move,
            "candidates": candidates,
            "questions": questions,
        },
        lines=lines,
    )


def improvement(
    since: Annotated[
        str, typer.Option("--since", help="Month as YYYY-MM. Default: the first that was published.")
    ] = "",
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Of simulated candidates instead of real ones.")
    ] = False,
) -> None:
    """Tell how S of each candidate moved since a month, and whether it is more than noise.

    All candidates are told together. Every publication does it since the first month. Keeps what `proctor sql improvement_since` shows.

    Example: proctor improvement --since 2026-09
    """
    with open_lake(load_settings()) as lake:
        found = write_improvements(
            lake, is_simulated=simulated, since_month=read_month(since, "--since") if since else None
        )
    told = found.filter(found["p_together"] <= 0.05)
    month = found["since_month"][0] if found.height else None
    print_result(
        {
            "since_month": month,
            "through_month": found["through_month"][0] if found.height else None,
            "candidates": found["model"].n_unique(),
            "rows": found.height,
            "more_than_noise": told.height,
        },
        then=f"proctor sql improvement_since --param since_month={month}" if month else "",
    )
