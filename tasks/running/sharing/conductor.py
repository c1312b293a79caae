"""Who brings a run to its end: one flow conducts it, from its plan to its report.

That it does is a job, held as long: where its process is gone without a word, a worker conducts the run in its place. What a flow
does at the end of a run changes nothing when it is done twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from schemas.ledger.engine import Job
from schemas.settings import load_settings
from tasks.running.claiming import hold_if_free
from warehouse.ledger.engine.opening import open_ledger

CONDUCTED = "conduct"


@contextmanager
def conducting(run_id: str, flow: str, /, **parameters: Any) -> Iterator[None]:
    """Conduct the run while the block runs, by this flow.

    By its parameters another process would do the same.

    Where another flow does so already, this one works beside it. An empty id means no run.
    """
    if not run_id:
        yield
        return
    details = {"flow": flow, "parameters": parameters}
    job = Job(kind=CONDUCTED, name=run_id, run_id=run_id, details=details)
    with open_ledger(load_settings().ledger_address) as ledger, hold_if_free(ledger, job):
        yield
