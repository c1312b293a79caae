"""The door at which both servers check passwords: guesses count, nobody else waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from deployments.auth import passwords
from deployments.auth.kinds import SIGN_INS
from deployments.auth.opened import open_kinds
from deployments.auth.passwords import PASSWORDS_AT_ONCE, Weakness, find_weakness
from deployments.auth.sign_in import MOST_WAITING, Outcome, PasswordDoor, PlacesTaken, RankedPlaces
from deployments.auth.throttle import FailureCounter, name_source
from schemas.errors import UsageError
from schemas.settings import Settings

PASSWORD = "correct horse battery"


class NotedPlaces(RankedPlaces):
    """Places that note the tasks that got one, in order, whatever the speed of threads."""

    def __init__(self) -> None:
        super().__init__(PASSWORDS_AT_ONCE)
        self.order: list[str] = []

    @asynccontextmanager
    async def hold(self, rank: int = 0) -> AsyncIterator[None]:
        async with super().hold(rank):
            task = asyncio.current_task()
            assert task is not None
            self.order.append(task.get_name())
            yield


@pytest.fixture(scope="module")
def stored() -> str:
    return passwords.hash_password(PASSWORD)


def test_a_password_and_the_one_of_nobody_cost_as_much_as_rfc_9106_wishes(
    own_hasher: PasswordHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "_hasher", own_hasher)
    hashed = passwords.hash_password(PASSWORD)
    nobodys = passwords.prepare_dummy.__wrapped__()
    assert extract_parameters(hashed) == extract_parameters(nobodys) == RFC_9106_LOW_MEMORY
    assert passwords.check_password(hashed, PASSWORD)
    assert not passwords.check_password(hashed, "another password")


def test_of_a_hundred_guesses_at_once_ten_are_checked_and_the_account_is_open_from_elsewhere(
    stored: str,
) -> None:
    checked: list[str] = []

    def read_hash() -> str:
        checked.append("read")
        return stored

    async def run() -> tuple[list[Outcome], Outcome, Outcome]:
        door = PasswordDoor(FailureCounter())
        guesses = [door.check("6.6.6.6", "ada", f"guess number {n}", read_hash) for n in range(100)]
        outcomes = [outcome for outcome, _ in await asyncio.gather(*guesses)]
        there = await door.check("6.6.6.6", "ada", PASSWORD, read_hash)
        elsewhere = await door.check("1.1.1.1", "ada", PASSWORD, read_hash)
        assert not door._queues
        return outcomes, there[0], elsewhere[0]

    outcomes, there, elsewhere = asyncio.run(run())
    assert (outcomes.count("wrong"), outcomes.count("pause")) == (10, 90)
    assert (there, elsewhere) == ("pause", "right")
    assert len(checked) == 11


def test_honest_sign_ins_at_once_are_all_let_in(stored: str) -> None:
    async def run() -> list[Outcome]:
        door = PasswordDoor()
        found = await asyncio.gather(
            *(door.check("1.1.1.1", "ada", PASSWORD, lambda: stored) for _ in range(12))
        )
        return [outcome for outcome, _ in found]

    assert asyncio.run(run()) == ["right"] * 12


def test_who_guesses_at_many_names_makes_nobody_wait_who_signs_in_from_elsewhere(
    stored: str, own_hasher: PasswordHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A guess costs what it costs the product: with the smallest parameters all twelve are done at once.
    monkeypatch.setattr(passwords, "_hasher", own_hasher)
    passwords.prepare_dummy.cache_clear()

    async def run() -> int:
        door = PasswordDoor()
        guesses = [
            asyncio.create_task(door.check("6.6.6.6", f"name {n}", "wrong", lambda: None)) for n in range(12)
        ]
        await asyncio.sleep(0)
        outcome, checked = await door.check("1.1.1.1", "ada", PASSWORD, lambda: stored)
        assert (outcome, checked) == ("right", stored)
        waiting = sum(not task.done() for task in guesses)
        for task in guesses:
            task.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)
        assert not door._queues
        return waiting

    # A guesser has one place of the two: only what was checked meanwhile is done.
    waiting = asyncio.run(run())
    passwords.prepare_dummy.cache_clear()
    assert waiting >= 8


@pytest.mark.parametrize(
    ("password", "weakness"),
    [
        ("elevenchars", Weakness.LENGTH),
        ("x" * 1001, Weakness.LENGTH),
        ("candidate:alpha", Weakness.NAME),
        ("Alpha-Alpha-Alpha", Weakness.NAME),
        ("ahpla2026!!!!", Weakness.NAME),
        ("P@ssw0rd2026!", Weakness.COMMON),
        ("passwordpassword", Weakness.COMMON),
        ("qwertyuiop12", Weakness.COMMON),
        ("1q2w3e4r5t6y", Weakness.COMMON),
        ("123456789012", Weakness.COMMON),
        ("cba987cba987"[::-1] + "7", None),
        ("abcdefghijklm", Weakness.COMMON),
        ("aaaaaaaaaaaab", Weakness.COMMON),
        ("wodemima123456", Weakness.COMMON),
        ("correct horse battery", Weakness.COMMON),
        ("a password of alpha", None),
        ("紫色 的 椅子 在 海边 唱歌 2", None),
    ],
)
def test_what_anybody_would_try_first_is_refused(password: str, weakness: Weakness | None) -> None:
    assert find_weakness(password, "candidate:alpha") == weakness


def test_a_password_is_judged_in_no_time() -> None:
    began = time.process_time()
    find_weakness("x1" * 500, "ada")
    assert time.process_time() - began < 0.2


def test_who_signed_in_before_goes_ahead_of_forty_strangers_who_wait(stored: str) -> None:
    async def run() -> list[str]:
        door = PasswordDoor()
        places = door.places = NotedPlaces()

        async def ask(address: str, password: str, device: str | None = None) -> None:
            await door.check(address, "ada", password, lambda: stored, device)

        await ask("1.1.1.1", PASSWORD)
        async with door.places.hold(), door.places.hold():
            places.order.clear()
            tasks = [asyncio.create_task(ask(f"6.6.6.{n}", "wrong"), name="guess") for n in range(40)]
            tasks.append(asyncio.create_task(ask("1.1.1.1", PASSWORD), name="known address"))
            tasks.append(asyncio.create_task(ask("2.2.2.2", PASSWORD, "a browser"), name="known device"))
            await asyncio.sleep(0.01)
        await asyncio.gather(*tasks)
        return places.order

    assert asyncio.run(run())[:3] == ["known address", "known device", "guess"]


def test_a_stranger_goes_ahead_of_those_whose_addresses_failed(stored: str) -> None:
    async def run() -> list[str]:
        door = PasswordDoor()
        places = door.places = NotedPlaces()

        async def ask(name: str, address: str) -> None:
            await door.check(address, name, "wrong", lambda: stored)

        await asyncio.gather(*(ask("before", f"6.6.6.{n}") for n in range(9)))
        async with door.places.hold(), door.places.hold():
            places.order.clear()
            tasks = [asyncio.create_task(ask("newcomer", "3.3.3.3"), name="newcomer")]
            tasks += [asyncio.create_task(ask(f"guess {n}", f"6.6.6.{n}"), name="guess") for n in range(9)]
            await asyncio.sleep(0.01)
        await asyncio.gather(*tasks)
        return places.order

    assert asyncio.run(run())[:2] == ["newcomer", "guess"]


def test_an_account_takes_thirty_guesses_from_however_many_addresses_and_its_owner_still_signs_in(
    stored: str,
) -> None:
    checked: list[int] = []

    def read_hash() -> str:
        checked.append(1)
        return stored

    async def run() -> list[Outcome]:
        door = PasswordDoor(clock=lambda: 1.0)
        await door.check("1.1.1.1", "ada", PASSWORD, read_hash)
        for number in range(200):
            await door.check(f"6.6.6.{number}", "ada", "wrong", read_hash)
        assert len(checked) == 31
        asked = [("1.1.1.1", None), ("9.9.9.9", "a browser"), ("9.9.9.9", None)]
        return [
            (await door.check(address, "ada", PASSWORD, read_hash, device))[0] for address, device in asked
        ]

    assert asyncio.run(run()) == ["right", "right", "pause"]


def test_an_address_takes_fifty_guesses_whatever_accounts_it_names(stored: str) -> None:
    async def run() -> list[Outcome]:
        door = PasswordDoor(clock=lambda: 1.0)
        outcomes = [(await door.check("6.6.6.6", f"name {n}", "wrong", lambda: stored))[0] for n in range(60)]
        return [*outcomes, (await door.check("1.1.1.1", "ada", PASSWORD, lambda: stored))[0]]

    assert asyncio.run(run()) == ["wrong"] * 50 + ["pause"] * 10 + ["right"]


def test_where_too_many_wait_the_worst_claim_is_refused_and_nothing_is_lost() -> None:
    async def run() -> list[str]:
        places, order = RankedPlaces(1, most_waiting=2), list[str]()

        async def ask(rank: int) -> None:
            try:
                async with places.hold(rank):
                    order.append(f"held {rank}")
            except PlacesTaken:
                order.append(f"refused {rank}")

        async with places.hold():
            tasks = [asyncio.create_task(ask(rank)) for rank in (3, 5, 1)]
            gone = asyncio.create_task(ask(0))
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, gone, return_exceptions=True)
        async with places.hold():
            return order

    assert asyncio.run(run())[:1] == ["refused 5"] and "held 1" in asyncio.run(run())


def test_a_stranger_is_not_kept_waiting_by_the_first_burst_of_forty_who_guess(stored: str) -> None:
    async def run() -> tuple[list[str], list[Outcome]]:
        door = PasswordDoor()
        places = door.places = NotedPlaces()

        async def ask(name: str, address: str, password: str) -> Outcome:
            return (await door.check(address, name, password, lambda: stored))[0]

        async with door.places.hold(), door.places.hold():
            places.order.clear()
            tasks = [
                asyncio.create_task(ask(f"name {n}", f"6.6.6.{n}", "wrong"), name="guess") for n in range(40)
            ]
            tasks.append(asyncio.create_task(ask("newcomer", "3.3.3.3", PASSWORD), name="newcomer"))
            await asyncio.sleep(0.01)
        return places.order, await asyncio.gather(*tasks)

    order, outcomes = asyncio.run(run())
    assert order == ["newcomer"] + ["guess"] * (MOST_WAITING - 1)
    assert outcomes[-1] == "right"
    assert (outcomes.count("busy"), outcomes.count("wrong")) == (41 - MOST_WAITING, MOST_WAITING - 1)


def test_strangers_who_spent_an_accounts_budget_slow_its_owner_at_a_new_address_and_do_not_lock_it_out(
    stored: str,
) -> None:
    now = 1.0

    async def run() -> list[Outcome]:
        nonlocal now
        door = PasswordDoor(clock=lambda: now)
        for number in range(30):
            await door.check(f"6.6.6.{number}", "ada", "wrong", lambda: stored)
        found = [(await door.check("9.9.9.9", "ada", PASSWORD, lambda: stored))[0]]
        now += 5
        # Of ten at once as many are checked as there are places; the owner's turn comes like theirs.
        burst = [door.check(f"7.7.7.{n}", "ada", "wrong", lambda: stored) for n in range(10)]
        outcomes = [outcome for outcome, _ in await asyncio.gather(*burst)]
        assert outcomes.count("pause") >= 10 - PASSWORDS_AT_ONCE
        now += 5
        return [*found, (await door.check("9.9.9.9", "ada", PASSWORD, lambda: stored))[0]]

    assert asyncio.run(run()) == ["pause", "right"]


def test_a_network_of_ipv6_counts_as_one_address(stored: str) -> None:
    async def run() -> list[Outcome]:
        door = PasswordDoor(clock=lambda: 1.0)
        addresses = [f"2001:db8:0:1::{number:x}" for number in range(12)]
        found = [(await door.check(one, "ada", "wrong", lambda: stored))[0] for one in addresses]
        return [*found, (await door.check("2001:db8:0:2::1", "ada", "wrong", lambda: stored))[0]]

    assert asyncio.run(run()) == ["wrong"] * 10 + ["pause"] * 2 + ["wrong"]
    assert name_source("::ffff:1.2.3.4") == name_source("1.2.3.4") == "1.2.3.4"


def test_failures_are_forgotten_five_minutes_after_the_first_and_no_name_is_kept_at_length() -> None:
    now = 1.0
    failures = FailureCounter(lambda: now)
    for _ in range(9):
        failures.note("ada", is_right=False)
        now += 40
    assert failures.count("ada") == 1 and not failures.must_pause("ada")
    failures.note("x" * 1_000_000, is_right=False)
    assert max(map(len, failures._failures)) < 1_000


def test_who_is_refused_or_given_a_place_while_it_goes_away_leaves_as_many_places_as_there_are() -> None:
    async def run() -> int:
        places = RankedPlaces(1, most_waiting=1)

        async def ask(rank: int) -> None:
            async with places.hold(rank):
                pass

        async with places.hold():
            refused = asyncio.create_task(ask(5))
            await asyncio.sleep(0)
            other = asyncio.create_task(ask(1))
            # The newcomer refuses the one who waits, and that one is cancelled before it hears of it.
            asyncio.get_running_loop().call_soon(refused.cancel)
            await asyncio.sleep(0)
            await asyncio.gather(refused, return_exceptions=True)
            gone = asyncio.create_task(ask(0))
            await asyncio.sleep(0)
            gone.cancel()
            later = asyncio.create_task(ask(2))
            await asyncio.sleep(0)
        outcomes = await asyncio.gather(other, later, return_exceptions=True)
        assert not any(isinstance(one, asyncio.InvalidStateError) for one in outcomes)
        return places._free

    assert asyncio.run(run()) == 1


def test_a_kind_of_sign_in_that_cannot_be_opened_tells_none_of_its_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def quote(options: object) -> None:
        raise KeyError(options)

    monkeypatch.setitem(SIGN_INS.own, "mine", "my_package:MINE")
    monkeypatch.setitem(SIGN_INS._loaded, "mine", quote)
    settings = Settings.model_validate({"sign_in": ["mine"], "sign_in_options": {"mine": {"secret": "hush"}}})
    with pytest.raises(
        UsageError, match="opening it failed with KeyError; does it lack one of its"
    ) as caught:
        open_kinds(settings)
    assert "hush" not in str(caught.value)
