"""A worker conducts runs in the place of processes that are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from deployments.flow_runs.server import do_jobs
from deployments.home import create_home
from schemas.ledger.engine import Job
from schemas.settings import Settings, load_settings
from tasks.running.sharing import CONDUCTED
from tests.tasks.test_call_jobs import FOUR, claim, start_candidates
from tests.warehouse.ledger.held import hold_elsewhere
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.lake import open_lake
from warehouse.ledger.engine import tables as t
from warehouse.ledger.engine.leases.jobs import defer_jobs, list_jobs
from warehouse.ledger.engine.opening import open_ledger

pytestmark = pytest.mark.service


@pytest.fixture
def home(postgresql: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    values = {"home": str(tmp_path / "home"), "ledger_url": postgresql.new_ledger_url(), "no_server": "true"}
    for name, value in values.items():
        monkeypatch.setenv(f"PROCTOR_{name.upper()}", value)
    # It ends when nothing waits, at once.
    monkeypatch.setattr("deployments.flow_runs.server.worker.LINGER_S", 0.0)
    monkeypatch.setattr("deployments.flow_runs.server.worker.LOOK_EVERY_S", 0.01)
    load_settings.cache_clear()
    return load_settings()


@pytest.mark.parametrize(
    ("details", "flow"),
    [
        ({"flow": "league", "parameters": {"league_id": "one"}}, "league"),
        ({"month": "2026-11", "candidates": None, "repetition": ""}, "monthly"),
    ],
    ids=["a league", "a month, put there by a version that conducted nothing else"],
)
def test_what_cannot_be_conducted_is_reported_and_not_tried_for_ever(
    home: Settings, details: dict[str, object], flow: str
) -> None:
    create_home(home)
    with open_ledger(home.ledger_address) as ledger:
        with ledger.write() as connection:
            defer_jobs(connection, [Job(kind=CONDUCTED, name="one", run_id="one", details=details)])
        # No budget is set, and nobody looks at what a deployment spends.
        do_jobs(home, "w1")
        assert do_jobs(home, "w1") == ({}, False)
        with ledger.read() as connection:
            (job,) = list_jobs(connection, CONDUCTED)
            ended = connection.execute(t.flow_runs.select()).mappings().all()
    assert "no budget is set" in (job.problem or "")
    assert [(run["flow"], run["state"]) for run in ended] == [(flow, "failed")] * job.tries


def test_who_conducts_in_the_place_of_another_waits_until_all_that_it_held_has_lapsed(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leases of one process do not end at one moment."""
    monkeypatch.setenv("PROCTOR_BUDGET_USD", "5")
    load_settings.cache_clear()
    claim({"home": home.home, "ledger_url": home.ledger_address}, run_count=1)
    create_home(home)
    begun = {"flow": "league", "parameters": {"league_id": "one"}}
    conducted = Job(kind=CONDUCTED, name="league/one", run_id="league/one", details=begun)
    with open_ledger(home.ledger_address) as ledger, start_candidates(5) as server:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        with ledger.write() as connection:
            hold_elsewhere(connection, conducted, "gone first", lease_s=0.0)
            hold_elsewhere(connection, Job(kind="league", name="one"), "gone last", lease_s=5.0)
        assert do_jobs(home, "w1") == ({"conducted": 1}, False)
        with open_lake(home, read_only=True) as lake:
            assert lake.query("SELECT count(*) FROM league_rounds").item() == len(FOUR) * 2
