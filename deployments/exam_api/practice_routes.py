"""Practice over HTTP: the calls of a session under the id `practice`.

Each answer gets its result.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, FastAPI, Header, Request
from fastapi.concurrency import run_in_threadpool

from deployments.exam_api import bodies
from deployments.exam_api.caller import Exam, Token
from deployments.exam_api.session_routes import describe_lease, describe_question
from schemas.settings import Settings
from tasks.exam.practice import PRACTICE, PracticeRoom
from tasks.exam.protocol import Answer, Lease

_PATH = f"/sessions/{PRACTICE}"


async def _read_candidate(token: Token, protocol: Exam) -> str:
    """The candidate that calls: any of its tokens will do, whatever session it is for.

    The audit log has each call.
    """
    claims = await run_in_threadpool(protocol.check_token, token, "list_own_sessions", "practice")
    return claims.user_id


async def _read_room(request: Request) -> PracticeRoom:
    room: PracticeRoom = request.app.state.practice
    return room


async def _read_lease(
    x_lease_secret: Annotated[bodies.LeaseSecret, Header()],
    x_lease_generation: Annotated[int, Header(ge=1, le=2**31 - 1)],
) -> Lease:
    return Lease(PRACTICE, x_lease_generation, x_lease_secret, 0.0, "", 0, 0)


Candidate = Annotated[str, Depends(_read_candidate)]
Room = Annotated[PracticeRoom, Depends(_read_room)]
Held = Annotated[Lease, Depends(_read_lease)]


def add_practice_routes(app: FastAPI, settings: Settings) -> None:
    """Add the practice session.

    This is done before the routes of sessions are added, which would take its id for one of theirs.
    """
    app.state.practice = PracticeRoom(settings.lease_s, longest_response=settings.longest_response)

    @app.post(f"{_PATH}/open")
    async def open_practice(candidate: Candidate, room: Room, body: bodies.OpenRequest) -> bodies.LeaseBody:
        """Open a practice session with public questions, or resume it. It counts for nothing.

        A finished session begins again.
        """
        return describe_lease(room.open(candidate, body.lease_secret), settings.longest_response)

    @app.post(f"{_PATH}/renew")
    async def renew_practice(candidate: Candidate, room: Room, lease: Held) -> bodies.RenewedLease:
        """Keep the lease while an answer is being written."""
        renewed = asdict(room.renew(candidate, lease))
        del renewed["secret"]
        return bodies.RenewedLease(**renewed)

    @app.get(f"{_PATH}/next")
    async def next_practice_question(candidate: Candidate, room: Room, lease: Held) -> bodies.NextBody:
        """The next public question, or the pending one again; null when all are answered."""
        return bodies.NextBody(question=describe_question(room.ask(candidate, lease)))

    @app.post(f"{_PATH}/answers")
    async def submit_practice_answer(
        candidate: Candidate, room: Room, lease: Held, body: bodies.AnswerRequest
    ) -> bodies.PracticeAnswerBody:
        """Answer a public question; `result` says how, and what the answer is."""
        answer = Answer(response=body.response, answer_status=body.answer_status)
        receipt, put, result = room.answer(candidate, lease, body.seq, answer, wants_next=body.wants_next)
        return bodies.PracticeAnswerBody(
            receipt=bodies.ReceiptBody(**asdict(receipt)),
            question=describe_question(put),
            result=bodies.PracticeResult(**asdict(result)),
        )
