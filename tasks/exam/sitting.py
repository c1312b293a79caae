"""Sit the sessions of a run with in-house candidates until every session is closed.

Many sessions are sat at a time. Nothing is kept here that must survive: the ledger knows what was handed out, answered and
paid. After `kill -9` the same call continues: the pending question is put again, its reply is replayed if it had been paid
for, and the rest follows. Each session is a job: several processes, on one host or many, may sit one run at once, and each
session is one's at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.errors import BudgetError, ProctorError, RegistryError
from schemas.ledger.engine import Job
from schemas.ledger.exam import Session
from schemas.settings import Settings
from tasks.exam.closed import close_run
from tasks.exam.doors import Door, HttpDoor
from tasks.exam.http_calls import PATIENCE_S
from tasks.exam.plan import compare_entry
from tasks.exam.protocol import make_protocol
from tasks.exam.protocol.tokens import open_keys
from tasks.exam.sitter import Client, ExamRoom, SessionSitter, SittingProgress, is_pending
from tasks.running.claiming import POLL_S
from tasks.running.sharing import IN_BATCHES, MOST_TRIES, Crew, JobQueue, conduct, count_sharers
from warehouse.ledger.engine.leases.clock import clock_of
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import deadlines, sittings

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel, Registry


# Kind of the jobs.
JOB = "sit"
# Sessions under way for each call that its provider may have in flight: more would only keep them from other processes.
SESSIONS_PER_CALL = 2


@dataclass(frozen=True)
class SittingFailure:
    """A session that stays open, and why; `is_pending`: nothing failed, a batch has its calls."""

    session_id: str
    model: str
    reason: str
    is_pending: bool = False


@dataclass
class SittingReport:
    """What came of sitting a run.

    Attributes:
        outside_count: open sessions of candidates that sit with their own client.
        answer_count: answers acknowledged by this call.
        failures: sessions that stay open because something failed.
        is_run_closed: whether all sessions, and so the run, are closed.
        pending_count: sessions that stay open because calls of theirs are in a provider's batch.
    """

    run_id: str
    session_count: int = 0
    closed_count: int = 0
    outside_count: int = 0
    answer_count: int = 0
    failures: list[SittingFailure] = field(default_factory=list)
    is_run_closed: bool = False
    pending_count: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do in house; otherwise exit code 1, and the command continues."""
        return not self.failures


@dataclass(frozen=True)
class SittingPart:
    """The part of a run that a process sits, and how it comes to it.

    Attributes:
        door: the way to the protocol; null for the one that the settings name.
        models: only the sessions of these; null for all.
        max_sessions: sessions under way at once, at most.
        is_helping: whether another process conducts the run, which put its sessions there and waits for their end.
        in_batches: whether calls go into batches of providers, so that nobody helps.
    """

    door: Door | None = None
    models: Sequence[str] | None = None
    max_sessions: int = 256
    is_helping: bool = False
    in_batches: bool = False


