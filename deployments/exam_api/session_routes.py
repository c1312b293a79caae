"""Sitting an exam: sessions, questions, answers; and practice, under the id `practice`.

In practice each answer gets its result.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from deployments.exam_api import bodies
from deployments.exam_api.caller import MOST_PER_PAGE, Exam, Held, Limit, Token, cut_page
from deployments.exam_api.refusals import note_refusal
from schemas.errors import ExamError, StoreError
from schemas.settings import Settings
from tasks.exam import describe_session, describe_task
from tasks.exam.practice import PRACTICE, PracticeRoom
from tasks.exam.protocol import Answer, Lease, Put
from tasks.questions.pictures import name_media_type
from tasks.questions.pictures import read_picture as load_bytes

_PATH = f"/sessions/{PRACTICE}"


def add_session_routes(app: FastAPI, settings: Settings) -> None:
    """Add what candidates and those who watch them may ask; `settings` say where pictures lie."""

    # The schema takes `ErrorBody` from this one response.
    @app.get(
        "/health",
        responses={503: {"model": bodies.ErrorBody, "description": "The ledger cannot be written now."}},
    )
    async def check_health() -> bodies.Health:
        """Whether the server answers."""
        return bodies.Health()

    @app.get("/sessions")
    async def list_sessions(
        token: Token,
        protocol: Exam,
        run_id: Annotated[bodies.Name | None, Query()] = None,
        after: Annotated[bodies.SessionId | None, Query()] = None,
        limit: Limit = MOST_PER_PAGE,
    ) -> bodies.SessionList:
        """One's own sessions; for examiners all, or those of a run. A page at a time."""
        found = await protocol.list_sessions(token, run_id, after=after, limit=limit + 1)
        page, next_after = cut_page(found, limit, lambda line: line.session_id)
        return bodies.SessionList(
            sessions=[bodies.SessionLine(**asdict(line)) for line in page], next_after=next_after
        )

    @app.get("/sessions/{session_id}")
    async def read_status(session_id: bodies.SessionId, token: Token, protocol: Exam) -> bodies.StatusBody:
        """Where a session stands."""
        return bodies.StatusBody(**asdict(await protocol.read_status(token, session_id)))

    @app.post("/sessions/{session_id}/open")
    async def open_session(
        session_id: bodies.SessionId, token: Token, protocol: Exam, body: bodies.OpenRequest
    ) -> bodies.LeaseBody:
        """Open a session, or resume it with its lease secret.

        The reply tells how the session is sat and graded.
        """
        lease = await protocol.open_session(token, session_id, body.lease_secret)
        return describe_lease(lease, protocol.longest_response)

    @app.post("/sessions/{session_id}/renew")
    async def renew_lease(lease: Held, token: Token, protocol: Exam) -> bodies.RenewedLease:
        """Keep the lease while an answer is being written."""
        return describe_renewal(await protocol.renew_lease(token, lease))

    @app.get("/sessions/{session_id}/next")
    async def next_question(lease: Held, token: Token, protocol: Exam) -> bodies.NextBody:
        """The next question, or the pending one again; null when the session is finished."""
        return bodies.NextBody(question=describe_question(await protocol.next_question(token, lease)))

    @app.get(
        "/sessions/{session_id}/questions/{seq}/pictures/{number}",
        response_class=Response,
        responses={200: {"content": {"image/png": {}, "image/jpeg": {}}}},
    )
    async def read_picture(
        request: Request,
        lease: Held,
        token: Token,
        protocol: Exam,
        seq: bodies.PlaceNumber,
        number: bodies.PlaceNumber,
    ) -> Response:
        """A picture of the question that is to be answered now; its SHA-256 stands in the question.

        Only who holds the lease gets it, and only until the question is answered.
        """
        sha256 = await protocol.find_picture(token, lease, seq, number)
        try:
            data = await run_in_threadpool(load_bytes, settings.exam_pictures_dir, sha256)
        except StoreError:
            await note_refusal(request, "pending", 409, "picture_lost", lease.session_id)
            raise ExamError(
                409,
                "picture_lost",
                "The picture is not there, or is not what the question's hash says. Tell the examiner, who restores it.",
            ) from None
        return Response(data, media_type=name_media_type(data), headers={"Cache-Control": "no-store"})

    @app.post("/sessions/{session_id}/answers")
    async def submit_answer(
        lease: Held, token: Token, protocol: Exam, body: bodies.AnswerRequest
    ) -> bodies.AnswerBody:
        """Answer a question; with `wants_next` the next one comes with the receipt."""
        answer = Answer(**body.model_dump(exclude={"seq", "wants_next"}))
        put = None
        if body.wants_next:
            receipt, put = await protocol.submit_and_next(token, lease, body.seq, answer)
        else:
            receipt = await protocol.submit_answer(token, lease, body.seq, answer)
        return bodies.AnswerBody(
            receipt=bodies.ReceiptBody(**asdict(receipt)), question=describe_question(put)
        )

    @app.post("/sessions/{session_id}/release")
    async def release_session(
        session_id: bodies.SessionId, token: Token, protocol: Exam
    ) -> bodies.StatusBody:
        """An examiner ends a session's lease."""
        return bodies.StatusBody(**asdict(await protocol.release_session(token, session_id)))


