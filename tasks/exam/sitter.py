"""One candidate in one session: ask, render, call, submit, until the session is closed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from schemas.errors import BudgetError, ExamError, ProctorError
from schemas.ledger.exam import Session
from schemas.settings import Settings
from tasks.exam.doors import Door
from tasks.exam.protocol import Answer, Lease, Put, Receipt
from tasks.exam.protocol.tokens import KeyFile, derive_lease_secret, issue_token

if TYPE_CHECKING:
    from tasks.models import CallReply, CallRequest
    from tasks.models.registry import RegisteredModel
    from warehouse.ledger.money.calls import FinishedCall

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


_MOST_RENEWALS: Final = 5
# A holder with the keys at hand signs itself a new token, whatever became of the former one.
_RENEWABLE: Final = frozenset({"token_expired", "token_ended", "token_invalid", "lease_expired"})


def is_pending(error: BaseException) -> bool:
    """Whether a call only waits for its provider's batch."""
    from tasks.models import CallPending

    return isinstance(error, CallPending)


@dataclass(frozen=True)
class ExamRoom:
    """What all sessions of a run have in common that are sat in one process.

    Attributes:
        progress: told of every answer that was acknowledged.
        note_error: told of a call that failed for good: session, position, error class.
        clock: the ledger's, which the protocol compares tokens with.
    """

    door: Door
    client: Client
    settings: Settings
    keys: KeyFile
    progress: Callable[[SittingProgress], None]
    note_error: Callable[[str, int, str], Awaitable[None]] | None = None
    clock: Callable[[], float] = time.time


class SessionSitter:
    """One candidate in one session."""

    def __init__(
        self,
        room: ExamRoom,
        model: RegisteredModel,
        session: Session,
        is_ours: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_ours` says whether the session is still this process's; else it is left to its taker."""
        self._door = room.door
        self._client = room.client
        self._settings = room.settings
        self._keys = room.keys
        self._model = model
        self._session = session
        self._session_id = session.session_id
        # Once: were the keys deleted meanwhile, this process is still the holder of its lease.
        self._lease_secret = derive_lease_secret(room.keys.read(), self._session_id)
        self._progress = room.progress
        self._note_error = room.note_error
        self._is_ours = is_ours
        self._clock = room.clock
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
        faults = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if faults:
            # What failed is told before what only waits.
            raise next((fault for fault in faults if not is_pending(fault)), faults[0])

    async def _read_first_puts(self) -> list[Put]:
        """What is pending from before, filled up with new questions to the width of the window."""
        window = self._session.pending_window
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
        while put is not None and not stop.is_set() and self._is_ours():
            answer, call = await self._ask(put)
            put = await self._submit(put, answer, call)

    async def _ask(self, put: Put) -> tuple[Answer, FinishedCall | None]:
        """Call the candidate; the lease is renewed while it thinks.

        Returns its answer, and the call where that is to be kept with the answer.
        """
        from tasks.models import CallPending, CallRequest, load_pictures
        from tasks.questions.forms import render_prompt

        sees = self._model.sees_pictures
        messages, prompt_version = render_prompt(put.content, put.prompt_style, sees_pictures=sees)
        request = CallRequest(
            purpose="exam",
            messages=messages,
            run_id=self._session.run_id,
            unit=self._session_id,
            repeat=self._session.repeat,
            # Two sessions never share a reply, even where they put the same question in the same words.
            salt=f"{self._session_id}:{put.seq}",
            pictures=load_pictures(self._settings.archive_dir, put.content) if sees else (),
            is_kept_by_caller=self._door.keeps_calls,
        )
        try:
            # From the reply to its answer nothing else has its turn: a reply that is not kept yet is never left behind.
            with _Repeating(self._settings.lease_s / 3, self._renew):
                reply = await self._client.complete(self._model, request)
        except (BudgetError, CallPending):
            raise
        except ProctorError as error:
            # Without an answer when the session is closed, the question is then known to have failed, not to be unanswered.
            if self._note_error is not None:
                word = str(getattr(error, "error", type(error).__name__))
                await self._note_error(self._session_id, put.seq, word)
            raise
        answer = Answer(
            response=reply.text,
            reasoning=reply.reasoning,
            answer_status=reply.status,
            finish_reason=reply.finish_reason,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=reply.cost_usd,
            latency_ms=reply.latency_ms,
            attempts=reply.attempts,
            prompt_version=prompt_version,
            call_key=reply.call_key,
        )
        return answer, reply.unkept

    async def _renew(self) -> None:
        # A call that is being paid for is not broken off for it: what is refused for good, the answer is refused for too.
        with suppress(ProctorError):
            await self._call(self._door.renew_lease)

    async def _submit(self, put: Put, answer: Answer, call: FinishedCall | None) -> Put | None:
        unkept = [call]

        def submit(token: str, lease: Lease) -> Awaitable[tuple[Receipt, Put | None]]:
            # Where the answer is refused, the call is kept all the same: it is given once.
            return self._door.submit_and_next(token, lease, put.seq, answer, unkept.pop() if unkept else None)

        try:
            receipt, following = await self._call(submit)
        except ExamError as error:
            if error.code != "already_answered":
                raise
            # It had been stored, and only the acknowledgement was lost.
            return await self._call(self._door.next_question)
        self._progress(
            SittingProgress(
                self._session_id,
                self._model.name,
                put.prompt_style,
                receipt.answered_count,
                receipt.question_count,
            )
        )
        if following is None and not receipt.is_closed and self._session.pending_window == 1:
            # A quota was reached, or the window is narrower at this door: the protocol says which.
            return await self._call(self._door.next_question)
        return following

    async def _call(self, operation: Callable[[str, Lease], Awaitable[T]]) -> T:
        """Call with token and lease.

        If either has expired, it is renewed by this sitter, which is still the holder; a few times, since on a busy machine a short
        one may expire again before it is used.
        """
        for _ in range(_MOST_RENEWALS):
            lease = self._lease
            assert lease is not None
            try:
                return await operation(self._token, lease)
            except ExamError as error:
                if error.code not in _RENEWABLE or not self._is_ours():
                    raise
            await self._open(lease)
        assert self._lease is not None
        return await operation(self._token, self._lease)

    async def _open(self, stale: Lease | None) -> None:
        async with self._opening:
            if self._lease is not stale:
                return  # another pending question of this session has opened it meanwhile
            self._token = issue_token(
                self._keys,
                self._session.user_id,
                self._session_id,
                ["sit"],
                self._settings.token_ttl_s,
                now=self._clock(),
            ).text
            self._lease = await self._door.open_session(self._token, self._session_id, self._lease_secret)


class _Repeating:
    """A block during which `work` is done every so many seconds.

    What is under way at its end ends by itself.
    """

    def __init__(self, every_s: float, work: Callable[[], Awaitable[None]]) -> None:
        self._every_s = every_s
        self._work = work
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Future[None] | None = None

    def __enter__(self) -> None:
        self._wait()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._every_s, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._work())
        self._task.add_done_callback(self._go_on)

    def _go_on(self, _: asyncio.Future[None]) -> None:
        if self._timer is not None:
            self._wait()
