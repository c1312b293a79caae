"""Normal forms of rows, as the index computes them."""

from __future__ import annotations

from typing import Any

import polars as pl

from schemas.tables import get_table
from tasks.bank.dedupe.index import Signatures, compute_signatures, read_texts
from tasks.bank.dedupe.near import Text
from tests.tasks.bank.augment.conftest import make_frame


def frame_contents(*rows: dict[str, Any]) -> pl.DataFrame:
    """Rows of `review_decisions` as rows with content and a method."""
    names = [column.name for column in get_table("review_decisions").own_columns]
    frame = make_frame(*({name: row.get(name) for name in names} for row in rows))
    return frame.with_columns(pl.Series("method", [row.get("method") or "original" for row in rows]))


def sign(*rows: dict[str, Any]) -> Signatures:
    return compute_signatures(frame_contents(*rows))


def read_text(row: dict[str, Any]) -> Text:
    return next(read_texts(sign(row).forms))
