"""The exam API: the HTTP shell of the exam protocol, and nothing more.

The protocol is in tasks.exam.protocol.machine. Tokens come in the Authorization header, lease secrets in X-Lease-Secret;
neither is ever part of an address. The process opens the exam's side of the ledger only: no answer, explanation, review,
judgement, seed or key is in what it opens.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from deployments.auth import LARGEST_BODY_BYTES, Guard, PasswordDoor
from deployments.exam_api.administration_routes import add_administration_routes
from deployments.exam_api.approval_routes import add_approval_routes
from deployments.exam_api.gate import TokenGate
from deployments.exam_api.public_log import PublicLogWriter
from deployments.exam_api.refusals import refuse, refuse_form, refuse_http, refuse_usage
from deployments.exam_api.session_routes import add_practice_routes, add_session_routes
from deployments.exam_api.strangers import StrangerLog
from schemas.errors import ExamError, UsageError
from schemas.settings import Settings
from tasks.exam.log import HeadKeeper
from tasks.exam.protocol import make_protocol
from tasks.exam.protocol.tokens import open_keys
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_exam_database
from warehouse.ledger.engine.sides import find_exam_address

# A response and its reasoning at their longest, every character escaped; longer responses are cut, not refused.
LARGEST_ANSWER_BYTES = 32_000_000
# Who is told after so long that the ledger is locked sends the same call again.
LONGEST_WAIT_S = 3.0
_ADVICE = "Send less: a response is kept up to the longest_response of the lease."

# A reference: a model would be compiled again for each status of each route, two thirds of the time of `create_app`.
_ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": about, "content": _ERROR_CONTENT}
    for status, about in (
        (400, "The request is not HTTP or JSON as the server reads it."),
        (401, "The token is missing, wrongly signed, or expired."),
        (403, "The user, its role, the session or the lease does not allow it."),
        (404, "There is nothing at this address."),
        (409, "The state does not allow it: answered already, not handed out, taken."),
        (413, "The request is too large."),
        (422, "A field is missing or malformed; the message names it."),
        (429, "Too many failures; wait."),
        (503, "The ledger cannot be written now."),
    )
}


def create_app(settings: Settings, *, ledger: Ledger | None = None, has_docs: bool = False) -> FastAPI:
    """The application.

    It opens the exam's side of the settings' ledger for its life, unless a ledger is given. `has_docs` adds a
    page at `/docs`.
    """

    @asynccontextmanager
    async def hold_ledger(app: FastAPI) -> AsyncIterator[None]:
        opened = (
            await run_in_threadpool(_open_database, find_exam_address(settings)) if ledger is None else ledger
        )
        app.state.ledger = opened
        app.state.keys = open_keys(settings)
        app.state.keys.read()  # what is wrong with the file is said at the start
        app.state.heads = HeadKeeper(opened, settings)
        app.state.protocol = make_protocol(opened, settings, is_in_house=False, heads=app.state.heads)
        app.state.passwords = PasswordDoor()
        app.state.strangers = StrangerLog(lambda: app.state.protocol)
        public_log = PublicLogWriter(opened, settings)
        try:
            yield
        finally:
            await app.state.strangers.finish()
            await public_log.finish()
            if ledger is None:
                opened.close()

    app = FastAPI(
        title="Proctor exam API",
        version="1",
        summary="Sit an exam: questions in a fixed secret order, one answer each.",
        lifespan=hold_ledger,
        docs_url=None,
        redoc_url=None,
        # A redirect would name the host that the caller named.
        redirect_slashes=False,
        responses=_ERRORS,
    )
    app.add_middleware(TokenGate)
    app.add_middleware(Guard, name="proctor.exam_api", read_limit=_read_limit, advice=_ADVICE)
    app.add_exception_handler(ExamError, refuse)
    app.add_exception_handler(UsageError, refuse_usage)
    app.add_exception_handler(RequestValidationError, refuse_form)
    app.add_exception_handler(HTTPException, refuse_http)
    add_practice_routes(app, settings)
    add_session_routes(app, settings)
    add_administration_routes(app, settings)
    add_approval_routes(app)
    if has_docs:
        from deployments.exam_api.reference_page import add_reference_page

        add_reference_page(app)
    return app


def _open_database(url: str) -> Ledger:
    return open_exam_database(url, busy_s=LONGEST_WAIT_S)


def _read_limit(path: str) -> int:
    return LARGEST_ANSWER_BYTES if path.endswith("/answers") else LARGEST_BODY_BYTES
