"""What a run came to is frozen and published."""

from __future__ import annotations

from prefect import flow

from tasks.calibration.task import correct_scores
from tasks.editions.task import publish_edition
from tasks.flow_runs.task import RECORDED, name_run, publish_summary
from tasks.reconcile.task import reconcile_stores


@flow(name="publish", flow_run_name=name_run, **RECORDED)
def publish(
    run_id: str, is_revision: bool = False, reason: str = "", overridden: list[str] | None = None
) -> dict[str, object]:
    """Publish a judged run as an edition, once; a revision corrects one and needs its reason.

    Args:
        run_id: run to publish.
        is_revision: correct what is published.
        reason: why it is corrected or a gate overridden.
        overridden: gates to publish in spite of.
    """
    reconcile_stores()
    result = {"run_id": run_id} | publish_edition(run_id, is_revision, reason, overridden)
    result |= correct_scores(run_id)
    publish_summary(result)
    return result