def describe_lease(lease: Lease, longest_response: int) -> bodies.LeaseBody:
    """A lease as it is sent, with the guide of its session."""
    guide = bodies.GuideBody.model_validate(describe_session(lease.prompt_style))
    return bodies.LeaseBody(**asdict(lease), longest_response=longest_response, guide=guide)


def describe_renewal(lease: Lease) -> bodies.RenewedLease:
    """A lease that continues as it is sent, without its secret."""
    return bodies.RenewedLease(**{name: getattr(lease, name) for name in bodies.RenewedLease.model_fields})


def describe_question(put: Put | None) -> bodies.QuestionBody | None:
    """A question as it is sent, with its task; null for none."""
    if put is None:
        return None
    return bodies.QuestionBody(**put.as_body(), task=bodies.TaskBody(**describe_task(put.content)))


async def _read_candidate(token: Token, protocol: Exam) -> str:
    """The candidate that calls: any of its tokens will do, whatever session it is for.

    The audit log has each call.
    """
    claims = await run_in_threadpool(protocol.check_token, token, "list_own_sessions", "practice")
    return claims.user_id


async def _read_room(request: Request) -> PracticeRoom:
    room: PracticeRoom = request.app.state.practice
    return room


async def _read_practice_lease(
    x_lease_secret: Annotated[bodies.LeaseSecret, Header()],
    x_lease_generation: Annotated[int, Header(ge=1, le=2**31 - 1)],
) -> Lease:
    return Lease(PRACTICE, x_lease_generation, x_lease_secret, 0.0, "", 0, 0)


Candidate = Annotated[str, Depends(_read_candidate)]
Room = Annotated[PracticeRoom, Depends(_read_room)]
HeldPractice = Annotated[Lease, Depends(_read_practice_lease)]


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
    async def renew_practice(candidate: Candidate, room: Room, lease: HeldPractice) -> bodies.RenewedLease:
        """Keep the lease while an answer is being written."""
        return describe_renewal(room.renew(candidate, lease))

    @app.get(f"{_PATH}/next")
    async def next_practice_question(
        candidate: Candidate, room: Room, lease: HeldPractice
    ) -> bodies.NextBody:
        """The next public question, or the pending one again; null when all are answered."""
        return bodies.NextBody(question=describe_question(room.ask(candidate, lease)))

    @app.post(f"{_PATH}/answers")
    async def submit_practice_answer(
        candidate: Candidate, room: Room, lease: HeldPractice, body: bodies.AnswerRequest
    ) -> bodies.PracticeAnswerBody:
        """Answer a public question; `result` says how, and what the answer is."""
        answer = Answer(response=body.response, answer_status=body.answer_status)
        receipt, put, result = room.answer(candidate, lease, body.seq, answer, wants_next=body.wants_next)
        return bodies.PracticeAnswerBody(
            receipt=bodies.ReceiptBody(**asdict(receipt)),
            question=describe_question(put),
            result=bodies.PracticeResult(**asdict(result)),
        )
