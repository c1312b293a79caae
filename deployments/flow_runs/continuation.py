"""What a channel calls with the decisions it took in, and what else the desk has begun.

The decisions are recorded, and what follows a complete batch is started.

An event starts the deployment where a server and a worker run; otherwise the flow runs here and now. A daily sweep
catches a lost event of a batch, and a paper that waits to be read. All lead to the same idempotent flow.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from schemas.settings import PREFIX, Settings, load_settings

if TYPE_CHECKING:
    from tasks.review.recording import DeskReport, RefusedSubmission, Submission
    from warehouse.ledger.engine.ledger import Ledger

EVENT = "proctor.review.complete"


class Follow(NamedTuple):
    """What follows: the event that starts a deployment, and the flow with its one parameter.

    `is_awaited`: somebody looks at a page until it is done, so that no server is started for it.
    """

    event: str
    deployment: str
    flow: str
    parameter: str
    is_awaited: bool = False


REVIEW: Final = Follow(EVENT, "review-complete", "review_gate", "batch_id")
READING: Final = Follow(
    "proctor.reading.requested", "reading-requested", "second_reading", "document_id", True
)


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
    return follow(REVIEW, batch_id)


def follow(what: Follow, name: str) -> dict[str, Any]:
    """Start a flow for that batch or paper: by event where somebody listens, else here and now."""
    from deployments.flow_runs.flow_runner import prepare_prefect, run_flow

    given: dict[str, Any] = {what.parameter: name}
    worked = is_worked(load_settings())
    if worked:
        prepare_prefect()
        if _is_deployed(what):
            from prefect.events import emit_event

            # `proctor.review.complete` happens to `proctor.review.NAME`.
            resource = f"{what.event.rpartition('.')[0]}.{name or 'all'}"
            emit_event(what.event, resource={"prefect.resource.id": resource}, payload=given)
            return {"by": "event"} | given
    return (
        {"by": "this command"}
        | given
        | dict(run_flow(what.flow, without_server=what.is_awaited and not worked, **given))
    )


def is_worked(settings: Settings) -> bool:
    """Whether a worker may listen: this home's own runs, or another server is named."""
    from deployments.flow_runs.server import has_worker, read_state

    if settings.no_server:
        return False
    state = read_state(settings)
    named = os.environ.get("PREFECT_API_URL")
    # An earlier step of this process may have named our own server; only a worker makes an event worth sending there.
    is_elsewhere = bool(named) and (state is None or named != state.api_url)
    return is_elsewhere or (state is not None and has_worker(state))


def begin_continuation(settings: Settings, name: str, what: Follow = REVIEW) -> None:
    """Start what follows a completed batch, or another event, in a process of its own.

    That process outlives this one; this is for a server that must answer.
    """
    child = subprocess.Popen(
        [sys.executable, "-m", "deployments.flow_runs.continuation", what.flow, name],
        env=os.environ | {f"{PREFIX}HOME": str(settings.home.resolve())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Somebody must take its exit status; what it left undone the daily sweep does.
    threading.Thread(target=_await_end, args=(child, what, name), daemon=True).start()


def _await_end(child: subprocess.Popen[bytes], what: Follow, name: str) -> None:
    """Log that the process failed.

    It has logged the reason itself, unless it was killed or could not even begin.
    """
    from tasks.running import log

    if code := child.wait():
        log.error("The process for %s of %s ended with code %d", what.flow, name or "all", code)


def _is_deployed(what: Follow) -> bool:
    """Whether somebody listens: the deployment with the trigger is registered."""
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    with get_client(sync_client=True) as client:
        try:
            client.read_deployment_by_name(f"{what.flow}/{what.deployment}")
        except ObjectNotFound:
            return False
    return True


if __name__ == "__main__":
    from tasks.running import hide_content

    # Nobody sees what it prints: what fails stands in the log, without content.
    hide_content(follow)(next(one for one in (REVIEW, READING) if one.flow == sys.argv[1]), sys.argv[2])
