"""Work that is jobs.

What is left is put there, done here and by whoever helps, and waited for.

Whoever conducts says what is left and does one; a worker that helps does one. The rest is the same for both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from schemas.errors import BudgetError, ProctorError
from schemas.ledger.engine import Job
from tasks.running.claiming import POLL_S
from tasks.running.sharing.queue import MOST_TRIES, JobQueue


async def conduct(
    jobs: JobQueue, list_left: Callable[[], Mapping[str, str]], work: Callable[[], Awaitable[bool]]
) -> None:
    """Put there what is left and work on it, until nothing is left.

    What has failed too often stays.

    Args:
        jobs: those of the run.
        list_left: what is not done by now, in order, each with its lane.
        work: does what waits; whether the work may go on.
    """
    left = list_left()
    while left:
        await jobs.defer(left)
        if not await work():
            return
        failed = {job.name for job in await jobs.list_left() if job.tries >= MOST_TRIES}
        left = {name: lane for name, lane in list_left().items() if name not in failed}
        if left:
            await asyncio.sleep(POLL_S)


class Crew:
    """The jobs that this process does now: as many at once as there is room for in each lane.

    Args:
        do: does a job; whether it is done, or is to wait again. What it raises is a try that failed, and ends the work where
            it is a spent budget, or no error of ours.
        places: the lanes, and how many jobs of each are done at once.
        most: jobs at once in all; null for no limit.
        names: only these; null for all.
        most_tries: only what failed less often; null for all.

    Attributes:
        faults: what ended the work.
        stop: set, no further job is begun.
    """

    def __init__(
        self,
        jobs: JobQueue,
        do: Callable[[Job], Awaitable[bool]],
        places: Mapping[str, int],
        *,
        most: int | None = None,
        names: Collection[str] | None = None,
        most_tries: int | None = MOST_TRIES,
    ) -> None:
        self.faults: list[BaseException] = []
        self.stop = asyncio.Event()
        self._jobs = jobs
        self._do = do
        self._places = places
        self._most = most
        self._names = names
        self._most_tries = most_tries
        # The lane of each job that is done now.
        self._under_way: dict[asyncio.Task[None], str] = {}

    async def work(self) -> bool:
        """Do jobs until none waits; whether the work may go on."""
        try:
            while await self.begin() or self._under_way:
                await self.wait()
        finally:
            await self.close()
        return not self.stop.is_set()

    async def begin(self) -> bool:
        """Begin jobs where there is room for them; whether there were any."""
        has_begun = False
        for lane, places in list(self._places.items()):
            lanes = list(self._under_way.values())
            free = places - lanes.count(lane)
            if self._most is not None:
                free = min(free, self._most - len(lanes))
            if self.stop.is_set() or free <= 0:
                continue
            for job in await self._jobs.take(free, lane, names=self._names, most_tries=self._most_tries):
                self._under_way[asyncio.create_task(self._do_one(job))] = lane
                has_begun = True
        return has_begun

    async def wait(self, *others: asyncio.Task[Any]) -> None:
        """Wait until a job has ended, or another task, but not for long."""
        done, _ = await asyncio.wait(
            (*self._under_way, *others), timeout=POLL_S, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done & self._under_way.keys():
            del self._under_way[task]
            if (fault := task.exception()) is not None:
                self.faults.append(fault)

    async def close(self) -> None:
        """Break off what is under way."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _do_one(self, job: Job) -> None:
        """Do a job, and say what became of it."""
        try:
            is_done = await self._do(job)
        except BudgetError:
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


@dataclass
class _Asked:
    """A job that somebody here waits for.

    Attributes:
        lane: its lane.
        details: what another process begins it with.
        is_deferred: whether it was put there.
        turn: set when it is this process's to do, or done elsewhere.
        is_over: set when nobody here needs it any more.
    """

    lane: str
    details: Mapping[str, Any]
    is_deferred: bool = False
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)


class Turns:
    """Jobs whose outcome is needed here, whoever does them. An async context manager.

    Args:
        jobs: those of a run that this process conducts.
        places: the lanes, and how many jobs of each are done here at once; more may be put there later.
    """

    def __init__(self, jobs: JobQueue, places: Mapping[str, int]) -> None:
        self._jobs = jobs
        self._asked: dict[str, _Asked] = {}
        self._has_more = asyncio.Event()
        # However often a job failed elsewhere: who asks for it is told here why.
        self._crew = Crew(jobs, self._give_turn, places, most_tries=None)
        self._work: asyncio.Task[None] | None = None
        self._looked_at = 0.0

    async def __aenter__(self) -> Turns:
        self._jobs.__enter__()
        self._work = asyncio.create_task(self._conduct())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._work is not None
        # Not broken off: the writer would still put there what it was given, after all that waits was withdrawn.
        self._crew.stop.set()
        self._has_more.set()
        try:
            with suppress(ProctorError):
                await self._work
        finally:
            self._jobs.__exit__()

    @asynccontextmanager
    async def take(self, name: str, lane: str, details: Mapping[str, Any]) -> AsyncIterator[None]:
        """Put a job there; the block begins when it is to be done here, or was done elsewhere.

        Both are one where what was done is found again. Raises what keeps jobs from being put there, or taken.
        """
        assert self._work is not None
        asked = self._asked[name] = _Asked(lane, details)
        self._has_more.set()
        turn = asyncio.create_task(asked.turn.wait())
        try:
            await asyncio.wait((turn, self._work), return_when=asyncio.FIRST_COMPLETED)
            if not asked.turn.is_set():
                # Where no fault has ended it, the block of all turns is over, and with it what is asked within.
                self._work.result()
                raise asyncio.CancelledError
            yield
        finally:
            turn.cancel()
            del self._asked[name]
            asked.is_over.set()

    async def _conduct(self) -> None:
        try:
            while not self._crew.stop.is_set():
                self._has_more.clear()
                more = asyncio.create_task(self._has_more.wait())
                try:
                    await self._defer()
                    await self._crew.begin()
                    await self._crew.wait(more)
                    await self._find_done()
                finally:
                    more.cancel()
        finally:
            await self._crew.close()

    async def _defer(self) -> None:
        new = {name: asked for name, asked in self._asked.items() if not asked.is_deferred}
        if new:
            details = {name: asked.details for name, asked in new.items()}
            await self._jobs.defer({name: asked.lane for name, asked in new.items()}, details)
            for asked in new.values():
                asked.is_deferred = True

    async def _find_done(self) -> None:
        """Tell those whose jobs are there no more: another process did them."""
        now = asyncio.get_running_loop().time()
        waiting = [
            name for name, asked in self._asked.items() if asked.is_deferred and not asked.turn.is_set()
        ]
        if waiting and now - self._looked_at >= POLL_S:
            self._looked_at = now
            left = await self._jobs.list_names()
            for name in waiting:
                if name not in left and name in self._asked:
                    self._asked[name].turn.set()

    async def _give_turn(self, job: Job) -> bool:
        """Hold the job while it is done here; one that nobody asks for any more is removed."""
        asked = self._asked.get(job.name)
        if asked is not None and not self._crew.stop.is_set():
            asked.turn.set()
            await asked.is_over.wait()
        return True
