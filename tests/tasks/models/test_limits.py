"""Token bucket and slots, on a clock of the test's own."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from tasks.models.sending.limits import ReplyLengths, Slots, TokenBucket, get_limiter
from tests.tasks.models.simulation import make_model


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def acquire(bucket: TokenBucket, clock: Clock, count: int) -> list[float]:
    async def run() -> list[float]:
        moments = []
        for _ in range(count):
            await bucket.acquire()
            moments.append(round(clock.now - 100.0, 6))
        return moments

    return asyncio.run(run())


def test_calls_come_no_closer_than_the_rate_allows() -> None:
    clock = Clock()
    bucket = TokenBucket(30, clock=clock, sleep=clock.sleep)
    assert acquire(bucket, clock, 4) == [0.0, 2.0, 4.0, 6.0]


def test_a_fast_rate_starts_with_one_seconds_worth_of_calls() -> None:
    clock = Clock()
    bucket = TokenBucket(240, clock=clock, sleep=clock.sleep)
    assert acquire(bucket, clock, 7) == [0.0, 0.0, 0.0, 0.0, 0.25, 0.5, 0.75]


def test_time_without_calls_is_saved_up_to_one_seconds_worth_only() -> None:
    clock = Clock()
    bucket = TokenBucket(120, clock=clock, sleep=clock.sleep)
    acquire(bucket, clock, 2)
    clock.now = 200.0
    assert acquire(bucket, clock, 4) == [100.0, 100.0, 100.5, 101.0]


def test_a_minute_never_holds_more_than_the_rate_and_one_seconds_burst() -> None:
    clock = Clock()
    bucket = TokenBucket(600, clock=clock, sleep=clock.sleep)
    moments = acquire(bucket, clock, 1500)
    fullest = max(sum(start <= moment < start + 60 for moment in moments) for start in moments)
    assert fullest <= 600 + 10


def test_without_a_rate_nobody_waits() -> None:
    clock = Clock()
    assert acquire(TokenBucket(None, clock=clock, sleep=clock.sleep), clock, 3) == [0.0, 0.0, 0.0]


def test_a_pause_holds_everybody_and_the_longer_pause_counts() -> None:
    clock = Clock()
    bucket = TokenBucket(None, clock=clock, sleep=clock.sleep)
    bucket.pause(5.0)
    bucket.pause(2.0)
    assert acquire(bucket, clock, 2) == [5.0, 5.0]


def test_a_pause_that_begins_while_one_waits_is_waited_for_too() -> None:
    clock = Clock()
    bucket = TokenBucket(60, clock=clock, sleep=clock.sleep)
    acquire(bucket, clock, 1)

    async def sleep(seconds: float) -> None:
        clock.now += seconds
        if clock.now < 102:
            bucket.pause(3.0)

    bucket._sleep = sleep
    assert acquire(bucket, clock, 1) == [4.0]


def test_slots_are_shared_by_the_event_loops_of_several_threads() -> None:
    slots = Slots(3)
    lock = threading.Lock()
    inside = 0
    most = 0
    passed = 0

    async def visit() -> None:
        nonlocal inside, most, passed
        async with slots:
            with lock:
                inside += 1
                most = max(most, inside)
            await asyncio.sleep(0.002)
            with lock:
                inside -= 1
                passed += 1

    async def visit_often() -> None:
        await asyncio.gather(*[visit() for _ in range(20)])

    threads = [threading.Thread(target=lambda: asyncio.run(visit_often())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside, passed) == (3, 0, 80)


def test_a_cancelled_waiter_loses_no_slot() -> None:
    async def run() -> int:
        slots = Slots(1)
        passed = 0

        async def visit() -> None:
            nonlocal passed
            async with slots:
                passed += 1
                await asyncio.sleep(0)

        async with slots:
            waiters = [asyncio.create_task(visit()) for _ in range(6)]
            await asyncio.sleep(0)
            for waiter in waiters[::2]:
                waiter.cancel()
        waiters[1].cancel()  # chosen by the release, not yet awake
        await asyncio.gather(*waiters, return_exceptions=True)
        async with asyncio.timeout(1):
            await visit()
        return passed

    assert asyncio.run(run()) == 3


def test_models_of_a_provider_share_its_limiter_unless_they_have_limits_of_their_own() -> None:
    first = make_model("a", provider="shared", requests_per_minute=90.0)
    second = make_model("b", provider="shared", requests_per_minute=90.0)
    own = replace(second, has_own_limits=True)
    assert get_limiter(first, 8) is get_limiter(second, 8)
    assert get_limiter(own, 8) is not get_limiter(second, 8)


def test_how_long_replies_are_is_learned_from_those_that_came() -> None:
    lengths = ReplyLengths()
    body = {"messages": [{"role": "user", "content": "问" * 100}], "max_tokens": 4_000}
    first = lengths.expect(body)
    # About a token for each character of the question, and a reply of which nothing is known.
    assert 600 <= first <= 620
    assert lengths.expect({"messages": body["messages"]}) == first
    for _ in range(400):
        lengths.note(20)
    assert lengths.expect(body) == first - 500 + 20
    assert lengths.expect({**body, "max_tokens": 5}) == first - 500 + 5


@pytest.mark.parametrize("per_minute", [0.5, 59.0])
def test_a_slow_rate_has_no_burst(per_minute: float) -> None:
    clock = Clock()
    first, second = acquire(TokenBucket(per_minute, clock=clock, sleep=clock.sleep), clock, 2)
    assert first == 0.0
    assert second == pytest.approx(60 / per_minute)
