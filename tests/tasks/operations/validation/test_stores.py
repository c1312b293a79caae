"""The nightly look at the stores: rows by month, checks, scheduled runs that were missed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas.ledger.engine import FlowSchedule
from tasks.exam import SittingPart
from tasks.exam.closed import force_close, land_closed_sessions
from tasks.operations.validation.stores import MonthDifference, check_stores, find_month_differences
from tests.fresh import open_new_lake
from tests.tasks.exam.kit import sit_sessions
from tests.tasks.exam.world import (
    MONTH,
    AnsweringClient,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import write_flow_schedules

QUESTIONS, ANSWERS = 12, 6
NOW = datetime.now(UTC)
LATER = NOW + timedelta(hours=2)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[Ledger, Lake]]:
    """Two sessions, none landed: alpha answered all six, rho none before it was closed."""
    settings = make_settings(tmp_path / "home")
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    with open_ledger(settings.ledger_address) as ledger, open_new_lake(settings) as lake:
        plan = publish(ledger, settings, registry, make_bank())
        client = AnsweringClient()
        asyncio.run(
            sit_sessions(ledger, settings, registry, client, plan.run_id, part=SittingPart(models=["alpha"]))
        )
        assert force_close(ledger, plan.run_id, "gone").unanswered_count == ANSWERS
        yield ledger, lake


def test_a_month_that_the_lake_lacks_is_named_and_the_night_names_a_missed_run_with_its_remedy(
    stores: tuple[Ledger, Lake], tmp_path: Path
) -> None:
    ledger, lake = stores
    assert find_month_differences(ledger, lake, now=NOW) == [], "it closed a moment ago"
    assert find_month_differences(ledger, lake, now=LATER) == [
        MonthDifference(MONTH, "sessions", 2, 0),
        MonthDifference(MONTH, "allocations", QUESTIONS, 0),
        MonthDifference(MONTH, "responses", ANSWERS, 0),
    ]
    assert find_month_differences(ledger, lake, now=LATER, may_wait=True) == []
    land_closed_sessions(ledger, lake)
    assert check_stores(ledger, lake, now=LATER).problems == []
    # A month that the ledger never closed is named whatever may wait.
    with open_ledger(f"sqlite:///{tmp_path / 'another.sqlite'}") as another:
        beyond = find_month_differences(another, lake, may_wait=True)
    assert [one.describe() for one in beyond] == [
        f"{MONTH}, sessions: 0 in the ledger, 2 in the lake",
        f"{MONTH}, allocations: 0 in the ledger, {QUESTIONS} in the lake",
        f"{MONTH}, responses: 0 in the ledger, {ANSWERS} in the lake",
    ]
    with ledger.write() as connection:
        deployed_at = "2020-01-01T00:00:00.000000+00:00"
        drift = FlowSchedule(
            deployment="drift", flow="drift", cron="0 6 15 * *", timezone="UTC", deployed_at=deployed_at
        )
        write_flow_schedules(connection, [drift])
    found = check_stores(ledger, lake, now=LATER)
    assert (found.months, len(found.checks) >= 9, found.differences) == (1, True, [])
    (problem,) = found.problems
    assert problem.startswith("drift did not run at ")
    assert problem.endswith("(proctor runs start drift)")
