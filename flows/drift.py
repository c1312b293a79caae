"""The judges are watched."""

from __future__ import annotations

from prefect import flow

from tasks.calibration.task import watch_anchors
from tasks.flow_runs.task import RECORDED, name_run, publish_summary, require_budget
from tasks.reconcile.task import reconcile_stores


@flow(name="drift", flow_run_name=name_run, **RECORDED)
def drift(month: str = "") -> dict[str, object]:
    """Let every judge in use judge the anchor set again, once a month.

    Args:
        month: month as YYYY-MM; empty for the present one.
    """
    require_budget()
    reconcile_stores()
    result = watch_anchors(month)
    publish_summary(result)
    return result
