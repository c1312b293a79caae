"""Checking a password at a door: in turn, so that guesses at once are counted like guesses one after the other.

Attempts at one account from one address wait for each other: of a hundred at once, ten are checked and the others refused.
Attempts from one address wait for each other too, whatever accounts they name: who guesses takes one of the places in which
passwords are checked, and never makes those wait who sign in from elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from fastapi.concurrency import run_in_threadpool

from deployments.auth.passwords import PASSWORDS_AT_ONCE, check_password, prepare_dummy
from deployments.auth.throttle import FailureCounter, name_attempt

Outcome = Literal["right", "wrong", "pause"]


@dataclass
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    count: int = 0


class PasswordDoor:
    """The checks of passwords of one server.

    Attributes:
        failures: who must pause.
        places: how many passwords are checked or made into hashes at once.
    """

    def __init__(self, failures: FailureCounter | None = None) -> None:
        self.failures = failures or FailureCounter()
        self.places = asyncio.Semaphore(PASSWORDS_AT_ONCE)
        self._queues: dict[str, _Queue] = {}
        prepare_dummy()

    async def check(
        self, address: str | None, user_id: str, password: str, read_hash: Callable[[], str | None]
    ) -> tuple[Outcome, str | None]:
        """Whether a password is right, and the hash that it was checked against.

        `pause` without a check when the account has failed too often from this address. `read_hash` reads the stored hash in
        a thread; null for a user who does not exist, which takes as long.
        """
        attempt = name_attempt(address, user_id)
        async with self._turn(f"account {attempt}"):
            # Asked only now: every attempt before this one has been counted.
            if self.failures.must_pause(attempt):
                return "pause", None
            async with self._turn(f"address {address}"), self.places:
                stored = await run_in_threadpool(read_hash)
                is_right = await run_in_threadpool(check_password, stored, password)
            self.failures.note(attempt, is_right=is_right)
        return ("right", stored) if is_right else ("wrong", None)

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncIterator[None]:
        """The turn of one among all of that name; names that nobody waits for are forgotten."""
        queue = self._queues.setdefault(name, _Queue())
        queue.count += 1
        try:
            async with queue.lock:
                yield
        finally:
            queue.count -= 1
            if queue.count == 0:
                del self._queues[name]
