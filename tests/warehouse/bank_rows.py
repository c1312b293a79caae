"""Rows of the view `bank`, version by version, as the tables that it is made from."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl

from schemas.bank import BANK_CONTENTS
from schemas.columns import BANK_VERSION
from schemas.table import Table
from schemas.tables import get_table
from warehouse.lake import Batch, Lake

BANK = Table(
    name="bank",
    grain="One row per question and bank version.",
    key=("bank_version", "question_uuid"),
    unit="a bank version",
    stage="dedupe",
    own_columns=(
        BANK_VERSION,
        *(column for column in BANK_CONTENTS.own_columns if column.name != "from_version"),
    ),
)


def split_bank(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The same bank as rows of `bank_contents`, `bank_exits` and `bank_versions`.

    Each version enters and leaves whole.
    """
    contents = rows.with_columns(pl.col("bank_version").alias("from_version")).select(
        [column.name for column in BANK_CONTENTS.own_columns]
    )
    last = rows["bank_version"].max() or 0
    assert isinstance(last, int)
    exits = (
        contents.filter(pl.col("from_version") < last)
        .select(
            "question_uuid",
            "lineage_uuid",
            "from_version",
            (pl.col("from_version") + 1).alias("until_version"),
            pl.lit("not_made_again").alias("reason"),
        )
        .unique(maintain_order=True)
    )
    versions = get_table("bank_versions").frame(
        [
            {
                "bank_version": version,
                "question_count": held.height,
                "lineage_count": held["lineage_uuid"].n_unique(),
                "duplicate_count": 0,
                "content_hash": str(version),
                "published_at": datetime(2026, 1, 1, tzinfo=UTC),
            }
            for version in range(1, last + 1)
            for held in [rows.filter(pl.col("bank_version") == version)]
        ]
    )
    return {"bank_contents": contents, "bank_exits": exits, "bank_versions": versions}


def land_bank_rows(lake: Lake, rows: pl.DataFrame) -> None:
    """Land a bank that is given by its rows, version by version."""
    lake.land_together(
        [
            Batch(name, str(version), held)
            for name, frame in split_bank(rows).items()
            for version, held in [
                (value, frame.filter(pl.col(column) == value))
                for column in [
                    {"bank_exits": "until_version", "bank_versions": "bank_version"}.get(name, "from_version")
                ]
                for value in frame[column].unique().sort()
            ]
        ]
    )
