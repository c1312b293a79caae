"""Augmentation as Prefect sees it; a model's variants are held until their sample passes."""

from __future__ import annotations

from schemas.settings import load_settings
from tasks.bank.augment.drafting import draft_variants
from tasks.bank.augment.landing import land_variants, settle_variant_batches
from tasks.bank.augment.methods import MODEL_METHODS, TEMPLATE_METHODS, select_methods
from tasks.models.registry import read_registry
from tasks.running.flow_runs import step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
def augment_accepted(
    methods: list[str] | None = None, generator: str = "", batch_id: str = ""
) -> dict[str, object]:
    """Make variants by template of accepted questions, for every batch (or one) without any yet."""
    chosen = select_methods(methods or [], with_model=bool(generator))
    with open_lake(load_settings()) as lake:
        summary = land_variants(lake, [name for name in chosen if name in TEMPLATE_METHODS], batch_id)
    return {
        "augmented_batches": summary.batches,
        "variants": summary.variants,
        "refused_rows": summary.refused,
    }


@step()
def settle_variants() -> dict[str, object]:
    """Release a model's variants whose sample has passed its review, and refuse those of others."""
    settings = load_settings()
    with open_lake(settings) as lake:
        summary = settle_variant_batches(lake, settings)
    return {
        "released_batches": summary.released,
        "refused_batches": summary.refused,
        "held_batches": summary.held,
        "released_variants": summary.variants,
    }


@step()
def write_variants(
    generator: str, methods: list[str] | None = None, batch_id: str = "", budget_usd: float | None = None
) -> dict[str, object]:
    """Let a model (none: nothing) write variants, held until their sample is reviewed."""
    if not generator:
        return {}
    settings = load_settings()
    model = read_registry(settings.registry_path).generator(generator)
    chosen = [name for name in select_methods(methods or [], with_model=True) if name in MODEL_METHODS]
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        summary = draft_variants(ledger, lake, settings, model, chosen, batch_id, budget_usd=budget_usd)
    return {
        "variant_batches": summary.batches,
        "drafts": summary.drafts,
        "fallbacks": summary.fallbacks,
        "refused_drafts": summary.refused,
        "sampled_drafts": summary.sampled,
        "cost_usd": round(summary.cost_usd, 6),
        "writing_calls": dict(summary.calls),
        "is_simulated": model.is_simulated,
    }
