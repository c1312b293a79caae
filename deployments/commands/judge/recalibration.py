"""What a fit of all editions from nothing would move: recalibrate."""

from __future__ import annotations

from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.checks import check_run
from deployments.commands.options import AsJson
from schemas.settings import load_settings
from tasks.editions import compute_recalibration
from warehouse.lake import open_lake

_SHOWN = 10


def recalibrate(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="A run that was published.")],
    as_json: AsJson = False,
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
        f"Edition {found.edition_id}: {found.edition_count} editions and {found.question_count} questions were fitted again.",
        "No candidate of it was equated, so that nothing would move."
        if found.largest_move is None
        else f"Equated scores would move by {found.mean_move:.2f} points on average, and by {found.largest_move:.2f} at most.",
        *(
            f"  {row['model']}: {row['equated_score']:.1f} ({row['equated_low']:.1f}–{row['equated_high']:.1f}) "
            f"would be {row['recalibrated_score']:.1f}"
            for row in candidates[:_SHOWN]
            if row["move"] is not None
        ),
        f"{len(questions)} questions would move by more than two of their errors.",
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
        as_json=as_json,
        lines=lines,
    )
