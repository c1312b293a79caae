"""Variants written by a model, off by default: every one is validated, and a template stands where one fails."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.augment.permutation import make_permuted_variant
from tasks.augment.quarantine import build_refused_variant
from tasks.augment.requests import (
    PROMPT_VERSION,
    Statement,
    build_messages,
    find_broken_paraphrase_rules,
    find_broken_statement_rules,
    find_broken_support_rules,
)
from tasks.augment.true_false import augment_questions, build_variants_frame, state_as_true_or_false
from tasks.questions.question import Question, QuestionContent
from tasks.questions.reviewed import ReviewedQuestion
from tasks.questions.rules import find_broken_rules
from tasks.questions.variant import Variant, make_variant

if TYPE_CHECKING:
    from tasks.models.client import ModelClient
    from tasks.models.registry import RegisteredModel

T = TypeVar("T")

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
    reviewed = [ReviewedQuestion.from_row(row) for row in questions.iter_rows(named=True)]
    sound = {
        found.question.question_uuid: found for found in reviewed if not find_broken_rules(found.content)
    }
    writer = _Writer(client, model, unit, now)
    variants = [Variant.from_row(row) for row in by_template.iter_rows(named=True)]
    if "declarative_rewrite" in modes:
        variants = await _gather(
            [
                partial(writer.rewrite, sound[str(variant.question.parent_uuid)].question, variant)
                for variant in variants
            ]
        )
    if "material_to_true_false" in modes:
        found_groups = await _gather(
            [partial(writer.state, found, statement_count) for found in _list_materials(sound.values())]
        )
        variants += [variant for group in found_groups for variant in group]
    if "paraphrase" in modes:
        choices = [found for found in sound.values() if found.content.question_type == "multiple_choice"]
        paraphrases = await _gather([partial(writer.paraphrase, found) for found in choices])
        variants += [variant for variant in paraphrases if variant]
    if "permuted_options" in modes:
        made = [make_permuted_variant(found.question, found.decided_at or now) for found in sound.values()]
        variants += [variant for variant in made if variant]
    quarantine = pl.concat([refused, get_table("quarantine").frame(writer.refused)])
    return ModelAugmentation(
        variants=build_variants_frame(_unique(variants)),
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
        self.refused: list[dict[str, object]] = []
        self.written: Counter[str] = Counter()
        self.fallback: Counter[str] = Counter()

    async def rewrite(self, parent: Question, template: Variant) -> Variant:
        """The option's statement by the model, or the template."""
        stem = parent.content.stem
        option = next(
            option.text for option in parent.content.options if option.label == template.option_label
        )
        messages = build_messages("declarative_rewrite", stem=stem, option=option)
        for attempt in range(TRIES):
            reply = await self._ask(messages, attempt)
            statement = reply.get("statement") if reply else None
            if not isinstance(statement, str):
                continue
            content = state_as_true_or_false(
                parent.content, statement.strip(), truth=template.content.answer == ("true",)
            )
            variant = self._make(
                parent,
                content,
                "declarative_rewrite",
                template.created_at,
                option_label=template.option_label,
            )
            if not self._refuse(variant, find_broken_statement_rules(stem, option, statement)):
                self.written["declarative_rewrite"] += 1
                return variant
        self.fallback["declarative_rewrite"] += 1
        return template

    async def state(self, parent: ReviewedQuestion, count: int) -> list[Variant]:
        """True/false statements about the parent's material, each with the sentence that supports it."""
        material = parent.content.material or ""
        # The parent's explanation is about the parent's question.
        unexplained = replace(parent.content, explanation=None)
        messages = build_messages("material_to_true_false", material=material, count=count)
        variants: list[Variant] = []
        for attempt in range(TRIES):
            reply = await self._ask(messages, attempt)
            statements = reply.get("statements") if reply else None
            for fields in statements if isinstance(statements, list) else []:
                if not isinstance(fields, dict):
                    continue
                statement = Statement.from_reply(fields)
                variant = self._make(
                    parent.question,
                    state_as_true_or_false(unexplained, statement.text.strip(), truth=statement.is_true),
                    "material_to_true_false",
                    parent.decided_at,
                    support=statement.support.strip(),
                )
                if not self._refuse(variant, find_broken_support_rules(material, statement)):
                    variants.append(variant)
            if variants:
                break
        self.written["material_to_true_false"] += len(variants)
        self.fallback["material_to_true_false"] += not variants
        return variants[:count]

    async def paraphrase(self, parent: ReviewedQuestion) -> Variant | None:
        """The question in other words; null when the model's words do not pass."""
        content = parent.content
        messages = build_messages("paraphrase", stem=content.stem)
        for attempt in range(TRIES):
            reply = await self._ask(messages, attempt)
            stem = reply.get("stem") if reply else None
            if not isinstance(stem, str):
                continue
            reworded = replace(content, bare=replace(content.bare, stem=stem.strip()))
            variant = self._make(parent.question, reworded, "paraphrase", parent.decided_at)
            if not self._refuse(variant, find_broken_paraphrase_rules(content.stem, stem)):
                self.written["paraphrase"] += 1
                return variant
        self.fallback["paraphrase"] += 1
        return None

    def _make(
        self,
        parent: Question,
        content: QuestionContent,
        method: str,
        made_at: datetime | None,
        *,
        option_label: str | None = None,
        support: str | None = None,
    ) -> Variant:
        return make_variant(
            parent,
            content,
            method=method,
            generator=self.model.name,
            prompt_version=PROMPT_VERSION,
            made_at=made_at or self.now,
            option_label=option_label,
            support=support,
        )

    async def _ask(self, messages: list[dict[str, str]], attempt: int) -> dict[str, object] | None:
        from tasks.models.client import CallRequest
        from tasks.models.replies import parse_json_object

        reply = await self.client.complete(
            self.model,
            CallRequest(
                purpose="augment", messages=messages, unit=self.unit, salt=f"try {attempt}" if attempt else ""
            ),
        )
        return parse_json_object(reply.text) if reply.status == "answered" else None

    def _refuse(self, variant: Variant, broken: Sequence[str]) -> bool:
        """Whether the variant breaks a rule; it is then kept for the quarantine."""
        rules = list(dict.fromkeys([*broken, *find_broken_rules(variant.content)]))
        self.refused += [build_refused_variant(self.unit, variant, rule, self.now) for rule in rules]
        return bool(rules)


async def _gather(work: Sequence[Callable[[], Coroutine[None, None, T]]]) -> list[T]:
    """Results in order, a chunk at a time; the first failure stops the rest of its chunk and is raised as it is."""
    results: list[T] = []
    for start in range(0, len(work), CHUNK):
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one()) for one in work[start : start + CHUNK]]
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        results += [task.result() for task in tasks]
    return results


def _list_materials(questions: Iterable[ReviewedQuestion]) -> list[ReviewedQuestion]:
    """One question per material: sub-questions of one text share its statements."""
    first: dict[str, ReviewedQuestion] = {}
    for found in sorted(questions, key=lambda found: found.question.question_uuid):
        material = "".join((found.content.material or "").split())
        if found.content.question_type == "material_analysis" and material:
            first.setdefault(material, found)
    return list(first.values())


def _unique(variants: Sequence[Variant]) -> list[Variant]:
    """One variant per question, the first of each."""
    first: dict[str, Variant] = {}
    for variant in variants:
        first.setdefault(variant.question.question_uuid, variant)
    return list(first.values())
