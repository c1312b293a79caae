"""Accepted questions and variants become a bank version without duplicates."""

from __future__ import annotations

from prefect import flow

from tasks.dedupe.task import publish_bank


@flow(name="dedupe")
def dedupe() -> dict[str, object]:
    """Find duplicates over the whole bank and publish a new version, if anything changed."""
    return publish_bank()
