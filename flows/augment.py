"""Accepted questions become variants."""

from __future__ import annotations

from tasks.bank.augment import augment_accepted, settle_variants, write_variants
from tasks.operations.reconcile import reconcile_stores
from tasks.review import open_variant_samples
from tasks.running.flow_runs import flow, publish_summary, require_budget


@flow
def augment(
    generator: str = "",
    methods: list[str] | None = None,
    batch_id: str = "",
    budget_usd: float | None = None,
) -> dict[str, object]:
    """Make variants of every accepted question that has none yet.

    They are made by template, and by a model where one is named.

    What a model wrote is held back until people have read a sample of it.

    Args:
        generator: registered model that writes variants; empty for templates alone.
        methods: kinds of variants to make; null for all.
        batch_id: review batch whose questions get variants; empty for every batch.
        budget_usd: USD that the model may cost; null for the setting's.
    """
    if generator:
        require_budget(budget_usd)
    reconcile_stores()
    settled = settle_variants()
    made = augment_accepted(methods, generator, batch_id)
    written = write_variants(generator, methods, batch_id, budget_usd)
    opened = open_variant_samples()

    result = settled | made | written | opened
    publish_summary(result)
    return result
