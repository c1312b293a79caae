"""Accepted questions and variants become a bank version without duplicates."""

from __future__ import annotations

from prefect import flow

from tasks.dedupe.task import publish_bank
from tasks.flow_runs.task import name_run, publish_summary
from tasks.reconcile.task import reconcile_stores


@flow(name="dedupe", flow_run_name=name_run)
def dedupe() -> dict[str, object]:
    """Find duplicates over the whole bank and publish a new version, if anything changed."""
    reconcile_stores()
    result = publish_bank()
    publish_summary(result)
    return result
