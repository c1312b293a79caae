"""Judges give stars."""

from __future__ import annotations

from prefect import flow

from tasks.judging.task import judge_run
from tasks.reconcile.task import reconcile_stores


@flow(name="judge")
def judge(run_id: str = "") -> dict[str, object]:
    """Judge every response of a run that has no judgement yet; an empty `run_id` means every run."""
    reconcile_stores()
    return judge_run(run_id)
