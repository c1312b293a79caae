"""Candidates sit the exam."""

from __future__ import annotations

from prefect import flow

from tasks.exam.task import close_overdue_sessions, land_run, plan_month, sit_run
from tasks.flow_runs.success import check_sat
from tasks.flow_runs.task import name_run, publish_summary
from tasks.reconcile.task import reconcile_stores


@flow(name="evaluate", flow_run_name=name_run)
def evaluate(
    month: str = "",
    candidates: list[str] | None = None,
    run_id: str = "",
    outside: list[str] | None = None,
    repetition: str = "",
    renew_reference: bool = False,
    bridge: bool = True,
    draw: int = 0,
    in_batches: bool = False,
) -> dict[str, object]:
    """Plan the month's run (unless it is planned), let every due candidate sit it, close what is overdue, land what closed.

    An empty `month` is the present one; `draw` asks for a fresh draw of so many questions beside the month's run. An interrupted run continues where its answers end.
    `in_batches` submits what is pending as batches.
    """
    reconcile_stores()
    planned = plan_month(month, candidates, run_id, outside, repetition, renew_reference, bridge, draw)
    run_id = str(planned["run_id"])
    sat = sit_run(run_id, in_batches)
    overdue = close_overdue_sessions()
    landed = land_run(run_id)

    result = planned | sat | overdue | landed
    publish_summary(result)
    check_sat(result)
    return result
