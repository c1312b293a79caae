"""Accepted questions become variants."""

from __future__ import annotations

from prefect import flow

from tasks.augment.task import augment_accepted
from tasks.flow_runs.task import name_run, publish_summary
from tasks.reconcile.task import reconcile_stores


@flow(name="augment", flow_run_name=name_run)
def augment() -> dict[str, object]:
    """Make variants, by template, of every accepted question whose batch has none yet."""
    reconcile_stores()
    result = augment_accepted()
    publish_summary(result)
    return result
