"""Somebody is told that a run has failed."""

from __future__ import annotations

from prefect import flow

from tasks.flow_runs.task import RECORDED, name_run, publish_summary
from tasks.notices.task import send_notices


@flow(name="notify", flow_run_name=name_run, **RECORDED)
def notify(failed_run: str, event: str = "", flow_run_id: str = "") -> dict[str, object]:
    """Tell everybody whom PROCTOR_NOTIFY names that a run has ended badly; names and ids, no content.

    Args:
        failed_run: name of the run.
        event: what Prefect said of it, for example `prefect.flow-run.Failed`.
        flow_run_id: the run, as Prefect names resources or by its bare id.
    """
    result = send_notices(failed_run, event, flow_run_id)
    publish_summary(result)
    return result
