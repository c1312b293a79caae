"""What a run came to is frozen and published."""

from __future__ import annotations

from tasks.editions import publish_edition
from tasks.judging.calibration import correct_scores
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import check_not_waiting, flow, publish_summary


@flow
def publish(
    run_id: str,
    is_revision: bool = False,
    reason: str = "",
    overridden: list[str] | None = None,
    is_recalibrated: bool = False,
) -> dict[str, object]:
    """Publish a judged run as an edition, once; a revision corrects one and needs its reason.

    Args:
        run_id: run to publish.
        is_revision: correct what is published.
        reason: why it is corrected or a gate overridden.
        overridden: gates to publish in spite of.
        is_recalibrated: fit all editions so far from nothing, on a new scale.
    """
    reconcile_stores(leaves_log=True)
    result = {"run_id": run_id} | publish_edition(
        run_id, is_revision, reason, overridden, is_recalibrated=is_recalibrated
    )
    result |= correct_scores(run_id)
    publish_summary(result)
    check_not_waiting(result)
    return result
