"""From accepted questions and their variants to the next version of the bank, without duplicates."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from schemas.errors import GateError
from schemas.tables import get_table
from tasks.dedupe.duplicates import Duplicate, Entry, find_duplicates
from tasks.questions.question import ORIGINAL, Question
from tasks.questions.reviewed import ReviewedQuestion
from tasks.questions.rules import find_broken_rules
from tasks.questions.variant import Variant

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

Rows = list[dict[str, object]]


@dataclass(frozen=True)
class BankBuild:
    """The next bank version, ready to be landed under the unit `str(version)`.

    Attributes:
        version: number of the version; that of the previous bank when nothing changed.
        is_unchanged: the content is that of the previous bank; then `bank` and `bank_versions` are empty.
        bank: rows of `bank`.
        duplicates: rows of `duplicates`, complete for this version, unchanged or not.
        bank_versions: the one row of `bank_versions`.
        refused: accepted questions and variants that break a format rule and are left out, by rule.
        retired_lineages: lineages of the previous bank that are left out from now on.
    """

    version: int
    is_unchanged: bool
    bank: pl.DataFrame = field(repr=False)
    duplicates: pl.DataFrame = field(repr=False)
    bank_versions: pl.DataFrame = field(repr=False)
    refused: Mapping[str, int]
    retired_lineages: Sequence[str]


def build_bank(
    decisions: pl.DataFrame,
    variants: pl.DataFrame,
    previous_bank: pl.DataFrame | None = None,
    *,
    now: datetime,
    threshold: float = 0.8,
    occurrences: pl.DataFrame | None = None,
    retired: Collection[str] = (),
    encode: Encode | None = None,
    semantic_threshold: float = 0.95,
) -> BankBuild:
    """Build the next version of the bank; the same input gives the same version.

    A lineage that `decisions` mentions is built again from its latest decision and its variants, every other lineage
    of the previous bank is carried over. A lineage whose original is rejected later, or that is named in `retired`,
    is left out. A question of the previous bank is never displaced by a new arrival: its exposures would be lost.

    Args:
        decisions: rows of `review_decisions`, of all batches or only of new ones, any outcome.
        variants: rows of `variants` of these questions; with a column `landing_unit` only those made from the
            current revision count (their unit is the review batch of the parent, or begins with it and a slash).
        previous_bank: rows of `bank` of the latest version; null or empty before the first.
        now: when the version is published.
        threshold: Jaccard of character 3-grams that is a near-duplicate.
        occurrences: rows of `questions` (question_uuid, document_id): where else a question was found.
        retired: lineages to leave out whatever was decided.
        encode: texts to embeddings, to look for semantic duplicates as well; null does not.
        semantic_threshold: cosine that is a semantic duplicate.

    Raises:
        GateError: there is no question to publish and no bank to carry over.
    """
    previous = _Previous.from_frame(previous_bank)
    current = _find_current(decisions)
    left_out = set(retired) | _find_rejected_lineages(current.values())
    refused: Counter[str] = Counter()

    originals = _list_originals(current.values(), left_out, refused)
    mentioned = {found.question.lineage_uuid for found in current.values() if found.question.is_original}
    entries = _unique(
        [
            *(_build_entry(found, previous) for found in originals.values()),
            *_list_variants(variants, originals, current, refused, previous),
            *(
                Entry(question, document_id, is_known=True, is_new=False)
                for question, document_id in previous.questions
                if question.lineage_uuid not in mentioned and question.lineage_uuid not in left_out
            ),
        ]
    )
    if not entries and not previous.questions:
        raise GateError(
            "No question is accepted yet, so there is no bank to publish. Close a review batch first "
            "(`proctor review status`)."
        )
    kept, found = find_duplicates(
        entries, threshold=threshold, encode=encode, semantic_threshold=semantic_threshold
    )
    kept.sort(key=lambda entry: entry.question.question_uuid)
    return _build_result(kept, previous, found, occurrences, refused, now)


def compute_content_hash(questions: Iterable[Question]) -> str:
    """SHA-256 over UUIDs and revisions, in order of the UUIDs."""
    lines = sorted(f"{question.question_uuid}#{question.revision}" for question in questions)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True)
class _Previous:
    """The bank before: its version (0 for none), its questions with their documents, and the revisions by key."""

    version: int
    questions: Sequence[tuple[Question, str | None]] = field(repr=False)
    revisions: Mapping[tuple[str, str], int] = field(repr=False)

    @classmethod
    def from_frame(cls, bank: pl.DataFrame | None) -> _Previous:
        if bank is None or bank.is_empty():
            return cls(0, (), {})
        questions = [(Question.from_row(row), row["document_id"]) for row in bank.iter_rows(named=True)]
        revisions = {_key(question): question.revision for question, _ in questions}
        return cls(max(bank["bank_version"].to_list()), questions, revisions)


def _key(question: Question) -> tuple[str, str]:
    """Two lineages may hold the same variant, so a question alone is no key."""
    return question.question_uuid, question.lineage_uuid


def _build_result(
    kept: Sequence[Entry],
    previous: _Previous,
    found: Sequence[Duplicate],
    occurrences: pl.DataFrame | None,
    refused: Counter[str],
    now: datetime,
) -> BankBuild:
    content_hash = compute_content_hash(entry.question for entry in kept)
    before = [question for question, _ in previous.questions]
    is_unchanged = bool(before) and content_hash == compute_content_hash(before)
    version = previous.version if is_unchanged else previous.version + 1

    duplicate_rows = [_build_duplicate_row(version, duplicate) for duplicate in found]
    duplicate_rows += _list_other_documents(version, kept, occurrences)
    by_key = {
        (str(row["dropped_uuid"]), str(row["dropped_document_id"] or "")): row
        for row in reversed(duplicate_rows)
    }
    duplicates = get_table("duplicates").frame([by_key[key] for key in sorted(by_key)])
    bank_rows = [] if is_unchanged else [_build_bank_row(version, entry) for entry in kept]
    lineages = {entry.question.lineage_uuid for entry in kept}
    version_row = {
        "bank_version": version,
        "question_count": len(kept),
        "lineage_count": len(lineages),
        "duplicate_count": duplicates.height,
        "content_hash": content_hash,
        "published_at": now,
    }
    return BankBuild(
        version=version,
        is_unchanged=is_unchanged,
        bank=get_table("bank").frame(bank_rows),
        duplicates=duplicates,
        bank_versions=get_table("bank_versions").frame([] if is_unchanged else [version_row]),
        refused=dict(sorted(refused.items())),
        retired_lineages=sorted({question.lineage_uuid for question in before} - lineages),
    )


def _find_current(decisions: pl.DataFrame) -> dict[str, ReviewedQuestion]:
    """The latest decision that settles each question; an undecided review changes nothing."""
    settled = decisions.filter(pl.col("outcome") != "undecided").sort("decided_at", "batch_id")
    found = map(ReviewedQuestion.from_row, settled.iter_rows(named=True))
    return {reviewed.question.question_uuid: reviewed for reviewed in found}


def _find_rejected_lineages(current: Iterable[ReviewedQuestion]) -> set[str]:
    return {
        found.question.lineage_uuid
        for found in current
        if found.outcome == "rejected" and found.question.is_original
    }


def _list_originals(
    current: Iterable[ReviewedQuestion], left_out: Collection[str], refused: Counter[str]
) -> dict[str, ReviewedQuestion]:
    """Accepted originals by UUID, without those that break a format rule."""
    originals: dict[str, ReviewedQuestion] = {}
    for found in current:
        question = found.question
        if found.outcome != "accepted" or not question.is_original or question.lineage_uuid in left_out:
            continue
        if rules := find_broken_rules(question.content):
            refused.update(rules)
            continue
        originals[question.question_uuid] = replace(
            found, question=replace(question, parent_uuid=None, method=ORIGINAL)
        )
    return originals


def _list_variants(
    variants: pl.DataFrame,
    originals: Mapping[str, ReviewedQuestion],
    current: Mapping[str, ReviewedQuestion],
    refused: Counter[str],
    previous: _Previous,
) -> list[Entry]:
    """Variants of the originals' current revisions, with what their own review decided."""
    entries = []
    for row in variants.iter_rows(named=True):
        parent = originals.get(row["parent_uuid"])
        if parent is None or not _is_of_batch(row.get("landing_unit"), parent.batch_id):
            continue
        variant = Variant.from_row(row)
        decision = current.get(variant.question.question_uuid)
        if decision is not None and decision.outcome == "rejected":
            continue
        question = variant.question if decision is None else _take_edits(variant.question, decision.question)
        if rules := find_broken_rules(question.content):
            refused.update(rules)
            continue
        accepted = replace(
            parent,
            question=question,
            accept_count=(decision or parent).accept_count,
        )
        entries.append(_build_entry(accepted, previous, variant.generator))
    return entries


