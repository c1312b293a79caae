"""Reconciliation as Prefect sees it: what the ledger has closed → land."""

from __future__ import annotations

from collections import Counter

from schemas.settings import load_settings
from tasks.exam import share_pictures
from tasks.exam.closed import land_access_log, land_closed_sessions
from tasks.exam.log import keep_head
from tasks.exam.public.log import keep_public_head
from tasks.judging.marking import land_marks
from tasks.models import land_paid_calls
from tasks.operations.erasure import land_erasures
from tasks.review import land_missing_batches
from tasks.running import log
from tasks.running.flow_runs import RETRIED, step
from warehouse.lake import Lake, open_lake
from warehouse.lake.upkeep import close_months
from warehouse.ledger.engine.leases.clock import check_clock
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


@step(**RETRIED)
def reconcile_stores(*, leaves_log: bool = False) -> None:
    """Land what the ledger has closed and the lake lacks.

    This means that a kill between the two stores leaves nothing behind. With `leaves_log` the audit log is left to what lands it next:
    its last page lands whole each time, a quarter of a CPU second for the few entries that landings themselves have closed.

    Every flow that decides begins with it, and so with a look at the clock: raises ClockError.
    """
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        check_clock(ledger)
        reconcile(ledger, lake, leaves_log=leaves_log)


def reconcile(ledger: Ledger, lake: Lake, *, leaves_log: bool = False) -> dict[str, int]:
    """Land what the ledger has closed and the lake lacks.

    Returns the rows newly landed, by table. Covers what a kill between the two stores can leave behind: closed review batches, closed sessions with their sets and
    calls, past days of the audit log, paid calls of every other stage, what was erased, and marks that people gave on the web. Judgements and the answers to CG-Eval
    are not among them: the ledger holds their replies, and the next `judge` or `cgeval` reads those again without paying. `leaves_log`: the heads of both logs are
    signed, and no entry lands.
    """
    landed: Counter[str] = Counter()
    for land in (
        land_missing_batches,
        land_erasures,
        land_closed_sessions,
        _sign_heads if leaves_log else land_access_log,
        land_paid_calls,
        land_marks,
    ):
        landed.update(land(ledger, lake))
    for error in share_pictures(ledger, lake.settings):
        # The flow may be the one that brings it back.
        log.warning("%s", error)
    # What came late to a month that was closed, or a compaction, had it read whole until now.
    close_months(lake)
    return dict(landed)


def _sign_heads(ledger: Ledger, lake: Lake) -> dict[str, int]:
    keep_public_head(ledger, lake.settings)
    keep_head(ledger, lake.settings)
    return {}
