"""Variants that a model wrote, until the sample of their batch has passed review."""

from __future__ import annotations

from schemas.bank import VARIANT_METHODS, VARIANTS
from schemas.table import Column, Table

# Held back until the sample is reviewed; then in `variants`, or refused as a whole.
DRAFT_STATUSES = ("held", "released", "refused")

_BATCH = Column(
    "variant_batch_id",
    "text",
    "The batch of variants: review batch, method, generator and version of the prompt.",
    required=True,
)

VARIANT_BATCHES = Table(
    name="variant_batches",
    grain="One row per batch of variants that a model wrote: one method on the accepted questions of one review batch.",
    key=("variant_batch_id",),
    unit="a batch of variants",
    stage="augment",
    own_columns=(
        _BATCH,
        Column("batch_id", "text", "The review batch of their parents.", required=True),
        Column("method", "text", "How they were made.", required=True, allowed=VARIANT_METHODS),
        Column("generator", "text", "The model that wrote them.", required=True),
        Column("prompt_version", "text", "Version of the prompt.", required=True),
        Column("is_simulated", "bool", "Whether the generator is a simulation.", required=True),
        Column(
            "status",
            "text",
            "Held back until its sample is reviewed; then released, or refused as a whole.",
            required=True,
            allowed=DRAFT_STATUSES,
        ),
        Column("parent_count", "int", "Options, materials or questions written about.", required=True, low=0),
        Column("variant_count", "int", "Variants that kept all rules.", required=True, low=0),
        Column(
            "fallback_count",
            "int",
            "Options, materials or questions of which nothing passed.",
            required=True,
            low=0,
        ),
        Column("refused_count", "int", "Replies and variants that broke a rule.", required=True, low=0),
        Column("sample_count", "int", "Variants drawn for review.", required=True, low=0),
        Column(
            "failed_count",
            "int",
            "Variants of the sample that people rejected, or whose key they corrected.",
            low=0,
        ),
        Column("call_count", "int", "Calls it took.", required=True, low=0),
        Column("cost_usd", "float", "What the calls cost; null where a price is unknown.", low=0),
        Column("drafted_at", "timestamp", "When they were written.", required=True),
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
        Column("is_sampled", "bool", "Whether it was drawn for review.", required=True),
        *VARIANTS.own_columns,
    ),
)
