"""Accepted originals and the variants of their present revisions: what the bank wants. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from schemas.tables import get_table
from tasks.questions import ORIGINAL, BareQuestion, Option, QuestionContent
from tasks.questions.rules import find_broken_rules
from tasks.questions.variants import TEMPLATE

# The columns of a question that wants into the bank: those of `bank_contents` but the version, and what decides which copy stays.
CONTENT_COLUMNS = tuple(
    column.name for column in get_table("bank_contents").own_columns if column.name != "from_version"
)
_COLUMNS = (*CONTENT_COLUMNS, "generator", "accept_count", "decided_at")
# What a review of a variant may correct; its discipline, source and language are those of its parent.
_EDITED = ("question_type", "stem", "material", "options", "answer", "explanation", "pictures", "revision")


@dataclass(frozen=True)
class Wanted:
    """What the decisions and variants of some lineages come to.

    Attributes:
        entries: a row per question and lineage: the columns `CONTENT_COLUMNS`, generator (null for an original),
            accept_count and decided_at; unsorted.
        lineages: the lineages that are settled by these decisions; every other one stays as it is.
        rejected: questions that were rejected; an original takes its lineage with it.
        refused: accepted questions and variants that break a format rule and are left out, by rule.
    """

    entries: pl.DataFrame = field(repr=False)
    lineages: frozenset[str]
    rejected: frozenset[str]
    refused: Mapping[str, int]


def list_wanted(decisions: pl.DataFrame, variants: pl.DataFrame, retired: Collection[str] = ()) -> Wanted:
    """The questions that belong into the bank.

    Args:
        decisions: rows of `review_decisions` of whole lineages, of all batches, any outcome.
        variants: rows of `variants` of these lineages; with a column `landing_unit` only those made from the
            current revision count (their unit is the review batch that made it, or begins with it and a slash). As often as
            their parent was corrected since it was accepted, so much higher is their own revision: what is asked in the same
            words may have another answer.
        retired: questions to leave out whatever was decided; an original takes its lineage with it.
    """
    current = (
        decisions.filter(pl.col("outcome") != "undecided")
        .sort("decided_at", "batch_id", nulls_last=False, maintain_order=True)
        .unique("question_uuid", keep="last", maintain_order=True)
    )
    is_original = pl.col("question_uuid") == pl.col("lineage_uuid")
    settled = current.filter(is_original)
    gone = pl.Series(sorted(retired), dtype=pl.String).implode()
    refused: Counter[str] = Counter()
    originals = _keep_well_formed(
        settled.filter(
            pl.col("outcome") == "accepted", pl.col("lineage_uuid").is_in(gone).not_()
        ).with_columns(
            pl.lit(None, pl.String).alias("parent_uuid"),
            pl.lit(ORIGINAL).alias("method"),
            pl.lit(None, pl.String).alias("generator"),
        ),
        refused,
    )
    made = _list_variants(variants, _trace_revisions(originals, decisions), current, refused).filter(
        pl.col("question_uuid").is_in(gone).not_()
    )
    entries = pl.concat([originals.select(_COLUMNS), made.select(_COLUMNS)]).unique(
        ["question_uuid", "lineage_uuid"], keep="first", maintain_order=True
    )
    return Wanted(
        entries=entries,
        lineages=frozenset(settled["lineage_uuid"]),
        rejected=frozenset(current.filter(pl.col("outcome") == "rejected")["question_uuid"]),
        refused=dict(sorted(refused.items())),
    )


def _trace_revisions(originals: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    """Originals with the batch that made their revision, and how often they were corrected.

    A later review that leaves all as it is makes nothing new.
    """
    accepted = decisions.filter(pl.col("outcome") == "accepted").sort(
        "decided_at", "batch_id", nulls_last=False, maintain_order=True
    )
    made = accepted.unique(["question_uuid", "revision"], keep="first", maintain_order=True)
    first = made.unique("question_uuid", keep="first", maintain_order=True)
    return originals.join(
        made.select("question_uuid", "revision", pl.col("batch_id", "decided_at").name.prefix("made_")),
        on=["question_uuid", "revision"],
        how="left",
        maintain_order="left",
    ).join(
        first.select("question_uuid", pl.col("revision").alias("first_revision")),
        on="question_uuid",
        how="left",
        maintain_order="left",
    )


def _list_variants(
    variants: pl.DataFrame, originals: pl.DataFrame, current: pl.DataFrame, refused: Counter[str]
) -> pl.DataFrame:
    """Variants of the originals' current revisions, with what their own review decided."""
    if "landing_unit" not in variants.columns:
        variants = variants.with_columns(pl.lit(None, pl.String).alias("landing_unit"))
    parents = originals.select(
        pl.col("question_uuid").alias("parent_uuid"),
        "document_id",
        pl.col("made_batch_id").alias("batch_id"),
        pl.col("made_decided_at").alias("decided_at"),
        pl.col("accept_count").alias("parent_accept_count"),
        (pl.col("revision") - pl.col("first_revision")).alias("corrections"),
    )
    reviewed = current.select(
        "question_uuid",
        "outcome",
        "accept_count",
        pl.col("decided_at").alias("reviewed_at"),
        *(pl.col(name).alias(f"reviewed_{name}") for name in _EDITED),
    )
    # What people read of a variant before its parent was corrected was another answer; what they refused stays out.
    is_edited = pl.col("reviewed_at") >= pl.col("decided_at")
    made = (
        variants.join(parents, on="parent_uuid", how="inner", maintain_order="left")
        .filter(
            pl.col("landing_unit").is_null()
            | (pl.col("landing_unit").str.split("/").list.first() == pl.col("batch_id"))
        )
        .join(reviewed, on="question_uuid", how="left", maintain_order="left")
        .filter(pl.col("outcome").is_null() | (pl.col("outcome") != "rejected"))
        .with_columns(
            *(
                pl.when(is_edited)
                .then(pl.col(f"reviewed_{name}"))
                .otherwise(pl.col(name) + pl.col("corrections") if name == "revision" else pl.col(name))
                .alias(name)
                for name in _EDITED
            ),
            pl.coalesce("accept_count", "parent_accept_count").alias("accept_count"),
        )
    )
    # What the template makes of a question that keeps the rules keeps them, too.
    is_sure = (pl.col("generator") == TEMPLATE) & ~is_edited.fill_null(value=False)
    return pl.concat([made.filter(is_sure), _keep_well_formed(made.filter(is_sure.not_()), refused)])


def _keep_well_formed(questions: pl.DataFrame, refused: Counter[str]) -> pl.DataFrame:
    """The rows that break no format rule; the others are counted by rule."""
    kept = []
    for content in read_contents(questions):
        rules = find_broken_rules(content)
        refused.update(rules)
        kept.append(not rules)
    return questions.filter(pl.Series(kept, dtype=pl.Boolean)) if kept else questions


def read_contents(questions: pl.DataFrame) -> Iterator[QuestionContent]:
    """What each row asks, read by columns."""
    if "pictures" in questions.columns and questions["pictures"].list.len().sum():
        yield from map(QuestionContent.from_row, questions.iter_rows(named=True))
        return
    for kind, language, stem, material, options, answer, explanation, *known in questions.select(
        "question_type",
        "language",
        "stem",
        "material",
        "options",
        "answer",
        "explanation",
        "discipline",
        "sub_discipline",
        "source_kind",
    ).iter_rows():
        offered = tuple(Option(option["label"], option["text"] or "") for option in options or ())
        yield QuestionContent(
            BareQuestion(kind, language, stem or "", material, offered),
            tuple(text or "" for text in answer or ()),
            explanation,
            *known,
        )
