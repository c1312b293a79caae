"""The whole exam of a month."""

from __future__ import annotations

from tasks.editions import publish_edition
from tasks.exam import RunWishes, close_overdue_sessions, land_run, plan_month, sit_run
from tasks.judging import judge_run
from tasks.judging.calibration import correct_scores, watch_anchors
from tasks.operations.reconcile import reconcile_stores
from tasks.report import render_reports
from tasks.running import choose_month
from tasks.running.flow_runs import (
    check_judged,
    check_not_waiting,
    check_published,
    check_sat,
    flow,
    publish_summary,
    require_budget,
)
from tasks.running.sharing import conducting


@flow
def monthly(
    month: str = "",
    candidates: list[str] | None = None,
    repetition: str = "",
    renew_reference: bool = False,
    bridge: bool = True,
) -> dict[str, object]:
    """Examine every due candidate on the published bank.

    Then judge what it answered, and publish the month.

    Tasks, not subflows: a subflow costs a second each.

    Args:
        month: month as YYYY-MM; empty for the present one.
        candidates: registered candidates to examine; null for those that are due.
        repetition: name of a further run of the month; `week` names it for this week.
        renew_reference: let the reference answer every set again.
        bridge: let a former reference sit the run too when the reference has changed.
    """
    require_budget()
    # Once, at its beginning: what begins in one month and ends in the next is of the first.
    month = choose_month(month)
    reconcile_stores()
    wishes = RunWishes(
        month,
        candidates,
        repetition=repetition or None,
        is_reference_renewed=renew_reference,
        is_bridging=bridge,
    )
    planned = plan_month(wishes)
    run_id = str(planned["run_id"])
    with conducting(
        run_id,
        "monthly",
        month=month,
        candidates=candidates,
        # By its name: in another week, or after the month's own run, `week` would be another run.
        repetition=planned.get("repetition", ""),
        renew_reference=renew_reference,
        bridge=bridge,
    ):
        sat = sit_run(run_id)
        overdue = close_overdue_sessions()
        landed = land_run(run_id)
        judged = judge_run(run_id)
        watched = watch_anchors(month)
        edition = publish_edition(run_id, is_gate_reported=True)
        corrected = correct_scores(run_id) if run_id else {}
        published = render_reports("")

    result = planned | sat | overdue | landed | judged | watched | edition | corrected | published
    publish_summary(result)
    check_not_waiting(result)
    check_sat(result)
    check_judged(result)
    check_published(result)
    return result
