"""From accepted questions and their variants to the next version of the bank, without duplicates."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from schemas.errors import GateError
from schemas.tables import get_table
from tasks.dedupe.duplicates import Duplicate, Entry, find_duplicates
from tasks.questions.rules import find_broken_rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

Rows = list[dict[str, Any]]


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

    A lineage that `decisions` mentions is built anew from its latest decision and its variants, every other lineage
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
    previous = [] if previous_bank is None else previous_bank.to_dicts()
    current = _find_current(decisions)
    left_out = set(retired) | _find_rejected_lineages(current)
    refused: Counter[str] = Counter()

    rebuilt = _build_originals(current, left_out, refused)
    rebuilt += _build_variants(variants, rebuilt, current, refused)
    mentioned = {
        row["lineage_uuid"] for row in current.values() if row["question_uuid"] == row["lineage_uuid"]
    }
    carried = [
        row
        for row in previous
        if row["lineage_uuid"] not in mentioned and row["lineage_uuid"] not in left_out
    ]
    rows = _unique([*rebuilt, *carried])
    if not rows and not previous:
        raise GateError(
            "No question is accepted yet, so there is no bank to publish. Close a review batch first "
            "(`proctor review status`)."
        )

    known = {(row["question_uuid"], row["lineage_uuid"]): row["revision"] for row in previous}
    entries = [_build_entry(row, known) for row in rows]
    kept, found = find_duplicates(
        entries, threshold=threshold, encode=encode, semantic_threshold=semantic_threshold
    )
    bank_rows = sorted((entry.row for entry in kept), key=lambda row: row["question_uuid"])
    return _build_result(bank_rows, previous, found, occurrences, refused, now)


def compute_content_hash(rows: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256 over UUIDs and revisions, in order of the UUIDs."""
    lines = sorted(f"{row['question_uuid']}#{row['revision']}" for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _build_result(
    bank_rows: Rows,
    previous: Rows,
    found: Sequence[Duplicate],
    occurrences: pl.DataFrame | None,
    refused: Counter[str],
    now: datetime,
) -> BankBuild:
    content_hash = compute_content_hash(bank_rows)
    last_version = max((row["bank_version"] for row in previous), default=0)
    is_unchanged = bool(previous) and content_hash == compute_content_hash(previous)
    version = last_version if is_unchanged else last_version + 1

    duplicate_rows = [_build_duplicate_row(version, duplicate) for duplicate in found]
    duplicate_rows += _list_other_documents(version, bank_rows, occurrences)
    by_key = {
        (row["dropped_uuid"], row["dropped_document_id"] or ""): row for row in reversed(duplicate_rows)
    }
    duplicates = get_table("duplicates").frame([by_key[key] for key in sorted(by_key)])
    names = [column.name for column in get_table("bank").own_columns]
    bank = get_table("bank").frame(
        []
        if is_unchanged
        else [{**{name: row.get(name) for name in names}, "bank_version": version} for row in bank_rows]
    )
    lineages = {row["lineage_uuid"] for row in bank_rows}
    version_row = {
        "bank_version": version,
        "question_count": len(bank_rows),
        "lineage_count": len(lineages),
        "duplicate_count": duplicates.height,
        "content_hash": content_hash,
        "published_at": now,
    }
    return BankBuild(
        version=version,
        is_unchanged=is_unchanged,
        bank=bank,
        duplicates=duplicates,
        bank_versions=get_table("bank_versions").frame([] if is_unchanged else [version_row]),
        refused=dict(sorted(refused.items())),
        retired_lineages=sorted({row["lineage_uuid"] for row in previous} - lineages),
    )


def _find_current(decisions: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """The latest decision that settles each question; an undecided review changes nothing."""
    current: dict[str, dict[str, Any]] = {}
    for row in (
        decisions.filter(pl.col("outcome") != "undecided")
        .sort("decided_at", "batch_id")
        .iter_rows(named=True)
    ):
        current[row["question_uuid"]] = row
    return current


def _find_rejected_lineages(current: Mapping[str, Mapping[str, Any]]) -> set[str]:
    return {
        row["lineage_uuid"]
        for row in current.values()
        if row["outcome"] == "rejected" and row["question_uuid"] == row["lineage_uuid"]
    }


def _build_originals(
    current: Mapping[str, Mapping[str, Any]], left_out: Collection[str], refused: Counter[str]
) -> Rows:
    rows = []
    for row in current.values():
        if row["outcome"] != "accepted" or row["question_uuid"] != row["lineage_uuid"]:
            continue
        if row["lineage_uuid"] in left_out:
            continue
        if rules := find_broken_rules(row):
            refused.update(rules)
            continue
        rows.append({**row, "parent_uuid": None, "method": "original"})
    return rows


def _build_variants(
    variants: pl.DataFrame,
    originals: Rows,
    current: Mapping[str, Mapping[str, Any]],
    refused: Counter[str],
) -> Rows:
    """Variants of the originals' current revisions, with what their own review decided."""
    parents = {row["question_uuid"]: row for row in originals}
    rows = []
    for variant in variants.iter_rows(named=True):
        parent = parents.get(variant["parent_uuid"])
        if parent is None or not _is_of_batch(variant.get("landing_unit"), parent["batch_id"]):
            continue
        decision = current.get(variant["question_uuid"])
        if decision is not None and decision["outcome"] == "rejected":
            continue
        row = {**variant, "document_id": parent["document_id"], "decided_at": parent["decided_at"]}
        row["accept_count"] = parent["accept_count"] if decision is None else decision["accept_count"]
        if decision is not None:
            names = ("revision", "stem", "material", "options", "answer", "explanation", "question_type")
            row |= {name: decision[name] for name in names}
        if rules := find_broken_rules(row):
            refused.update(rules)
            continue
        rows.append(row)
    return rows


def _is_of_batch(landing_unit: str | None, batch_id: str) -> bool:
    return landing_unit is None or landing_unit.split("/", 1)[0] == batch_id


def _unique(rows: Rows) -> Rows:
    """One row per question and lineage, the first. Two lineages may hold the same variant: which of them keeps it
    is for the duplicates to say.
    """
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        first.setdefault((row["question_uuid"], row["lineage_uuid"]), row)
    return list(first.values())


def _build_entry(row: dict[str, Any], known: Mapping[tuple[str, str], int]) -> Entry:
    revision = known.get((row["question_uuid"], row["lineage_uuid"]))
    return Entry(
        row=row,
        is_known=revision is not None,
        is_new=revision != row["revision"],
        accept_count=row.get("accept_count") or 0,
        decided_at="" if row.get("decided_at") is None else row["decided_at"].isoformat(),
    )


def _build_duplicate_row(version: int, duplicate: Duplicate) -> dict[str, Any]:
    return {
        "bank_version": version,
        "kept_uuid": duplicate.kept["question_uuid"],
        "dropped_uuid": duplicate.dropped["question_uuid"],
        "kept_document_id": duplicate.kept.get("document_id"),
        "dropped_document_id": duplicate.dropped.get("document_id"),
        "method": duplicate.method,
        "similarity": duplicate.similarity,
        "reason": duplicate.reason,
    }


def _list_other_documents(version: int, bank_rows: Rows, occurrences: pl.DataFrame | None) -> Rows:
    """The same question found in further documents: each of those copies is a duplicate of the reviewed one."""
    if occurrences is None:
        return []
    documents = {row["question_uuid"]: row["document_id"] for row in bank_rows if row["method"] == "original"}
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
