"""From what review and augmentation want in the bank to its next version. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from schemas.errors import GateError
from schemas.tables import get_table
from tasks.bank.dedupe.duplicates import DedupeOutcome, Likeness, decide, rank_by_preference
from tasks.bank.dedupe.index import compute_signatures, frame_signatures
from tasks.bank.dedupe.likeness import KnownBank, find_likeness
from tasks.bank.dedupe.looks import show_looks
from tasks.bank.dedupe.wanted import Wanted, list_wanted
from tasks.questions import ORIGINAL

# Questions → a frame of question_uuid, document_id and has_other_key: where they stand, and what else stands in documents that changed.
FindOccurrences = Callable[[Sequence[str]], pl.DataFrame]

_SAME = ("question_uuid", "lineage_uuid")
_ELSEWHERE = "the same question in another document: the reviewed copy stays"
_OTHER_KEY = "the same question in another document, where another key is printed: the reviewed copy stays"
_FORMER = "the other one has left the bank: who has met it has met this one"


@dataclass(frozen=True)
class BankBuild:
    """The next bank version, ready to be landed under the unit `str(version)`.

    Attributes:
        version: number of the version; that of the bank before when nothing changed.
        is_unchanged: nothing enters and nothing leaves; then `bank_versions` is empty, too.
        contents: rows of `bank_contents`: what enters.
        signatures: rows of `question_signatures` for these.
        exits: rows of `bank_exits`: what leaves.
        duplicates: rows of `duplicates` that were found now.
        bank_versions: the one row of `bank_versions`.
        question_count: questions in this version.
        refused: accepted questions and variants that break a format rule and are left out, by rule.
        retired_lineages: lineages of the bank before that are left out from now on.
    """

    version: int
    is_unchanged: bool
    contents: pl.DataFrame = field(repr=False)
    signatures: pl.DataFrame = field(repr=False)
    exits: pl.DataFrame = field(repr=False)
    duplicates: pl.DataFrame = field(repr=False)
    bank_versions: pl.DataFrame = field(repr=False)
    question_count: int
    refused: Mapping[str, int]
    retired_lineages: Sequence[str]


def build_bank(
    decisions: pl.DataFrame,
    variants: pl.DataFrame,
    known: KnownBank,
    *,
    now: datetime,
    threshold: float = 0.8,
    retired: Collection[str] = (),
    find_occurrences: FindOccurrences | None = None,
) -> BankBuild:
    """Build the next version of the bank; the same input gives the same version.

    A lineage whose original `decisions` settle is built again from its latest decision and its variants, every other one
    stays as it is. A lineage whose original is rejected later, or that is named in `retired`, leaves. A question of the bank
    that is still wanted is never displaced by a new arrival: its exposures would be lost.

    Args:
        decisions: rows of `review_decisions` of whole lineages, any outcome.
        variants: rows of `variants` of these lineages, see `tasks.bank.dedupe.wanted.list_wanted`.
        known: the bank before, and its index.
        now: when the version is published.
        threshold: Jaccard of character 3-grams that is a near-duplicate.
        retired: questions to leave out whatever was decided; an original takes its lineage with it.
        find_occurrences: where else questions were found; null does not look.

    Raises:
        GateError: there is no question to publish and no bank before.
    """
    wanted = list_wanted(decisions, variants, retired)
    members = known.members
    if not known.version and wanted.entries.is_empty():
        raise GateError(
            "No question is accepted yet, so there is no bank to publish. Close a review batch first "
            "(`proctor review status`)."
        )
    compared = wanted.entries.join(
        members.select(*_SAME, pl.col("revision").alias("known_revision")),
        on=_SAME,
        how="left",
        maintain_order="left",
    )
    stays = compared.filter(pl.col("known_revision") == pl.col("revision"))
    arrivals = compared.filter(pl.col("known_revision").ne_missing(pl.col("revision"))).with_columns(
        pl.col("known_revision").is_not_null().alias("is_known")
    )
    # From here on, the place of an arrival is that in order of preference.
    ranked = rank_by_preference(arrivals)
    gone = pl.Series(sorted(retired), dtype=pl.String).implode()
    is_out = pl.col("lineage_uuid").is_in(pl.Series(sorted(wanted.lineages), dtype=pl.String).implode())
    touched = members.filter(
        is_out | pl.col("lineage_uuid").is_in(gone) | pl.col("question_uuid").is_in(gone)
    )
    leaving = touched.join(stays, on=_SAME, how="anti")
    staying = members.join(leaving, on=_SAME, how="anti") if leaving.height else members

    shown = show_looks(arrivals, ranked["place"], known.find_looks)
    signatures = compute_signatures(shown, ranked["place"])
    corrected = leaving.join(arrivals, on=_SAME, how="semi")
    likeness = find_likeness(ranked, signatures, known, pl.concat([staying, corrected]), threshold)
    decision = decide(ranked, likeness)
    if decision.dropped_lineages:
        # What an edited original now says is in the bank already: its variants go with it.
        followers = staying.filter(
            pl.col("lineage_uuid").is_in(pl.Series(sorted(decision.dropped_lineages)).implode())
        )
        leaving = pl.concat([leaving, followers])
        staying = staying.join(followers, on=_SAME, how="anti")
    kept = pl.Series(decision.kept.astype("uint32"))
    entering = (
        arrivals[ranked["place"].gather(kept)]
        .with_columns(kept.alias("place"))
        .sort(_SAME, maintain_order=True)
    )
    is_unchanged = entering.is_empty() and leaving.is_empty()
    version = known.version if is_unchanged else known.version + 1
    after = pl.concat([staying.select(*_SAME, "revision"), entering.select(*_SAME, "revision")])
    contents = entering.with_columns(pl.lit(version, pl.Int64).alias("from_version")).select(
        column.name for column in get_table("bank_contents").own_columns
    )
    places = entering["place"].to_list()
    elsewhere = _find_copies_elsewhere(version, staying, entering, find_occurrences)
    former = _list_former_copies(version, entering, likeness, signatures.forms["content_key"])
    duplicates = _frame_duplicates(version, ranked, decision, elsewhere, former)
    return BankBuild(
        version=version,
        is_unchanged=is_unchanged,
        contents=contents,
        signatures=frame_signatures(contents, signatures.take(places)),
        exits=_frame_exits(version, leaving, entering, ranked, decision, wanted, retired),
        duplicates=duplicates,
        bank_versions=get_table("bank_versions").frame(
            []
            if is_unchanged
            else [
                {
                    "bank_version": version,
                    "question_count": after.height,
                    "lineage_count": after["lineage_uuid"].n_unique(),
                    "duplicate_count": count_left_out(duplicates),
                    "content_hash": compute_content_hash(after),
                    "published_at": now,
                }
            ]
        ),
        question_count=after.height,
        refused=wanted.refused,
        retired_lineages=sorted(set(leaving["lineage_uuid"]) - set(after["lineage_uuid"]))
        if leaving.height
        else [],
    )


def count_left_out(duplicates: pl.DataFrame) -> int:
    """Rows of `duplicates` of what is left out, not of what had left before its copy came."""
    return int((duplicates["reason"] != _FORMER).sum())


def compute_content_hash(questions: pl.DataFrame) -> str:
    """SHA-256 over UUIDs and revisions, in order of the UUIDs."""
    lines = questions.select(
        pl.concat_str("question_uuid", pl.col("revision").cast(pl.String), separator="#")
        .sort()
        .str.join("\n")
    ).item()
    return hashlib.sha256(str(lines or "").encode()).hexdigest()


def _frame_exits(
    version: int,
    leaving: pl.DataFrame,
    entering: pl.DataFrame,
    ranked: pl.DataFrame,
    decision: DedupeOutcome,
    wanted: Wanted,
    retired: Collection[str],
) -> pl.DataFrame:
    edited = set(entering.select(_SAME).iter_rows())
    dropped = {ranked.row(duplicate.place, named=True)["question_uuid"] for duplicate in decision.found}
    rows = []
    for question, lineage, from_version in leaving.select(*_SAME, "from_version").sort(_SAME).iter_rows():
        if question in retired or lineage in retired:
            reason = "retired"
        elif not wanted.rejected.isdisjoint((question, lineage)):
            reason = "rejected"
        elif (question, lineage) in edited:
            reason = "edited"
        elif question in dropped or lineage in decision.dropped_lineages:
            reason = "duplicate"
        else:
            reason = "not_made_again"
        rows.append(
            {
                "question_uuid": question,
                "lineage_uuid": lineage,
                "from_version": from_version,
                "until_version": version,
                "reason": reason,
            }
        )
    return get_table("bank_exits").frame(rows)


def _frame_duplicates(
    version: int,
    ranked: pl.DataFrame,
    decision: DedupeOutcome,
    elsewhere: Sequence[dict[str, object]],
    former: Sequence[dict[str, object]],
) -> pl.DataFrame:
    places = [duplicate.place for duplicate in decision.found]
    dropped = ranked[places].select("question_uuid", "document_id").rows() if places else []
    rows = [
        {
            "bank_version": version,
            "kept_uuid": duplicate.kept.question_uuid,
            "dropped_uuid": question,
            "kept_document_id": duplicate.kept.document_id,
            "dropped_document_id": document,
            "method": duplicate.method,
            "similarity": duplicate.similarity,
            "reason": duplicate.reason,
        }
        for duplicate, (question, document) in zip(decision.found, dropped, strict=True)
    ]
    left_out = {
        (str(row["dropped_uuid"]), str(row["dropped_document_id"] or "")): row
        for row in reversed([*rows, *elsewhere])
    }
    # What has left is left out once at most, but may have several copies that come in.
    by_key = {
        (str(row["dropped_uuid"]), str(row["dropped_document_id"] or ""), str(row["kept_uuid"])): row
        for row in [*former, *left_out.values()]
    }
    return get_table("duplicates").frame([by_key[key] for key in sorted(by_key)])


def _find_copies_elsewhere(
    version: int, staying: pl.DataFrame, entering: pl.DataFrame, find_occurrences: FindOccurrences | None
) -> list[dict[str, object]]:
    """The same question in further documents: each copy is a duplicate of the reviewed one."""
    if find_occurrences is None:
        return []
    new = entering.filter(pl.col("method") == ORIGINAL).select("question_uuid", "document_id")
    pairs = find_occurrences(new["question_uuid"].to_list()).unique().rename({"document_id": "other_id"})
    originals = staying.filter(pl.col("question_uuid") == pl.col("lineage_uuid"))
    found = pairs.join(
        pl.concat([new, originals.select("question_uuid", "document_id")]), on="question_uuid"
    ).filter(pl.col("other_id").is_not_null(), pl.col("other_id").ne_missing(pl.col("document_id")))
    return [
        {
            "bank_version": version,
            "kept_uuid": question,
            "dropped_uuid": question,
            "kept_document_id": document,
            "dropped_document_id": other,
            "method": "exact",
            "similarity": 1.0,
            "reason": _OTHER_KEY if has_other_key else _ELSEWHERE,
        }
        for question, other, document, has_other_key in found.select(
            "question_uuid", "other_id", "document_id", "has_other_key"
        )
        .sort("question_uuid", "other_id")
        .iter_rows()
    ]


def _list_former_copies(
    version: int, entering: pl.DataFrame, likeness: Likeness, content_keys: pl.Series
) -> list[dict[str, object]]:
    """What enters and says the same as a question of another lineage that has left."""
    rows: list[dict[str, object]] = []
    for place, question, lineage, document in entering.select(
        "place", "question_uuid", "lineage_uuid", "document_id"
    ).iter_rows():
        near = likeness.near_former.get(int(likeness.copies[place]), ())
        found = [(former, similarity, "near") for former, similarity in near]
        if (same := likeness.former_of_key.get(content_keys[place])) is not None:
            found.append((same, 1.0, "exact"))
        rows += [
            {
                "bank_version": version,
                "kept_uuid": question,
                "dropped_uuid": former.question_uuid,
                "kept_document_id": document,
                "dropped_document_id": former.document_id,
                "method": method,
                "similarity": similarity,
                "reason": _FORMER,
            }
            for former, similarity, method in found
            if former.lineage_uuid != lineage
        ]
    return rows
