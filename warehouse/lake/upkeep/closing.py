"""Freeze what analyses say of months that are closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.tables import get_table
from warehouse.lake.landing import Batch
from warehouse.lake.reading.months import list_frozen, read_bases, read_closed
from warehouse.lake.reading.queries import bind_parameters
from warehouse.lake.store import Lake
from warehouse.lake.upkeep.maintenance import merge_small_files

# Then nothing but the month's own rows decides whose stars count in it.
_IS_CLOSED: Final = """
    SELECT coalesce(bool_and(coalesce(e.judge = p.judge AND e.judge_prompt_version = p.prompt_wording, false)), false)
    FROM primary_judge AS p
    LEFT JOIN current_editions AS e ON e.month = p.month AND e.run_id = p.run_id
    WHERE p.month = $month
"""


def close_months(lake: Lake) -> int:
    """Land the frozen rows of closed months that have none of their present state.

    Returns of how many months. Where there are such, small files are merged first. A month is closed when every run that was
    judged in it is published by the judge that its edition names. Frozen rows of a month that is not, any more, are left: nobody
    reads them while the month has changed.
    """

    def fetch(sql: str) -> Sequence[Sequence[object]]:
        return lake.query(sql).rows()

    def is_closed(month: str) -> bool:
        return bool(lake.query(_IS_CLOSED, {"month": month}).item())

    def list_changed() -> list[str]:
        with lake.read_transaction():
            bases, closed = read_bases(fetch), read_closed(fetch)
            published = {str(month) for (month,) in fetch("SELECT DISTINCT month FROM editions")}
            changed = (month for month in published & bases.keys() if bases[month] != closed.get(month))
            # A month that cannot be closed stays among the others, at the start of every flow: files are not merged for it.
            return sorted(month for month in changed if is_closed(month))

    count = 0
    changed = list_changed()
    # Months are known by their files: these are merged first.
    if changed and merge_small_files(lake, changed[-1]):
        changed = list_changed()
    for month in changed:
        with lake.read_transaction():
            # Rows and what they rest on are of one moment.
            basis = read_bases(fetch).get(month)
            if basis is None or not is_closed(month):
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
