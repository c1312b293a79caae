"""Candidates sit the exam."""

from __future__ import annotations

from prefect import flow

from tasks.exam.task import land_run, plan_month, sit_run
from tasks.reconcile.task import reconcile_stores


@flow(name="evaluate")
def evaluate(
    month: str = "", candidates: list[str] | None = None, run_id: str = "", outside: list[str] | None = None
) -> dict[str, object]:
    """Plan the month's run (unless it is planned), let every due candidate sit it, land what closed.

    An empty `month` is the present one; an interrupted run goes on where its answers end.
    """
    reconcile_stores()
    run_id = plan_month(month, candidates, run_id, outside)
    sat = sit_run(run_id)
    landed = land_run(run_id)

    return {"run_id": run_id} | sat | landed
