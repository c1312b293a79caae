"""Variants written by a model and held to rules; what breaks one is refused by its name.

Where a statement in the place of an option does not pass, the template's stays; where statements about a material or a
paraphrase do not, the question stays as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import polars as pl

from schemas.errors import ProctorError
from schemas.tables import get_table
from tasks.bank.augment.quarantine import build_refused_reply, build_refused_variant
from tasks.bank.augment.requests import PROMPT_VERSION, Statement, build_messages, build_reply_schema
from tasks.bank.augment.true_false import build_variants_frame, state_as_true_or_false
from tasks.bank.augment.variant_rules import (
    BOTH_TRUTHS_ARE_STATED,
    REPLY_IS_READABLE,
    find_broken_paraphrase_rules,
    find_broken_statement_rules,
    find_broken_support_rules,
    has_both_truths,
)
from tasks.bank.augment.writing_tasks import WritingTask, list_writing_tasks
from tasks.models import CallFailed, CallRequest, ModelClient
from tasks.models.reading import parse_json_object
from tasks.models.registry import RegisteredModel
from tasks.questions import Option, Question, QuestionContent
from tasks.questions.rules import find_broken_rules
from tasks.questions.variants import ReviewedQuestion, Variant, VariantOrigin, find_doubts, make_variant

T = TypeVar("T")

PURPOSE = "augment"
# A reply that does not pass is asked for once more; after that what was there stays.
TRIES = 2
# Pieces of work at once; how many calls are in flight is the client's business.
CHUNK = 500


class VariantsIncomplete(ProctorError):
    """`failed_count` calls got no reply; those that did are paid for and kept."""

    def __init__(self, message: str, failed_count: int) -> None:
        super().__init__(message)
        self.failed_count = failed_count


@dataclass(frozen=True)
class WrittenVariants:
    """What a model wrote by one method.

    Attributes:
        variants: rows of `variants`.
        quarantine: rows of `quarantine`: replies and variants that broke a rule, once per rule.
        parent_count: pieces of work: options, materials or questions.
        fallback_count: pieces of which nothing passed.
    """

    variants: pl.DataFrame = field(repr=False)
    quarantine: pl.DataFrame = field(repr=False)
    parent_count: int
    fallback_count: int


@dataclass(frozen=True)
class Writing:
    """What a model's calls are for.

    Attributes:
        run_id: what they count for in the budget.
        unit: what they are landed with.
        now: when the variants are made; a question's own `decided_at` goes before.
    """

    run_id: str
    unit: str
    now: datetime


async def write_variants(
    client: ModelClient,
    model: RegisteredModel,
    questions: pl.DataFrame,
    method: str,
    writing: Writing,
    *,
    advance: Callable[[int], None] = lambda _: None,
) -> WrittenVariants:
    """Variants of accepted originals by one method of `MODEL_METHODS`.

    Asking again does not pay for anything twice.

    `declarative_rewrite`: a statement for each option of a choice, to stand in the place of the template's.
    `material_to_true_false`: statements about each material, once per material, whoever shares it.
    `paraphrase`: each question in other words.

    Args:
        client: the door to models.
        model: the generator.
        questions: rows of `review_decisions`, accepted ones.
        method: what to write.
        writing: what the calls are for.
        advance: told of pieces of work as they are done.

    Raises:
        VariantsIncomplete: calls failed; what was paid is replayed next time.
        BudgetError: from the client.
    """
    writer = _Writer(client, model, writing)
    work: list[Callable[[], Coroutine[None, None, list[Variant]]]] = [
        partial(writer.write, piece, method) for piece in list_writing_tasks(questions, method)
    ]
    groups = await _gather(work, advance)
    quarantine = get_table("quarantine").frame(writer.refused)
    return WrittenVariants(
        variants=build_variants_frame(_unique(variant for group in groups for variant in group)),
        quarantine=quarantine.unique(["row_key", "rule"], maintain_order=True),
        parent_count=len(work),
        fallback_count=sum(not group for group in groups),
    )


class _Writer:
    """The calls to the generator, and what was refused of their replies."""

    def __init__(self, client: ModelClient, model: RegisteredModel, writing: Writing) -> None:
        self.client = client
        self.model = model
        self.run_id = writing.run_id
        self.unit = writing.unit
        self.now = writing.now
        self.refused: list[dict[str, object]] = []

    async def write(self, piece: WritingTask, method: str) -> list[Variant]:
        """What one method makes of a piece of work."""
        if piece.option is not None:
            return await self._rewrite(piece, piece.option)
        return await (self._state if method == "material_to_true_false" else self._paraphrase)(piece)

    async def _rewrite(self, piece: WritingTask, option: Option) -> list[Variant]:
        """The option as a statement; none where the model's does not pass."""
        parent, content = piece.parent, piece.parent.content
        for attempt in range(TRIES):
            reply = await self._ask(parent.question, "declarative_rewrite", attempt, piece)
            statement = _read_text(reply, "statement")
            if statement is None:
                continue
            variant = self._make(
                parent,
                state_as_true_or_false(content, statement, truth=option.label in content.answer),
                "declarative_rewrite",
                option_label=option.label,
            )
            if not self._refuse(
                content, variant, find_broken_statement_rules(content.stem, option.text, statement)
            ):
                return [variant]
        return []

    async def _state(self, piece: WritingTask) -> list[Variant]:
        """True/false statements about the parent's material, each with the sentence behind it."""
        parent, count = piece.parent, int(piece.fields["count"])
        material = str(piece.fields["material"])
        # The parent's explanation is about the parent's question.
        unexplained = replace(parent.content, explanation=None)
        for attempt in range(TRIES):
            reply = await self._ask(parent.question, "material_to_true_false", attempt, piece)
            sound: list[tuple[Statement, Variant]] = []
            for statement in _read_statements(reply):
                variant = self._make(
                    parent,
                    state_as_true_or_false(unexplained, statement.text.strip(), truth=statement.is_true),
                    "material_to_true_false",
                    support=statement.support.strip(),
                )
                if not self._refuse(unexplained, variant, find_broken_support_rules(material, statement)):
                    sound.append((statement, variant))
            kept = _balance(sound, count)
            if has_both_truths([statement for statement, _ in kept]):
                return [variant for _, variant in kept]
            for _, variant in sound:
                self._refuse(unexplained, variant, [BOTH_TRUTHS_ARE_STATED])
        return []

    async def _paraphrase(self, piece: WritingTask) -> list[Variant]:
        """The question in other words; none when the model's words do not pass."""
        parent, content = piece.parent, piece.parent.content
        for attempt in range(TRIES):
            reply = await self._ask(parent.question, "paraphrase", attempt, piece)
            stem = _read_text(reply, "stem")
            if stem is None:
                continue
            reworded = replace(content, bare=replace(content.bare, stem=stem))
            variant = self._make(parent, reworded, "paraphrase")
            if not self._refuse(content, variant, find_broken_paraphrase_rules(content.stem, stem)):
                return [variant]
        return []

    def _make(
        self,
        parent: ReviewedQuestion,
        content: QuestionContent,
        method: str,
        *,
        option_label: str | None = None,
        support: str | None = None,
    ) -> Variant:
        return make_variant(
            parent.question,
            content,
            VariantOrigin(
                method=method,
                generator=self.model.name,
                prompt_version=PROMPT_VERSION,
                made_at=parent.decided_at or self.now,
            ),
            option_label=option_label,
            support=support,
        )

    async def _ask(
        self, parent: Question, task: str, attempt: int, piece: WritingTask
    ) -> dict[str, object] | None:
        """The reply's JSON object; null where none is of the form asked for, and it is refused."""
        request = CallRequest(
            purpose=PURPOSE,
            messages=build_messages(task, **piece.fields),
            run_id=self.run_id,
            unit=self.unit,
            salt=f"try {attempt}" if attempt else "",
            parameters={"response_format": build_reply_schema(task)} if self.model.offers_schema else {},
        )
        try:
            reply = await self.client.complete(self.model, request)
        except CallFailed as error:
            # It is refused where others are answered (`_gather`).
            self._refuse_reply(parent, task, attempt, error.error)
            raise
        found = parse_json_object(reply.text, _name_key(task)) if reply.status == "answered" else None
        if found is None or not _has_form(task, found):
            self._refuse_reply(parent, task, attempt, reply.text)
            return None
        return found

    def _refuse_reply(self, parent: Question, task: str, attempt: int, text: str) -> None:
        row = build_refused_reply(self.unit, parent, task, attempt, text, REPLY_IS_READABLE, self.now)
        self.refused.append(row)

    def _refuse(self, parent: QuestionContent, variant: Variant, broken: Sequence[str]) -> bool:
        """Whether the variant breaks a rule or raises a doubt its parent does not: quarantined."""
        known = find_doubts(parent)
        doubts = [name for name in find_doubts(variant.content) if name not in known]
        rules = list(dict.fromkeys([*broken, *find_broken_rules(variant.content), *doubts]))
        self.refused += [build_refused_variant(self.unit, variant, rule, self.now) for rule in rules]
        return bool(rules)


