"""Judges are compared with people."""

from __future__ import annotations

from tasks.judging.calibration import compare_judges, correct_scores
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import flow, publish_summary


@flow
def calibrate(occasion: str = "") -> dict[str, object]:
    """Compare every judge with what people gave the same responses.

    What was published of these responses is corrected.

    Args:
        occasion: occasion of human ratings; empty for the one drawn last.
    """
    reconcile_stores()
    result = compare_judges(occasion) | correct_scores("", occasion)
    publish_summary(result)
    return result
