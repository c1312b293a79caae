"""Texts of answers that the installation no longer keeps are erased."""

from __future__ import annotations

from prefect import flow

from tasks.operations.erasure import erase_what_is_due
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import RECORDED, name_run, publish_summary


@flow(name="erase", flow_run_name=name_run, **RECORDED)
def erase() -> dict[str, object]:
    """Finish what was begun, then erase the texts of old runs.

    They are the runs whose last edition is older than PROCTOR_KEEP_RAW_MONTHS.

    Does nothing where that is not set.
    """
    reconcile_stores()
    result = erase_what_is_due()
    publish_summary(result)
    return result
