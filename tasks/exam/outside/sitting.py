"""A candidate's own client: sit one session over HTTP, whatever dies or stalls in between.

The lease is renewed while the model thinks. An answer is on disk before it is sent, so that after a kill of this process it is
sent, not asked of the model again; after a kill of the server the same call is sent until the server is back.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from schemas.errors import ExamError, ProctorError
from schemas.settings import LONGEST_RESPONSE
from tasks.exam.http_calls import DoorError, HttpCaller
from tasks.exam.outside.answering import Answerer
from tasks.exam.outside.credentials import Credentials, sign_answer
from tasks.exam.outside.state import SittingState
from tasks.exam.practice import PRACTICE
from tasks.exam.protocol import Answer, Lease

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_NEW_TOKEN: Final = frozenset({"token_expired", "token_ended", "token_invalid", "token_missing"})
_PASSED: Final = frozenset({"already_answered", "too_late"})
_ENDED: Final = frozenset({"session_closed", "deadline_passed", "quota_reached"})
# Where a server does not say how long a lease lasts.
_USUAL_LEASE_S: Final = 60.0
# Answers over which the rate is taken.
_RATE_SPAN: Final = 50


@dataclass(frozen=True)
class OutsideProgress:
    """Where a sitting stands.

    Attributes:
        done: questions that had their turn.
        per_minute: answers a minute over the last fifty; null before the second.
        left_s: seconds left at that pace; null where the pace is not known.
        result: of a practice question, how it was answered; null in an exam.
    """

    session_id: str
    done: int
    total: int
    per_minute: float | None
    left_s: float | None
    result: dict[str, Any] | None = None


@dataclass
class OutsideReport:
    """What came of a sitting.

    Attributes:
        answered_count: how many are answered in all, as the server told last.
        replayed_count: how many of these had been kept by an earlier call, without asking the model again.
        late_count: answers that came after the question's time.
        end_reason: why the server takes nothing more, where it ended otherwise.
    """

    session_id: str
    question_count: int = 0
    answered_count: int = 0
    sent_count: int = 0
    replayed_count: int = 0
    late_count: int = 0
    renewed_count: int = 0
    is_finished: bool = False
    end_reason: str = ""


class OutsideSitter:
    """One session, sat over HTTP.

    Args:
        credentials: the token, and the way to a new one.
        state: what is kept of the sitting.
        answer: where answers come from.
        key: signs every answer; null where none is enrolled.
        progress: told after each answer.
    """

    def __init__(
        self,
        caller: HttpCaller,
        credentials: Credentials,
        session_id: str,
        state: SittingState,
        answer: Answerer,
        *,
        key: Ed25519PrivateKey | None = None,
        progress: Callable[[OutsideProgress], None] = lambda _: None,
    ) -> None:
        self._caller = caller
        self._credentials = credentials
        self._path = f"/sessions/{quote(session_id, safe='')}"
        self._session_id = session_id
        self._state = state
        self._answer = answer
        self._key = key
        self._progress = progress
        self._lease: Lease | None = None
        self._opening = asyncio.Lock()
        self._times: list[float] = []
        self._report = OutsideReport(session_id)
        self._longest_response = LONGEST_RESPONSE

    async def sit(self) -> OutsideReport:
        """Sit the session to its end.

        Raises NoAnswer when the model gives none, ExamError for what the server refuses for good, DoorError when it does not
        answer; the same call continues in each case.
        """
        try:
            await self._open(None)
            async with self._renewing():
                question = await self._ask_next()
                while question is not None:
                    self._report.question_count = question["question_count"]
                    question = await self._answer_one(question)
            self._report.is_finished = True
        except ExamError as error:
            if error.code not in _ENDED:
                raise
            self._report.is_finished = error.code == "session_closed"
            self._report.end_reason = str(error)
        return self._report

    async def _answer_one(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """Answer a question; returns the next one."""
        seq = int(question["seq"])
        # A practice begins again, and is there to try another model or program: none answers for the one before.
        kept = None if self._session_id == PRACTICE else self._state.find_answer(seq)
        given = await self._answer(await self._fetch_pictures(question)) if kept is None else kept
        # Cut as the server would cut it: what is signed is the response as it is kept.
        answer = Answer(
            **{name: value for name, value in given.items() if name != "seq" and value is not None}
        ).fitted(self._longest_response)
        found = {name: value for name, value in asdict(answer).items() if value is not None}
        if kept is None:
            self._state.keep_answer(seq, found)
        body = {"seq": seq, **found, "wants_next": True}
        if self._key is not None:
            body["signature"] = sign_answer(self._key, self._session_id, seq, answer.response)
        try:
            reply = await self._call("POST", "/answers", body)
        except ExamError as error:
            if error.code not in _PASSED:
                raise
            # Stored already, and only the reply was lost; or its time is over. The next question comes in either case.
            self._report.late_count += error.code == "too_late"
            return await self._ask_next()
        self._report.sent_count += 1
        self._report.replayed_count += kept is not None
        self._note(reply)
        if reply["question"] is None and not reply["receipt"].get("is_closed", False):
            # A quota was reached: the server says which.
            return await self._ask_next()
        following: dict[str, Any] | None = reply["question"]
        return following

    async def _fetch_pictures(self, question: dict[str, Any]) -> dict[str, Any]:
        """The question with its pictures as base64; DoorError for one that its hash does not name."""
        named = question["content"].get("pictures")
        if not named:
            return question
        pictures = []
        for picture in named:
            path = f"/questions/{question['seq']}/pictures/{picture['number']}"
            data: bytes = await self._call("GET", path, as_bytes=True)
            if hashlib.sha256(data).hexdigest() != picture["sha256"]:
                raise DoorError(
                    f"Picture {picture['number']} of question {question['seq']} is not the one that the question names: it was "
                    "changed on its way. Run this command again; if it stays so, tell the examiner."
                )
            pictures.append({"number": picture["number"], "data": base64.b64encode(data).decode()})
        return {**question, "pictures": pictures}

    async def _ask_next(self) -> dict[str, Any] | None:
        question: dict[str, Any] | None = (await self._call("GET", "/next"))["question"]
        return question

    def _note(self, reply: dict[str, Any]) -> None:
        receipt = reply["receipt"]
        self._state.keep_receipt(receipt)
        self._report.answered_count = receipt.get("answered_count", self._report.answered_count + 1)
        self._times = [*self._times[-_RATE_SPAN:], time.monotonic()]
        span = self._times[-1] - self._times[0]
        rate = (len(self._times) - 1) / span if span > 0 else None
        left = self._report.question_count - self._report.answered_count
        self._progress(
            OutsideProgress(
                self._session_id,
                self._report.answered_count,
                self._report.question_count,
                None if rate is None else rate * 60,
                None if rate is None else left / rate,
                reply.get("result"),
            )
        )

    async def _call(
        self, method: str, path: str, json: dict[str, Any] | None = None, *, as_bytes: bool = False
    ) -> Any:
        """Call as the lease's holder, renewing a token and opening a lease again that have ended."""
        # Token and lease may both have ended while the machine slept.
        for _ in range(3):
            lease, token = self._lease, self._credentials.token
            try:
                return await self._caller.call(
                    method, self._path + path, token, lease, json, as_bytes=as_bytes
                )
            except ExamError as error:
                if error.code in _NEW_TOKEN and await self._renew_token(token):
                    continue
                if error.code != "lease_expired":
                    raise
            await self._open(lease)
        return await self._caller.call(
            method, self._path + path, self._credentials.token, self._lease, json, as_bytes=as_bytes
        )

    async def _renew_token(self, ended: str) -> bool:
        async with self._opening:
            if self._credentials.token != ended:
                return True  # renewed meanwhile
            return await self._credentials.renew(self._caller, self._session_id)

    async def _open(self, stale: Lease | None) -> None:
        async with self._opening:
            if self._lease is not stale:
                return  # opened again meanwhile
            if not self._credentials.token:
                await self._credentials.renew(self._caller, self._session_id)
            body = {"lease_secret": self._state.lease_secret}
            path = f"{self._path}/open"
            try:
                reply = await self._caller.call("POST", path, self._credentials.token, json=body)
            except ExamError as error:
                # A token that names no session must be asked for again with one.
                is_other = error.code in _NEW_TOKEN | {"session_invalid", "permission_missing"}
                if not is_other or not await self._credentials.renew(self._caller, self._session_id):
                    raise
                reply = await self._caller.call("POST", path, self._credentials.token, json=body)
            self._lease = Lease.from_body({**reply, "session_id": self._session_id}, reply["secret"])
            self._longest_response = int(reply.get("longest_response", LONGEST_RESPONSE))
            self._report.question_count = reply["question_count"]
            self._report.answered_count = reply["answered_count"]

    @asynccontextmanager
    async def _renewing(self) -> AsyncIterator[None]:
        """Keep the lease at every third of its life, until the block ends."""
        task = asyncio.create_task(self._renew_for_ever())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _renew_for_ever(self) -> None:
        while True:
            lease = self._lease
            assert lease is not None
            await asyncio.sleep((lease.lease_s or _USUAL_LEASE_S) / 3)
            # What is refused for good, the next call for a question or with an answer is told as well.
            with contextlib.suppress(ProctorError):
                reply = await self._call("POST", "/renew")
                self._report.renewed_count += 1
                async with self._opening:
                    if self._lease is lease:
                        self._lease = replace(lease, expires_at=reply["expires_at"])
