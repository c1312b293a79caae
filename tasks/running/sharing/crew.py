"""Work that is jobs.

What is left is put there, done here and by whoever helps, and waited for.

Whoever conducts says what is left and does one; a worker that helps does one. The rest is the same for both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

from schemas.errors import BudgetError, ProctorError
from schemas.ledger.engine import Job
from tasks.running.claiming import POLL_S
from tasks.running.sharing.queue import MOST_TRIES, JobQueue


async def conduct(
    jobs: JobQueue, list_left: Callable[[], Mapping[str, str]], work: Callable[[], Awaitable[None]]
) -> None:
    """Put there what is left and work on it, until nothing is left.

    What has failed too often stays.

    Args:
        jobs: those of the run.
        list_left: what is not done by now, in order, each with its lane.
        work: does what waits.
    """
    left = list_left()
    while left:
        await jobs.defer(left)
        await work()
        failed = {job.name for job in await jobs.list_left() if job.tries >= MOST_TRIES}
        left = {name: lane for name, lane in list_left().items() if name not in failed}
        if left:
            await asyncio.sleep(POLL_S)


class Crew:
    """The jobs that this process does now: as many at once as there is room for in each lane.

    Args:
        do: does a job; whether it is done, or is to wait again. What it raises is a try that failed, and ends the work where
            it is no error of ours, or one of those.
        places: the lanes, and how many jobs of each are done at once.
        most: jobs at once in all.
        names: only these; null for all.
        ends_by: errors after which no further job is begun.

    Attributes:
        stop: set when no further job is begun.
    """

    def __init__(
        self,
        jobs: JobQueue,
        do: Callable[[Job], Awaitable[bool]],
        places: Mapping[str, int],
        *,
        most: float = float("inf"),
        names: Collection[str] | None = None,
        ends_by: tuple[type[ProctorError], ...] = (BudgetError,),
    ) -> None:
        self.stop = asyncio.Event()
        self._jobs = jobs
        self._do = do
        self._places = places
        self._most = most
        self._names = names
        self._ends_by = ends_by

    async def work(self) -> None:
        """Do jobs until none waits; raises what has ended the work, when no job is under way."""
        under_way: dict[asyncio.Task[None], str] = {}
        faults: list[BaseException] = []
        try:
            while True:
                for lane, places in self._places.items():
                    lanes = list(under_way.values())
                    free = min(places - lanes.count(lane), self._most - len(lanes))
                    if free > 0 and not self.stop.is_set():
                        for job in await self._jobs.take(int(free), lane, names=self._names):
                            under_way[asyncio.create_task(self._do_one(job))] = lane
                if not under_way:
                    break
                ended, _ = await asyncio.wait(under_way, timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    del under_way[task]
                    if (fault := task.exception()) is not None:
                        faults.append(fault)
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)
        for fault in faults:
            raise fault

    async def _do_one(self, job: Job) -> None:
        """Do a job, and say what became of it."""
        try:
            is_done = await self._do(job)
        except self._ends_by:
            self.stop.set()
            await self._jobs.give_back([job.name])
            raise
        except ProctorError as error:
            await self._jobs.give_back([job.name], str(error))
        except Exception as error:
            # Of others' errors the text may be content.
            await self._jobs.give_back([job.name], type(error).__name__, tries=MOST_TRIES)
            raise
        else:
            await (self._jobs.end if is_done else self._jobs.give_back)([job.name])


class Turns:
    """Jobs whose outcome is needed here, whoever does them. An async context manager.

    Args:
        jobs: those of a run that this process conducts.
        places: the lanes, and how many jobs of each are done here at once; more may be put there later.
    """

    def __init__(self, jobs: JobQueue, places: Mapping[str, int]) -> None:
        self._jobs = jobs
        self._places = places
        self._free: dict[str, asyncio.Semaphore] = {}
        self._is_over = False
        self._looking = asyncio.Lock()
        self._looked_at = 0.0
        self._holders: dict[str, str | None] = {}

    async def __aenter__(self) -> Self:
        self._jobs.__enter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_over = True
        self._jobs.__exit__()

    @asynccontextmanager
    async def take(self, name: str, lane: str, details: Mapping[str, Any]) -> AsyncIterator[None]:
        """Put a job there; the block begins when it is to be done here, or was done elsewhere.

        Both are one where what was done is found again. However often it failed elsewhere, it is done here: who asks is told why.
        """
        self._go_on()
        await self._jobs.defer({name: lane}, {name: details})
        asked_at = asyncio.get_running_loop().time()
        free = self._free.setdefault(lane, asyncio.Semaphore(self._places.get(lane, 0)))
        while name in (holders := await self._find_holders(asked_at)):
            if holders[name] is not None or not await _acquire(free):
                await asyncio.sleep(POLL_S / 10)
                continue
            try:
                if await self._jobs.take(1, lane, names=[name], is_asked=True):
                    try:
                        yield
                    finally:
                        await self._jobs.end([name])
                    return
            finally:
                free.release()
            await asyncio.sleep(POLL_S)
        yield

    async def _find_holders(self, since: float) -> dict[str, str | None]:
        """Who holds each job that is not done, as of a moment ago, and not before `since`."""
        async with self._looking:
            self._go_on()
            now = asyncio.get_running_loop().time()
            if self._looked_at < since or now - self._looked_at > POLL_S:
                self._holders, self._looked_at = await self._jobs.list_holders(), now
        return self._holders

    def _go_on(self) -> None:
        if self._is_over:
            # What is asked within the block of all turns is over with it.
            raise asyncio.CancelledError


async def _acquire(free: asyncio.Semaphore) -> bool:
    """Take a place; false where none has become free in a while."""
    try:
        return await asyncio.wait_for(free.acquire(), POLL_S)
    except TimeoutError:
        return False
