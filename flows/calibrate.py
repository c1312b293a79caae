"""Judges are compared with people."""

from __future__ import annotations

from prefect import flow

from tasks.calibration.task import compare_judges, correct_scores
from tasks.flow_runs.task import RECORDED, name_run, publish_summary
from tasks.reconcile.task import reconcile_stores


@flow(name="calibrate", flow_run_name=name_run, **RECORDED)
def calibrate(occasion: str = "") -> dict[str, object]:
    """Compare every judge with what people gave the same responses, and correct what was published of these.

    Args:
        occasion: occasion of human ratings; empty for the one drawn last.
    """
    reconcile_stores()
    result = compare_judges(occasion) | correct_scores("", occasion)
    publish_summary(result)
    return result
