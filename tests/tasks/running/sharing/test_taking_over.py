"""A worker conducts runs in the place of processes that are gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from deployments.flow_runs.server import do_jobs, worker
from deployments.home import create_home
from schemas.settings import Settings, load_settings
from tasks.running.sharing import CONDUCTED
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine import tables as t
from warehouse.ledger.engine.leases.jobs import defer_jobs, list_jobs, make_job
from warehouse.ledger.engine.opening import open_ledger

pytestmark = pytest.mark.service


@pytest.fixture
def home(postgresql: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    values = {"home": str(tmp_path / "home"), "ledger_url": postgresql.new_ledger_url(), "no_server": "true"}
    for name, value in values.items():
        monkeypatch.setenv(f"PROCTOR_{name.upper()}", value)
    # It ends when nothing waits, at once.
    monkeypatch.setattr(worker, "LINGER_S", 0.0)
    monkeypatch.setattr(worker, "LOOK_EVERY_S", 0.01)
    load_settings.cache_clear()
    create_home(load_settings())
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
    with open_ledger(home.ledger_address) as ledger:
        with ledger.write() as connection:
            defer_jobs(connection, [make_job(CONDUCTED, "one", "one", details=details)])
        # No budget is set, and nobody looks at what a deployment spends.
        do_jobs(home, "w1")
        assert do_jobs(home, "w1") == ({}, False)
        with ledger.read() as connection:
            (job,) = list_jobs(connection, CONDUCTED)
            ended = connection.execute(t.flow_runs.select()).mappings().all()
    assert "no budget is set" in (job.problem or "")
    assert [(run["flow"], run["state"]) for run in ended] == [(flow, "failed")] * job.tries
