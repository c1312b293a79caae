"""The lake catches up with the ledger: every stage's lander, before every flow."""

from __future__ import annotations

from collections import Counter

from tasks.exam.closed import land_access_log, land_closed_sessions
from tasks.judging.marking import land_marks
from tasks.models import land_paid_calls
from tasks.operations.erasure import land_erasures
from tasks.review import land_missing_batches
from warehouse.lake import Lake
from warehouse.lake.upkeep import close_months
from warehouse.ledger.engine.ledger import Ledger


def reconcile(ledger: Ledger, lake: Lake) -> dict[str, int]:
    """Land what the ledger has closed and the lake lacks.

    Returns the rows newly landed, by table.

    Covers what a kill between the two stores can leave behind: closed review batches, closed sessions with their
    sets and calls, past days of the audit log, paid calls of every other stage, what was erased, and marks that people gave on the web. Judgements and the answers to
    CG-Eval are not among them: the ledger holds their replies, and the next `judge` or `cgeval` reads those again
    without paying.
    """
    landed: Counter[str] = Counter()
    for land in (
        land_missing_batches,
        land_erasures,
        land_closed_sessions,
        land_access_log,
        land_paid_calls,
        land_marks,
    ):
        landed.update(land(ledger, lake))
    # What came late to a month that was closed, or a compaction, had it read whole until now.
    close_months(lake)
    return dict(landed)
