"""The few places in which passwords are checked, given first to those with the best claim."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

# Who waits behind so many is refused at once: a hash that nobody waits for any more is still work.
MOST_WAITING: Final = 20


class PlacesTaken(Exception):
    """So many with a better claim wait that this one is refused."""


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
