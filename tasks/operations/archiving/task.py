"""The archiving of closed runs as Prefect sees it: names and counts only."""

from __future__ import annotations

from typing import Final

from schemas.settings import load_settings
from tasks.operations.archiving.archive import archive_runs
from tasks.running.flow_runs import RETRIED, step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

# The nightly backup may be under way.
_WAIT_S: Final = 3600.0


@step(**RETRIED)
def archive_closed_runs() -> dict[str, object]:
    """Move the rows of every run that may go from the ledger to the lake."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        done = archive_runs(settings, ledger, lake, wait_s=_WAIT_S)
    return {"archived": len(done), "rows": sum(sum(one.rows.values()) for one in done)}
