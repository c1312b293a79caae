"""Five processes sit and judge one run.

No call is made twice, no cent is spent over budget, and nothing differs from what one process does.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from deployments.model_server import RunningServer
from schemas.settings import Settings
from tasks.models.budget import raise_limit
from tests.paid_calls import count_calls
from tests.tasks.shared_run import (
    RUN,
    make_answerable_bank,
    make_values,
    plan_shared_run,
    read_billed_usd,
    read_tables,
    start_models,
    start_worker,
)
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.budgets import list_shares
from warehouse.ledger.money.calls import read_spent_usd

pytestmark = pytest.mark.slow

PROCESSES = 5
SESSIONS = 4
SMALL, LARGE = 6, 60


def work_together(
    homes: list[dict[str, Any]], url: str, tmp_path: Path, what: str = "both"
) -> list[Counter[str]]:
    """So many processes as homes are named, all at once; what each counted."""
    notes = [tmp_path / f"notes-{number}.json" for number in range(len(homes))]
    workers = [
        start_worker({**home, "simulated_url": url}, what, path)
        for home, path in zip(homes, notes, strict=True)
    ]
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * len(workers)
    return [Counter(json.loads(path.read_text("utf-8"))) for path in notes]


@dataclass(frozen=True)
class Alone:
    """What one process made of the run: its calls, what they cost, and its tables."""

    bank: pl.DataFrame
    calls: int
    price_usd: float
    tables: dict[str, list[dict[str, Any]]]


def work_alone(tmp_path: Path, size: int) -> Alone:
    bank = make_answerable_bank(size)
    values = make_values(tmp_path / "alone", size)
    plan_shared_run(Settings(**values), bank)
    with start_models(bank) as server:
        (counted,) = work_together([values], server.url, tmp_path)
        check_paid_once(server, counted["sent"])
        price_usd = read_billed_usd(server)
    tables = read_tables(Settings(**values))
    assert len(tables["responses"]) == len(tables["judgements"]) == SESSIONS * size
    return Alone(bank, counted["sent"], price_usd, tables)


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    return work_alone(tmp_path_factory.mktemp("small"), SMALL)


@pytest.fixture(scope="module")
def large_run(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    return work_alone(tmp_path_factory.mktemp("large"), LARGE)


def check_shared_run(alone: Alone, homes: list[dict[str, Any]], tmp_path: Path) -> None:
    """Do the same together, and compare the results.

    The budget leaves hardly anything.
    """
    # A quarter more than it costs: far less than all that could be in flight would need at its worst.
    limit = alone.price_usd * 1.25
    first = Settings(**homes[0])
    plan_shared_run(first, alone.bank, budget_usd=limit)
    with start_models(alone.bank) as server:
        counts = work_together(homes, server.url, tmp_path)
        check_paid_once(server, alone.calls)
        assert read_billed_usd(server) == pytest.approx(alone.price_usd)
    # They shared the work: nobody did it all.
    assert sum(count["sent"] for count in counts) == alone.calls
    assert sum(count["answers"] for count in counts) == len(alone.tables["responses"])
    assert max(count["sent"] for count in counts) < alone.calls
    check_tables(alone, first, limit)
    check_purse(alone, first)


def check_tables(alone: Alone, settings: Settings, limit_usd: float) -> None:
    found = read_tables(settings)
    for table, rows in alone.tables.items():
        planned = {"budget_usd": limit_usd} if table == "runs" and "budget_usd" in rows[0] else {}
        assert found[table] == [row | planned for row in rows], table


def check_purse(alone: Alone, settings: Settings) -> None:
    """All calls are done and booked, and nothing is set aside any more."""
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert count_calls(connection, RUN) == {"started": 0, "done": alone.calls, "failed": 0}
        assert read_spent_usd(connection, RUN) == pytest.approx(alone.price_usd)
        assert sum(share.reserved_usd for share in list_shares(connection, RUN)) == pytest.approx(0, abs=1e-9)


def check_paid_once(server: RunningServer, calls: int) -> None:
    assert set(server.state.repeats.values()) == {1}
    assert len(server.state.repeats) == calls


def share_on_postgresql(postgresql: PostgresqlServer, tmp_path: Path, size: int) -> list[dict[str, Any]]:
    """Two homes on one ledger and one lake; what they share besides is named by settings."""
    ledger_url, catalog = postgresql.new_ledger_url(), postgresql.new_catalog()
    shared = {
        "ledger_url": ledger_url,
        "lake_catalog": catalog,
        "lake_data": str(tmp_path / "shared" / "data"),
        "secrets": tmp_path / "shared" / "secrets",
        "registry": tmp_path / "shared" / "models.yaml",
    }
    (tmp_path / "shared").mkdir()
    homes = [tmp_path / "home-1", tmp_path / "home-2"]
    for home in homes:
        home.mkdir()
    return [make_values(homes[number % 2], size, **shared) for number in range(PROCESSES)]


@pytest.mark.service
@pytest.mark.long
def test_five_processes_of_two_homes_share_a_run_on_postgresql(
    small_run: Alone, postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_shared_run(small_run, share_on_postgresql(postgresql, tmp_path, SMALL), tmp_path)


@pytest.mark.long
def test_five_processes_share_a_run_on_sqlite(small_run: Alone, tmp_path: Path) -> None:
    check_shared_run(small_run, [make_values(tmp_path / "home", SMALL)] * PROCESSES, tmp_path)


@pytest.mark.long
@pytest.mark.service
def test_five_processes_of_two_homes_share_a_large_run_on_postgresql(
    large_run: Alone, postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_shared_run(large_run, share_on_postgresql(postgresql, tmp_path, LARGE), tmp_path)


@pytest.mark.long
def test_five_processes_share_a_large_run_on_sqlite(large_run: Alone, tmp_path: Path) -> None:
    check_shared_run(large_run, [make_values(tmp_path / "home", LARGE)] * PROCESSES, tmp_path)


@pytest.mark.long
@pytest.mark.service
def test_five_processes_stop_at_one_budget_and_finish_when_it_is_raised(
    small_run: Alone, postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    homes = share_on_postgresql(postgresql, tmp_path, SMALL)
    first = Settings(**homes[0])
    limit = small_run.price_usd * 0.7
    plan_shared_run(first, small_run.bank, budget_usd=limit)
    with start_models(small_run.bank) as server:
        stopped = work_together(homes, server.url, tmp_path)
        assert 0 < read_billed_usd(server) <= limit
        assert any(count["over_budget"] for count in stopped)
        with open_ledger(first.ledger_address) as ledger:
            raise_limit(
                ledger, RUN, small_run.price_usd * 2, reason="too small", set_by="somebody", now=now_text()
            )
        work_together(homes, server.url, tmp_path)
        check_paid_once(server, small_run.calls)
    check_tables(small_run, first, limit)
    check_purse(small_run, first)
