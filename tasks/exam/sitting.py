"""Sit the sessions of a run with in-house candidates until every session is closed.

Many sessions are sat at a time.

Nothing is kept here that must survive: the ledger knows what was handed out, answered and paid. After `kill -9` the same
call continues: the pending question is put again, its reply is replayed if it had been paid for, and the rest follows.
Several processes, on one host or many, may sit one run at once: each session is claimed by one of them at a time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.errors import BudgetError, ProctorError, UsageError
from schemas.ledger.exam import Session
from schemas.settings import Settings
from tasks.exam.closed import close_run
from tasks.exam.doors import Door, HttpDoor
from tasks.exam.http_calls import PATIENCE_S
from tasks.exam.protocol import make_protocol
from tasks.exam.protocol.tokens import open_keys
from tasks.exam.sitter import Client, ExamRoom, SessionSitter, SittingProgress, is_pending
from tasks.running.claiming import POLL_S, SharedWork
from warehouse.ledger.engine.leases.clock import clock_of
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import deadlines, sittings

if TYPE_CHECKING:
    from tasks.models.registry import RegisteredModel, Registry


# The client tries each call several times; a session in which one failed for good is sat once more after all others.
ROUNDS = 2
# Sessions under way for each call that its provider may have in flight: more would only keep them from other processes.
SESSIONS_PER_CALL = 2


@dataclass(frozen=True)
class SittingFailure:
    """A session that stays open, and why.

    `is_pending` is set where nothing failed, and calls of the session are in a provider's batch.
    """

    session_id: str
    model: str
    reason: str
    is_pending: bool = False


@dataclass
class SittingReport:
    """What came of sitting a run.

    Attributes:
        run_id: the run.
        session_count: its sessions.
        closed_count: how many are closed now.
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
        """Whether nothing is left to do in house.

        Otherwise the command exits 1, and the same command continues.
        """
        return not self.failures


