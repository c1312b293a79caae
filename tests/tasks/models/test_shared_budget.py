"""One budget over several processes: never more together, the dead ones' share included."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.errors import BudgetError, UsageError
from schemas.settings import Settings
from tasks.models.budget.accounts import raise_limit, read_run_account
from tasks.models.budget.reservations import (
    Budget,
    SharedBudget,
    close_provider_budget,
    compute_worst_cost,
    open_budget,
    open_provider_budget,
)
from tasks.models.client import ModelClient
from tasks.models.registry.models import Registry
from tests.paid_calls import count_calls
from tests.tasks.models.simulation import PARAMETERS, call_all, make_model, make_request, start_server
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warm import ROOT, WarmProcess
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.budgets import list_shares, name_provider_account, read_room
from warehouse.ledger.money.calls import read_spent_usd

SPENDER = """
import json, sys
from schemas.errors import BudgetError, UsageError
from schemas.settings import Settings
from tasks.models.budget.reservations import open_budget
from tests.tasks.models.simulation import call_all, make_model, make_request
from warehouse.ledger.engine.opening import open_ledger
address, url, first, limit = sys.argv[1:]
with open_ledger(address) as ledger:
    requests = [make_request(number) for number in range(int(first), int(first) + 30)]
    budget = open_budget(ledger, float(limit), "run-1")
    outcomes, counts = call_all(ledger, url, requests, make_model(max_concurrency=4), budget=budget)
    print(json.dumps([counts.get("sent", 0), sum(isinstance(one, BudgetError) for one in outcomes)]))
