"""Candidates complete questions from memory."""

from __future__ import annotations

from prefect import flow

from tasks.contamination.task import replay_questions
from tasks.flow_runs.task import name_run, publish_summary
from tasks.reconcile.task import reconcile_stores


@flow(name="contamination", flow_run_name=name_run)
def contamination(
    replay_id: str,
    models: list[str],
    sources: list[str],
    size: int = 1_000,
    columns: dict[str, str] | None = None,
) -> dict[str, object]:
    """Replay questions with a blank to models, three completions of each; `sources` are `bank` and files of public sets."""
    reconcile_stores()
    result = replay_questions(replay_id, models, sources, size, columns)
    publish_summary(result)
    return result
