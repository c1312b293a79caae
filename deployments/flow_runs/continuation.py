"""What a channel calls with the decisions it took in.

The decisions are recorded, and what follows a complete batch is started.

An event starts the `review_gate` deployment where a server and a worker run; otherwise the flow runs here and now. A
daily sweep catches a lost event. All three lead to the same idempotent flow.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schemas.settings import PREFIX, Settings, load_settings

if TYPE_CHECKING:
    from tasks.review.recording import DeskReport, RefusedSubmission, Submission
    from warehouse.ledger.engine.ledger import Ledger

EVENT = "proctor.review.complete"


@dataclass(frozen=True)
class Continuation:
    """What came of decisions handed in, and of each batch that they complete.

    For each such batch it says how what follows was started.
    """

    report: DeskReport
    continued: Sequence[dict[str, Any]]


def record_and_continue(
    read: Callable[[Ledger], Iterable[Submission | RefusedSubmission]], *, starts_next: bool = True
) -> Continuation:
    """Record what a channel reads, and start what follows the batches that are complete by it.

    Args:
        read: the channel: what was handed in, checked against the ledger.
        starts_next: false only records; the next import, or the daily sweep, starts what follows.
    """
    from tasks.review.recording import record
    from warehouse.ledger.engine.moments import now_text
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(load_settings().ledger_address) as ledger:
        report = record(ledger, read(ledger), now_text())
    complete = report.complete_batches if starts_next else ()
    return Continuation(report, [continue_review(batch_id) for batch_id in complete])


def continue_review(batch_id: str) -> dict[str, Any]:
    """Start what follows a completed batch.

    The result says whether this was done by event or here, and what was done here.
    """
    from deployments.flow_runs.flow_runner import prepare_prefect, run_flow
    from deployments.flow_runs.server import has_worker, read_state

    settings = load_settings()
    state = read_state(settings)
    named = os.environ.get("PREFECT_API_URL")
    # An earlier step of this process may have named our own server; only a worker makes an event worth sending there.
    is_elsewhere = bool(named) and (state is None or named != state.api_url)
    is_worked = state is not None and has_worker(state)
    if not settings.no_server and (is_worked or is_elsewhere):
        prepare_prefect()
        if _is_deployed():
            from prefect.events import emit_event

            emit_event(
                EVENT,
                resource={"prefect.resource.id": f"proctor.review.{batch_id}"},
                payload={"batch_id": batch_id},
            )
            return {"by": "event", "batch_id": batch_id}
    return {"by": "this command", "batch_id": batch_id} | dict(run_flow("review_gate", batch_id=batch_id))


def begin_continuation(settings: Settings, batch_id: str) -> None:
    """Start what follows a completed batch in a process of its own.

    That process outlives this one; this is for a server that must answer.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "deployments.flow_runs.continuation", batch_id],
        env=os.environ | {f"{PREFIX}HOME": str(settings.home.resolve())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Somebody must take its exit status; what it left undone the daily sweep does.
    threading.Thread(target=child.wait, daemon=True).start()


def _is_deployed() -> bool:
    """Whether somebody listens: the deployment with the trigger is registered."""
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    with get_client(sync_client=True) as client:
        try:
            client.read_deployment_by_name("review_gate/review-complete")
        except ObjectNotFound:
            return False
    return True


if __name__ == "__main__":
    continue_review(sys.argv[1])
