"""A worker of Prefect on this host, which also takes jobs of runs that others conduct.

It takes what is due from the queue of all workers, and from one of its own, by which a run can be started on this
worker.

Where the ledger is on a server, it looks there for what waits, and no run asks it. Those jobs are done in a process of
its own, which ends when nothing waits any more.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Final

from deployments.flow_runs.deploying import POOLS
from deployments.flow_runs.flow_runner import explain_answer, prepare_prefect, run_flow
from deployments.flow_runs.server.local_server import read_state
from deployments.flow_runs.server.named_server import PrefectServer
from deployments.home import check_host
from schemas.errors import ProctorError, UsageError
from schemas.ledger.engine import Job
from schemas.settings import Settings
from tasks.exam import help_to_sit
from tasks.judging import help_to_judge
from tasks.models import CALL, help_with_calls
from tasks.running.claiming import hold_if_free
from tasks.running.flow_runs.record import as_deployment, recorded_run
from tasks.running.notices import read_recipients
from tasks.running.sharing import CONDUCTED, IN_BATCHES, MOST_TRIES, WORK_POOL, WORKER_VARIABLE
from warehouse.ledger.engine.leases.jobs import give_back_jobs, list_waiting, read_job
from warehouse.ledger.engine.leases.processes import WORKER
from warehouse.ledger.engine.ledger import Ledger
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
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Prefect's worker ends for SIGTERM by a SIGINT to itself, to which one in the background of a shell was born deaf.
        signal.signal(signal.SIGINT, signal.default_int_handler)
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
    shown = PrefectServer(os.environ["PREFECT_API_URL"]).shown
    pool = WorkPoolCreate(name=WORK_POOL, type="process", base_job_template=template)
    try:
        with get_client(sync_client=True) as client:
            with suppress(ObjectAlreadyExists):
                client.create_work_pool(pool)
            with suppress(ObjectAlreadyExists):
                client.create_work_queue(name=name, work_pool_name=WORK_POOL)
    except HTTPStatusError as error:
        raise explain_answer(error) from None
    except HTTPError as error:
        raise ProctorError(
            f"The Prefect server at {shown} does not answer ({type(error).__name__}). Start it, or correct "
            "the address, then start the worker again."
        ) from None


log = logging.getLogger("proctor.runs")
LOOK_EVERY_S: Final = 2.0
# A process that helps waits so long for more before it ends: to start one costs seconds.
LINGER_S: Final = 20.0
# Of what it could do nothing so often it leaves to others.
MOST_VAIN: Final = 3
# What this host could not do (a key is missing, a budget spent) is tried again after so long.
REST_S: Final = 60.0
# How to help with a run, by the kind of the jobs that wait.
_HELPERS: Final = {"sit": help_to_sit, "judge": help_to_judge, CALL: help_with_calls}


def start_helping(settings: Settings, name: str) -> None:
    """Look for jobs on a thread of this process, as the worker `name`, as long as it lives."""

    def work() -> None:
        while True:
            with (
                suppress(ProctorError),
                open_ledger(settings.ledger_address) as ledger,
                hold_if_free(ledger, Job(kind=WORKER, name=name)),
            ):
                while True:
                    _await_and_help(ledger, name)
            time.sleep(LOOK_EVERY_S)

    threading.Thread(target=work, name="look-for-jobs", daemon=True).start()


def _await_and_help(ledger: Ledger, name: str) -> None:
    """Wait until something waits, and have it done in a process of its own."""
    while not _find_jobs(ledger, name):
        time.sleep(LOOK_EVERY_S)
    command = [sys.executable, "-m", "deployments.cli", "worker", "--only-jobs", "--name", name]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    atexit.register(process.terminate)
    code = process.wait()
    atexit.unregister(process.terminate)
    time.sleep(REST_S if code else LOOK_EVERY_S)


def do_jobs(settings: Settings, name: str = "") -> tuple[dict[str, int], bool]:
    """Do what waits of runs that others conduct, until nothing does.

    Returns counts, and whether something was left that cannot be done here. What failed is in the log. Raises UsageError where the
    ledger is embedded: one process does everything there.
    """
    if settings.ledger_url is None:
        raise UsageError(
            "This home's ledger is a file, and its runs are done by the process that conducts them. Workers help where the ledger is on "
            "a server (PROCTOR_LEDGER_URL)."
        )
    name = name or platform.node()
    done: Counter[str] = Counter()
    # How often in succession nothing could be done of what waits of a run.
    vain: Counter[tuple[str, str]] = Counter()
    quiet_since = time.monotonic()
    with open_ledger(settings.ledger_address) as ledger:
        while True:
            waiting = _find_jobs(ledger, name)
            left = [key for key in waiting if vain[key] >= MOST_VAIN]
            key = next((key for key in waiting if key not in left), None)
            if key is None:
                if time.monotonic() - quiet_since >= LINGER_S:
                    return dict(done), bool(left)
                time.sleep(LOOK_EVERY_S / 2)
                continue
            counts: dict[str, int] = {}
            try:
                counts = _do(ledger, settings, *key)
            except ProctorError as error:
                log.warning("%s of %s could not be helped with: %s", *key, error)
                time.sleep(LOOK_EVERY_S)
            done.update(counts)
            vain[key] = 0 if any(counts.values()) else vain[key] + 1
            quiet_since = time.monotonic()


def _find_jobs(ledger: Ledger, name: str) -> list[tuple[str, str]]:
    """The kinds and runs of which jobs wait for this worker."""
    with ledger.write() as connection:
        return list_waiting(connection, worker=name, closed_lanes=IN_BATCHES, most_tries=MOST_TRIES)


def _do(ledger: Ledger, settings: Settings, kind: str, run_id: str) -> dict[str, int]:
    """Help with a run, or conduct it; returns what was done."""
    if kind != CONDUCTED:
        with recorded_run("help", f"help-{run_id}"):
            return _HELPERS[kind](ledger, settings, run_id)
    with ledger.read() as connection:
        job = read_job(connection, CONDUCTED, run_id)
    if job is None or job.details is None:
        return {}
    # A home of before leagues were conducted has the parameters of a month alone.
    flow = job.details.get("flow", "monthly")
    try:
        with as_deployment(flow):
            run_flow(flow, **job.details.get("parameters", job.details))
    except ProctorError as error:
        # Where it failed before it was conducted, the job waits still: it is not tried for ever.
        with ledger.write() as connection:
            give_back_jobs(connection, CONDUCTED, [run_id], None, problem=str(error))
        raise
    return {"conducted": 1}
