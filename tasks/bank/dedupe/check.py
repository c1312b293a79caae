"""Duplicates in a table that others made; nothing is landed or taken away."""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from schemas.errors import UsageError, suggest
from schemas.tables import get_table
from tasks.bank.dedupe.duplicates import PREFERENCES, decide, rank_by_preference
from tasks.bank.dedupe.index import compute_signatures
from tasks.bank.dedupe.likeness import NOTHING_KNOWN, find_likeness
from tasks.questions import ORIGINAL

_FIRST = "it comes first in the file"


def find_clusters(
    table: pl.DataFrame, text: str, options: Sequence[str] = (), *, threshold: float = 0.8
) -> pl.DataFrame:
    """The groups of rows that ask the same, one row for each question of a group.

    Args:
        table: any table with a question in each row.
        text: the column that holds what is asked; a row without it, and without options, is in no group.
        options: the column of the offered answers (a list, a JSON list, or a line for each), or one column for each of them.
        threshold: Jaccard of character 3-grams that is a near-duplicate.

    Returns:
        cluster (from 1), row (from 1, in the order of the file), is_kept, and of those left out: kept_row, method,
        similarity, reason; at last the text.

    Raises:
        UsageError: a column is not there, or `text` holds no text.
    """
    for name in (text, *options):
        if name not in table.columns:
            raise UsageError(
                f"There is no column {name!r}.{suggest(name, table.columns)} The columns are {', '.join(table.columns)}."
            )
    if table.schema[text].is_nested():
        raise UsageError(
            f"The column {text!r} holds lists or parts, and no text. Name the one that is asked."
        )
    questions = _frame_questions(table, text, options)
    signatures = compute_signatures(questions)
    likeness = find_likeness(questions, signatures, NOTHING_KNOWN, NOTHING_KNOWN.members, threshold)
    decision = decide(rank_by_preference(questions), likeness)
    rows = questions["question_uuid"].cast(pl.Int64).to_list()
    kept_rows = sorted({int(found.kept.question_uuid) for found in decision.found})
    cluster_of = {row: place for place, row in enumerate(kept_rows, start=1)}
    found = [
        {
            "cluster": cluster_of[kept],
            "row": rows[duplicate.place],
            "is_kept": False,
            "kept_row": kept,
            "method": duplicate.method,
            "similarity": duplicate.similarity,
            "reason": duplicate.reason.replace(PREFERENCES[-1][0], _FIRST),
        }
        for duplicate in decision.found
        for kept in [int(duplicate.kept.question_uuid)]
    ] + [{"cluster": cluster, "row": row, "is_kept": True} for row, cluster in cluster_of.items()]
    schema = {
        "cluster": pl.Int64,
        "row": pl.Int64,
        "is_kept": pl.Boolean,
        "kept_row": pl.Int64,
        "method": pl.String,
        "similarity": pl.Float64,
        "reason": pl.String,
    }
    texts = pl.DataFrame({"row": rows, "text": questions["stem"]}, schema_overrides={"row": pl.Int64})
    return pl.DataFrame(found, schema=schema).join(texts, on="row", how="left").sort("cluster", "row")


def _frame_questions(table: pl.DataFrame, text: str, options: Sequence[str]) -> pl.DataFrame:
    """The rows as questions of one type, preferred in the order of the file.

    A row in which nothing is asked is no question, and the same as no other.
    """
    contents = get_table("bank_contents")
    offered = [
        [{"label": str(place), "text": option} for place, option in enumerate(texts)]
        for texts in _read_options(table, options)
    ]
    names = pl.int_range(1, table.height + 1, eager=True).cast(pl.String).str.zfill(12)
    given = {
        "question_uuid": names,
        "lineage_uuid": names,
        "stem": table[text].cast(pl.String).fill_null(""),
        "options": pl.Series(offered, dtype=contents.polars_schema["options"]),
    }
    fixed = {"method": ORIGINAL, "question_type": "short_answer", "language": "zh", "revision": 1}
    return (
        pl.DataFrame(given)
        .with_columns(
            *(
                pl.lit(fixed.get(column.name), contents.polars_schema[column.name]).alias(column.name)
                for column in contents.own_columns
                if column.name not in given
            ),
            pl.lit(value=False).alias("is_known"),
            pl.lit(0, pl.Int64).alias("accept_count"),
            pl.lit(None, pl.Datetime("us", "UTC")).alias("decided_at"),
        )
        .filter((pl.col("stem").str.strip_chars() != "") | (pl.col("options").list.len() > 0))
    )


def _read_options(table: pl.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    if not columns:
        return [[] for _ in range(table.height)]
    if len(columns) > 1:
        return [
            [str(value) for value in row if value is not None and str(value)]
            for row in table.select(columns).iter_rows()
        ]
    return [_parse_options(value) for value in table[columns[0]].to_list()]


def _parse_options(value: object) -> list[str]:
    """The offered answers of one row, as its cell holds them."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [line for line in str(value).splitlines() if line.strip()]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return [] if value is None else [str(value)]
    texts = [item.get("text") if isinstance(item, dict) else item for item in value]
    return [str(text) for text in texts if text is not None]
