"""The record of every run of a flow, in the ledger.

It says what started the run, how it ended, and what it came to in ids and counts.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from traceback import clear_frames
from typing import Any
from uuid import uuid4

from schemas.errors import ProctorError, is_interruption
from schemas.settings import is_home, load_settings
from tasks.running.counts import compute_counts
from tasks.running.log_lines import RunName, find_run, running
from tasks.running.notices import deliver
from warehouse.ledger.engine.leases.presence import LEASE_S, Renewal
from warehouse.ledger.engine.leases.processes import name_host
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import StartedRun as StartedRun
from warehouse.ledger.engine.runs.flow_runs import (
    begin_flow_run,
    end_flow_run,
    note_flow_counts,
    renew_flow_run,
)

log = logging.getLogger("proctor.runs")
# A process that was asked for a run of a deployment; Prefect knows nothing of it there.
_asked: list[str] = []
# What says, as long as this process lives, that its runs are under way.
_renewals: dict[str, Renewal] = {}


def note_start(run: StartedRun) -> None:
    """Note that a run begins.

    What cannot be noted (a store that is gone) is for the run's own error to report.
    """
    log.info("%s began, started by %s", run.name, run.started_by)
    with suppress(ProctorError), _writing() as connection:
        if connection is not None:
            begin_flow_run(connection, run, host=name_host(), process_id=os.getpid(), lease_s=LEASE_S)
            _renewals[run.flow_run_id] = Renewal(f"run-{run.name}", partial(_renew, run.flow_run_id), LEASE_S)


def note_result(result: dict[str, object]) -> None:
    """Keep the ids and counts of the run that is under way here.

    Outside of a run there is nothing to keep them with.
    """
    run = find_run()
    if run is None:
        return
    with suppress(ProctorError), _writing() as connection:
        if connection is not None:
            note_flow_counts(connection, run.flow_run_id, compute_counts(result))


def note_end(run: RunName, state: str, error: object = None) -> None:
    """Note how a run ended: `completed`, `failed`, `crashed` or `cancelled`, and by which error.

    Of others' errors nothing is said: their text may be content.
    """
    why = f": {error}" if state == "failed" and isinstance(error, ProctorError) else ""
    log.log(logging.INFO if state == "completed" else logging.ERROR, "%s %s%s", run.name, state, why)
    if (renewal := _renewals.pop(run.flow_run_id, None)) is not None:
        renewal.end()
    if isinstance(error, BaseException) and is_interruption(error):
        # A Ctrl-C before the end of a block could begin leaves to its traceback what the block held: this would wait for it.
        clear_frames(error.__traceback__)
    with suppress(ProctorError), _writing() as connection:
        if connection is not None:
            end_flow_run(connection, run.flow_run_id, state)
    if state == "failed":
        # Of a crash the next one tells who looks after runs: whoever pressed Ctrl-C does not wait for a web hook.
        deliver()


def _renew(flow_run_id: str) -> bool:
    with _writing() as connection:
        return connection is not None and renew_flow_run(connection, flow_run_id, lease_s=LEASE_S)


@contextmanager
def as_deployment(name: str) -> Iterator[None]:
    """Make runs that begin within the block runs of that deployment.

    They count as if a person had started the deployment.
    """
    _asked.append(name)
    try:
        yield
    finally:
        _asked.remove(name)


def name_deployment() -> str | None:
    """The deployment that this process was asked to run; null without one."""
    return _asked[-1] if _asked else None


def compute_patience() -> float:
    """Seconds for which work that another process holds is waited for.

    Who conducts a run in the place of a process that is gone comes when one lease of it has lapsed, and others end somewhat
    later. Where a person asked, nothing is waited for.
    """
    return 0.0 if name_deployment() is None else LEASE_S


@contextmanager
def recorded_run(flow: str, name: str) -> Iterator[None]:
    """A run without a server: noted at its beginning and at its end, however it ends."""
    deployment = name_deployment()
    run = StartedRun(str(uuid4()), flow, name, deployment, "command" if deployment is None else "person")
    named = RunName(run.flow_run_id, run.name)
    with running(named):
        note_start(run)
        try:
            yield
        except BaseException as error:
            note_end(named, "crashed" if is_interruption(error) else "failed", error)
            raise
        note_end(named, "completed")


@contextmanager
def _writing() -> Iterator[Any]:
    """A transaction of the ledger; null where there is no home."""
    settings = load_settings()
    if not is_home(settings.home):
        yield None
        return
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        yield connection