def _take_edits(variant: Question, reviewed: Question) -> Question:
    """The variant with the texts that its own review accepted; discipline, source and language stay."""
    bare = replace(reviewed.content.bare, language=variant.content.language)
    content = replace(
        variant.content,
        bare=bare,
        answer=reviewed.content.answer,
        explanation=reviewed.content.explanation,
    )
    return replace(variant, revision=reviewed.revision, content=content)


def _is_of_batch(landing_unit: str | None, batch_id: str) -> bool:
    return landing_unit is None or landing_unit.split("/", 1)[0] == batch_id


def _unique(entries: Iterable[Entry]) -> list[Entry]:
    """One entry per question and lineage, the first. Two lineages may hold the same variant: which of them keeps it
    is for the duplicates to say.
    """
    first: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        first.setdefault(_key(entry.question), entry)
    return list(first.values())


def _build_entry(found: ReviewedQuestion, previous: _Previous, generator: str | None = None) -> Entry:
    revision = previous.revisions.get(_key(found.question))
    return Entry(
        found.question,
        found.document_id,
        generator,
        is_known=revision is not None,
        is_new=revision != found.question.revision,
        accept_count=found.accept_count,
        decided_at="" if found.decided_at is None else found.decided_at.isoformat(),
    )


def _build_bank_row(version: int, entry: Entry) -> dict[str, object]:
    return {
        "bank_version": version,
        **entry.question.as_row(),
        "method": entry.question.method,
        "document_id": entry.document_id,
    }


