"""Augmentation as Prefect sees it: accepted questions → variants → land."""

from __future__ import annotations

from prefect import task

from schemas.settings import load_settings
from tasks.augment.landing import land_variants
from tasks.faults import hide_content
from tasks.flow_runs.task import sign_landings
from warehouse.lake.store import open_lake


@task(name="augment_accepted")
@hide_content
@sign_landings
def augment_accepted() -> dict[str, object]:
    """Make variants of the accepted questions of every batch that has none yet."""
    with open_lake(load_settings()) as lake:
        summary = land_variants(lake)
    return {
        "augmented_batches": summary.batches,
        "variants": summary.variants,
        "refused_rows": summary.refused,
    }
