"""Variants that a model wrote, until the sample of their batch has passed review."""

from __future__ import annotations

from schemas.bank import VARIANT_METHODS, VARIANTS
from schemas.table import Column, Table

# Held back until the sample is reviewed; then in `variants`, or refused as a whole.
DRAFT_STATUSES = ("held", "released", "refused")

_BATCH = Column.text(
    "variant_batch_id", "The batch of variants: review batch, method, generator and version of the prompt."
)

VARIANT_BATCHES = Table(
    name="variant_batches",
    grain="One row per batch of variants that a model wrote: one method on the accepted questions of one review batch.",
    key=("variant_batch_id",),
    unit="a batch of variants",
    stage="augment",
    own_columns=(
        _BATCH,
        Column.text("batch_id", "The review batch of their parents."),
        Column.text("method", "How they were made.", VARIANT_METHODS),
        Column.text("generator", "The model that wrote them."),
        Column.text("prompt_version", "Version of the prompt."),
        Column.flag("is_simulated", "Whether the generator is a simulation."),
        Column.text(
            "status",
            "Held back until its sample is reviewed; then released, or refused as a whole.",
            DRAFT_STATUSES,
        ),
        Column.count("parent_count", "Options, materials or questions written about."),
        Column.count("variant_count", "Variants that kept all rules."),
        Column.count("fallback_count", "Options, materials or questions of which nothing passed."),
        Column.count("refused_count", "Replies and variants that broke a rule."),
        Column.count("sample_count", "Variants drawn for review."),
        Column(
            "failed_count",
            "int",
            "Variants of the sample that people rejected, or whose key they corrected.",
            low=0,
        ),
        Column.count("call_count", "Calls it took."),
        Column("cost_usd", "float", "What the calls cost; null where a price is unknown.", low=0),
        Column.moment("drafted_at", "When they were written."),
        Column("settled_at", "timestamp", "When they were released or refused; null while they are held."),
    ),
)

VARIANT_DRAFTS = Table(
    name="variant_drafts",
    grain="One row per variant that a model wrote and that kept all rules, whether its batch is released or not.",
    key=("question_uuid", "parent_uuid", "method"),
    unit="a batch of variants",
    stage="augment",
    own_columns=(
        _BATCH,
        Column.flag("is_sampled", "Whether it was drawn for review."),
        *VARIANTS.own_columns,
    ),
)