def _build_duplicate_row(version: int, duplicate: Duplicate) -> dict[str, object]:
    return {
        "bank_version": version,
        "kept_uuid": duplicate.kept.question.question_uuid,
        "dropped_uuid": duplicate.dropped.question.question_uuid,
        "kept_document_id": duplicate.kept.document_id,
        "dropped_document_id": duplicate.dropped.document_id,
        "method": duplicate.method,
        "similarity": duplicate.similarity,
        "reason": duplicate.reason,
    }


def _list_other_documents(version: int, kept: Iterable[Entry], occurrences: pl.DataFrame | None) -> Rows:
    """The same question found in further documents: each of those copies is a duplicate of the reviewed one."""
    if occurrences is None:
        return []
    documents = {
        entry.question.question_uuid: entry.document_id for entry in kept if entry.question.method == ORIGINAL
    }
    pairs = occurrences.select("question_uuid", "document_id").unique().sort("question_uuid", "document_id")
    return [
        {
            "bank_version": version,
            "kept_uuid": question_uuid,
            "dropped_uuid": question_uuid,
            "kept_document_id": documents[question_uuid],
            "dropped_document_id": document_id,
            "method": "exact",
            "similarity": 1.0,
            "reason": "the same question in another document: the reviewed copy stays",
        }
        for question_uuid, document_id in pairs.iter_rows()
        if question_uuid in documents and document_id is not None and document_id != documents[question_uuid]
    ]