@dataclass(frozen=True)
class SittingPart:
    """The part of a run that a process sits, and how it comes to it.

    Attributes:
        door: the way to the protocol; null for the one that the settings name.
        models: only the sessions of these; null for all.
        max_sessions: sessions under way at once, at most.
        sharers: processes that sit the run: each has at most its share of the sessions under way, so that something is left
            for those that begin later.
    """

    door: Door | None = None
    models: Sequence[str] | None = None
    max_sessions: int = 256
    sharers: int = 1


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

    The run is closed when the last session is closed.

    Sessions that another process sits are left to it, and waited for: they are sat here when that process ends without having
    closed them. A session whose model cannot be called is sat again after the others; if it still cannot, it stays open and is
    reported, and what failed is noted in the ledger. Limits per provider are
    the client's. `part` says which sessions are sat here, and by which door.

    Raises UsageError for an unknown run, BudgetError when the budget stops it (what was answered is kept).
    """
    part = part or SittingPart()
    rows, outside = _read_sessions(ledger, run_id, part.models)
    report = SittingReport(run_id, session_count=len(rows))
    report.outside_count = sum(row.model in outside and row.status != "closed" for row in rows)
    waiting = [row for row in rows if row.status != "closed" and row.model not in outside]
    candidates = {row.model: registry.get(row.model) for row in waiting}
    async with _open_door(ledger, settings, part.door) as used, SharedWork(ledger, "sit") as claims:
        room = _Room(settings, candidates, min(part.max_sessions, max(1, -(-len(waiting) // part.sharers))))
        keys = open_keys(settings)
        stop = asyncio.Event()

        def count(answered: SittingProgress) -> None:
            report.answer_count += 1
            if progress is not None:
                progress(answered)

        async def note_error(session_id: str, seq: int, error: str) -> None:
            await ledger.writer.run_async(
                lambda connection: deadlines.write_call_error(connection, session_id, seq, error)
            )

        shared = ExamRoom(used, client, settings, keys, count, note_error, clock_of(ledger.engine))

        async def sit(row: Session) -> SittingFailure | bool:
            """Sit a session.

            Returns False when another process sits it or may have taken it over meanwhile, or when all sitting is
            being stopped.
            """
            name = row.session_id
            model = candidates[row.model]
            async with room.by_limits[_name_limits(model)], room.overall:
                if stop.is_set() or not await claims.take(name):
                    return False
                was_lost = False

                def is_ours() -> bool:
                    nonlocal was_lost
                    was_lost = was_lost or not claims.holds(name)
                    return not was_lost

                sitter = SessionSitter(shared, model, row, is_ours)
                try:
                    await sitter.sit(stop)
                except BudgetError:
                    stop.set()
                    raise
                except ProctorError as error:
                    if was_lost:
                        return False
                    return SittingFailure(name, row.model, str(error), is_pending(error))
                finally:
                    await claims.release(name)
            # A claim that could not be renewed is no try that failed: the session is sat again.
            return not was_lost

        faults, failures = await _sit_in_rounds(ledger, run_id, waiting, sit, claims, stop)
    with ledger.read() as connection:
        counts = sittings.count_sessions(connection, run_id)
    left = {row.session_id for row in _list_open(ledger, run_id, rows)}
    stayed = [failure for failure in failures if failure.session_id in left]
    report.failures = [failure for failure in stayed if not failure.is_pending]
    report.pending_count = len(stayed) - len(report.failures)
    report.closed_count = counts.get("closed", 0)
    if sum(counts.values()) == report.closed_count:
        close_run(ledger, run_id)
        report.is_run_closed = True
    for fault in faults:
        raise fault
    return report


async def _sit_in_rounds(
    ledger: Ledger,
    run_id: str,
    waiting: Sequence[Session],
    sit: Callable[[Session], Awaitable[SittingFailure | bool]],
    claims: SharedWork,
    stop: asyncio.Event,
) -> tuple[list[BaseException], list[SittingFailure]]:
    """Sit until every session is closed, here or by others, or was tried in each round.

    Returns what was raised, and which sessions failed.
    """
    faults: list[BaseException] = []
    failures: dict[str, SittingFailure] = {}
    rounds: Counter[str] = Counter()
    while waiting and not stop.is_set():
        free = await claims.find_free([row.session_id for row in waiting])
        if not free:
            await asyncio.sleep(POLL_S)
        rows = [row for row in waiting if row.session_id in free]
        outcomes = await asyncio.gather(*(sit(row) for row in rows), return_exceptions=True)
        for row, outcome in zip(rows, outcomes, strict=True):
            name = row.session_id
            if isinstance(outcome, BaseException):
                faults.append(outcome)
                rounds[name] = ROUNDS
            elif isinstance(outcome, SittingFailure):
                failures[name] = outcome
                rounds[name] += ROUNDS if outcome.is_pending else 1
            elif outcome:
                failures.pop(name, None)
                rounds[name] += 1
        waiting = [row for row in _list_open(ledger, run_id, waiting) if rounds[row.session_id] < ROUNDS]
    return faults, list(failures.values())


def _list_open(ledger: Ledger, run_id: str, rows: Sequence[Session]) -> list[Session]:
    """Those of the sessions that are not closed now."""
    with ledger.read() as connection:
        left = set(deadlines.list_unfinished(connection, target=run_id))
    return [row for row in rows if row.session_id in left]


class _Room:
    """How many sessions are under way at once.

    The number is limited over all, and for each provider (or model with limits of its own).
    """

    def __init__(
        self, settings: Settings, candidates: Mapping[str, RegisteredModel], max_sessions: int
    ) -> None:
        self.overall = asyncio.Semaphore(max_sessions)
        self.by_limits = {
            _name_limits(model): asyncio.Semaphore(
                SESSIONS_PER_CALL * (model.max_concurrency or settings.call_concurrency)
            )
            for model in candidates.values()
        }


def _name_limits(model: RegisteredModel) -> tuple[str, str]:
    return model.provider, model.name if model.has_own_limits else ""


def _read_sessions(
    ledger: Ledger, run_id: str, models: Sequence[str] | None
) -> tuple[list[Session], frozenset[str]]:
    with ledger.read() as connection:
        run = sittings.read_run(connection, run_id)
        if run is None:
            raise UsageError(f"There is no run {run_id!r}. `proctor evaluate` makes one.")
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
