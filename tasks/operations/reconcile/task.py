"""Reconciliation as Prefect sees it: what the ledger has closed → land."""

from __future__ import annotations

from prefect import task

from schemas.settings import load_settings
from tasks.operations.reconcile.catching_up import reconcile
from tasks.running import hide_content
from tasks.running.flow_runs import RETRIED, sign_landings
from warehouse.lake import open_lake
from warehouse.ledger.engine.leases.clock import check_clock
from warehouse.ledger.engine.opening import open_ledger


@task(name="reconcile_stores", **RETRIED)
@hide_content
@sign_landings
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
