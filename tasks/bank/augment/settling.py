"""What becomes of a batch of a model's variants when people have read its sample.

The batch is released, or refused as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.augment.landing import build_template_batch
from tasks.bank.augment.quarantine import build_refused_variant
from tasks.bank.augment.variant_rules import SAMPLE_PASSES_REVIEW
from tasks.questions.variants import Variant
from warehouse.lake import Batch, Lake


@dataclass
class SettledSummary:
    """What was settled.

    It counts the batches of variants that were settled now, those that still wait, and the variants that were
    released.
    """

    released: int = 0
    refused: int = 0
    held: int = 0
    variants: int = 0


def settle_variant_batches(lake: Lake, settings: Settings) -> SettledSummary:
    """Release each held batch whose sample passed, and refuse each whose sample did not.

    There is one transaction per batch.

    A variant of the sample fails when people reject it or correct its key; the batch passes when no larger share fails than the
    setting `variant_failure_gate`. A released statement takes the place of the template's about the same option.
    """
    summary = SettledSummary()
    held = lake.read("held_variant_batches")
    if held.is_empty():
        return summary
    samples = lake.read("variant_samples")
    for row in held.iter_rows(named=True):
        sample = samples.filter(pl.col("variant_batch_id") == row["variant_batch_id"])
        if sample["outcome"].null_count():
            summary.held += 1
            continue
        failed = count_failed(sample)
        passes = failed <= settings.variant_failure_gate * sample.height
        batches = _build_batches(lake, row | {"failed_count": failed}, passes=passes)
        lake.land_together(batches, stage="augment")
        summary.released += passes
        summary.refused += not passes
        summary.variants += row["variant_count"] if passes else 0
    return summary


def count_failed(sample: pl.DataFrame) -> int:
    """How many decided variants of a sample (outcome, answer, decided_answer) are wrong.

    A wrong variant was rejected, or its key was corrected.
    """
    return sum(
        outcome == "rejected" or list(answer) != list(decided or ())
        for outcome, answer, decided in sample.select("outcome", "answer", "decided_answer").iter_rows()
    )


def _build_batches(lake: Lake, row: Mapping[str, Any], *, passes: bool) -> list[Batch]:
    name = row["variant_batch_id"]
    drafts = lake.read("drafts_of_batch", {"variant_batch_id": name})
    now = datetime.now(UTC)
    settled = dict(row) | {"status": "released" if passes else "refused", "settled_at": now}
    batches = [Batch("variant_batches", name, get_table("variant_batches").frame([settled]))]
    if not passes:
        refused = [
            build_refused_variant(name, Variant.from_row(draft), SAMPLE_PASSES_REVIEW, now)
            for draft in drafts.iter_rows(named=True)
        ]
        return [
            *batches,
            Batch("variants", name, drafts.clear(), refused=get_table("quarantine").frame(refused)),
        ]
    batches.append(Batch("variants", name, drafts))
    if row["method"] == "declarative_rewrite":
        batches.append(build_template_batch(lake, row["batch_id"], rewritten=drafts))
    return batches
