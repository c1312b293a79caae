"""The budget stops a run before it is exceeded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import BudgetError, UsageError
from tasks.models.budget.accounts import raise_limit, read_run_account
from tasks.models.budget.reservations import Budget, compute_cost, compute_worst_cost, open_budget
from tasks.models.client import CallFailed
from tasks.models.providers.openai_batches import parse_completion
from tasks.models.sending.attempts import reserve_in_all
from tests.paid_calls import count_calls
from tests.tasks.models.simulation import PARAMETERS, call_all, make_model, make_request, start_server
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.calls import read_spent_usd

NOW = "2026-11-22T12:00:00.000000+00:00"


def test_the_worst_cost_takes_a_token_per_byte_and_the_whole_limit_of_output() -> None:
    messages = [{"role": "user", "content": "判断"}]
    size = len('[{"role": "user", "content": "判断"}]'.encode())
    assert compute_worst_cost(make_model(), messages, PARAMETERS) == (size * 1.0 + 200 * 2.0) / 1e6


def test_the_cost_of_a_reply_is_tokens_times_prices_and_unknown_without_either() -> None:
    assert compute_cost(make_model(), 1_000_000, 500_000) == 2.0
    assert compute_cost(make_model(), None, 5) is None
    assert compute_cost(make_model(input_price_usd=None), 5, 5) is None


@pytest.mark.parametrize(
    ("changes", "missing"),
    [({"parameters": {}}, "parameters.max_tokens"), ({"output_price_usd": None}, "output_price_usd")],
)
def test_a_budget_needs_to_know_the_most_a_call_can_cost(
    ledger: Ledger, changes: dict[str, Any], missing: str
) -> None:
    with start_server() as server:
        (outcome,), _ = call_all(
            ledger, server.url, [make_request()], make_model(**changes), budget=Budget(1.0)
        )
        assert server.state.requests["sim"] == 0
    assert isinstance(outcome, BudgetError)
    assert missing in str(outcome)


def test_a_run_stops_before_its_budget_is_exceeded_and_goes_on_when_it_is_raised(ledger: Ledger) -> None:
    requests = [make_request(number) for number in range(30)]
    model = make_model()
    worst = compute_worst_cost(model, requests[0].messages, PARAMETERS)
    limit = 6 * worst
    with start_server() as server:
        budget = Budget(limit)
        outcomes, _ = call_all(ledger, server.url, requests, model, budget=budget)
        refused = [outcome for outcome in outcomes if isinstance(outcome, BudgetError)]
        answered = server.state.requests["sim"]
        assert answered > 6, "what earlier calls did not use is given to later ones"
        assert len(refused) == 30 - answered > 0
        assert 0 < budget.spent_usd <= limit
        assert budget.reserved_usd == pytest.approx(0)
        with ledger.read() as connection:
            assert read_spent_usd(connection, "run-1") == pytest.approx(budget.spent_usd)
            assert count_calls(connection, "run-1") == {
                "started": 0,
                "done": answered,
                "failed": 30 - answered,
            }

        raised = open_budget(ledger, 1.0, "run-1")
        assert raised is not None
        assert raised.spent_usd == pytest.approx(budget.spent_usd)
        _, counts = call_all(ledger, server.url, requests, model, budget=raised)
        assert server.state.requests["sim"] == 30
    assert (counts["replayed"], counts["sent"]) == (answered, 30 - answered)


def test_what_the_provider_had_in_its_cache_has_its_own_price() -> None:
    model = make_model(cached_input_price_usd=0.1)
    assert compute_cost(model, 1_000, 0, 800) == pytest.approx((200 * 1.0 + 800 * 0.1) / 1e6)
    assert compute_cost(model, 1_000, 0) == compute_cost(make_model(), 1_000, 0, 800) == pytest.approx(1e-3)
    # A provider that counts more than there is makes nothing free.
    assert compute_cost(model, 1_000, 0, 5_000) == pytest.approx(1e-4)


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens_details": {"cached_tokens": 60}}, {"prompt_cache_hit_tokens": 60}]
)
def test_cached_tokens_are_read_where_endpoints_say_them(usage: dict[str, Any]) -> None:
    counts = {"prompt_tokens": 100, "completion_tokens": 5, **usage}
    reply = parse_completion({"choices": [{"message": {"content": "B"}}], "usage": counts})
    assert reply is not None
    assert (reply.input_tokens, reply.cached_tokens) == (100, 60)


def test_no_call_has_more_tokens_than_there_can_be() -> None:
    counts = {"prompt_tokens": 10**30, "completion_tokens": 10**400}
    reply = parse_completion({"choices": [{"message": {"content": "B"}}], "usage": counts})
    assert reply is not None
    assert (reply.input_tokens, reply.output_tokens) == (None, None)


def test_an_attempt_whose_bill_is_unknown_counts_at_its_most(ledger: Ledger) -> None:
    budget = Budget(1.0)
    with start_server(sim={"faults": {"cut_stream": 1.0}}) as server:
        (outcome,), _ = call_all(ledger, server.url, [make_request()], budget=budget, most_attempts=3)
    assert isinstance(outcome, CallFailed)
    worst = compute_worst_cost(make_model(), make_request().messages, PARAMETERS)
    assert budget.spent_usd == pytest.approx(3 * worst)
    assert budget.reserved_usd == pytest.approx(0)


def test_a_refused_request_costs_nothing(ledger: Ledger) -> None:
    budget = Budget(1.0)
    with start_server(sim={"faults": {"rate_limit": 1.0, "retry_after_s": 0.01}}) as server:
        call_all(ledger, server.url, [make_request()], budget=budget, most_attempts=2)
    assert budget.spent_usd == 0


def test_a_call_waits_for_those_in_flight_when_it_may_then_fit() -> None:
    async def run() -> list[str]:
        budget = Budget(1.0)
        events: list[str] = []
        await budget.reserve(0.7)

        async def second() -> None:
            await budget.reserve(0.7)
            events.append("second reserved")

        task = asyncio.create_task(second())
        await asyncio.sleep(0.01)
        events.append("first settles")
        budget.settle(0.7, 0.1)
        await task
        return events

    assert asyncio.run(run()) == ["first settles", "second reserved"]


def test_what_one_budget_set_aside_is_given_back_where_another_has_no_room() -> None:
    of_run, of_provider = Budget(1.0), Budget(0.5)
    with pytest.raises(BudgetError):
        asyncio.run(reserve_in_all([of_run, of_provider], 0.6))
    assert (of_run.reserved_usd, of_provider.reserved_usd, of_run.spent_usd) == (0.0, 0.0, 0.0)
    asyncio.run(reserve_in_all([of_run, of_provider], 0.5))
    assert (of_run.reserved_usd, of_provider.reserved_usd) == (0.5, 0.5)


def test_no_limit_is_no_budget(ledger: Ledger, tmp_path: Path) -> None:
    assert open_budget(ledger, None, "run-1") is None


def test_a_run_that_its_budget_stopped_goes_on_once_it_is_raised_with_a_reason(ledger: Ledger) -> None:
    model = make_model()
    requests = [make_request(number) for number in range(12)]
    worst = compute_worst_cost(model, requests[0].messages, PARAMETERS)
    with start_server() as server:
        small = open_budget(ledger, 1.5 * worst, "run-1")
        assert small is not None
        outcomes, _ = call_all(ledger, server.url, requests, model, budget=small)
        refusal = next(str(one) for one in outcomes if isinstance(one, BudgetError))
        assert "`proctor runs budget run-1 --raise USD --reason WHY`" in refusal
        before = read_run_account(ledger, "run-1")
        assert 0 < before.spent_usd <= 1.5 * worst and before.limits == ()
        with pytest.raises(UsageError, match="--reason is needed"):
            raise_limit(ledger, "run-1", 1.0, reason=" ", set_by="ann", now=NOW)
        raised = raise_limit(ledger, "run-1", 1.0, reason="one more candidate", set_by="ann", now=NOW)
        assert (raised.limit_usd, raised.limits[0].reason) == (1.0, "one more candidate")
        assert raise_limit(ledger, "run-1", 1.0, reason="again", set_by="ann", now=NOW) == raised
        with pytest.raises(UsageError, match=r"may spend \$1.00 already"):
            raise_limit(ledger, "run-1", 0.5, reason="less", set_by="ann", now=NOW)
        # The command that stopped says its own limit again; the one that was raised counts.
        again = open_budget(ledger, 1.5 * worst, "run-1")
        assert again is not None and again.limit_usd == 1.0
        outcomes, _ = call_all(ledger, server.url, requests, model, budget=again)
    assert not any(isinstance(one, BaseException) for one in outcomes)
    with pytest.raises(UsageError, match="Nothing called 'run-9' was planned"):
        read_run_account(ledger, "run-9")
