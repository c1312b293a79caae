"""Decisions to variants by template; a model's batch is released or refused by its sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.augment import free_response, permutation, true_false
from tasks.bank.augment.quarantine import build_refused_variant
from tasks.bank.augment.true_false import augment_questions, build_variants_frame
from tasks.bank.augment.variant_rules import SAMPLE_PASSES_REVIEW
from tasks.questions import Question
from tasks.questions.rules import find_broken_rules
from tasks.questions.variants import ReviewedQuestion, Variant
from warehouse.lake import Batch, Lake

Make = Callable[[Question, datetime], Variant | None]

_MAKERS: dict[str, Make] = {
    permutation.METHOD: permutation.make_permuted_variant,
    free_response.METHOD: free_response.make_free_response,
}


@dataclass
class AugmentSummary:
    """Batches that were expanded now, and what came of them."""

    batches: int = 0
    variants: int = 0
    refused: int = 0


@dataclass
class SettledSummary:
    """Batches of variants that were settled now, those that wait, and the variants released."""

    released: int = 0
    refused: int = 0
    held: int = 0
    variants: int = 0


def land_variants(
    lake: Lake, methods: Sequence[str] = (true_false.METHOD,), batch_id: str = ""
) -> AugmentSummary:
    """Make variants by template of accepted originals.

    This is done for every review batch (or one) that has none yet.

    A question that breaks a format rule makes none and goes to quarantine with the rule's name. `methods` are templates of
    `tasks.bank.augment.methods`; each lands its own unit.
    """
    summary = AugmentSummary()
    done = lake.units("variants")
    batches = sorted(lake.units("review_decisions"))
    for unit in [batch_id] if batch_id else batches:
        for method in methods:
            if name_unit(unit, method) in done:
                continue
            landing = lake.land_together([build_template_batch(lake, unit, method)], stage="augment")[0]
            summary.batches += 1
            summary.variants += landing.row_count
            summary.refused += landing.rejected_count
    return summary


def name_unit(batch_id: str, method: str) -> str:
    """The unit of a batch's variants by a template; the batch's own name for the usual ones."""
    return batch_id if method == true_false.METHOD else f"{batch_id}/{method}"


def build_template_batch(
    lake: Lake, batch_id: str, method: str = true_false.METHOD, rewritten: pl.DataFrame | None = None
) -> Batch:
    """A review batch's variants by a template, as they are landed.

    Options of which a model's statement is in `variants`, or among `rewritten` (parent_uuid, option_label), get none.
    """
    now = datetime.now(UTC)
    accepted = lake.read("accepted_questions", {"batch_id": batch_id})
    unit = name_unit(batch_id, method)
    if method != true_false.METHOD:
        return Batch("variants", unit, *_make_each(accepted, _MAKERS[method], unit, now))
    variants, broken = augment_questions(accepted, unit=unit, now=now)
    replaced = lake.read("rewritten_options", {"batch_id": batch_id})
    if rewritten is not None:
        replaced = pl.concat([replaced, rewritten.select(replaced.columns)])
    if not replaced.is_empty():
        variants = variants.join(replaced, on=["parent_uuid", "option_label"], how="anti")
    return Batch("variants", unit, variants, refused=broken)


def _make_each(
    accepted: pl.DataFrame, make: Make, unit: str, now: datetime
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Variants of sound originals, and those that break a rule as rows of `quarantine`."""
    variants: list[Variant] = []
    refused: list[dict[str, object]] = []
    for row in accepted.iter_rows(named=True):
        found = ReviewedQuestion.from_row(row)
        made_at = found.decided_at or now
        if not found.question.is_original or find_broken_rules(found.content):
            continue
        variant = make(found.question, made_at)
        if variant is None:
            continue
        rules = find_broken_rules(variant.content)
        refused += [build_refused_variant(unit, variant, rule, made_at) for rule in rules]
        if not rules:
            variants.append(variant)
    return build_variants_frame(variants), get_table("quarantine").frame(refused)


def settle_variant_batches(lake: Lake, settings: Settings) -> SettledSummary:
    """Release each held batch whose sample passed, and refuse each whose sample did not.

    There is one transaction per batch. A variant of the sample fails when people reject it or correct its
    key; the batch passes when no larger share fails than the setting `variant_failure_gate`. A released
    statement takes the place of the template's about the same option.
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
    """How many decided variants of a sample are wrong: rejected, or with a corrected key."""
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
