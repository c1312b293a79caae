"""Sit the sessions of a run with in-house candidates: ask, render, call, submit, until every session is closed.

Nothing is kept here that must survive: the ledger knows what was handed out, answered and paid. After `kill -9` the same
call goes on: the pending question is put again, its reply is replayed if it had been paid for, and the rest follows.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from schemas.errors import BudgetError, ExamError, ProctorError, StoreError, UsageError
from schemas.settings import Settings
from tasks.exam.closing import close_run
from tasks.exam.doors import DirectDoor, Door, HttpDoor
from tasks.exam.protocol.machine import make_protocol
from tasks.exam.protocol.tokens import derive_lease_secret, issue_token, read_secret
from tasks.exam.protocol.words import Answer, Lease, Put
from warehouse.ledger import exam
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from tasks.models.client import CallReply, CallRequest
    from tasks.models.registry import RegisteredModel, Registry

T = TypeVar("T")


class Client(Protocol):
    """What is asked of a model client (tasks.models.client.ModelClient)."""

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        """Call the model, or replay its reply; raises ProctorError when it cannot be had."""
        ...


@dataclass(frozen=True)
class SittingProgress:
    """An answer was acknowledged: where its session stands."""

    session_id: str
    model: str
    prompt_style: str
    answered_count: int
    question_count: int


@dataclass(frozen=True)
class SittingFailure:
    """A session that stays open, and why."""

    session_id: str
    model: str
    reason: str


@dataclass
class SittingReport:
    """What came of sitting a run.

    Attributes:
        run_id: the run.
        session_count: its sessions.
        closed_count: how many are closed now.
        outside_count: open sessions of candidates that sit with their own client.
        answer_count: answers acknowledged by this call.
        failures: sessions that stay open.
        is_run_closed: whether all sessions, and so the run, are closed.
    """

    run_id: str
    session_count: int = 0
    closed_count: int = 0
    outside_count: int = 0
    answer_count: int = 0
    failures: list[SittingFailure] = field(default_factory=list)
    is_run_closed: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do in house; otherwise the command exits 1, and the same command goes on."""
        return not self.failures


async def sit_sessions(
    ledger: Ledger,
    settings: Settings,
    registry: Registry,
    client: Client,
    run_id: str,
    *,
    door: Door | None = None,
    progress: Callable[[SittingProgress], None] | None = None,
    models: Sequence[str] | None = None,
    max_sessions: int = 256,
) -> SittingReport:
    """Sit all open sessions of a run, many at a time, and close the run when the last one is closed.

    A session whose model cannot be called stays open and is reported; the others go on. `door` defaults to the one that
    the settings name. `models` sits only the sessions of those. Limits per provider are the client's.

    Raises UsageError for an unknown run, StoreError when another process on this host sits the run, BudgetError when the
    budget stops it (what was answered is kept).
    """
    with _hold_run(settings, run_id):
        rows, outside = _read_sessions(ledger, run_id, models)
        report = SittingReport(run_id, session_count=len(rows))
        report.outside_count = sum(row["model"] in outside and row["status"] != "closed" for row in rows)
        waiting = [row for row in rows if row["status"] != "closed" and row["model"] not in outside]
        candidates = {row["model"]: registry.get(row["model"]) for row in waiting}
        async with _open_door(ledger, settings, door) as used:
            secret = read_secret(settings)
            seats = asyncio.Semaphore(max_sessions)
            stop = asyncio.Event()

            async def sit(row: Mapping[str, Any]) -> None:
                async with seats:
                    if stop.is_set():
                        return
                    sitter = _Sitter(
                        used, client, settings, secret, candidates[row["model"]], row, report, progress
                    )
                    try:
                        await sitter.sit(stop)
                    except BudgetError:
                        stop.set()
                        raise
                    except ProctorError as error:
                        report.failures.append(SittingFailure(row["session_id"], row["model"], str(error)))

            outcomes = await asyncio.gather(*(sit(row) for row in waiting), return_exceptions=True)
        with ledger.read() as connection:
            counts = exam.count_sessions(connection, run_id)
        report.closed_count = counts.get("closed", 0)
        if sum(counts.values()) == report.closed_count:
            close_run(ledger, run_id)
            report.is_run_closed = True
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return report


