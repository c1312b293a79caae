"""What the doctor asks of others: Prefect's server and workers.

It also looks at what the schedules came to.
"""

from __future__ import annotations

import urllib.error
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from deployments.doctor.findings import Findings, NoteFinding
from schemas.errors import ProctorError
from schemas.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deployments.flow_runs.server import PrefectServer, ServerState
    from schemas.ledger.engine import FlowSchedule
    from warehouse.ledger.engine.ledger import Ledger

# A worker that was taken away for good stays in Prefect's list: after so long it is named, and is no fault.
_FORGOTTEN: Final = timedelta(days=7)


def examine_prefect(settings: Settings, ledger: Ledger, note: Findings) -> None:
    """Whether server and workers run, and what is scheduled can run within a budget."""
    from deployments.flow_runs.server import read_named_server, read_started, read_state
    from warehouse.ledger.engine.runs.flow_runs import list_flow_schedules

    with ledger.read() as connection:
        schedules = list_flow_schedules(connection)
    named = read_named_server()
    state, started = read_state(settings), read_started(settings)
    if named:
        _examine_named(named, schedules, note)
    elif state is not None:
        _examine_own(state, schedules, note)
    elif started is not None:
        note(
            "Prefect server",
            f"the one that was started (process {started.server_pid}, port {started.port}) is gone, and nobody ended it by proctor down"
            + (f": {len(schedules)} scheduled deployments wait" if schedules else ""),
            False,
            f"{settings.home}/prefect/server.log says why it ended; proctor up starts another, and runs continue where they were",
        )
    else:
        note(
            "Prefect server",
            f"none runs: {len(schedules)} scheduled deployments wait"
            if schedules
            else "none runs; commands start one",
            not schedules,
            "proctor up",
        )
    if schedules:
        note(
            "budget of scheduled runs",
            "none is set: they are refused"
            if settings.budget_usd is None
            else f"${settings.budget_usd:.2f} a run",
            settings.budget_usd is not None,
            "set PROCTOR_BUDGET_USD for the worker",
        )
    if schedules or settings.notify:
        _examine_recipients(settings, note)


def _examine_recipients(settings: Settings, note: Findings) -> None:
    """Whether those who are to be told of failed runs are named so that they can be."""
    from tasks.running.notices import read_recipients

    try:
        told = len(read_recipients(settings.notify))
    except ProctorError as error:
        note(
            "told of failed runs",
            error,
            False,
            "correct PROCTOR_NOTIFY for the worker; until then nobody hears of failures",
        )
    else:
        note("told of failed runs", f"{told} (PROCTOR_NOTIFY)" if told else "nobody (PROCTOR_NOTIFY)", True)


def _examine_own(state: ServerState, schedules: Sequence[FlowSchedule], note: Findings) -> None:
    from deployments.flow_runs.server import PrefectServer, encode_password, has_worker, is_healthy

    is_well = is_healthy(state)
    note(
        "Prefect server",
        f"answers at {state.api_url}"
        if is_well
        else f"does not answer at {state.api_url}, although its process {state.server_pid} is there",
        is_well,
        "wait a minute if it was just started; otherwise proctor down, then proctor up: runs continue where they were",
    )
    if state.worker_pid is not None and not has_worker(state):
        note(
            "worker",
            f"the one that was started with the server (process {state.worker_pid}) is gone"
            + (f": {len(schedules)} deployments wait" if schedules else ""),
            False,
            "proctor up starts another; prefect/worker.log in the home says why it ended",
        )
    elif is_well and (schedules or state.worker_pid is not None):
        own = PrefectServer(state.api_url, encode_password(state.auth))
        _examine_workers(own, schedules, "proctor up", note)
    elif schedules and state.worker_pid is None:
        note("worker", f"none runs: {len(schedules)} deployments wait", False, "proctor up")


def _examine_named(named: PrefectServer, schedules: Sequence[FlowSchedule], note: Findings) -> None:
    """The server that PREFECT_API_URL names."""
    fix = "start it, or correct PREFECT_API_URL; without that variable Proctor starts a server of its own"
    try:
        named.ask("admin/version")
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            fix = "set PREFECT_API_AUTH_STRING (or PREFECT_API_KEY) as the server has it"
        note("Prefect server", f"{named.shown} (PREFECT_API_URL) answers {error.code}", False, fix)
    except (OSError, ValueError) as error:
        note(
            "Prefect server",
            f"{named.shown} (PREFECT_API_URL) does not answer ({type(getattr(error, 'reason', error)).__name__})",
            False,
            fix,
        )
    else:
        note("Prefect server", f"{named.shown} answers, as PREFECT_API_URL says", True)
        fix = "proctor worker --name NAME, on each host that is to run something"
        _examine_workers(named, schedules, fix, note)


def _examine_workers(
    server: PrefectServer, schedules: Sequence[FlowSchedule], fix: str, note: Findings
) -> None:
    """Check the workers that the server has heard of.

    The findings are whether a worker is there for what is scheduled, and which workers have gone.
    """
    from tasks.running.sharing import WORK_POOL

    try:
        found = server.ask(f"work_pools/{WORK_POOL}/workers/filter", {"limit": 200})
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        found = []  # Nothing was deployed to this server.
    online = sorted(str(one["name"]) for one in found if one["status"] == "ONLINE")
    now = datetime.now(UTC)
    gone = [
        (str(one["name"]), now - datetime.fromisoformat(one["last_heartbeat_time"]))
        for one in found
        if one["status"] != "ONLINE" and one["last_heartbeat_time"]
    ]
    recent = [(name, since) for name, since in gone if since < _FORGOTTEN]
    if recent or (schedules and not online):
        words = [f"{name}, not heard of for {_describe(since)}" for name, since in sorted(recent)]
        waits = f"; {len(schedules)} deployments wait" if schedules and not online else ""
        note("workers", f"gone: {'; '.join(words)}{waits}" if words else f"none runs{waits}", False, fix)
    elif online:
        note("workers", ", ".join(online), True)


def _describe(since: timedelta) -> str:
    minutes = int(since.total_seconds() // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"


def examine_schedules(ledger: Ledger, note: NoteFinding) -> None:
    """Scheduled runs that did not happen, one finding each."""
    from tasks.running.flow_runs.record import find_missed_runs

    missed = find_missed_runs(ledger)
    for one in missed:
        note(f"schedule of {one.deployment}", one.describe(), one.is_made_up, one.remedy)
    if not missed:
        note("schedules", "every run that was due happened", True)
