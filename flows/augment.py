"""Accepted questions become variants."""

from __future__ import annotations

from prefect import flow

from tasks.augment.task import augment_accepted


@flow(name="augment")
def augment(generator: str = "") -> dict[str, object]:
    """Make variants of every accepted question that has none yet.

    `generator` names a model of the registry for the LLM modes; empty means templates only.
    """
    return augment_accepted(generator)
