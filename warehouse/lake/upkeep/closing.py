"""Freeze what analyses say of months that are closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.tables import get_table
from warehouse.lake.landing import Batch
from warehouse.lake.reading.months import list_frozen, read_bases, read_closed
from warehouse.lake.reading.queries import bind_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.lake.store import Lake


def close_months(lake: Lake) -> int:
    """Land the frozen rows of every month that is closed and has none of its present state; returns how many months.

    A month is closed when every run that was judged in it is published by the judge that its edition names. Frozen rows of a month
    that is not, any more, are left: nobody reads them while the month has changed.
    """

    def fetch(sql: str) -> Sequence[Sequence[object]]:
        return lake.query(sql).rows()

    count = 0
    with lake.read_transaction():
        bases, closed = read_bases(fetch), read_closed(fetch)
        published = {str(month) for (month,) in fetch("SELECT DISTINCT month FROM editions")}
    for month in sorted(month for month in published if month in bases and bases[month] != closed.get(month)):
        with lake.read_transaction():
            # Rows and what they rest on are of one moment.
            basis = read_bases(fetch).get(month)
            if basis is None or not lake.read("is_closed_month", {"month": month}).item():
                continue
            batches = [
                Batch(
                    query.frozen_table,
                    month,
                    lake.query(query.body, bind_parameters(query, {"month": month})),
                )
                for query in list_frozen()
            ]
        head = get_table("closed_months").frame([{"month": month, "basis_hash": basis}])
        lake.land_together([*batches, Batch("closed_months", month, head)], stage="publish")
        count += 1
    return count
