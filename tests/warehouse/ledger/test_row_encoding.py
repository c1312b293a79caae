"""Rows that are encoded together have the bytes of each alone."""

from __future__ import annotations

from typing import Any

import pytest

from warehouse.ledger.engine.logs.chain import compute_entry_hash, compute_entry_hashes


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("a" * 64, 1, None, "é", 200), ("b" * 64, 2, "x", "\x00", None)],
        # Texts that end as a row does, or look like the seam between two.
        [("],[", 1, None), ("b", 2, '],["'), ("],[", 3, "],[")],
    ],
)
def test_entries_that_are_hashed_together_have_the_hash_of_each(rows: list[tuple[Any, ...]]) -> None:
    assert compute_entry_hashes(rows) == [compute_entry_hash(row[0], row[1], row[2:]) for row in rows]
