"""Candidates sit the exam."""

from __future__ import annotations

from tasks.exam import RunWishes, close_overdue_sessions, land_run, plan_month, sit_run
from tasks.operations.reconcile import reconcile_stores
from tasks.running import choose_month
from tasks.running.flow_runs import check_not_waiting, check_sat, flow, publish_summary, require_budget


@flow
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
    """Plan the month's run (unless it is planned), and let every due candidate sit it.

    Then close what is overdue, and land what closed.

    An interrupted run continues where its answers end.

    Args:
        month: month as YYYY-MM; empty for the present one.
        candidates: registered candidates to examine; null for those that are due.
        run_id: run that is planned already, or the name of a new one.
        outside: candidates that sit with their own client.
        repetition: name of a further run of the month; `week` names it for this week.
        renew_reference: let the reference answer every set again.
        bridge: let a former reference sit the run too when the reference has changed.
        draw: questions of a fresh draw beside the month's run; 0 for none.
        in_batches: submit what is pending as batches.
    """
    require_budget()
    month = choose_month(month)
    reconcile_stores()
    wishes = RunWishes(
        month, candidates, outside or (), run_id or None, repetition or None, draw,
        is_reference_renewed=renew_reference, is_bridging=bridge,
    )  # fmt: skip
    planned = plan_month(wishes)
    run_id = str(planned["run_id"])
    sat = sit_run(run_id, in_batches)
    overdue = close_overdue_sessions()
    landed = land_run(run_id)

    result = planned | sat | overdue | landed
    publish_summary(result)
    check_not_waiting(result)
    check_sat(result)
    return result
