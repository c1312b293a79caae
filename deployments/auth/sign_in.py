"""Checking a password, or what another kind of sign-in asks for, at a door.

Checks run in turn, so that guesses made at the same time are counted like guesses made one after the other. Attempts at one account
from one address wait for each other: of a hundred at once, ten are checked and the others refused. Attempts from one address wait
for each other too, whatever accounts they name. Of those who then wait for a place in which passwords are checked, who signed in
before goes first (from the same address, or with a browser that carries a cookie of ours), then strangers by how often their address
failed of late, among them who came last: a burst of guesses keeps nobody waiting who comes after it. Who must pause, and who would
wait too long, is refused before anything is hashed.

The few places in which passwords are checked, given first to those with the best claim.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Final, Literal, TypeVar

from fastapi.concurrency import run_in_threadpool

from deployments.auth.passwords import PASSWORDS_AT_ONCE, check_password, prepare_dummy
from deployments.auth.throttle import (
    MOST_OF_ADDRESS,
    MOST_OF_STRANGERS,
    SLOW_S,
    FailureCounter,
    KnownPlaces,
    name_attempt,
    name_source,
)

T = TypeVar("T")
Outcome = Literal["right", "wrong", "pause", "busy"]
_KNOWN_RANK = 0
_LAST_RANK = 1 + MOST_OF_ADDRESS
# Who waits behind so many is refused at once: a hash that nobody waits for any more is still work.
MOST_WAITING: Final = 20


@dataclass
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    count: int = 0


class PlacesTaken(Exception):
    """So many with a better claim wait that this one is refused."""


class PasswordDoor:
    """The checks of one kind of sign-in at one server.

    Attributes:
        failures: which accounts must pause at which address.
        places: where passwords are checked or made into hashes.

    Args:
        failures: the count of failures; a new one by default.
        clock: seconds of a clock that never goes back.
        at_once: how many are checked at once.
    """

    def __init__(
        self,
        failures: FailureCounter | None = None,
        clock: Callable[[], float] = time.monotonic,
        at_once: int = PASSWORDS_AT_ONCE,
    ) -> None:
        self.failures = failures or FailureCounter(clock)
        self.places = RankedPlaces(at_once)
        self._of_strangers = FailureCounter(clock, MOST_OF_STRANGERS, SLOW_S)
        self._of_addresses = FailureCounter(clock, MOST_OF_ADDRESS)
        self._known = KnownPlaces()
        self._queues: dict[str, _Queue] = {}
        prepare_dummy()

    async def check(
        self,
        address: str | None,
        user_id: str,
        password: str,
        read_hash: Callable[[], str | None],
        device: str | None = None,
    ) -> tuple[Outcome, str | None]:
        """Whether a password is right, and the hash that it was checked against.

        `read_hash` reads the stored hash in a thread; null for a user who does not exist, which takes as long. The rest is as
        for `count`.
        """

        async def verify() -> str | None:
            stored = await run_in_threadpool(read_hash)
            return stored if await run_in_threadpool(check_password, stored, password) else None

        return await self.count(address, user_id, verify, device)

    async def count(
        self,
        address: str | None,
        user_id: str,
        verify: Callable[[], Awaitable[T | None]],
        device: str | None = None,
    ) -> tuple[Outcome, T | None]:
        """Let somebody try in their turn, count what is wrong, and return what `verify` found.

        `verify` returns None for what is wrong. `pause` without a try when the account has failed too often from this address, or the
        address at all accounts, or where strangers have spent the account's budget and one of them was wrong a few seconds ago; `busy`
        when too many with a better claim wait. `device` names a browser that this account has signed in with before: it has a budget of
        its own.
        """
        address = name_source(address)
        source = address if device is None else f"device {device}"
        attempt = name_attempt(source, user_id)
        async with self._turn(f"account {attempt}"):
            # Asked only now: every attempt before this one has been counted.
            if self._must_pause(attempt, address, user_id, device):
                return "pause", None
            async with self._turn(f"address {source}"):
                is_known = self._is_known(attempt, device)
                rank = _KNOWN_RANK if is_known else self._rank_stranger(address, user_id)
                try:
                    async with self.places.hold(rank):
                        # Others may have failed while this one waited.
                        if self._must_pause(attempt, address, user_id, device):
                            return "pause", None
                        found = await verify()
                except PlacesTaken:
                    return "busy", None
                is_right = found is not None
                self.failures.note(attempt, is_right=is_right)
                if is_right:
                    self._known.add(attempt)
                elif not is_known:
                    self._of_strangers.note(user_id, is_right=False)
                    self._of_addresses.note(address, is_right=False)
        return ("right" if is_right else "wrong"), found

    def _is_known(self, attempt: str, device: str | None) -> bool:
        return device is not None or attempt in self._known

    def _rank_stranger(self, address: str, user_id: str) -> int:
        return _LAST_RANK if self._of_strangers.is_spent(user_id) else 1 + self._of_addresses.count(address)

    def _must_pause(self, attempt: str, address: str, user_id: str, device: str | None) -> bool:
        if self.failures.must_pause(attempt):
            return True
        return not self._is_known(attempt, device) and (
            self._of_strangers.must_pause(user_id) or self._of_addresses.must_pause(address)
        )

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


class RankedPlaces:
    """A semaphore with an order: of those who wait, the lowest rank is next.

    Among equals of rank 0 who came first is next; among others who came last, so that a burst of strangers whom nobody knows any
    harm of does not keep one waiting who comes after them.

    Args:
        free: how many hold a place at once.
        most_waiting: how many wait; the one with the worst claim is refused beyond that.
    """

    def __init__(self, free: int, most_waiting: int = MOST_WAITING) -> None:
        self._free = free
        self._most_waiting = most_waiting
        self._numbers = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def hold(self, rank: int = 0) -> AsyncIterator[None]:
        """Hold a place within the block; raises PlacesTaken."""
        await self._wait(rank)
        try:
            yield
        finally:
            self._hand_on()

    async def _wait(self, rank: int) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        number = next(self._numbers)
        mine = (rank, -number if rank else number, asyncio.get_running_loop().create_future())
        heapq.heappush(self._waiting, mine)
        if len(self._waiting) > self._most_waiting:
            worst = max(self._waiting, key=lambda one: one[:2])
            self._leave(worst)
            if not worst[2].done():  # its taker may have gone away in this turn
                worst[2].set_exception(PlacesTaken())
        try:
            await mine[2]
        except asyncio.CancelledError:
            if mine[2].done() and not mine[2].cancelled():
                if mine[2].exception() is None:
                    self._hand_on()  # the place was given while its taker went away
            else:
                self._leave(mine)
            raise

    def _leave(self, one: tuple[int, int, asyncio.Future[None]]) -> None:
        if one in self._waiting:
            self._waiting.remove(one)
            heapq.heapify(self._waiting)

    def _hand_on(self) -> None:
        while self._waiting:
            _, _, future = heapq.heappop(self._waiting)
            if not future.done():
                future.set_result(None)
                return
        self._free += 1
