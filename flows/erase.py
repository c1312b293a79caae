"""Texts of answers that the installation no longer keeps are erased."""

from __future__ import annotations

from prefect import flow

from tasks.erasure.task import erase_what_is_due
from tasks.flow_runs.task import RECORDED, name_run, publish_summary
from tasks.reconcile.task import reconcile_stores


@flow(name="erase", flow_run_name=name_run, **RECORDED)
def erase() -> dict[str, object]:
    """Finish what was begun, then erase the texts of runs whose last edition is older than PROCTOR_KEEP_RAW_MONTHS.

    Does nothing where that is not set.
    """
    reconcile_stores()
    result = erase_what_is_due()
    publish_summary(result)
    return result
