"""Two processes that want the same call, and their common pace; SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from schemas.settings import Settings
from tasks.models.budget.reservations import compute_worst_cost, open_budget
from tasks.models.client import CallReply, ModelClient
from tasks.models.registry.models import RegisteredModel
from tasks.models.sending.limits import Limiter
from tasks.models.sending.paces import Pace, Pauses
from tests.tasks.models.simulation import PARAMETERS, make_model, make_request, start_server
from warehouse.ledger.engine.leases.processes import name_host, open_lease, renew_lease
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.budgets import Limit, insert_limit
from warehouse.ledger.money.calls import NewCall, read_spent_usd, start_call
from warehouse.ledger.money.paces import pause_provider, read_pauses, take_moment

ELSEWHERE = "another-host"
WORST = compute_worst_cost(make_model(), make_request(0).messages, PARAMETERS)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    """One ledger, opened by two."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    else:
        url = request.getfixturevalue("postgresql").new_ledger_url()
    with ExitStack() as stack:
        yield stack.enter_context(open_ledger(url)), stack.enter_context(open_ledger(url))


def open_client(ledger: Ledger, url: str) -> ModelClient:
    return ModelClient(ledger, Settings(home=Path("unused")), simulated_url=url, backoff_s=0.01)


def test_a_call_that_another_has_under_way_is_waited_for_and_its_reply_replayed(
    two: tuple[Ledger, Ledger],
) -> None:
    async def run(url: str) -> tuple[list[CallReply], list[dict[str, int]]]:
        async with open_client(two[0], url) as one, open_client(two[1], url) as other:
            replies = await asyncio.gather(
                *(client.complete(make_model(), make_request()) for client in (one, other))
            )
            return replies, [dict(client.counts) for client in (one, other)]

    with start_server(sim={"latency_ms": 300}) as server:
        replies, counts = asyncio.run(run(server.url))
        assert server.state.requests == {"sim": 1}
    assert replies[0].text == replies[1].text
    assert (
        sum(count.get("sent", 0) for count in counts) == sum(count.get("awaited", 0) for count in counts) == 1
    )


def begin_elsewhere(ledger: Ledger, key: str, *, host: str, process_id: int, lease_s: float) -> None:
    """A call that somebody has under way."""
    with ledger.write() as connection:
        open_lease(connection, "somebody", host=host, process_id=process_id, lease_s=lease_s)
        start_call(connection, NewCall(key, "exam", "run-1", "session-1", "p", "sim", "somebody"))


def compute_key(ledger: Ledger) -> str:
    from tasks.models.client import compute_call_key

    del ledger
    return compute_call_key(make_model(), make_request(), PARAMETERS)


@pytest.mark.parametrize("ended", ["killed here", "silent elsewhere"])
def test_the_call_of_a_process_that_is_no_more_is_sent_again_reported_and_booked(
    two: tuple[Ledger, Ledger], ended: str
) -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    is_here = ended == "killed here"
    begin_elsewhere(
        two[0],
        compute_key(two[0]),
        host=name_host() if is_here else ELSEWHERE,
        process_id=child.pid,
        # It ends as it begins, and not before: the server was started a moment ago, and none from before that ends so soon.
        lease_s=60.0 if is_here else 0.0,
    )

    async def run(url: str) -> tuple[CallReply, dict[str, int]]:
        async with open_client(two[1], url) as client:
            return await client.complete(make_model(), make_request()), dict(client.counts)

    with start_server() as server:
        reply, counts = asyncio.run(run(server.url))
    assert (counts["sent"], counts["repeated"], counts.get("awaited", 0)) == (1, 1, 0)
    with two[0].read() as connection:
        assert read_spent_usd(connection, "run-1") == pytest.approx((reply.cost_usd or 0.0) + WORST)


def test_a_call_under_way_on_another_host_is_waited_for_until_its_lease_ends(
    two: tuple[Ledger, Ledger],
) -> None:
    begin_elsewhere(two[0], compute_key(two[0]), host=ELSEWHERE, process_id=1, lease_s=60.0)

    async def run(url: str) -> dict[str, int]:
        async with open_client(two[1], url) as client:
            call = asyncio.create_task(client.complete(make_model(), make_request()))
            while not (call.done() or client.counts["awaited"]):  # noqa: ASYNC110 - a count has no event
                await asyncio.sleep(0.01)
            with two[0].write() as connection:
                renew_lease(connection, "somebody", lease_s=0.0)
            await call
            return dict(client.counts)

    with start_server() as server:
        counts = asyncio.run(run(server.url))
    assert (counts["awaited"], counts["repeated"], counts["sent"]) == (1, 1, 1)