def _name_key(task: str) -> str:
    """The name under which a task's reply gives what was asked for."""
    return {"material_to_true_false": "statements", "declarative_rewrite": "statement"}.get(task, "stem")


def _has_form(task: str, reply: dict[str, object]) -> bool:
    return isinstance(reply[_name_key(task)], list if task == "material_to_true_false" else str)


def _read_text(reply: dict[str, object] | None, key: str) -> str | None:
    return None if reply is None else str(reply[key]).strip()


def _read_statements(reply: dict[str, object] | None) -> list[Statement]:
    found = [] if reply is None else reply["statements"]
    assert isinstance(found, list)
    return [Statement.from_reply(fields) for fields in found if isinstance(fields, dict)]


def _balance(sound: Sequence[tuple[Statement, Variant]], count: int) -> list[tuple[Statement, Variant]]:
    """At most `count` of the statements, in order, both truths among them where there are both."""
    kept = list(sound[:count])
    missing = {True, False} - {statement.is_true for statement, _ in kept}
    other = next((one for one in sound[count:] if one[0].is_true in missing), None)
    return [*kept[:-1], other] if other is not None and len(kept) > 1 else kept


async def _gather(
    work: Sequence[Callable[[], Coroutine[None, None, list[T]]]], advance: Callable[[int], None]
) -> list[list[T]]:
    """Results in order, a chunk at a time: a failure wastes none, all replies reach the ledger.

    Where the model does not take a piece, and takes most of the others, nothing comes of it.
    """
    results: list[list[T]] = []
    for start in range(0, len(work), CHUNK):
        chunk = work[start : start + CHUNK]
        outcomes = await asyncio.gather(*(one() for one in chunk), return_exceptions=True)
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        most = max(len(chunk) // 2, len(results[:1]))
        if len(failed) > most or not all(isinstance(one, CallFailed) and one.is_not_taken for one in failed):
            other = next((error for error in failed if not isinstance(error, CallFailed)), None)
            if other is not None:
                raise other
            raise VariantsIncomplete(
                f"{len(failed)} calls of {len(chunk)} got no reply: {failed[0]} "
                "What was answered is kept; run the same command again.",
                len(failed),
            )
        results += [[] if isinstance(outcome, BaseException) else outcome for outcome in outcomes]
        advance(len(chunk))
    return results


def _unique(variants: Iterable[Variant]) -> list[Variant]:
    """One variant per question, the first of each."""
    first: dict[str, Variant] = {}
    for variant in variants:
        first.setdefault(variant.question.question_uuid, variant)
    return list(first.values())
