"""A worker takes jobs of runs that others conduct.

No run asks it: it looks for what waits in the ledger.

The jobs are done in a process of its own, which ends when nothing waits any more.
"""

from __future__ import annotations

import atexit
import logging
import platform
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from schemas.errors import ProctorError, UsageError
from tasks.exam import help_to_sit
from tasks.judging import help_to_judge
from tasks.running.claiming import hold_if_free, is_dead
from tasks.running.flow_runs.record import as_deployment, recorded_run
from tasks.running.sharing import CONDUCTED, IN_BATCHES, MOST_TRIES, WORKER
from warehouse.lake import open_lake
from warehouse.ledger.engine.leases.jobs import free_jobs, list_waiting, make_job, read_job
from warehouse.ledger.engine.opening import open_ledger

if TYPE_CHECKING:
    from schemas.settings import Settings
    from warehouse.ledger.engine.ledger import Ledger

log = logging.getLogger("proctor.runs")
LOOK_EVERY_S: Final = 2.0
# A process that helps waits so long for more before it ends: to start one costs seconds.
LINGER_S: Final = 20.0
# Of what it could do nothing so often it leaves to others.
MOST_VAIN: Final = 3
# What this host could not do (a key is missing, a budget spent) is tried again after so long.
REST_S: Final = 60.0


def start_helping(settings: Settings, name: str) -> None:
    """Look for jobs on a thread of this process, as the worker `name`, as long as it lives."""

    def work() -> None:
        while True:
            with (
                suppress(ProctorError),
                open_ledger(settings.ledger_address) as ledger,
                hold_if_free(ledger, make_job(WORKER, name)),
            ):
                _look_for_ever(ledger, name)
            time.sleep(LOOK_EVERY_S)

    threading.Thread(target=work, name="look-for-jobs", daemon=True).start()


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
            counts = _try(ledger, settings, *key)
            done.update(counts)
            vain[key] = 0 if any(counts.values()) else vain[key] + 1
            quiet_since = time.monotonic()


def _try(ledger: Ledger, settings: Settings, kind: str, run_id: str) -> dict[str, int]:
    """What was done; nothing where this host cannot help, which the log says."""
    try:
        return _do(ledger, settings, kind, run_id)
    except ProctorError as error:
        log.warning("%s of %s could not be helped with: %s", kind, run_id, error)
        time.sleep(LOOK_EVERY_S)
        return {}


def _do(ledger: Ledger, settings: Settings, kind: str, run_id: str) -> dict[str, int]:
    """Help with a run, or conduct it; returns what was done."""
    if kind == CONDUCTED:
        from deployments.flow_runs.flow_runner import run_flow

        with ledger.read() as connection:
            job = read_job(connection, CONDUCTED, run_id)
        if job is None:
            return {}
        with as_deployment("monthly"):
            run_flow("monthly", **(job.details or {}))
        return {"conducted": 1}
    with recorded_run("help", f"help-{run_id}"):
        if kind == "sit":
            return help_to_sit(ledger, settings, run_id)
        with open_lake(settings) as lake:
            return help_to_judge(ledger, lake, settings, run_id)


def _find_jobs(ledger: Ledger, name: str) -> list[tuple[str, str]]:
    """The kinds and runs of which jobs wait for this worker.

    Those whose holder is gone wait again.
    """
    with ledger.write() as connection:
        free_jobs(connection, is_dead)
        return list_waiting(connection, worker=name, closed_lanes=IN_BATCHES, most_tries=MOST_TRIES)


def _look_for_ever(ledger: Ledger, name: str) -> None:
    command = [sys.executable, "-m", "deployments.cli", "worker", "--only-jobs", "--name", name]
    while True:
        while not _find_jobs(ledger, name):
            time.sleep(LOOK_EVERY_S)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        atexit.register(process.terminate)
        code = process.wait()
        atexit.unregister(process.terminate)
        time.sleep(REST_S if code else LOOK_EVERY_S)
