"""Variants written by a model, off by default: every one is validated, and a template stands where one fails."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from schemas.errors import UsageError
from schemas.questions import CONTENT
from schemas.tables import get_table
from tasks.augment.permutation import make_permuted_variant
from tasks.augment.quarantine import build_quarantine_row
from tasks.augment.requests import (
    PROMPT_VERSION,
    build_messages,
    find_broken_paraphrase_rules,
    find_broken_statement_rules,
    find_broken_support_rules,
)
from tasks.augment.true_false import augment_questions, build_variant
from tasks.questions.rules import find_broken_rules

if TYPE_CHECKING:
    from tasks.models.client import ModelClient
    from tasks.models.registry import RegisteredModel

Row = dict[str, Any]

MODES = ("declarative_rewrite", "material_to_true_false", "paraphrase", "permuted_options")
STATEMENTS_PER_MATERIAL = 4
# A reply that does not pass is asked for once more; after that the template stands.
TRIES = 2
# Coroutines at once; how many calls are in flight is the client's business.
CHUNK = 500


@dataclass(frozen=True)
class ModelAugmentation:
    """Variants by template and by model, what was refused, and counts: `written` and `fallback` by mode."""

    variants: pl.DataFrame = field(repr=False)
    quarantine: pl.DataFrame = field(repr=False)
    written: Mapping[str, int]
    fallback: Mapping[str, int]


async def augment_with_model(
    client: ModelClient,
    model: RegisteredModel,
    questions: pl.DataFrame,
    *,
    unit: str,
    now: datetime,
    modes: Collection[str] = ("declarative_rewrite",),
    statement_count: int = STATEMENTS_PER_MATERIAL,
) -> ModelAugmentation:
    """All variants of accepted questions, with those that `modes` name written by the model.

    `declarative_rewrite` puts a statement in the place of each template variant, with the template where the model's
    statement does not pass; `material_to_true_false` adds statements about each material (once per material, whoever
    shares it); `paraphrase` adds each choice in other words; `permuted_options` (no model) in another order.
    Refused texts are rows of the quarantine with the rule that they broke. Running it again pays for nothing twice.

    Args:
        client: the door to models.
        model: the generator.
        questions: rows of `review_decisions`, accepted ones.
        unit: the review batch they come from; the calls are landed with it.
        now: when the variants are made; a question's own `decided_at` goes before.
        modes: what to make, out of `MODES`.
        statement_count: statements asked for per material.

    Raises:
        UsageError: an unknown mode.
        CallFailed, BudgetError: from the client; nothing is returned then, and what was paid is replayed next time.
    """
    if unknown := set(modes) - set(MODES):
        raise UsageError(f"Unknown augmentation modes {sorted(unknown)}; the modes are {', '.join(MODES)}.")
    by_template, refused = augment_questions(questions, unit=unit, now=now)
    sound = [row for row in questions.iter_rows(named=True) if not find_broken_rules(row)]
    writer = _Writer(client, model, unit, now)
    variants = by_template.to_dicts()
    if "declarative_rewrite" in modes:
        parents = {row["question_uuid"]: row for row in sound}
        variants = await _gather(
            [partial(writer.rewrite, parents[variant["parent_uuid"]], variant) for variant in variants]
        )
    if "material_to_true_false" in modes:
        found = await _gather([partial(writer.state, row, statement_count) for row in _list_materials(sound)])
        variants += [variant for group in found for variant in group]
    if "paraphrase" in modes:
        choices = [row for row in sound if row["question_type"] == "multiple_choice"]
        variants += [
            variant
            for variant in await _gather([partial(writer.paraphrase, row) for row in choices])
            if variant
        ]
    if "permuted_options" in modes:
        made = [make_permuted_variant(row, row.get("decided_at") or now) for row in sound]
        variants += [variant for variant in made if variant]
    quarantine = pl.concat([refused, get_table("quarantine").frame(writer.refused)])
    return ModelAugmentation(
        variants=get_table("variants").frame(_unique(variants)),
        quarantine=quarantine.unique(["row_key", "rule"], maintain_order=True),
        written=dict(sorted(writer.written.items())),
        fallback=dict(sorted(writer.fallback.items())),
    )


class _Writer:
    """One batch's calls to the generator and what came of them."""

    def __init__(self, client: ModelClient, model: RegisteredModel, unit: str, now: datetime) -> None:
        self.client = client
        self.model = model
        self.unit = unit
        self.now = now
        self.refused: list[Row] = []
        self.written: Counter[str] = Counter()
        self.fallback: Counter[str] = Counter()

    async def rewrite(self, parent: Row, template: Row) -> Row:
        """The option's statement by the model, or the template."""
        option = next(
            option["text"] for option in parent["options"] if option["label"] == template["option_label"]
        )
        messages = build_messages("declarative_rewrite", stem=parent["stem"], option=option)
        for attempt in range(TRIES):
            reply = await self._ask(messages, attempt)
            statement = reply.get("statement") if reply else None
            if not isinstance(statement, str):
                continue
            variant = build_variant(
                parent,
                stem=statement.strip(),
                truth=template["answer"] == ["true"],
                method="declarative_rewrite",
                option_label=template["option_label"],
                generator=self.model.name,
                prompt_version=PROMPT_VERSION,
                made_at=template["created_at"],
            )
            if not self._refuse(variant, find_broken_statement_rules(parent["stem"], option, statement)):
                self.written["declarative_rewrite"] += 1
                return variant
        self.fallback["declarative_rewrite"] += 1
        return template

    async def state(self, parent: Row, count: int) -> list[Row]:
        """True/false statements about the parent's material, each with the sentence that supports it."""
        messages = build_messages("material_to_true_false", material=parent["material"], count=count)
        variants: list[Row] = []
        for attempt in range(TRIES):
            reply = await self._ask(messages, attempt)
            statements = reply.get("statements") if reply else None
            for statement in statements if isinstance(statements, list) else []:
                if not isinstance(statement, dict):
                    continue
                variant = build_variant(
                    parent,
                    stem=str(statement.get("statement") or "").strip(),
                    truth=statement.get("answer") == "true",
                    method="material_to_true_false",
                    support=str(statement.get("support") or "").strip(),
                    generator=self.model.name,
                    prompt_version=PROMPT_VERSION,
                    made_at=parent.get("decided_at") or self.now,
                )
                # The parent's explanation is about the parent's question.
                variant["explanation"] = None
                if not self._refuse(variant, find_broken_support_rules(parent["material"], statement)):
                    variants.append(variant)
            if variants:
                break
        self.written["material_to_true_false"] += len(variants)
        self.fallback["material_to_true_false"] += not variants
        return variants[:count]

    async def paraphrase(self, parent: Row) -> Row | None:
        """The question in other words; null when the model's words do not pass."""
        from tasks.questions.identity import compute_question_uuid

        messages = build_messages("paraphrase", stem=parent["stem"])
        for attempt in range(TRIES):
            reply = await self._ask(messages, attempt)
            stem = reply.get("stem") if reply else None
            if not isinstance(stem, str):
                continue
            variant: Row = {
                **{column.name: parent.get(column.name) for column in CONTENT},
                "stem": stem.strip(),
                "question_uuid": compute_question_uuid(
                    parent["question_type"], stem.strip(), parent.get("material"), parent["options"] or []
                ),
                "revision": 1,
                "lineage_uuid": parent["lineage_uuid"],
                "parent_uuid": parent["question_uuid"],
                "method": "paraphrase",
                "option_label": None,
                "generator": self.model.name,
                "prompt_version": PROMPT_VERSION,
                "support": None,
                "created_at": parent.get("decided_at") or self.now,
            }
            if not self._refuse(variant, find_broken_paraphrase_rules(parent["stem"], stem)):
                self.written["paraphrase"] += 1
                return variant
        self.fallback["paraphrase"] += 1
        return None

    async def _ask(self, messages: list[dict[str, str]], attempt: int) -> Row | None:
        from tasks.models.client import CallRequest
        from tasks.models.replies import parse_json_object

        reply = await self.client.complete(
            self.model,
            CallRequest(
                purpose="augment", messages=messages, unit=self.unit, salt=f"try {attempt}" if attempt else ""
            ),
        )
        return parse_json_object(reply.text) if reply.status == "answered" else None

    def _refuse(self, variant: Row, broken: Sequence[str]) -> bool:
        """Whether the variant breaks a rule; it is then kept for the quarantine."""
        rules = list(dict.fromkeys([*broken, *find_broken_rules(variant)]))
        self.refused += [build_quarantine_row(self.unit, variant, rule, self.now) for rule in rules]
        return bool(rules)


async def _gather(work: Sequence[Callable[[], Coroutine[Any, Any, Any]]]) -> list[Any]:
    """Results in order, a chunk at a time; the first failure stops the rest of its chunk and is raised as it is."""
    results: list[Any] = []
    for start in range(0, len(work), CHUNK):
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one()) for one in work[start : start + CHUNK]]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        results += [task.result() for task in tasks]
    return results


def _list_materials(rows: Sequence[Row]) -> list[Row]:
    """One question per material: sub-questions of one text share its statements."""
    first: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: str(row["question_uuid"])):
        if row["question_type"] == "material_analysis" and (row.get("material") or "").strip():
            first.setdefault("".join(row["material"].split()), row)
    return list(first.values())


def _unique(variants: Sequence[Row]) -> list[Row]:
    """One row per question, the first of each."""
    first: dict[str, Row] = {}
    for variant in variants:
        first.setdefault(variant["question_uuid"], variant)
    return list(first.values())
