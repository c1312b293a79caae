"""The judges are watched."""

from __future__ import annotations

from tasks.judging.calibration import watch_anchors
from tasks.operations.reconcile import reconcile_stores
from tasks.running import choose_month
from tasks.running.flow_runs import flow, publish_summary, require_budget
from tasks.running.sharing import conducting


@flow
def drift(month: str = "") -> dict[str, object]:
    """Let every judge in use judge the anchor set again, once a month.

    Args:
        month: month as YYYY-MM; empty for the present one.
    """
    require_budget()
    month = choose_month(month)
    reconcile_stores()
    with conducting("drift", "drift", month=month):
        result = watch_anchors(month)
    publish_summary(result)
    return result
