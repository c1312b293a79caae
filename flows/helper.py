"""A worker takes a part of a month's run that another one conducts."""

from __future__ import annotations

from prefect import flow

from tasks.editions import publish_edition
from tasks.exam import land_run, sit_run
from tasks.judging import judge_run
from tasks.judging.calibration import correct_scores, watch_anchors
from tasks.report import render_reports
from tasks.running.flow_runs import (
    RECORDED,
    check_judged,
    check_sat,
    name_run,
    publish_summary,
    require_budget,
)
from tasks.running.sharing import require_run, succeeding


@flow(name="helper", flow_run_name=name_run, **RECORDED)
def helper(run_id: str = "", month: str = "", sharers: int = 2) -> dict[str, object]:
    """Sit and judge beside the flow that conducts the run, by claims.

    If that flow is killed, end the run in its place.

    Args:
        run_id: run that is planned.
        month: month as YYYY-MM; empty for the present one.
        sharers: flows that share the run.
    """
    require_budget()
    require_run(run_id)
    sat = sit_run(run_id, sharers=sharers)
    landed = land_run(run_id)
    judged = judge_run(run_id)
    result = {"run_id": run_id} | sat | landed | judged
    with succeeding(run_id) as is_left:
        if is_left:
            watched = watch_anchors(month)
            edition = publish_edition(run_id, is_gate_reported=True)
            corrected = correct_scores(run_id)
            published = render_reports("")
            result |= watched | edition | corrected | published

    publish_summary(result)
    check_sat(result)
    check_judged(result)
    return result
