"""The state that a run should be in when Prefect believes it to be under way.

The tests also check that nothing keeps a worker from looking after runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from schemas.errors import StoreAway, UsageError
from schemas.ledger.engine import FlowRun as LedgerRun
from schemas.settings import load_settings
from tasks.running.sharing import WORK_POOL
from warehouse.ledger.engine.leases.clock import Host, clock_of
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import StartedRun, begin_flow_run, read_flow_runs
from warehouse.ledger.engine.runs.notices import list_noticed
from warehouse.stores import away
from warehouse.stores.away import PREFECT, until_there

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun, State  # noqa: TID251 - what Prefect says of a run

# `tasks.running.orchestrator.task` imports Prefect, which only the tests that run pay for.
pytestmark = pytest.mark.slow

TASK = "tasks.running.orchestrator.task"

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def make_state(name: str, since: datetime) -> State:
    from prefect.client.schemas.objects import State, StateType  # noqa: TID251

    return State(type=StateType(name), timestamp=since)


def make_run(state: str, minutes: float, pool: str | None = WORK_POOL) -> FlowRun:
    from prefect.client.schemas.objects import FlowRun  # noqa: TID251

    since = make_state(state, NOW - timedelta(minutes=minutes))
    return FlowRun(id=uuid4(), flow_id=uuid4(), name="run", work_pool_name=pool, state=since)


def find_end(run: FlowRun, known: LedgerRun | None) -> str | None:
    from tasks.running.orchestrator.task import _find_end

    end = _find_end(run, known, NOW)
    return None if end is None else end.type.value


def look_after_runs(ledger: Ledger) -> None:
    from tasks.running.orchestrator import task

    task.look_after_runs(ledger)


def make_known(state: str, ended_minutes: float | None) -> LedgerRun:
    ended = None if ended_minutes is None else (NOW - timedelta(minutes=ended_minutes)).isoformat()
    values = {column.name: None for column in LedgerRun.stored.columns} | {
        "flow_run_id": "1", "flow": "monthly", "name": "run", "state": state, "started_by": "schedule", "host": "h", "process_id": 1,
        "started_at": (NOW - timedelta(hours=1)).isoformat(), "ended_at": ended,
    }  # fmt: skip
    return LedgerRun(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("pool", [WORK_POOL, f"{WORK_POOL}-docker"])
def test_a_run_of_ours_that_never_began_crashes(pool: str) -> None:
    for state, minutes in (("PENDING", 6), ("RUNNING", 21)):
        assert find_end(make_run(state, minutes, pool), None) == "CRASHED"
    for state, minutes in (("PENDING", 4), ("RUNNING", 19)):
        assert find_end(make_run(state, minutes, pool), None) is None


@pytest.mark.parametrize("pool", [None, "proctors", "another-team"])
def test_a_run_of_others_on_the_same_prefect_server_is_left_alone(pool: str | None) -> None:
    for state in ("PENDING", "RUNNING", "CANCELLING"):
        assert find_end(make_run(state, 60 * 24, pool), None) is None


def test_a_run_that_the_ledger_knows_as_ended_ends_so_whoever_started_it() -> None:
    for state in ("crashed", "failed", "completed"):
        assert find_end(make_run("RUNNING", 60, None), make_known(state, 2)) == state.upper()
    assert find_end(make_run("RUNNING", 60), make_known("running", None)) is None
    # The run itself tells Prefect a moment after the ledger.
    assert find_end(make_run("RUNNING", 60), make_known("completed", 0.5)) is None


@dataclass
class Client:
    """A Prefect server that has some runs, and is told of ends."""

    runs: list[FlowRun]
    is_away: bool = False
    asked: int = 0
    ended: list[UUID] = field(default_factory=list)

    def read_flow_runs(self, *, flow_run_filter: Any, **_: Any) -> list[FlowRun]:
        def attempt() -> list[FlowRun]:
            self.asked += 1
            if self.is_away:
                raise StoreAway(PREFECT, "The Prefect server does not answer.")
            wanted = flow_run_filter.state.type.any_
            return [run for run in self.runs if run.state is not None and run.state.type in wanted]

        return until_there(attempt, stores=(PREFECT,))

    def set_flow_run_state(self, run_id: UUID, _state: object) -> None:
        self.ended.append(run_id)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """A ledger whose clock is an hour behind this host's."""
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path))
    monkeypatch.setenv("PROCTOR_STORE_WAIT_S", "20")
    load_settings.cache_clear()
    with open_ledger(load_settings().ledger_address) as opened:
        clock_of(opened.engine).host = Host(lambda: time.time() - 3_600.0)
        yield opened
    load_settings.cache_clear()


