"""From landed review decisions to landed variants, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from tasks.augment.true_false import augment_questions
from warehouse.lake.store import Batch, Lake


@dataclass
class AugmentSummary:
    """Batches that were expanded now, and what came of them."""

    batches: int = 0
    variants: int = 0
    refused: int = 0


def land_variants(lake: Lake) -> AugmentSummary:
    """Make variants by template of every accepted question whose batch has none yet.

    A question that breaks a format rule makes none and goes to quarantine with the rule's name.
    """
    summary = AugmentSummary()
    done = lake.units("variants")
    for unit in sorted(lake.units("review_decisions") - done):
        accepted = lake.read("accepted_questions", {"batch_id": unit})
        variants, broken = augment_questions(accepted, unit=unit, now=datetime.now(UTC))
        landing = lake.land_together([Batch("variants", unit, variants, refused=broken)], stage="augment")[0]
        summary.batches += 1
        summary.variants += landing.row_count
        summary.refused += landing.rejected_count
    return summary
