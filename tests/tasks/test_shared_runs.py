"""Five processes sit and judge one run: no call is made twice, no cent is spent over budget, nothing differs from one process."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server.server import RunningServer
from schemas.settings import Settings
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
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from warehouse.ledger.budgets import list_shares
from warehouse.ledger.calls import count_calls, read_spent_usd
from warehouse.ledger.engine import open_ledger

pytestmark = pytest.mark.slow

PROCESSES = 5
SESSIONS = 4
SMALL, LARGE = 6, 60


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgresqlServer]:
    with start_postgresql() as started:
        yield started


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


def check_shared_run(homes: list[dict[str, Any]], tmp_path: Path, size: int) -> None:
    """Run it alone, then together with a budget that leaves hardly anything; compare what came of it."""
    bank = make_answerable_bank(size)
    alone = make_values(tmp_path / "alone", size)
    plan_shared_run(Settings(**alone), bank)
    with start_models(bank) as server:
        (counted,) = work_together([alone], server.url, tmp_path)
        calls, price = counted["sent"], read_billed_usd(server)
        assert calls == sum(server.state.requests.values()) == sum(server.state.repeats.values())
    expected = read_tables(Settings(**alone))
    assert len(expected["responses"]) == len(expected["judgements"]) == SESSIONS * size

    # A quarter more than it costs: far less than all that could be in flight would need at its worst.
    limit = price * 1.25
    first = Settings(**homes[0])
    plan_shared_run(first, bank, budget_usd=limit)
    with start_models(bank) as server:
        counts = work_together(homes, server.url, tmp_path)
        check_paid_once(server, calls)
        assert read_billed_usd(server) == pytest.approx(price)
    assert read_billed_usd(server) <= limit
    # They shared the work: nobody did it all.
    assert sum(count["sent"] for count in counts) == calls
    assert sum(count["answers"] for count in counts) == SESSIONS * size
    assert max(count["sent"] for count in counts) < calls
    found = read_tables(first)
    for table, rows in expected.items():
        assert found[table] == [
            row | ({"budget_usd": limit} if "budget_usd" in row else {}) for row in rows
        ], table
    with open_ledger(first.ledger_address) as ledger, ledger.read() as connection:
        assert count_calls(connection, RUN) == {"started": 0, "done": calls, "failed": 0}
        assert read_spent_usd(connection, RUN) == pytest.approx(price)
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
def test_five_processes_of_two_homes_share_a_run_on_postgresql(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_shared_run(share_on_postgresql(postgresql, tmp_path, SMALL), tmp_path, SMALL)


def test_five_processes_share_a_run_on_sqlite(tmp_path: Path) -> None:
    check_shared_run([make_values(tmp_path / "home", SMALL)] * PROCESSES, tmp_path, SMALL)


@pytest.mark.long
@pytest.mark.service
def test_five_processes_of_two_homes_share_a_large_run_on_postgresql(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_shared_run(share_on_postgresql(postgresql, tmp_path, LARGE), tmp_path, LARGE)


@pytest.mark.long
def test_five_processes_share_a_large_run_on_sqlite(tmp_path: Path) -> None:
    check_shared_run([make_values(tmp_path / "home", LARGE)] * PROCESSES, tmp_path, LARGE)