def start(monkeypatch: pytest.MonkeyPatch, ledger: Ledger, *minutes: float) -> Client:
    """Prefect with runs that a worker took up so long ago by the ledger's clock."""
    now = datetime.now(UTC) - timedelta(hours=1)
    runs = [make_run("PENDING", 0) for _ in minutes]
    for run, since in zip(runs, minutes, strict=True):
        run.state = make_state("PENDING", now - timedelta(minutes=since))
    client = Client(runs)
    monkeypatch.setattr(f"{TASK}.get_client", lambda **_: nullcontext(client))
    return client


def test_the_ledgers_clock_says_whether_a_run_never_began(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start(monkeypatch, ledger, 1, 6)
    look_after_runs(ledger)
    assert client.ended == [client.runs[1].id]


def test_runs_end_in_prefect_although_nobody_can_be_told(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_ledger: Ledger) -> None:
        raise UsageError("PROCTOR_NOTIFY names neither.")

    client = start(monkeypatch, ledger, 6)
    monkeypatch.setattr(f"{TASK}.deliver_notices", refuse)
    with caplog.at_level(logging.WARNING, "proctor.runs"):
        look_after_runs(ledger)
    assert client.ended == [client.runs[0].id]
    assert "PROCTOR_NOTIFY names neither." in caplog.text


def test_a_prefect_server_that_is_away_is_not_waited_for_by_the_watch(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Ledger] = []
    client = start(monkeypatch, ledger, 6)
    client.is_away = True
    monkeypatch.setattr(f"{TASK}.deliver_notices", told.append)
    look_after_runs(ledger)
    assert (client.asked, told) == (1, [ledger])


def test_no_run_crashes_in_prefect_that_may_be_waiting_for_the_ledger(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start(monkeypatch, ledger, 6)
    monkeypatch.setattr(away, "_ledger_back_at", time.monotonic())
    look_after_runs(ledger)
    assert client.ended == []


def test_a_run_that_was_cancelled_in_prefect_has_not_crashed_and_nobody_is_told(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start(monkeypatch, ledger)
    client.runs = [make_run("CANCELLING", 0), make_run("RUNNING", 0)]
    for run in client.runs:
        with ledger.write() as connection:
            begun = StartedRun(str(run.id), "monthly", "monthly-2026-12")
            begin_flow_run(connection, begun, host="gone", process_id=1, lease_s=-1.0)
    look_after_runs(ledger)
    with ledger.read() as connection:
        known = read_flow_runs(connection, [str(run.id) for run in client.runs])
        noticed = list_noticed(connection, list(known))
    assert [known[str(run.id)].state for run in client.runs] == ["cancelled", "crashed"]
    assert noticed == {str(client.runs[1].id)}


def test_runs_whose_process_is_gone_are_ended_also_where_prefect_answers_with_nonsense(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start(monkeypatch, ledger)
    monkeypatch.setattr(client, "read_flow_runs", lambda **_: [][0])
    run_id = str(uuid4())
    with ledger.write() as connection:
        begin_flow_run(
            connection, StartedRun(run_id, "seal", "seal-x"), host="gone", process_id=1, lease_s=-1.0
        )
    look_after_runs(ledger)
    with ledger.read() as connection:
        assert read_flow_runs(connection, [run_id])[run_id].state == "crashed"


def test_an_end_of_which_prefects_worker_tells_is_noted(ledger: Ledger) -> None:
    from flows.seal import seal
    from tasks.running.flow_runs import make_known

    run = make_run("CANCELLED", 0)
    with ledger.write() as connection:
        begin_flow_run(connection, StartedRun(str(run.id), "seal", "seal-x"), host="here", process_id=1)
    # Its runner names what it gives.
    make_known(seal).on_cancellation_hooks[0](flow=None, flow_run=run, state=run.state)  # type: ignore[arg-type]  # no more of it is read
    with ledger.read() as connection:
        assert read_flow_runs(connection, [str(run.id)])[str(run.id)].state == "cancelled"
