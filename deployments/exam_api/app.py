"""The exam API: the HTTP shell of the exam protocol (tasks.exam.protocol.machine), nothing more.

Tokens come in the Authorization header, lease secrets in X-Lease-Secret; neither is ever part of an address. The process
knows the ledger only: it never opens the lake, so that no answer, explanation or key is within its reach.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from deployments.exam_api import bodies
from deployments.exam_api.guard import Guard
from deployments.exam_api.passwords import FailureCounter, check_password, hash_password
from schemas.errors import ExamError, UsageError
from schemas.settings import Settings
from tasks.exam.protocol.machine import ExamProtocol, make_protocol
from tasks.exam.protocol.tokens import PERMISSIONS, issue_token, read_secret
from tasks.exam.protocol.words import Answer, Lease, Put
from warehouse.ledger import exam, users
from warehouse.ledger.engine import Ledger, open_ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")

# Argon2 takes memory and tens of milliseconds by design; more at once would starve the exam itself.
_PASSWORDS_AT_ONCE = 2

_bearer = HTTPBearer(auto_error=False, bearerFormat="JWT", description="A token of the exam.")
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": bodies.ErrorBody, "description": about}
    for status, about in (
        (400, "The request is not HTTP or JSON as the server reads it."),
        (401, "The token is missing, wrongly signed, or expired."),
        (403, "The user, its role, the session or the lease does not allow it."),
        (404, "There is no such thing."),
        (409, "The state does not allow it: answered already, not handed out, taken."),
        (413, "The request is too large."),
        (422, "A field is missing or malformed; the message names it."),
        (429, "Too many failures; wait."),
        (503, "The ledger cannot be written now."),
    )
}


def create_app(settings: Settings, *, ledger: Ledger | None = None) -> FastAPI:
    """The application. It opens the settings' ledger for its life, unless one is given."""

    @asynccontextmanager
    async def hold_ledger(app: FastAPI) -> AsyncIterator[None]:
        opened = await run_in_threadpool(open_ledger, settings.ledger_address) if ledger is None else ledger
        app.state.ledger = opened
        app.state.secret = read_secret(settings)
        app.state.protocol = make_protocol(opened, settings, is_in_house=False)
        app.state.passwords = asyncio.Semaphore(_PASSWORDS_AT_ONCE)
        app.state.failures = FailureCounter()
        try:
            yield
        finally:
            if ledger is None:
                opened.close()

    app = FastAPI(
        title="Proctor exam API",
        version="1",
        summary="Sit an exam: questions in a fixed secret order, one answer each.",
        lifespan=hold_ledger,
        docs_url=None,
        redoc_url=None,
        responses=_ERRORS,
    )
    app.add_middleware(Guard)
    app.add_exception_handler(ExamError, _refuse)
    app.add_exception_handler(UsageError, _refuse_usage)
    app.add_exception_handler(RequestValidationError, _refuse_form)
    app.add_exception_handler(HTTPException, _refuse_http)
    _add_session_routes(app)
    _add_administration_routes(app, settings)
    return app


def serve(
    settings: Settings,
    host: str = "127.0.0.1",
    port: int = 8700,
    *,
    certificate: str | None = None,
    certificate_key: str | None = None,
) -> None:
    """Serve the API until it is ended; give a certificate where outside candidates reach it over a network."""
    import uvicorn

    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        ssl_certfile=certificate,
        ssl_keyfile=certificate_key,
    )


