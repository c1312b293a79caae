"""The whole exam of a month."""

from __future__ import annotations

from prefect import flow

from tasks.exam.task import land_run, plan_month, sit_run
from tasks.flow_runs.success import check_judged, check_sat
from tasks.flow_runs.task import name_run, publish_summary
from tasks.judging.task import judge_run
from tasks.reconcile.task import reconcile_stores
from tasks.report.task import render_reports


@flow(name="monthly", flow_run_name=name_run)
def monthly(
    month: str = "",
    candidates: list[str] | None = None,
    repetition: str = "",
    renew_reference: bool = False,
    bridge: bool = True,
) -> dict[str, object]:
    """Examine every due candidate on the published bank, judge what it answered, and publish the month.

    An empty `month` is the present one; `repetition` names a further run of it (`week`: for this week). Tasks, not subflows: a subflow costs a second each.
    """
    reconcile_stores()
    run_id = plan_month(
        month, candidates, repetition=repetition, renew_reference=renew_reference, bridge=bridge
    )
    sat = sit_run(run_id)
    landed = land_run(run_id)
    judged = judge_run(run_id)
    published = render_reports("")

    result = {"run_id": run_id} | sat | landed | judged | published
    publish_summary(result)
    check_sat(result)
    check_judged(result)
    return result
