"""Accepted questions become variants."""

from __future__ import annotations

from prefect import flow

from tasks.augment.task import augment_accepted


@flow(name="augment")
def augment() -> dict[str, object]:
    """Make variants, by template, of every accepted question whose batch has none yet."""
    return augment_accepted()
