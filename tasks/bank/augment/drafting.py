"""Variants by a model: written, held to the rules, and kept back until a sample was read."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.augment.model_variants import PURPOSE, Writing, WrittenVariants, write_variants
from tasks.bank.augment.requests import PROMPT_VERSION
from tasks.models import ModelClient, read_call_frames
from tasks.models.budget import open_budget
from tasks.models.registry import RegisteredModel, check_callable
from tasks.questions import draw_share
from tasks.running import Progress
from tasks.running.claiming import claim_work
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text


@dataclass
class DraftSummary:
    """What was written now.

    Attributes:
        batches: batches of variants that were landed, by name.
        drafts: variants that kept all rules.
        fallbacks: options, materials or questions of which nothing passed.
        refused: replies and variants that broke a rule.
        sampled: variants drawn for review.
        cost_usd: what the calls of these batches cost, replayed ones included.
        calls: what became of the calls.
    """

    batches: list[str] = field(default_factory=list)
    drafts: int = 0
    fallbacks: int = 0
    refused: int = 0
    sampled: int = 0
    cost_usd: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class UnwrittenBatch:
    """What a model has still to write: a method of a review batch, its name and its originals."""

    batch_id: str
    method: str
    name: str
    originals: pl.DataFrame = field(repr=False)


def list_unwritten(
    lake: Lake, model: RegisteredModel, methods: Sequence[str], batch_id: str = ""
) -> Iterator[UnwrittenBatch]:
    """The batches that are still to be written, of every review batch or one."""
    for unit in [batch_id] if batch_id else sorted(lake.units("review_decisions")):
        names = {method: name_variant_batch(unit, method, model) for method in methods}
        done = lake.landed("variant_batches", names.values())
        if done == set(names.values()):
            continue
        accepted = lake.read("accepted_questions", {"batch_id": unit})
        originals = accepted.filter(pl.col("question_uuid") == pl.col("lineage_uuid"))
        for method, name in names.items():
            if name not in done and not originals.is_empty():
                yield UnwrittenBatch(unit, method, name, originals)


def draft_variants(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    model: RegisteredModel,
    methods: Sequence[str],
    batch_id: str = "",
    *,
    budget_usd: float | None = None,
) -> DraftSummary:
    """Let a model write what it has not written yet, and land it as drafts.

    This is done for every review batch, or for one.

    Each batch is landed with its calls and the sample drawn from it in one transaction; nothing of it is a variant before
    `settle_variant_batches` releases it. Killed in the middle, the same command replays what was paid for. The budget (default:
    that of the settings) is one per review batch, over all methods and processes.

    Raises:
        VariantsIncomplete: calls failed; batches landed before stay.
        BudgetError: the next call could exceed the budget.
        StoreError: another process is writing the same batch.
    """
    check_callable([model])
    summary = DraftSummary()
    limit = settings.budget_usd if budget_usd is None else budget_usd
    for batch in list_unwritten(lake, model, methods, batch_id):
        with claim_work(ledger, PURPOSE, batch.name, what=f"writing variants {batch.name}"):
            written, calls = asyncio.run(_write(ledger, settings, model, batch, limit))
            _land(ledger, lake, settings, model, batch, written, summary)
            summary.calls.update(calls)
    return summary


def name_variant_batch(batch_id: str, method: str, model: RegisteredModel) -> str:
    """The name of what a model writes by a method of a review batch: `BATCH/…`."""
    return f"{batch_id}/{method}/{model.name}/{PROMPT_VERSION.replace('/', '-')}"


async def _write(
    ledger: Ledger, settings: Settings, model: RegisteredModel, batch: UnwrittenBatch, limit_usd: float | None
) -> tuple[WrittenVariants, Counter[str]]:
    # Not the month: what was paid for in November is not paid for again in December.
    run_id = f"{PURPOSE}/{batch.batch_id}"
    budget = open_budget(ledger, limit_usd, run_id)
    with Progress(f"augment: {batch.method}") as progress:
        async with ModelClient(ledger, settings, budget=budget) as client:
            written = await write_variants(
                client,
                model,
                batch.originals,
                batch.method,
                Writing(run_id=run_id, unit=batch.name, now=datetime.now(UTC)),
                advance=progress.advance,
            )
            return written, client.counts


def _land(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    model: RegisteredModel,
    batch: UnwrittenBatch,
    written: WrittenVariants,
    summary: DraftSummary,
) -> None:
    name = batch.name
    variants = written.variants
    uuids = variants["question_uuid"].to_list()
    sample = draw_share(sorted(uuids), settings.variant_sample_share, "variants", name)
    drafts = variants.with_columns(
        variant_batch_id=pl.lit(name), is_sampled=pl.col("question_uuid").is_in(sample)
    )
    calls = read_call_frames(ledger, {name: now_text()[:7]})[name]
    costs = calls["cost_usd"]
    now = datetime.now(UTC)
    row: dict[str, object] = {
        "variant_batch_id": name,
        "batch_id": batch.batch_id,
        "method": batch.method,
        "generator": model.name,
        "prompt_version": PROMPT_VERSION,
        "is_simulated": model.is_simulated,
        # Nothing was written: there is nothing to hold back.
        "status": "held" if uuids else "released",
        "parent_count": written.parent_count,
        "variant_count": len(uuids),
        "fallback_count": written.fallback_count,
        "refused_count": written.quarantine["row_key"].n_unique(),
        "sample_count": len(sample),
        "call_count": calls.height,
        "cost_usd": None if costs.null_count() else costs.sum(),
        "drafted_at": now,
        "settled_at": None if uuids else now,
    }
    lake.land_together(
        [
            Batch("variant_drafts", name, drafts, refused=written.quarantine),
            Batch("variant_batches", name, get_table("variant_batches").frame([row])),
            Batch("llm_calls", name, calls),
        ],
        stage="augment",
    )
    summary.batches.append(name)
    summary.drafts += len(uuids)
    summary.fallbacks += written.fallback_count
    summary.refused += written.quarantine["row_key"].n_unique()
    summary.sampled += len(sample)
    summary.cost_usd += float(costs.sum() or 0.0)
