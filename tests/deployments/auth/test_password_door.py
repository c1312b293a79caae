"""The door that both servers check passwords at: guesses at once are counted, and nobody else waits for them."""

from __future__ import annotations

import asyncio
import time

import pytest
from argon2 import PasswordHasher

from deployments.auth.sign_in import Outcome, PasswordDoor
from deployments.auth.throttle import FailureCounter
from deployments.auth.weak_passwords import Weakness, find_weakness

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def stored() -> str:
    """A hash that is checked fast: the parameters are read from it."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)


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


def test_who_guesses_at_many_names_makes_nobody_wait_who_signs_in_from_elsewhere(stored: str) -> None:
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
    assert asyncio.run(run()) >= 8


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
