"""Calls in a provider's batches: the same replies at half the price."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer, parse_profile, start_model_server
from schemas.errors import BudgetError
from tasks.models.batches import collection as batch_collection
from tasks.models.budget.reservations import compute_worst_cost
from tasks.models.client import CallFailed, CallPending, CallReply
from tasks.models.registry.file import BatchTerms
from tests.paid_calls import count_calls, read_calls
from tests.tasks.models.batch_work import BUDGET_USD, CALLS, Round, make_batched, make_requests, work
from tests.tasks.models.simulation import PARAMETERS, call_all, make_model
from tests.warehouse.test_lake_postgres import server as postgres
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.writer import name_budget_row
from warehouse.ledger.money.batches import list_call_batches, move_batch, open_call_batch
from warehouse.ledger.money.budgets import name_provider_account, read_account

__all__ = ["postgres"]

PRICES = {"prompt_tokens": 1.0, "completion_tokens": 2.0}


@contextmanager
def serve(batches: dict[str, Any] | None = None, **model: Any) -> Iterator[RunningServer]:
    profile = parse_profile({"seed": "test", "batches": batches or {}, "models": {"sim": model}})
    with start_model_server(profile) as server:
        yield server


def change(server: RunningServer, **traits: Any) -> None:
    server.state.batches.traits = replace(server.state.batches.traits, **traits)


def work_through(ledger: Ledger, server: RunningServer, **options: Any) -> list[Round]:
    """One command after the other until nothing is pending."""
    rounds = [work(ledger, server.url, **options)]
    while rounds[-1].pending:
        assert len(rounds) < 10
        rounds.append(work(ledger, server.url, **options))
    return rounds


def compute_billed(server: RunningServer) -> float:
    """What the provider bills for everything: batches at half the price."""
    single, batched = server.state.billed, server.state.batch_billed
    return (
        sum(count * PRICES[kind] for (_, kind), count in single.items()) / 1e6
        + sum(count * PRICES[kind] for (_, kind), count in batched.items()) / 2e6
    )


def read_money(ledger: Ledger) -> tuple[float, float]:
    """What the run has spent, and what is set aside, after all that the writer was given so far."""
    row = name_budget_row("run-1")
    account = ledger.writer.submit(lambda connection: read_account(connection, "run-1"), row).result()
    assert account is not None
    return account.spent_usd, account.reserved_usd


def read_cost(outcome: CallReply | BaseException) -> float:
    assert isinstance(outcome, CallReply) and outcome.cost_usd is not None
    return outcome.cost_usd


def read_counts(ledger: Ledger) -> dict[str, int]:
    with ledger.read() as connection:
        return count_calls(connection, "run-1")


def read_states(ledger: Ledger) -> list[str]:
    with ledger.read() as connection:
        return [batch.state for batch in list_call_batches(connection)]


def test_a_batch_gives_the_replies_of_single_calls_under_the_same_keys_at_half_the_price(
    ledger: Ledger, tmp_path: Path
) -> None:
    with serve() as server:
        first, second = work_through(ledger, server)
        assert (first.pending, first.submitted, set(map(type, first.outcomes))) == (
            CALLS,
            CALLS,
            {CallPending},
        )
        assert (dict(second.collected.counts), second.counts) == (
            {"done": CALLS, "ended": 1},
            {"replayed": CALLS},
        )
        assert server.state.requests["sim"] == 0
        assert (server.state.batches.created, server.state.batches.file_count) == (1, 0)
        with open_ledger(f"sqlite:///{tmp_path / 'single.sqlite'}") as other:
            singles, _ = call_all(other, server.url, make_requests(), make_batched())
        for single, batched in zip(singles, second.outcomes, strict=True):
            assert isinstance(single, CallReply) and isinstance(batched, CallReply)
            assert single.cost_usd is not None and batched.cost_usd == pytest.approx(single.cost_usd / 2)
            assert replace(batched, cost_usd=single.cost_usd, latency_ms=single.latency_ms) == single
        spent, reserved = read_money(ledger)
        assert spent == pytest.approx(compute_billed(server) - sum(map(read_cost, singles)))
        assert reserved == pytest.approx(0)
        # Whoever asks singly afterwards is answered from the ledger.
        again, counts = call_all(ledger, server.url, make_requests(), make_batched())
    assert (counts, [reply.text for reply in again if isinstance(reply, CallReply)]) == (
        {"replayed": CALLS},
        second.texts,
    )


@pytest.mark.parametrize("lost", ["_batches", "_files"])
def test_a_batch_that_was_taken_is_given_up_when_its_provider_shows_none_of_it_for_a_week(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    with serve() as server:
        work(ledger, server.url)
        held = read_money(ledger)[1]
        desk = server.state.batches
        # It has ended, and nobody collected before its files were deleted; or: an address, or a key, by which nobody knows it.
        for batch in list(desk._batches.values()):
            desk._end(batch, "completed", share_done=1.0)
        getattr(desk, lost).clear()
        early = work(ledger, server.url)
        assert (early.pending, early.submitted, read_states(ledger)) == (CALLS, 0, ["created"])
        assert "404" in early.collected.problems[0]
        monkeypatch.setattr(batch_collection, "TAKEN_LOOKED_FOR_S", 0.0)
        late = work(ledger, server.url)
    assert (late.collected.counts, late.submitted) == ({"lost": CALLS}, CALLS)
    assert sorted(read_states(ledger)) == ["created", "lost"]
    assert read_money(ledger) == pytest.approx((held, held))


def test_a_batch_that_cannot_be_asked_about_here_keeps_no_other_from_being_collected(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = make_batched("claude", api="anthropic", base_url="http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "anthropic", None)  # the extra is not installed on this host
    with ledger.write() as connection:
        open_call_batch(connection, "batch-0", "run-0", claude.provider, claude.name, accounts=())
        assert move_batch(connection, "batch-0", "gathering", "created", provider_batch_id="b0")
    with serve() as server:
        work(ledger, server.url, model=make_batched(), others=[claude])
        second = work(ledger, server.url, model=make_batched(), others=[claude])
    assert (dict(second.collected.counts), second.collected.open_batches) == ({"done": CALLS, "ended": 1}, 1)
    assert "the package is not installed" in second.collected.problems[0]


def test_while_a_batch_is_under_way_nobody_sends_its_calls_again_in_whatever_way(ledger: Ledger) -> None:
    with serve({"seconds": 3600}) as server:
        assert work(ledger, server.url).submitted == CALLS
        later = work(ledger, server.url)
        assert (later.submitted, later.pending, later.collected.open_batches) == (0, CALLS, 1)
        outcomes, counts = call_all(ledger, server.url, make_requests(), make_batched())
        assert ({type(outcome) for outcome in outcomes}, counts) == ({CallPending}, {})
        assert (server.state.requests["sim"], server.state.batches.created) == (0, 1)
        change(server, seconds=0)
        assert work(ledger, server.url).pending == 0
    assert read_counts(ledger) == {"started": 0, "done": CALLS, "failed": 0}


@pytest.mark.parametrize(
    ("traits", "model", "is_exact"),
    [
        ({"failed": 1}, {}, True),
        ({"expired": 1}, {}, True),
        ({"refused": 0.4}, {}, True),
        ({"missing": 0.4}, {}, False),
        ({"doubled": 0.5, "garbage": 0.5, "is_shuffled": True}, {}, True),
        pytest.param({}, {"faults": {"rate_limit": 0.5, "attempts": 1}}, True, marks=pytest.mark.long),
        ({}, {"faults": {"malformed": 0.5, "attempts": 1}}, False),
        pytest.param({}, {"faults": {"server_error": 0.5, "attempts": 1}}, False, marks=pytest.mark.long),
        ({}, {"faults": {"no_usage": 0.5}}, False),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_whatever_goes_wrong_with_a_batch_every_call_is_answered_and_no_bill_is_missing(
    ledger: Ledger, traits: dict[str, Any], model: dict[str, Any], is_exact: bool
) -> None:
    with serve(traits, **model) as server:
        rounds = work_through(ledger, server)
        assert all(isinstance(outcome, CallReply) and outcome.text for outcome in rounds[-1].outcomes)
        billed = compute_billed(server)
        # What comes of a call singly is what comes of it in a batch.
        kept = rounds[-1].texts
    spent, reserved = read_money(ledger)
    assert reserved == pytest.approx(0)
    if is_exact:
        assert spent == pytest.approx(billed)
    else:
        # What may have been billed without a count is booked at its most.
        assert billed < spent <= BUDGET_USD
    assert read_counts(ledger) == {"started": 0, "done": CALLS, "failed": 0}
    assert set(read_states(ledger)) == {"ended"}
    with serve() as server:
        assert work_through(ledger, server)[-1].texts == kept
        assert server.state.batches.created == 0
    assert sum(server.state.requests.values()) == 0


def test_a_call_that_failed_by_itself_is_sent_singly(ledger: Ledger) -> None:
    with serve({"refused": 0.4}) as server:
        rounds = work_through(ledger, server)
        refused = rounds[1].collected.counts["failed"]
        assert 0 < refused < CALLS
        assert (server.state.requests["sim"], server.state.batches.created) == (refused, 1)


def test_what_a_batch_did_not_get_to_goes_into_the_next_one(ledger: Ledger) -> None:
    with serve({"expired": 1}) as server:
        rounds = work_through(ledger, server)
        assert [one.submitted for one in rounds] == [CALLS, CALLS // 2, 0]
        assert (server.state.requests["sim"], server.state.batches.created) == (0, 2)


def test_after_three_batches_that_failed_whole_nothing_is_sent_at_full_price_unasked(ledger: Ledger) -> None:
    with serve({"failed": 10}) as server:
        rounds = work_through(ledger, server)
        assert [one.submitted for one in rounds] == [CALLS, CALLS, CALLS, 0]
        assert {type(outcome) for outcome in rounds[-1].outcomes} == {CallFailed}
        assert "run the command without --batch" in str(rounds[-1].outcomes[0])
        assert "token_limit_exceeded" in rounds[1].collected.problems[0]
        assert (server.state.requests["sim"], server.state.batches.created) == (0, 3)
        assert read_money(ledger) == (0, 0)
        replies, _ = call_all(ledger, server.url, make_requests(), make_batched())
    assert all(isinstance(reply, CallReply) for reply in replies)


def test_too_few_calls_for_a_batch_are_sent_singly_and_many_are_divided(ledger: Ledger) -> None:
    model = make_batched(batch=BatchTerms(least_requests=4, most_requests=5))
    with serve() as server:
        rounds = work_through(ledger, server, model=model)
        assert (server.state.batches.created, server.state.requests["sim"]) == (2, 2)
        assert (rounds[0].submitted, rounds[0].pending) == (10, 10)
        assert all(isinstance(outcome, CallReply) for outcome in rounds[-1].outcomes)


def test_a_model_without_batches_is_asked_singly(ledger: Ledger) -> None:
    with serve() as server:
        (only,) = work_through(ledger, server, model=make_model())
        assert (only.submitted, server.state.requests["sim"], server.state.batches.created) == (0, CALLS, 0)


def test_a_batch_takes_what_the_budget_has_room_for_and_the_rest_goes_into_the_next(ledger: Ledger) -> None:
    with serve() as server:
        with pytest.raises(BudgetError, match="no room for a batch"):
            work(ledger, server.url, budget_usd=0.0001)
        assert (server.state.batches.created, read_money(ledger)) == (0, (0, 0))
        # The most that all twelve could cost in a batch is above 0.0045.
        rounds = work_through(ledger, server, budget_usd=0.0025)
        assert len(rounds) > 2
        assert 0 < rounds[0].submitted < CALLS
        assert "had room for" in rounds[0].problems[0]
        spent, reserved = read_money(ledger)
        assert spent == pytest.approx(compute_billed(server))
        assert spent <= 0.0025
    assert reserved == pytest.approx(0)
    assert read_counts(ledger)["done"] == CALLS


def test_a_batch_takes_what_its_provider_may_still_be_paid(ledger: Ledger) -> None:
    with serve() as server:
        worst = compute_worst_cost(make_batched(), make_requests(1)[0].messages, PARAMETERS) / 2
        model = make_batched(provider_budget_usd=4.5 * worst)
        first = work(ledger, server.url, model=model, budget_usd=None)
        assert (first.submitted, server.state.batches.created) == (4, 1)
        rounds = [work(ledger, server.url, model=model, budget_usd=None) for _ in range(2)]
        assert rounds[-1].submitted >= 1
        with ledger.read() as connection:
            account = read_account(connection, name_provider_account(model.provider))
        assert account is not None
        assert account.spent_usd + account.reserved_usd <= 4.5 * worst + 1e-9


def test_who_sends_singly_does_not_wait_hours_for_money_that_a_batch_has_set_aside(ledger: Ledger) -> None:
    with serve({"seconds": 3600}) as server:
        work(ledger, server.url)
        _, reserved = read_money(ledger)
        other = make_requests(CALLS + 1)[-1:]
        (refused,) = work(ledger, server.url, other, make_model(), budget_usd=reserved).outcomes
    assert isinstance(refused, BudgetError)
    assert "set aside for batches" in str(refused)


def test_a_limit_that_is_set_while_a_batch_is_under_way_counts_what_it_may_cost(ledger: Ledger) -> None:
    with serve({"seconds": 3600}) as server:
        work(ledger, server.url, budget_usd=None)
        spent, reserved = read_money(ledger)
        assert spent == 0 and reserved > 0
        other = make_requests(CALLS + 1)[-1:]
        (refused,) = work(ledger, server.url, other, make_model(), budget_usd=reserved).outcomes
    assert isinstance(refused, BudgetError)
    assert "set aside for batches" in str(refused)


def test_a_provider_without_batches_is_reported_and_nothing_is_left_set_aside(ledger: Ledger) -> None:
    with serve() as server:
        server.state.batches.serves = lambda path: False  # type: ignore[method-assign]
        (only,) = work_through(ledger, server)
    assert "took no batch of 'sim': 404" in only.problems[0]
    assert (read_money(ledger), read_counts(ledger)["failed"], read_states(ledger)) == (
        (0, 0),
        CALLS,
        ["dropped"],
    )


def test_a_model_registered_as_real_takes_no_simulated_reply_from_a_batch(ledger: Ledger) -> None:
    with serve() as server:
        real = make_batched(is_simulated=False, base_url=server.url)
        work(ledger, server.url, model=real)
        later = work(ledger, server.url, model=real)
    assert "registered as real" in later.collected.problems[0]
    with ledger.read() as connection:
        rows = read_calls(connection, run_id="run-1")
    assert {(row["status"], row["error"]) for row in rows} == {("failed", "mislabelled")}


def submit_twice_at_once(address: str, server: RunningServer) -> list[Round]:
    """Two commands of one installation, each with a connection to the ledger of its own."""
    gate = threading.Barrier(2)

    def submit() -> Round:
        with open_ledger(address) as ledger:
            gate.wait()
            return work(ledger, server.url)

    with ThreadPoolExecutor(2) as pool:
        return [job.result() for job in [pool.submit(submit) for _ in range(2)]]


def check_no_call_is_in_two_batches(address: str) -> None:
    with serve({"seconds": 3600}) as server:
        rounds = submit_twice_at_once(address, server)
        assert sum(one.submitted for one in rounds) == CALLS
        assert [one.pending for one in rounds] == [CALLS, CALLS]
        change(server, seconds=0)
        with open_ledger(address) as ledger:
            (last,) = work_through(ledger, server)
            assert last.pending == 0
            assert set(server.state.batched.values()) == {1}
            spent, reserved = read_money(ledger)
            assert spent == pytest.approx(compute_billed(server))
            assert reserved == pytest.approx(0)


def test_two_that_submit_at_once_put_no_call_into_two_batches(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    open_ledger(address).close()
    check_no_call_is_in_two_batches(address)


@pytest.mark.service
@pytest.mark.long
def test_two_that_submit_at_once_on_postgresql_put_no_call_into_two_batches(postgres: str) -> None:
    address = f"postgresql://postgres@/postgres?host={postgres.split()[0].removeprefix('host=')}"
    open_ledger(address).close()
    check_no_call_is_in_two_batches(address)