def test_of_two_replies_the_first_is_everybodys_and_both_are_booked(two: tuple[Ledger, Ledger]) -> None:
    async def run(url: str) -> list[CallReply]:
        async with open_client(two[0], url) as slow, open_client(two[1], url) as other:
            first = asyncio.create_task(slow.complete(make_model(), make_request()))
            await asyncio.sleep(0.3)
            # A process that was stopped for longer than its lease: the others take it for dead.
            slow._presence.close()
            second = await other.complete(make_model(), make_request())
            return [await first, second]

    with start_server(sim={"latency_ms": 900}) as server:
        replies = asyncio.run(run(server.url))
        assert server.state.requests == {"sim": 2}
    assert replies[0].text == replies[1].text
    costs = sum(reply.cost_usd or 0.0 for reply in replies)
    with two[0].read() as connection:
        # And the attempt that was thought lost at its most, since it might never have come back.
        assert read_spent_usd(connection, "run-1") == pytest.approx(costs + WORST)


def make_pace(ledger: Ledger, model: RegisteredModel) -> Pace:
    """The pace as a process of its own has it."""
    return Pace(ledger, Limiter(model.requests_per_minute, 8), Pauses(ledger), model)


def test_two_processes_together_keep_the_rate_of_a_provider(two: tuple[Ledger, Ledger]) -> None:
    model = make_model(requests_per_minute=1200.0)  # 20 a second, and a burst of 20

    async def run() -> list[float]:
        sent: list[float] = []

        async def send(pace: Pace) -> None:
            for _ in range(25):
                await pace.acquire()
                sent.append(time.monotonic())

        await asyncio.gather(*(send(make_pace(ledger, model)) for ledger in two))
        return sorted(sent)

    sent = asyncio.run(run())
    # 50 moments at 20 a second: those beyond the burst take a second and a half, not half of it.
    assert sent[-1] - sent[0] >= 1.4


def test_a_pause_that_one_process_was_asked_for_holds_in_all(two: tuple[Ledger, Ledger]) -> None:
    model = make_model()

    async def run() -> float:
        one, other = make_pace(two[0], model), make_pace(two[1], model)
        await one.acquire()
        await one.pause(0.8)
        begun = time.monotonic()
        await asyncio.gather(one.acquire(), other.acquire())
        return time.monotonic() - begun

    assert 0.7 <= asyncio.run(run()) < 3.0


def test_tokens_are_spoken_for_by_all_processes_and_what_was_not_used_is_given_back(
    two: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tokens_per_minute=60.0)  # one a second
    one, other = make_pace(two[0], model), make_pace(two[1], model)
    waits: list[float] = []
    sleep, here = asyncio.sleep, threading.get_ident()

    async def note_wait(seconds: float) -> None:
        # A server in another thread sleeps as well.
        if threading.get_ident() == here:
            waits.append(seconds)
        else:
            await sleep(seconds)

    async def run() -> None:
        monkeypatch.setattr(asyncio, "sleep", note_wait)
        await one.acquire(400)
        await other.acquire(300)
        one.settle(400, 50, 50)
        # The writer keeps the order of its process.
        await one.acquire(1)

    asyncio.run(run())
    first, second, third = waits
    assert first == 0
    # The machine may be slow, by minutes.
    assert 300 < second <= 400
    assert 300 < third <= 400


def test_a_longer_pause_stays_and_a_clock_that_was_set_back_stops_nobody(two: tuple[Ledger, Ledger]) -> None:
    with two[0].write() as connection:
        pause_provider(connection, "p", 50.0)
        pause_provider(connection, "p", 5.0)
        assert 49.0 < read_pauses(connection).read()["p"] <= 50.0
        assert 49.0 < take_moment(connection, "p", interval_s=1.0, slack_s=0.0) <= 50.0
        # A moment a day ahead was noted by a clock that was wrong.
        assert take_moment(connection, "q", interval_s=86_400.0, slack_s=0.0) <= 0.0
        assert take_moment(connection, "q", interval_s=1.0, slack_s=0.0) <= 0.0
        # So was a pause that is to end in half a day: nobody waits for it, and the next one is as long as it is asked for.
        pause_provider(connection, "r", 43_200.0)
        assert "r" not in read_pauses(connection).read()
        assert take_moment(connection, "r", interval_s=1.0, slack_s=0.0) <= 0.0
        pause_provider(connection, "r", 50.0)
        assert 49.0 < read_pauses(connection).read()["r"] <= 50.0


def test_who_works_when_a_budget_is_raised_goes_on(two: tuple[Ledger, Ledger]) -> None:
    budget = open_budget(two[0], 1.0, "run-1")
    assert budget is not None
    asyncio.run(budget.reserve(0.9))
    budget.settle(0.9, 0.9)
    with two[1].write() as connection:
        insert_limit(connection, "run-1", Limit(2.0, "one more", "somebody", "2026-11-01"))
    asyncio.run(budget.reserve(0.9))
    assert budget.limit_usd == 2.0
