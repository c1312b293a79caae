"""Who brings a month's run to its end: one flow conducts it, from the plan to the report.

That it does is a job, held as long: where its process is gone without a word, a worker conducts the run in its place. What a flow
does at the end of a run changes nothing when it is done twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from schemas.settings import load_settings
from tasks.running.claiming import hold_if_free
from warehouse.ledger.engine.leases.jobs import make_job
from warehouse.ledger.engine.opening import open_ledger

CONDUCTED = "month"


@contextmanager
def conducting(run_id: str, month: str, **wishes: Any) -> Iterator[None]:
    """Conduct the run while the block runs.

    By its month and these parameters another process would do the same.

    Where another flow does so already, this one works beside it. An empty id means no run.
    """
    if not run_id:
        yield
        return
    given = {"month": month or datetime.now(UTC).strftime("%Y-%m")} | wishes
    job = make_job(CONDUCTED, run_id, run_id, details=given)
    with open_ledger(load_settings().ledger_address) as ledger, hold_if_free(ledger, job):
        yield