"""
WORST = compute_worst_cost(make_model(), make_request(0).messages, PARAMETERS)


def open_shared(ledger: Ledger, limit_usd: float = 1.0) -> Budget:
    budget = open_budget(ledger, limit_usd, "run-1")
    assert isinstance(budget, SharedBudget)
    return budget


def test_a_provider_may_be_paid_so_much_for_all_runs_together(ledger: Ledger) -> None:
    with start_server() as server:
        # What was paid before the field was there counts.
        call_all(ledger, server.url, [make_request(0)])
        with ledger.read() as connection:
            first = read_spent_usd(connection, "run-1")
        model = make_model(provider_budget_usd=first + 2 * WORST, max_concurrency=1)
        requests = [make_request(number, run_id=f"run-{number % 3}", salt="again") for number in range(1, 30)]
        outcomes, _ = call_all(ledger, server.url, requests, model)
        sent = server.state.requests["sim"] - 1
        refused = [one for one in outcomes if isinstance(one, BudgetError)]
        assert 2 < sent < 29
        assert len(refused) == 29 - sent
        account = name_provider_account(model.provider)
        assert f"Raise `budget_usd` of the {account} in the registry" in str(refused[0])
        before = read_run_account(ledger, account, Registry({"sim": model}))
        assert before.limit_usd == model.provider_budget_usd
        assert before.spent_usd <= first + 2 * WORST + 1e-9
        with pytest.raises(UsageError, match="stands in the registry"):
            raise_limit(ledger, account, 1.0, reason="more credit", set_by="somebody", now="2026-11-01")
        # With more of it in the registry what was refused is asked.
        outcomes, _ = call_all(ledger, server.url, requests, replace(model, provider_budget_usd=1.0))
        assert [one for one in outcomes if isinstance(one, BaseException)] == []
        # What is paid while the field is taken out counts once it is put back.
        call_all(ledger, server.url, [make_request(0, salt="between")])
        call_all(ledger, server.url, [make_request(0, salt="after")], replace(model, provider_budget_usd=1.0))
    with ledger.read() as connection:
        paid = sum(read_spent_usd(connection, f"run-{number}") for number in range(3))
        assert read_run_account(ledger, account).spent_usd == pytest.approx(paid)


def test_who_lets_an_account_go_gives_nobody_more(ledger: Ledger) -> None:
    """A process that still works by a registry without the limit runs beside one that has it."""
    with start_server() as server:
        call_all(ledger, server.url, [make_request(number) for number in range(4)])
        with ledger.read() as connection:
            paid = read_spent_usd(connection, "run-1")
        model = make_model(provider_budget_usd=2 * paid)
        budget = open_provider_budget(ledger, model)
        assert budget is not None
        ledger.writer.submit(*close_provider_budget(model)).result()
        with pytest.raises(BudgetError):
            asyncio.run(budget.reserve(1.5 * paid))
        account = name_provider_account(model.provider)
        ledger.writer.submit(*close_provider_budget(model)).result()
        with ledger.write() as connection:
            assert read_room(connection, account, 2 * paid) == pytest.approx(paid)


def test_what_one_has_set_aside_another_waits_for_and_what_it_spent_is_gone(ledger: Ledger) -> None:
    one, other = open_shared(ledger), open_shared(ledger)

    async def run() -> list[str]:
        events: list[str] = []
        await one.reserve(0.7)

        async def second() -> None:
            await other.reserve(0.7)
            events.append("second reserved")

        task = asyncio.create_task(second())
        await asyncio.sleep(0.5)
        events.append("first settles")
        one.settle(0.7, 0.1)
        await task
        other.settle(0.7, 0.6)
        with pytest.raises(
            BudgetError,
            match=r"1\.0000 USD and 0\.7000 are spent or set aside for batches; the next call could cost 0\.4000",
        ):
            await one.reserve(0.4)
        await one.reserve(0.3)
        return events

    assert asyncio.run(run()) == ["first settles", "second reserved"]
    assert open_shared(ledger).spent_usd == pytest.approx(0.7)


def test_who_was_silent_for_a_lease_has_its_reservation_spent_and_begins_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.models.budget.reservations.LEASE_S", -1.0)
    silent = open_shared(ledger)
    asyncio.run(silent.reserve(0.4))
    monkeypatch.undo()
    assert open_shared(ledger).spent_usd == pytest.approx(0.4)
    asyncio.run(silent.reserve(0.6))
    silent.settle(0.6, 0.1)
    with pytest.raises(BudgetError, match=r"0\.5000 are spent"):
        asyncio.run(silent.reserve(0.6))


@pytest.mark.long
@pytest.mark.slow
def test_two_processes_never_spend_more_than_their_budget_together(tmp_path: Path, warm_python: str) -> None:
    check_two_spenders(warm_python, f"sqlite:///{tmp_path / 'ledger.sqlite'}")


@pytest.mark.slow
@pytest.mark.service
def test_two_processes_never_spend_more_than_their_budget_together_on_postgresql(
    postgresql: PostgresqlServer, warm_python: str
) -> None:
    check_two_spenders(warm_python, postgresql.new_ledger_url())


def start_spender(warm_python: str, address: str, url: str, first: int, limit_usd: float) -> WarmProcess:
    command = [warm_python, "-c", SPENDER, address, url, str(first), str(limit_usd)]
    return WarmProcess(command, cwd=ROOT, stdout=subprocess.PIPE)


def check_two_spenders(warm_python: str, address: str) -> None:
    """Each alone would spend nearly all of it: 30 calls whose real cost is more than the budget."""
    limit = 9 * WORST
    open_ledger(address).close()
    with start_server(sim={"latency_ms": 150}) as server:
        spenders = [start_spender(warm_python, address, server.url, first, limit) for first in (0, 100)]
        told = [json.loads(spender.communicate(timeout=120)[0]) for spender in spenders]
        answered = server.state.served["sim"]
    with open_ledger(address) as ledger:
        with ledger.read() as connection:
            cost = read_spent_usd(connection, "run-1")
            shares = list_shares(connection, "run-1")
        assert 0 < cost <= limit
        # Stopped by the other's spending too: some of each were refused, and less than a call is left.
        assert all(refused > 0 for _, refused in told), told
        assert limit - cost < 2 * WORST
        assert answered < 60
        assert [share.reserved_usd for share in shares] == pytest.approx([0.0] * len(shares), abs=1e-12)
        assert open_shared(ledger, limit).spent_usd == pytest.approx(cost)


@pytest.mark.slow
def test_what_a_killed_process_had_in_flight_counts_as_spent(tmp_path: Path, warm_python: str) -> None:
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    with start_server(sim={"latency_ms": 100}) as server:
        spender = start_spender(warm_python, address, server.url, 0, 1.0)
        deadline = time.monotonic() + 60
        while server.state.served["sim"] < 6:
            assert time.monotonic() < deadline and spender.poll() is None
            time.sleep(0.002)
        spender.kill()
        spender.communicate()
    with open_ledger(address) as ledger:
        with ledger.read() as connection:
            cost = read_spent_usd(connection, "run-1")
            (share,) = list_shares(connection, "run-1")
        assert 0 < share.reserved_usd <= 5 * WORST * 1.1
        budget = open_shared(ledger)
        assert cost + share.reserved_usd <= budget.spent_usd + WORST
        assert budget.spent_usd == pytest.approx(cost + share.reserved_usd, abs=4 * WORST)


def test_who_is_cancelled_while_it_asks_for_money_sets_none_aside(ledger: Ledger) -> None:
    budget = open_shared(ledger)

    async def run() -> None:
        asking = [asyncio.create_task(budget.reserve(0.01)) for _ in range(10)]
        await asyncio.sleep(0)
        for one in asking:
            one.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        # The writer keeps the order.
        await budget.reserve(0.5)

    asyncio.run(run())
    with ledger.read() as connection:
        assert sum(share.reserved_usd for share in list_shares(connection, "run-1")) == pytest.approx(0.5)


def test_whoever_is_cancelled_before_it_sends_has_begun_no_call(ledger: Ledger) -> None:
    async def run(url: str) -> None:
        async with ModelClient(ledger, Settings(home=Path("unused")), simulated_url=url) as client:
            model = make_model(provider_budget_usd=1.0)
            calls = [asyncio.create_task(client.complete(model, make_request(number))) for number in range(5)]
            await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    with start_server() as server:
        asyncio.run(run(server.url))
        assert server.state.requests["sim"] == 0
    with ledger.read() as connection:
        assert count_calls(connection, "run-1")["started"] == 0