def _read_token(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    if credentials is None:
        raise ExamError(401, "token_missing", "Send a token in the header `Authorization: Bearer …`.")
    return credentials.credentials


def _read_protocol(request: Request) -> ExamProtocol:
    protocol: ExamProtocol = request.app.state.protocol
    return protocol


def _read_ledger(request: Request) -> Ledger:
    ledger: Ledger = request.app.state.ledger
    return ledger


_Token = Annotated[str, Depends(_read_token)]
_Exam = Annotated[ExamProtocol, Depends(_read_protocol)]
_Store = Annotated[Ledger, Depends(_read_ledger)]


def _read_lease(
    session_id: bodies.SessionId,
    x_lease_secret: Annotated[bodies.LeaseSecret, Header()],
    x_lease_generation: Annotated[int, Header(ge=1, le=2**31 - 1)],
) -> Lease:
    return Lease(session_id, x_lease_generation, x_lease_secret, 0.0, "", 0, 0)


_Held = Annotated[Lease, Depends(_read_lease)]


def _add_session_routes(app: FastAPI) -> None:
    @app.get("/health")
    async def check_health() -> bodies.Health:
        """Whether the server answers."""
        return bodies.Health()

    @app.get("/sessions")
    async def list_sessions(
        token: _Token, protocol: _Exam, run_id: Annotated[bodies.Name | None, Query()] = None
    ) -> bodies.SessionList:
        """One's own sessions; for examiners all, or those of a run."""
        lines = await protocol.list_sessions_async(token, run_id)
        return bodies.SessionList(sessions=[bodies.SessionLine(**asdict(line)) for line in lines])

    @app.get("/sessions/{session_id}")
    async def read_status(session_id: bodies.SessionId, token: _Token, protocol: _Exam) -> bodies.StatusBody:
        """Where a session stands."""
        return bodies.StatusBody(**asdict(await protocol.read_status_async(token, session_id)))

    @app.post("/sessions/{session_id}/open")
    async def open_session(
        session_id: bodies.SessionId, token: _Token, protocol: _Exam, body: bodies.OpenRequest
    ) -> bodies.LeaseBody:
        """Open a session, or resume it with its lease secret."""
        lease = await protocol.open_session_async(token, session_id, body.lease_secret)
        return bodies.LeaseBody(**asdict(lease))

    @app.post("/sessions/{session_id}/renew")
    async def renew_lease(lease: _Held, token: _Token, protocol: _Exam) -> bodies.RenewedLease:
        """Keep the lease while an answer is being written."""
        renewed = asdict(await protocol.renew_lease_async(token, lease))
        del renewed["secret"]
        return bodies.RenewedLease(**renewed)

    @app.get("/sessions/{session_id}/next")
    async def next_question(lease: _Held, token: _Token, protocol: _Exam) -> bodies.NextBody:
        """The next question, or the pending one again; null when the session is finished."""
        return bodies.NextBody(question=_describe(await protocol.next_question_async(token, lease)))

    @app.post("/sessions/{session_id}/answers")
    async def submit_answer(
        lease: _Held, token: _Token, protocol: _Exam, body: bodies.AnswerRequest
    ) -> bodies.AnswerBody:
        """Answer a question; with `wants_next` the next one comes with the receipt."""
        answer = Answer(**body.model_dump(exclude={"seq", "wants_next"}))
        put = None
        if body.wants_next:
            receipt, put = await protocol.submit_and_next_async(token, lease, body.seq, answer)
        else:
            receipt = await protocol.submit_answer_async(token, lease, body.seq, answer)
        return bodies.AnswerBody(receipt=bodies.ReceiptBody(**asdict(receipt)), question=_describe(put))

    @app.post("/sessions/{session_id}/release")
    async def release_session(
        session_id: bodies.SessionId, token: _Token, protocol: _Exam
    ) -> bodies.StatusBody:
        """An examiner ends a session's lease."""
        return bodies.StatusBody(**asdict(await protocol.release_session_async(token, session_id)))


def _add_administration_routes(app: FastAPI, settings: Settings) -> None:
    @app.post("/token")
    async def ask_token(
        request: Request, body: bodies.TokenRequest, protocol: _Exam, ledger: _Store
    ) -> bodies.Token:
        """A token for a user's name and password. A candidate names the session that it is for, if any."""
        failures: FailureCounter = request.app.state.failures
        if failures.must_pause(body.user_id):
            raise ExamError(429, "too_many_failures", "Too many wrong passwords. Wait five minutes.")
        stored = await run_in_threadpool(_read, ledger, lambda c: users.read_password_hash(c, body.user_id))
        async with request.app.state.passwords:
            is_right = await run_in_threadpool(check_password, stored, body.password.get_secret_value())
        failures.note(body.user_id, is_right=is_right)
        if not is_right:
            await _note(protocol, "token", None, body.session_id, 401, "password_wrong")
            raise ExamError(401, "password_wrong", "The user or the password is wrong.")
        token = await run_in_threadpool(
            _issue, ledger, settings, request.app.state.secret, body.user_id, body.session_id, None
        )
        await _note(protocol, "token", body.user_id, body.session_id, 200, None)
        return token

    @app.post("/users/{user_id}/tokens")
    async def issue_candidate_token(
        request: Request,
        user_id: bodies.Name,
        body: bodies.IssueRequest,
        token: _Token,
        protocol: _Exam,
        ledger: _Store,
    ) -> bodies.Token:
        """A token for a candidate, made by an examiner or admin."""
        await run_in_threadpool(protocol.check_token, token, "issue_tokens", "issue_token")
        return await run_in_threadpool(
            _issue, ledger, settings, request.app.state.secret, user_id, body.session_id, "candidate"
        )

    @app.get("/users")
    async def list_users(token: _Token, protocol: _Exam, ledger: _Store) -> bodies.UserList:
        """All users."""
        await run_in_threadpool(protocol.check_token, token, "write_users", "list_users")
        found = await run_in_threadpool(_read, ledger, users.list_users)
        return bodies.UserList(users=[bodies.UserBody(**asdict(user)) for user in found])

    @app.post("/users", status_code=201)
    async def add_user(
        body: bodies.UserRequest, token: _Token, protocol: _Exam, ledger: _Store
    ) -> bodies.UserBody:
        """Add a user."""
        await run_in_threadpool(protocol.check_token, token, "write_users", "add_user")
        values = body.model_dump(exclude={"password"})
        password_hash = await _hash(app, body.password.get_secret_value() if body.password else None)
        user = await run_in_threadpool(
            ledger.writer.run, lambda c: users.add_user(c, **values, password_hash=password_hash)
        )
        return bodies.UserBody(**asdict(user))

    @app.patch("/users/{user_id}")
    async def change_user(
        user_id: bodies.Name, body: bodies.UserChange, token: _Token, protocol: _Exam, ledger: _Store
    ) -> bodies.UserBody:
        """Admit or shut out a user, set a password or a limit."""
        await run_in_threadpool(protocol.check_token, token, "write_users", "change_user")
        password_hash = await _hash(app, body.password.get_secret_value() if body.password else None)

        def change(connection: Connection) -> users.User:
            user = users.read_user(connection, user_id)
            if user is None:
                raise ExamError(404, "user_unknown", "There is no such user.")
            if body.is_active is not None:
                users.write_activity(connection, user_id, is_active=body.is_active)
            if "question_limit" in body.model_fields_set:
                users.write_user_limit(connection, user_id, body.question_limit)
            if password_hash is not None:
                users.write_password_hash(connection, user_id, password_hash)
            changed = users.read_user(connection, user_id)
            assert changed is not None
            return changed

        return bodies.UserBody(**asdict(await run_in_threadpool(ledger.writer.run, change)))

    @app.get("/runs")
    async def list_runs(token: _Token, protocol: _Exam, ledger: _Store) -> bodies.RunList:
        """Runs and how far they are."""
        await run_in_threadpool(protocol.check_token, token, "read_runs", "list_runs")
        return bodies.RunList(runs=await run_in_threadpool(_read, ledger, _list_runs))

    @app.get("/runs/{run_id}")
    async def read_run(run_id: bodies.Name, token: _Token, protocol: _Exam, ledger: _Store) -> bodies.RunBody:
        """One run and how far it is."""
        await run_in_threadpool(protocol.check_token, token, "read_runs", "read_run")
        found = [run for run in await run_in_threadpool(_read, ledger, _list_runs) if run.run_id == run_id]
        if found:
            return found[0]
        raise ExamError(404, "run_unknown", "There is no such run.")


def _describe(put: Put | None) -> bodies.QuestionBody | None:
    return None if put is None else bodies.QuestionBody(**asdict(put))


def _read(ledger: Ledger, operation: Callable[[Connection], T]) -> T:
    with ledger.read() as connection:
        return operation(connection)


def _list_runs(connection: Connection) -> list[bodies.RunBody]:
    runs = []
    for row in exam.list_runs(connection):
        counts = exam.count_sessions(connection, row["run_id"])
        runs.append(
            bodies.RunBody(
                **{
                    name: row[name]
                    for name in bodies.RunBody.model_fields
                    if name not in ("session_count", "closed_session_count")
                },
                session_count=sum(counts.values()),
                closed_session_count=counts.get("closed", 0),
            )
        )
    return runs


def _issue(
    ledger: Ledger, settings: Settings, secret: bytes, user_id: str, session_id: str | None, role: str | None
) -> bodies.Token:
    """Sign a token for a user that may have it. Candidates get one for their own sessions only."""
    with ledger.read() as connection:
        user = users.read_user(connection, user_id)
        if user is None or not user.is_active or (role is not None and user.role != role):
            raise ExamError(404, "user_unknown", "There is no such candidate.")
        if session_id is not None:
            found = exam.list_sessions(connection, session_id=session_id, user_id=user_id)
            if not found:
                raise ExamError(403, "session_invalid", "The session is not one of this user.")
    permissions = PERMISSIONS[user.role]
    if user.role == "candidate" and session_id is None:
        permissions = permissions - {"sit"}
    token = issue_token(secret, user_id, session_id, permissions, settings.token_ttl_s)
    return bodies.Token(token=token, expires_at=_read_expiry(token))


def _read_expiry(token: str) -> int:
    import jwt

    return int(jwt.decode(token, options={"verify_signature": False})["exp"])


async def _hash(app: FastAPI, password: str | None) -> str | None:
    if password is None:
        return None
    async with app.state.passwords:
        return await run_in_threadpool(hash_password, password)


async def _note(
    protocol: ExamProtocol,
    action: str,
    user_id: str | None,
    session_id: str | None,
    status: int,
    code: str | None,
) -> None:
    await run_in_threadpool(
        lambda: protocol.log_attempt(action, user_id=user_id, session_id=session_id, status=status, code=code)
    )


async def _refuse(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ExamError)
    return _error(error.status, error.code, str(error))


async def _refuse_usage(_request: Request, error: Exception) -> JSONResponse:
    """What the ledger refuses as a wrong request: a name that is taken."""
    return _error(409, "not_possible", "This is not possible as things stand: the name is taken or unknown.")


async def _refuse_form(request: Request, error: Exception) -> JSONResponse:
    """Name the fields that are wrong; never repeat what was sent."""
    assert isinstance(error, RequestValidationError)
    places = sorted({".".join(str(part) for part in item["loc"][:2]) for item in error.errors()})
    known = [place for place in places if place.split(".")[-1] in _FIELDS] or ["the request"]
    session_id = request.path_params.get("session_id")
    is_named = isinstance(session_id, str) and len(session_id) <= 80 and session_id.replace("-", "").isalnum()
    await _note(
        request.app.state.protocol,
        "malformed",
        None,
        session_id if is_named else None,
        422,
        "request_invalid",
    )
    return _error(
        422, "request_invalid", f"Missing or malformed: {', '.join(known)}. /openapi.json has the form."
    )


async def _refuse_http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    words = {
        400: "request_unreadable",
        404: "not_found",
        405: "method_not_allowed",
        413: "body_too_large",
    }
    code = words.get(error.status_code, "refused")
    reply = _error(
        error.status_code, code, "The address, the method or the body is not one that the API takes."
    )
    for name, value in (error.headers or {}).items():
        reply.headers[name] = value
    return reply


def _error(status: int, code: str, message: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"code": code, "message": message}, status_code=status, headers=headers)


_FIELDS = frozenset(
    name
    for body in (
        bodies.TokenRequest,
        bodies.IssueRequest,
        bodies.OpenRequest,
        bodies.AnswerRequest,
        bodies.UserRequest,
        bodies.UserChange,
    )
    for name in body.model_fields
) | {"session_id", "user_id", "run_id", "x-lease-secret", "x-lease-generation"}
