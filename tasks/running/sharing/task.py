"""Help with a month's run as Prefect sees it.

Help is a run of the deployment `helper` for each other worker that can be asked.
"""

from __future__ import annotations

import logging
import os

from prefect import task
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import WorkerStatus
from prefect.context import FlowRunContext
from prefect.exceptions import ObjectNotFound

from tasks.running.faults import hide_content
from tasks.running.sharing.names import WORKER_VARIABLE

log = logging.getLogger("proctor.sharing")
DEPLOYMENT = "helper/helper"


@task(name="ask_for_help")
@hide_content
def ask_for_help(run_id: str, month: str = "") -> dict[str, int]:
    """Start a helper on every other worker of the pool that has a queue of its own.

    The helpers are for the run that this flow conducts.

    Only a run that a deployment started asks: a command does its work where it was typed. Without such workers nobody is asked.
    """
    context = FlowRunContext.get()
    if not run_id or context is None or context.flow_run is None or context.flow_run.deployment_id is None:
        return {"helpers": 0}
    with get_client(sync_client=True) as client:
        try:
            deployment = client.read_deployment_by_name(DEPLOYMENT)
        except ObjectNotFound:
            log.warning("nobody is asked to help: `proctor deploy` has not registered %s", DEPLOYMENT)
            return {"helpers": 0}
        pool = deployment.work_pool_name or ""
        asked = [name for name in _list_workers(client, pool) if name != os.environ.get(WORKER_VARIABLE)]
        for name in asked:
            client.create_flow_run_from_deployment(
                deployment.id,
                parameters={"run_id": run_id, "month": month, "sharers": len(asked) + 1},
                work_queue_name=name,
                # A flow that is tried again does not ask twice.
                idempotency_key=f"{context.flow_run.id}-{name}",
            )
    log.info("asked %d workers to help with %s", len(asked), run_id)
    return {"helpers": len(asked)}


def _list_workers(client: SyncPrefectClient, pool: str) -> list[str]:
    """The workers of a pool that were heard of lately and have a queue of their own name."""
    queues = {queue.name for queue in client.read_work_queues(work_pool_name=pool)}
    workers = client.read_workers_for_work_pool(pool)
    return sorted({one.name for one in workers if one.status == WorkerStatus.ONLINE} & queues)