async def sit_sessions(
    ledger: Ledger,
    settings: Settings,
    registry: Registry,
    client: Client,
    run_id: str,
    *,
    progress: Callable[[SittingProgress], None] | None = None,
    part: SittingPart | None = None,
) -> SittingReport:
    """Sit all open sessions of a run, many at a time.

    The run is closed when the last session is closed. Each process has at most its share of the sessions under way. Sessions that
    another one sits are waited for: they are sat here when that process ends without having closed them. A session whose model
    cannot be called is sat again after the others; if it still cannot, it stays open and is reported, and what failed is noted in
    the ledger. Limits per provider are the client's. `part` says which sessions are sat here, and by which door. Who helps sits
    what waits, and leaves the rest to who conducts.

    Raises UsageError for an unknown run, BudgetError when the budget stops it (what was answered is kept).
    """
    part = part or SittingPart()
    rows, outside = _read_sessions(ledger, run_id, part.models)
    report = SittingReport(run_id, session_count=len(rows))
    report.outside_count = sum(row.model in outside and row.status != "closed" for row in rows)
    waiting = {row.session_id: row for row in rows if row.status != "closed" and row.model not in outside}
    prefix = IN_BATCHES if part.in_batches else ""
    candidates = {
        row.model: _Candidate(model := registry.get(row.model), prefix + model.lane)
        for row in waiting.values()
    }

    for name, one in candidates.items():
        _keep_to_plan(settings, one.model, [row for row in rows if row.model == name])

    def count(answered: SittingProgress) -> None:
        report.answer_count += 1
        if progress is not None:
            progress(answered)

    async def note_error(session_id: str, seq: int, error: str) -> None:
        await ledger.writer.run_async(
            lambda connection: deadlines.write_call_error(connection, session_id, seq, error)
        )

    with JobQueue(ledger, JOB, run_id, is_conducting=not part.is_helping) as jobs:
        async with _open_door(ledger, settings, part.door) as used:
            room = ExamRoom(
                used, client, settings, open_keys(settings), count, note_error, clock_of(ledger.engine)
            )
            sitting = _Sitting(ledger, run_id, jobs, room, waiting, candidates)
            most = min(part.max_sessions, max(1, -(-len(waiting) // count_sharers(ledger))))
            crew = sitting.gather(most, names=None if part.is_helping else waiting)
            if part.is_helping:
                await crew.work()
            else:
                await conduct(jobs, sitting.list_left, crew.work)
        failures = await sitting.list_failures()
    with ledger.read() as connection:
        counts = sittings.count_sessions(connection, run_id)
    report.failures = [failure for failure in failures if not failure.is_pending]
    report.pending_count = len(failures) - len(report.failures)
    report.closed_count = counts.get("closed", 0)
    if sum(counts.values()) == report.closed_count and not part.is_helping:
        close_run(ledger, run_id)
        report.is_run_closed = True
    return report


def _keep_to_plan(settings: Settings, model: RegisteredModel, sessions: Sequence[Session]) -> None:
    """Let a candidate give all answers of a run by one entry, corrected before the first.

    Raises RegistryError where it has given some by another entry of the registry.
    """
    changed = compare_entry(sessions[0].fingerprint, model)
    answered = sum(row.answered_count for row in sessions)
    if changed and answered:
        raise RegistryError(
            f"{settings.registry_path}: {model.name} has given {answered} answers of run {sessions[0].run_id} by another entry "
            f"({', '.join(changed)} changed since). One run is answered in one way: put the entry back and run the command again, or "
            "hold another run with --run NAME. Nothing was asked."
        )


@dataclass(frozen=True)
class _Candidate:
    """A candidate that sits here, and the lane of its sessions."""

    model: RegisteredModel
    lane: str


class _Sitting:
    """The sitting of a run in this process, as many sessions at once as its lanes have room for."""

    def __init__(
        self,
        ledger: Ledger,
        run_id: str,
        jobs: JobQueue,
        room: ExamRoom,
        rows: Mapping[str, Session],
        candidates: Mapping[str, _Candidate],
    ) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._jobs = jobs
        self._room = room
        self._rows = rows
        self._candidates = candidates
        self._pending: set[str] = set()
        self._stop = asyncio.Event()

    def gather(self, most: int, *, names: Collection[str] | None) -> Crew:
        """What sits so many sessions at once, of these or of all."""
        places = {
            one.lane: SESSIONS_PER_CALL * (one.model.max_concurrency or self._room.settings.call_concurrency)
            for one in self._candidates.values()
        }
        crew = Crew(self._jobs, self._sit, places, most=most, names=names)
        self._stop = crew.stop
        return crew

    def list_left(self) -> dict[str, str]:
        """The sessions that are not closed, each with its lane."""
        return {name: self._candidates[self._rows[name].model].lane for name in self._list_open()}

    async def list_failures(self) -> list[SittingFailure]:
        """The sessions that stay open, each with why, as whichever process found it."""
        left = set(self._list_open())
        return [
            SittingFailure(job.name, self._rows[job.name].model, job.problem, job.name in self._pending)
            for job in await self._jobs.list_left()
            if job.name in left and job.problem is not None
        ]

    async def _sit(self, job: Job) -> bool:
        """Sit a session; whether it is closed."""
        name, row = job.name, self._rows.get(job.name)
        if row is None and not self._is_open(name):
            # Whoever closed it was killed before its job ended.
            return True
        if row is None or self._stop.is_set():
            await asyncio.sleep(POLL_S if row is None else 0)
            return False
        was_lost = False

        def is_ours() -> bool:
            nonlocal was_lost
            was_lost = was_lost or not self._jobs.holds(job)
            return not was_lost

        try:
            await SessionSitter(self._room, self._candidates[row.model].model, row, is_ours).sit(self._stop)
        except BudgetError:
            raise
        except ProctorError as error:
            # A claim that could not be renewed is no try that failed: the session is sat again.
            if was_lost:
                return False
            if is_pending(error):
                self._pending.add(name)
                await self._jobs.give_back([name], str(error), tries=MOST_TRIES)
                return False
            raise
        if not self._is_open(name):
            return True
        if was_lost or self._stop.is_set():
            return False
        raise ProctorError("The sitting ended, and the session is not closed.")

    def _is_open(self, name: str) -> bool:
        with self._ledger.read() as connection:
            return bool(deadlines.list_unfinished(connection, target=name))

    def _list_open(self) -> list[str]:
        """Those of the sessions that are not closed now, in their order."""
        with self._ledger.read() as connection:
            left = set(deadlines.list_unfinished(connection, target=self._run_id))
        return [name for name in self._rows if name in left]


def _read_sessions(
    ledger: Ledger, run_id: str, models: Sequence[str] | None
) -> tuple[list[Session], frozenset[str]]:
    with ledger.read() as connection:
        run = sittings.require_run(connection, run_id)
        rows = sittings.list_sessions(connection, run_id=run_id)
    if models is not None:
        rows = [row for row in rows if row.model in set(models)]
    return rows, frozenset(run.plan["outside"])


@asynccontextmanager
async def _open_door(ledger: Ledger, settings: Settings, door: Door | None) -> AsyncIterator[Door]:
    if door is not None:
        yield door
    elif settings.exam_door == "http":
        # Where its database is away it says so, and is waited for as the database itself is.
        async with HttpDoor(settings.exam_url, patience_s=settings.store_wait_s or PATIENCE_S) as http:
            yield http
    else:
        yield make_protocol(ledger, settings, is_in_house=True)
