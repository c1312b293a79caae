"""Records of figure 8 with what a run's candidates answered and its judges said."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from schemas.errors import UsageError
from tasks.questions.forms import build_records, export_records
from tasks.texts import refuse_erased
from warehouse.lake import Lake


def export_run_records(lake: Lake, questions: pl.DataFrame, run_id: str, path: Path) -> int:
    """One record per response and judge of a run to these questions; returns how many.

    A judge's text can quote the reference answer: the caller checks who may have it. Raises UsageError for a run without a
    response to them.
    """
    responses = lake.read("record_responses", {"run_id": run_id})
    if responses.is_empty():
        refuse_erased(lake, run_id=run_id)
    answered = questions.filter(pl.col("question_uuid").is_in(responses["question_uuid"].unique().to_list()))
    if answered.is_empty():
        raise UsageError(f"Run {run_id!r} has no response to these questions. See `proctor runs`.")
    judgements = lake.read("record_judgements", {"run_id": run_id})
    return export_records(build_records(answered, responses, judgements), path)
