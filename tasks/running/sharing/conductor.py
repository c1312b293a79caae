"""Who brings a month's run to its end: one flow conducts it.

Flows that help wait for the conductor, and end the run if it is gone.

The conductor's claim is held from the plan to the report. What a flow does at the end of a run changes nothing when it is done twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.running.claiming import hold_if_free, hold_if_orphaned
from warehouse.ledger.engine.opening import open_ledger

CLAIM = "month"


def require_run(run_id: str) -> None:
    """Raise UsageError where a helper is told of no run."""
    if not run_id:
        raise UsageError(
            "A helper takes a part of one run, and no run was named. The flow `monthly` starts it with its run; "
            "by hand, give the deployment `helper` a run_id."
        )


@contextmanager
def conducting(run_id: str) -> Iterator[None]:
    """Conduct the run while the block runs.

    Where another flow does so already, this one works beside it. An empty id means no run.
    """
    if not run_id:
        yield
        return
    with open_ledger(load_settings().ledger_address) as ledger, hold_if_free(ledger, CLAIM, run_id):
        yield


@contextmanager
def succeeding(run_id: str) -> Iterator[bool]:
    """Wait until the run's conductor is done.

    Where the conductor was killed, conduct the run in its place while the block runs.

    Gives whether the run is left to this flow.
    """
    with (
        open_ledger(load_settings().ledger_address) as ledger,
        hold_if_orphaned(ledger, CLAIM, run_id) as is_left,
    ):
        yield is_left
