"""The stores are looked at every night."""

from __future__ import annotations

from tasks.operations.reconcile import reconcile_stores
from tasks.operations.validation import check_all_stores
from tasks.running.flow_runs import flow, publish_summary


@flow
def checks() -> dict[str, object]:
    """Run every check of the lake.

    Also compare rows by month with the ledger, and name scheduled runs that did not happen.

    Fails with what is wrong and what mends it, so that whoever is told of failed runs is told of this.
    """
    reconcile_stores()
    result = check_all_stores()
    publish_summary(result)
    return result
