"""Whether the ledger still has what was landed of closed sessions."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from tasks.exam.closed.landing import iter_settled
from warehouse.lake import hash_rows_of
from warehouse.ledger.exam import sittings

if TYPE_CHECKING:
    from warehouse.lake import Lake
    from warehouse.ledger.engine.ledger import Ledger


def find_changed_sessions(
    ledger: Ledger,
    lake: Lake,
    step: Callable[[int], None] = lambda _: None,
    passed: AbstractSet[str] = frozenset(),
) -> list[str]:
    """The `table/unit` names of what has changed in the ledger since it was landed.

    `step` is called with the number of rows looked at. Reads run by run and chunk by chunk, and of sessions and sets `passed` nothing. What
    the lake does not have yet is no difference: it is landed by the next flow.
    """
    with ledger.read() as connection:
        runs = [sittings.read_run(connection, run_id) for run_id in sittings.list_run_ids(connection)]
    changed: list[str] = []
    for run in runs:
        if run is None:
            continue
        own: dict[str, str] = {}
        for batches in iter_settled(ledger, lake, run, passed):
            step(sum(batch.frame.height for batch in batches))
            hashes = hash_rows_of([batch.frame for batch in batches])
            own |= zip((batch.landing_unit for batch in batches), hashes, strict=True)
        if own:
            landed = dict(lake.read("landed_hashes", {"units": list(own)}).rows())
            changed += [unit for unit, rows_hash in own.items() if landed.get(unit, rows_hash) != rows_hash]
    return changed
