"""What follows the last decision of a review batch, however it came in.

An event starts the `review_gate` deployment where a server and a worker run; otherwise the flow runs here and now. A
daily sweep catches a lost event. All three lead to the same idempotent flow.
"""

from __future__ import annotations

import os
from typing import Any

from schemas.settings import load_settings

EVENT = "proctor.review.complete"


def continue_review(batch_id: str) -> dict[str, Any]:
    """Start what follows a completed batch; says whether by event or here, and what it did here."""
    from deployments.flow_runner import prepare_prefect, run_flow
    from deployments.local_server import read_state

    settings = load_settings()
    state = read_state(settings)
    named = os.environ.get("PREFECT_API_URL")
    # An earlier step of this process may have named our own server; only a worker makes an event worth sending there.
    is_elsewhere = bool(named) and (state is None or named != state.api_url)
    has_worker = state is not None and state.worker_pid is not None
    if not settings.no_server and (has_worker or is_elsewhere):
        prepare_prefect()
        if _is_deployed():
            from prefect.events import emit_event

            emit_event(
                EVENT,
                resource={"prefect.resource.id": f"proctor.review.{batch_id}"},
                payload={"batch_id": batch_id},
            )
            return {"by": "event", "batch_id": batch_id}
    return {"by": "this command"} | dict(run_flow("review_gate", batch_id=batch_id))


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