class _Sitter:
    """One candidate in one session."""

    def __init__(
        self,
        door: Door,
        client: Client,
        settings: Settings,
        secret: bytes,
        model: RegisteredModel,
        session: Mapping[str, Any],
        report: SittingReport,
        progress: Callable[[SittingProgress], None] | None,
    ) -> None:
        self._door = door
        self._client = client
        self._settings = settings
        self._secret = secret
        self._model = model
        self._session = session
        self._session_id: str = session["session_id"]
        self._report = report
        self._progress = progress
        self._token = ""
        self._lease: Lease | None = None
        self._opening = asyncio.Lock()

    async def sit(self, stop: asyncio.Event) -> None:
        """Open, or resume, and answer until the session is closed or `stop` is set."""
        try:
            await self._open(None)
        except ExamError as error:
            if error.code == "session_closed":
                return  # its last answer was acknowledged before the news arrived
            raise
        puts = await self._read_first_puts()
        if not puts:
            return
        # A question that cannot be answered now does not keep the others of the window from being answered.
        outcomes = await asyncio.gather(
            *(self._answer_all(put, stop) for put in puts), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _read_first_puts(self) -> list[Put]:
        """What is pending from before, filled up with new questions to the width of the window."""
        window = int(self._session["pending_window"])
        puts = await self._call(self._door.read_pending) if window > 1 else []
        known = {put.seq for put in puts}
        while len(puts) < window:
            put = await self._call(self._door.next_question)
            if put is None or put.seq in known:
                break
            puts.append(put)
            known.add(put.seq)
        return puts

    async def _answer_all(self, put: Put | None, stop: asyncio.Event) -> None:
        while put is not None and not stop.is_set():
            answer = await self._ask(put)
            put = await self._submit(put, answer)

    async def _ask(self, put: Put) -> Answer:
        """Call the candidate; the lease is renewed while it thinks."""
        from tasks.models.client import CallRequest
        from tasks.questions.prompt_styles import render_prompt

        messages, prompt_version = render_prompt(put.content, put.prompt_style)
        request = CallRequest(
            purpose="exam",
            messages=messages,
            run_id=self._session["run_id"],
            unit=self._session_id,
            repeat=self._session["repeat"],
            # Two sessions never share a reply, even where they put the same question in the same words.
            salt=f"{self._session_id}:{put.seq}",
        )
        call = asyncio.ensure_future(self._client.complete(self._model, request))
        try:
            while True:
                done, _ = await asyncio.wait({call}, timeout=self._settings.lease_s / 3)
                if done:
                    break
                await self._call(self._door.renew_lease)
        finally:
            call.cancel()
        reply = call.result()
        return Answer(
            response=reply.text,
            reasoning=reply.reasoning,
            answer_status=reply.status,
            finish_reason=reply.finish_reason,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=reply.cost_usd,
            latency_ms=reply.latency_ms,
            attempts=reply.attempts,
            error=reply.error,
            prompt_version=prompt_version,
            call_key=reply.call_key,
        )

    async def _submit(self, put: Put, answer: Answer) -> Put | None:
        try:
            receipt, following = await self._call(
                lambda token, lease: self._door.submit_and_next(token, lease, put.seq, answer)
            )
        except ExamError as error:
            if error.code != "already_answered":
                raise
            # It had been stored, and only the acknowledgement was lost.
            return await self._call(self._door.next_question)
        self._report.answer_count += 1
        if self._progress is not None:
            self._progress(
                SittingProgress(
                    self._session_id,
                    self._model.name,
                    put.prompt_style,
                    receipt.answered_count,
                    receipt.question_count,
                )
            )
        if following is None and not receipt.is_closed and int(self._session["pending_window"]) == 1:
            # A quota was reached, or the window is narrower at this door: the protocol says which.
            return await self._call(self._door.next_question)
        return following

    async def _call(self, operation: Callable[[str, Lease], Awaitable[T]]) -> T:
        """Call with token and lease; an expired one of either is renewed once, by the holder that this still is."""
        lease = self._lease
        assert lease is not None
        try:
            return await operation(self._token, lease)
        except ExamError as error:
            if error.code not in ("token_expired", "lease_expired"):
                raise
        await self._open(lease)
        return await operation(self._token, self._lease or lease)

    async def _open(self, stale: Lease | None) -> None:
        async with self._opening:
            if self._lease is not stale:
                return  # another pending question of this session has opened it meanwhile
            self._token = issue_token(
                self._secret,
                self._session["user_id"],
                self._session_id,
                ["sit"],
                self._settings.token_ttl_s,
            )
            self._lease = await self._door.open_session(
                self._token, self._session_id, derive_lease_secret(self._secret, self._session_id)
            )


def _read_sessions(
    ledger: Ledger, run_id: str, models: Sequence[str] | None
) -> tuple[list[Mapping[str, Any]], frozenset[str]]:
    with ledger.read() as connection:
        run = exam.read_run(connection, run_id)
        if run is None:
            raise UsageError(f"There is no run {run_id!r}. `proctor exam plan` makes one.")
        rows: list[Mapping[str, Any]] = [dict(row) for row in exam.list_sessions(connection, run_id=run_id)]
    if models is not None:
        rows = [row for row in rows if row["model"] in set(models)]
    return rows, frozenset(run["plan"]["outside"])


@contextmanager
def _hold_run(settings: Settings, run_id: str) -> Iterator[None]:
    """One sitter per run on this host: the derived lease secret alone would let two pass for one."""
    from filelock import FileLock, Timeout

    folder = settings.home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"sit-{hashlib.sha256(run_id.encode()).hexdigest()[:16]}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(
            f"Run {run_id} is being sat by another process on this host. Wait for it, or end it first."
        ) from None
    try:
        yield
    finally:
        lock.release()


@asynccontextmanager
async def _open_door(ledger: Ledger, settings: Settings, door: Door | None) -> AsyncIterator[Door]:
    if door is not None:
        yield door
    elif settings.exam_door == "http":
        async with HttpDoor(settings.exam_url) as http:
            yield http
    else:
        yield DirectDoor(make_protocol(ledger, settings, is_in_house=True))
