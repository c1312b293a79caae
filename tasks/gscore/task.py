"""Gscore as Prefect sees it: answer → score → land.

Only ids and counts pass through Prefect.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from schemas.settings import load_settings
from tasks.gscore.cgeval import DEFAULT_RUN, Scoring, answer_and_land, score_and_land
from tasks.running import Progress
from tasks.running.flow_runs import step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
def answer_cgeval(model: str, run_id: str = DEFAULT_RUN) -> dict[str, object]:
    """Put to a model the questions of CG-Eval that it has not answered in this run.

    Nothing is paid for twice.
    """
    settings = load_settings()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress(f"cgeval {model}: answers") as progress,
    ):
        report = asyncio.run(answer_and_land(ledger, lake, settings, model, run_id, progress.reach))
    return {
        "model": report.model,
        "questions": report.question_count,
        "answered": report.answered_count,
        "resumed": report.resumed_count,
        "failed_calls": report.failed_count,
        "failure": report.failure,
        "calls": dict(report.calls),
    }


@step()
def score_cgeval(
    model: str,
    references: str,
    profile: str = "cgeval-paper",
    embedding: str = "",
    several: Literal["best", "mean"] = "best",
    run_id: str = DEFAULT_RUN,
) -> dict[str, object]:
    """Score what the model has answered against the references in a file, and land the rows."""
    settings = load_settings()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress(f"cgeval {model}: scores") as progress,
    ):
        summary = score_and_land(
            ledger,
            lake,
            settings,
            model,
            Path(references),
            Scoring(profile=profile, embedding=embedding, several=several, run_id=run_id),
            progress=progress.reach,
        )
    return {
        "model": summary.model,
        "items": summary.item_count,
        "scored": summary.scored_count,
        "with_gscore": summary.gscore_count,
        "unanswered": summary.unanswered_count,
        "similarity_model": summary.similarity_model,
    }
