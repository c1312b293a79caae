"""Prefect's server as one of the stores.

A call that it does not answer is made again until it is back.

Prefect's own client tries six times within a minute and then fails the run. Here its calls wait as those to any other store do.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import anyio
import anyio.to_thread
import httpx
from prefect import flow_engine
from prefect.client import base
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterEndTime,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.states import Cancelled, Completed, Crashed, Failed

from schemas.errors import ProctorError, StoreAway
from schemas.ledger.engine import FlowRun as LedgerRun
from schemas.settings import load_settings
from tasks.running.flow_runs.record import end_lost_runs
from tasks.running.notices import deliver_notices
from tasks.running.sharing import WORK_POOL
from warehouse.ledger.engine.leases.clock import read_lease_time, read_time
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.runs.flow_runs import end_flow_run, read_flow_runs
from warehouse.ledger.engine.runs.notices import add_notice, list_noticed
from warehouse.stores.away import PREFECT, not_waiting, until_there, was_away_lately

log = logging.getLogger("proctor.runs")

# How often a worker looks whether a run is lost, and whether somebody is to be told.
LOOK_EVERY_S: Final = 15.0
# A run that a worker took up and of which nobody has heard for so long did not begin; a machine at its limit takes a minute.
BEGINS_WITHIN: Final = timedelta(minutes=5)
# One that says it runs and of which the ledger knows nothing: its beginning may wait for the ledger.
NOTED_WITHIN: Final = timedelta(minutes=20)
# Prefect is told of an end by the run itself, a moment after the ledger.
TOLD_WITHIN: Final = timedelta(minutes=1)
_LOOKS_BACK: Final = timedelta(days=1)
_AT_ONCE: Final = 200
_ENDS: Final[dict[str, Callable[..., State[Any]]]] = {
    "completed": Completed, "failed": Failed, "crashed": Crashed, "cancelled": Cancelled,
}  # fmt: skip

_AWAY_ERRORS: Final = (
    httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadTimeout, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError,
)  # fmt: skip
_READY_TIMEOUT_S: Final = 10.0


def wait_for_server() -> None:
    """Let this process wait for a Prefect server that is away, from now on.

    The process is also not ended for a place that it could not renew meanwhile.

    A place in a deployment's limit that ran out while the server was away may be another's: two runs of one month share its
    work by the ledger's claims, so that nothing is done or paid twice.
    """
    if getattr(base, "_proctor_waits", False):
        return
    base._proctor_waits = True  # type: ignore[attr-defined]
    for client in (base.PrefectHttpxAsyncClient, base.PrefectHttpxSyncClient):
        _patch(client)
    engine: Any = flow_engine
    keep = engine.maintain_concurrency_lease

    @functools.wraps(keep)
    def maintain(lease_id: Any, lease_duration: float, **named: Any) -> Any:
        return keep(lease_id, lease_duration, **named | {"raise_on_lease_renewal_failure": False})

    engine.maintain_concurrency_lease = maintain


def _patch(client: Any) -> None:
    """What the client sends waits; everything else of its own handling stays."""
    whole = client._send_with_retry
    is_sync = client is base.PrefectHttpxSyncClient

    @functools.wraps(whole)
    def send_waiting(self: Any, request: httpx.Request, send: Any, *arguments: Any, **named: Any) -> Any:
        if load_settings().store_wait_s > 0:
            send = _wait_sync(send) if is_sync else _wait_async(send)
        return whole(self, request, send, *arguments, **named)

    client._send_with_retry = send_waiting


def _wait_sync(send: Callable[..., httpx.Response]) -> Callable[..., httpx.Response]:
    def sent(request: httpx.Request, *arguments: Any, **named: Any) -> httpx.Response:
        def attempt() -> httpx.Response:
            try:
                response = send(request, *arguments, **named)
            except _AWAY_ERRORS:
                raise _away() from None
            return _check(request, response)

        return until_there(attempt, stores=(PREFECT,))

    return sent


def _wait_async(send: Callable[..., Awaitable[httpx.Response]]) -> Callable[..., Awaitable[httpx.Response]]:
    async def sent(request: httpx.Request, *arguments: Any, **named: Any) -> httpx.Response:
        with suppress(*_AWAY_ERRORS):
            response = await send(request, *arguments, **named)
            if response.status_code < 500:
                return response
        # Waited for in a thread, so that the other coroutines go on; a cancelled one ends the wait.
        ended = threading.Event()
        try:
            await anyio.to_thread.run_sync(
                lambda: until_there(lambda: _check_ready(request), stores=(PREFECT,), ended=ended),
                abandon_on_cancel=True,
            )
        finally:
            ended.set()
        return await send(request, *arguments, **named)

    return sent


def _check(request: httpx.Request, response: httpx.Response) -> httpx.Response:
    """The response, unless it is the error of a server that cannot reach its database."""
    if response.status_code >= 500:
        _check_ready(request)
    return response


def _check_ready(request: httpx.Request) -> None:
    """Raise StoreAway unless the server that the request goes to is ready.

    It is ready when it says that it and its database are there.
    """
    url = str(request.url)
    top = url[: url.rindex("/api/") + len("/api/")] if "/api/" in url else url
    headers = {name: value for name, value in request.headers.items() if name.lower() == "authorization"}
    try:
        ready = httpx.get(f"{top}ready", headers=headers, timeout=_READY_TIMEOUT_S).status_code
    except httpx.HTTPError:
        raise _away() from None
    if ready >= 500:
        raise _away()


def _away() -> StoreAway:
    return StoreAway(
        PREFECT,
        "The Prefect server does not answer. What was acknowledged is kept; start it, then run the same again.",
    )


def watch_runs(ledger: Ledger, ended: threading.Event) -> None:
    """Look after runs until `ended`. What fails is tried again.

    Lost runs are ended, and notices that are due are sent.
    """
    while not ended.wait(LOOK_EVERY_S):
        look_after_runs(ledger)


def look_after_runs(ledger: Ledger) -> None:
    """End what is lost in the ledger and in Prefect, and send the notices that are due.

    What Prefect alone knows of is also taken over.

    What fails is logged and keeps nothing else from being done; raises nothing.
    """
    for step in (_end_lost, _look_into_prefect, deliver_notices):
        try:
            step(ledger)
        except Exception as error:
            # The worker's own work does not end because nobody can be told. Of others' errors the text may be content.
            cause = str(error) if isinstance(error, ProctorError) else type(error).__name__
            log.warning("runs could not be looked after: %s", cause)


def _end_lost(ledger: Ledger) -> None:
    end_lost_runs(ledger, _find_cancelled)


def _find_cancelled(flow_run_ids: Sequence[str]) -> set[str]:
    """Which of the runs somebody has cancelled in Prefect; none where it cannot say."""
    # Whatever it is that fails: those whose process is gone are ended all the same.
    with not_waiting(), suppress(Exception), get_client(sync_client=True) as client:
        found = _read_runs(client, [StateType.CANCELLING, StateType.CANCELLED], ids=flow_run_ids)
        return {str(run.id) for run in found}
    return set()


def _look_into_prefect(ledger: Ledger) -> None:
    """End runs in Prefect and note what it alone knows.

    A server that is away is asked again at the next look.
    """
    with not_waiting(), suppress(httpx.HTTPError, StoreAway), get_client(sync_client=True) as client:
        # Runs that wait for the ledger may not have noted yet that they began.
        if not was_away_lately():
            _end_in_prefect(ledger, client)
        _note_failures_of_prefect(ledger, client)


def _end_in_prefect(ledger: Ledger, client: SyncPrefectClient) -> None:
    """End the runs that Prefect believes to be under way, as the ledger has it.

    Those that never began end as crashed.
    """
    types = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]
    found = _read_runs(client, types)
    with ledger.read() as connection:
        known = read_flow_runs(connection, [str(run.id) for run in found])
        now = datetime.fromtimestamp(read_time(connection).now, UTC)
    for run in found:
        state = _find_end(run, known.get(str(run.id)), now)
        if state is None:
            continue
        client.set_flow_run_state(run.id, state)
        log.error("%s ended in Prefect as %s", run.name, state.name)
        if str(run.id) not in known:
            with ledger.write() as connection:
                add_notice(connection, str(run.id), run.name, str(state.name))


def _find_end(run: FlowRun, known: LedgerRun | None, now: datetime) -> State[Any] | None:
    """The state in which a run that Prefect believes to be under way should be.

    Returns None where Prefect is right.
    """
    if run.state is None:
        return None
    since = now - run.state.timestamp
    if known is None:
        if not _is_ours(run):
            return None
        longest = BEGINS_WITHIN if run.state.type == StateType.PENDING else NOTED_WITHIN
        return Crashed(message="Its process never began.") if since > longest else None
    if known.state == "running" or known.ended_at is None:
        return None
    if now - datetime.fromisoformat(known.ended_at) < TOLD_WITHIN and known.state != "crashed":
        return None
    return _ENDS[known.state](message="As the ledger has it.")


def _is_ours(run: FlowRun) -> bool:
    """Whether a run that the ledger does not know was for our workers.

    Others may use the same Prefect server.
    """
    return (run.work_pool_name or "").partition("-")[0] == WORK_POOL


def _note_failures_of_prefect(ledger: Ledger, client: SyncPrefectClient) -> None:
    """Note bad ends that the ledger does not know.

    They are of runs that never reached our code, or whose process could say nothing.
    """
    types = [StateType.FAILED, StateType.CRASHED]
    with ledger.read() as connection:
        since = datetime.fromtimestamp(read_lease_time(connection), UTC) - _LOOKS_BACK
    found = {str(run.id): run for run in _read_runs(client, types, ended_after=since)}
    with ledger.read() as connection:
        known = read_flow_runs(connection, list(found))
        noticed = list_noticed(connection, list(found))
    for run_id, run in found.items():
        if run_id in noticed or run.state is None:
            continue
        noted = known.get(run_id)
        with ledger.write() as connection:
            if noted is None:
                if _is_ours(run):
                    add_notice(connection, run_id, run.name, str(run.state.name))
            elif noted.state == "running" and run.end_time is not None:
                # Prefect's worker saw the process end; a run that began again since has a later beginning there.
                end_flow_run(
                    connection, run_id, "crashed" if run.state.type == StateType.CRASHED else "failed"
                )


def _read_runs(
    client: SyncPrefectClient,
    types: Sequence[StateType],
    *,
    ended_after: datetime | None = None,
    ids: Sequence[str] | None = None,
) -> list[FlowRun]:
    wanted = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(types))))
    if ids is not None:
        wanted.id = FlowRunFilterId(any_=[UUID(one) for one in ids])
    if ended_after is not None:
        wanted.end_time = FlowRunFilterEndTime(after_=ended_after)
    return client.read_flow_runs(flow_run_filter=wanted, sort=FlowRunSort.START_TIME_DESC, limit=_AT_ONCE)


def start_watch(open_it: Callable[[], Ledger]) -> threading.Event:
    """Look after runs on a thread of this process; returns what ends it."""
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            with suppress(ProctorError), open_it() as ledger:
                watch_runs(ledger, ended)
            ended.wait(LOOK_EVERY_S)

    threading.Thread(target=work, name="watch-runs", daemon=True).start()
    return ended
