"""Rows that are encoded together have the bytes of each alone."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry, compute_entry_hash, compute_entry_hashes
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust.access import iter_chain_pages


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


@pytest.mark.parametrize("is_plain", [True, False])
def test_an_entry_is_read_with_the_hash_that_its_fields_have(ledger: Ledger, is_plain: bool) -> None:
    targets = ["a", 'a "\\\n\t\x01\b', "a\x00b", *([] if is_plain else ["é 张", "a\x7f"])]
    with ledger.write() as connection:
        for target in targets:
            add_entry(connection, Entry("look", target=target))

    def find_changed() -> list[int]:
        with ledger.read() as connection:
            pages = [*iter_chain_pages(connection, 0, 3), *iter_chain_pages(connection, 3)]
        entries = [entry for page in pages for entry in page]
        assert [number for number, *_ in entries] == list(range(1, len(entries) + 1))
        return [number for number, _, entry_hash, _, _, own_hash in entries if own_hash != entry_hash]

    assert find_changed() == []
    for target in targets:
        with ledger.write() as connection:
            place = access_log.c.target == target
            number = connection.scalar(select(access_log.c.number).where(place))
            connection.execute(update(access_log).where(place).values(target=f"{target}\x00"))
        assert find_changed() == [number]
        with ledger.write() as connection:
            connection.execute(update(access_log).where(access_log.c.number == number).values(target=target))
