"""Texts that are no longer kept are erased, and closed runs leave the ledger."""

from __future__ import annotations

from tasks.operations.archiving import archive_closed_runs
from tasks.operations.erasure import erase_what_is_due
from tasks.operations.reconcile import reconcile_stores
from tasks.running.flow_runs import flow, publish_summary


@flow
def erase() -> dict[str, object]:
    """Finish what was begun, then erase the texts of old runs, and move closed runs to the lake.

    Texts are erased of runs whose last edition is older than PROCTOR_KEEP_RAW_MONTHS: of none where that is not set.
    """
    reconcile_stores()
    result = erase_what_is_due() | archive_closed_runs()
    publish_summary(result)
    return result
