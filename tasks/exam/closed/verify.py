"""Whether the ledger still has what was landed from it.

Every closed session is compared, with its questions and its answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from schemas.tables import get_table
from tasks.exam.closed.landing import iter_landings
from warehouse.lake import conform_frame, hash_rows
from warehouse.ledger.exam import sittings

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Ledger

# What a closed session never changes; a run and its models follow the run's state, and calls may be billed later.
_SETTLED = ("sets", "sessions", "allocations", "responses")


def find_changed_sessions(
    ledger: Ledger, lake: Lake, step: Callable[[int], None] = lambda _: None
) -> list[str]:
    """The `table/unit` names of what has changed in the ledger since it was landed.

    `step` is called with the number of rows looked at.

    Reads run by run and chunk by chunk. What the lake does not have yet is no difference: it is landed by the next flow.
    """
    with ledger.read() as connection:
        run_ids = sittings.list_run_ids(connection)
    changed: list[str] = []
    for run_id in run_ids:
        for batches in iter_landings(ledger, run_id, lambda _table, _units: frozenset()):
            settled = [batch for batch in batches if batch.table in _SETTLED]
            if not settled:
                continue
            step(sum(batch.frame.height for batch in settled))
            names = [batch.landing_unit for batch in settled]
            landed = dict(lake.read("landed_hashes", {"units": names}).rows())
            changed += [
                batch.landing_unit
                for batch in settled
                if batch.landing_unit in landed
                and landed[batch.landing_unit]
                != hash_rows(conform_frame(get_table(batch.table), batch.frame))
            ]
    return changed
