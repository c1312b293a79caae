"""In which state a run should be that Prefect believes to be under way, by what the ledger knows of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from prefect.client.schemas.objects import FlowRun, State, StateType  # noqa: TID251 - what Prefect says of a run

from tasks.flow_runs import WORK_POOL
from tasks.orchestrator.task import _find_end
from warehouse.ledger.engine.flow_runs import FlowRun as LedgerRun

pytestmark = pytest.mark.slow

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def make_run(state: StateType, minutes: float, pool: str | None = WORK_POOL) -> FlowRun:
    since = NOW - timedelta(minutes=minutes)
    return FlowRun(
        id=uuid4(), flow_id=uuid4(), name="run", work_pool_name=pool, state=State(type=state, timestamp=since)
    )


def make_known(state: str, ended_minutes: float | None) -> LedgerRun:
    ended = None if ended_minutes is None else (NOW - timedelta(minutes=ended_minutes)).isoformat()
    values = dict.fromkeys(LedgerRun.__dataclass_fields__) | {
        "flow_run_id": "1", "flow": "monthly", "name": "run", "state": state, "started_by": "schedule", "host": "h", "process_id": 1,
        "started_at": (NOW - timedelta(hours=1)).isoformat(), "ended_at": ended,
    }  # fmt: skip
    return LedgerRun(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("pool", [WORK_POOL, f"{WORK_POOL}-docker"])
def test_a_run_of_ours_that_never_began_crashes(pool: str) -> None:
    for state, minutes in ((StateType.PENDING, 6), (StateType.RUNNING, 21)):
        end = _find_end(make_run(state, minutes, pool), None, NOW)
        assert end is not None
        assert end.type == StateType.CRASHED
    for state, minutes in ((StateType.PENDING, 4), (StateType.RUNNING, 19)):
        assert _find_end(make_run(state, minutes, pool), None, NOW) is None


@pytest.mark.parametrize("pool", [None, "proctors", "another-team"])
def test_a_run_of_others_on_the_same_prefect_server_is_left_alone(pool: str | None) -> None:
    for state in (StateType.PENDING, StateType.RUNNING, StateType.CANCELLING):
        assert _find_end(make_run(state, 60 * 24, pool), None, NOW) is None


def test_a_run_that_the_ledger_knows_as_ended_ends_so_whoever_started_it() -> None:
    for state, expected in (
        ("crashed", StateType.CRASHED),
        ("failed", StateType.FAILED),
        ("completed", StateType.COMPLETED),
    ):
        end = _find_end(make_run(StateType.RUNNING, 60, None), make_known(state, 2), NOW)
        assert end is not None
        assert end.type == expected
    assert _find_end(make_run(StateType.RUNNING, 60), make_known("running", None), NOW) is None
    # The run itself tells Prefect a moment after the ledger.
    assert _find_end(make_run(StateType.RUNNING, 60), make_known("completed", 0.5), NOW) is None
