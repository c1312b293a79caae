"""A worker of Prefect on this host.

It takes what is due from the queue of all workers, and from one of its own, by which a run can be started on this worker. Where the
ledger is on a server it also takes jobs of the runs that others conduct.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from contextlib import suppress

from deployments.flow_runs.deploying import POOLS
from deployments.flow_runs.flow_runner import prepare_prefect
from deployments.flow_runs.server.helping import start_helping
from deployments.flow_runs.server.local_server import read_state
from deployments.home import check_host
from schemas.errors import ProctorError, UsageError
from schemas.settings import Settings
from tasks.running.notices import read_recipients
from tasks.running.sharing import WORK_POOL, WORKER_VARIABLE
from warehouse.ledger.engine.opening import open_ledger

ALL_WORKERS = "default"


def serve_worker(settings: Settings, name: str = "", *, limit: int | None = None) -> None:
    """Run what deployments start until Ctrl-C or `kill -TERM`; `limit` runs at once at most.

    The worker is of the server that PREFECT_API_URL names, or of this home's own. Raises UsageError where there is none, or the
    name cannot be one, or this host is not like the others, or PROCTOR_NOTIFY names nobody rightly, ProctorError where the server does not answer as Prefect's does.
    """
    name = name or platform.node()
    if name == ALL_WORKERS or not name.strip():
        raise UsageError(f"{name!r} cannot be the name of a worker; choose another by --name.")
    if not os.environ.get("PREFECT_API_URL") and read_state(settings) is None:
        raise UsageError(
            "There is no Prefect server to work for. Set PREFECT_API_URL to its address (and PREFECT_API_AUTH_STRING), or start "
            "one for this home with `proctor up --no-worker`."
        )
    check_host(settings)
    read_recipients(settings.notify)
    prepare_prefect()
    from tasks.running.orchestrator import start_watch, wait_for_server

    wait_for_server()
    os.environ[WORKER_VARIABLE] = name
    _make_queue(name)
    start_watch(lambda: open_ledger(settings.ledger_address))
    if settings.ledger_url is not None:
        start_helping(settings, name)
    # Prefect's own command, in this process: it reads the arguments from here.
    sys.argv = ["prefect", "worker", "start", "--pool", WORK_POOL, "--type", "process", "--name", name]
    sys.argv += ["--work-queue", ALL_WORKERS, "--work-queue", name]
    if limit is not None:
        sys.argv += ["--limit", str(limit)]
    from prefect.cli import app

    app()


def _make_queue(name: str) -> None:
    """Make the worker's queue in the pool, and the pool where it is not there yet.

    The pool is made as `proctor deploy` makes it.
    """
    from httpx import HTTPError, HTTPStatusError
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists

    template = json.loads((POOLS / "process.json").read_text(encoding="utf-8"))
    pool = WorkPoolCreate(name=WORK_POOL, type="process", base_job_template=template)
    try:
        with get_client(sync_client=True) as client:
            with suppress(ObjectAlreadyExists):
                client.create_work_pool(pool)
            with suppress(ObjectAlreadyExists):
                client.create_work_queue(name=name, work_pool_name=WORK_POOL)
    except HTTPStatusError as error:
        raise ProctorError(
            f"The Prefect server at {os.environ['PREFECT_API_URL']} answered {error.response.status_code}. Check its address, "
            "and that PREFECT_API_AUTH_STRING is its password."
        ) from None
    except HTTPError as error:
        raise ProctorError(
            f"The Prefect server at {os.environ['PREFECT_API_URL']} does not answer ({type(error).__name__}). Start it, or correct "
            "the address, then start the worker again."
        ) from None
