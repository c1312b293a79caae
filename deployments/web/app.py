"""The web desk: pages on which people review, give marks, and look at runs.

It parses and renders; what it takes in goes to the review desk. The process knows the ledger; it opens the lake for nothing. To add
a kind of work: a module with `add_…_routes`, its templates, its words in wording.yaml, and a line in `_KINDS`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from deployments.auth import (
    Attempts,
    DeskAccounts,
    Guard,
    PasswordDoor,
    Sessions,
    open_kinds,
    read_cookie_key,
    read_desk_address,
)
from deployments.auth.kinds import RedirectKind
from deployments.flow_runs import READING, begin_continuation
from deployments.web.account_routes import add_account_routes
from deployments.web.answer_routes import add_answer_routes
from deployments.web.coordinator_routes import add_coordinator_routes
from deployments.web.guideline_routes import add_guideline_routes
from deployments.web.lake import LakeDoor
from deployments.web.mark_routes import add_mark_routes
from deployments.web.message_routes import add_message_routes
from deployments.web.originals import Sights, SimilarShelf
from deployments.web.pages import STATIC, render_page
from deployments.web.paper_routes import add_paper_routes
from deployments.web.pictures import ReviewPictures
from deployments.web.reply_headers import SecurityHeaders
from deployments.web.report_routes import add_report_routes
from deployments.web.review_routes import add_review_routes
from deployments.web.run_routes import add_cost_routes, add_run_routes
from deployments.web.second_reading_routes import ReadingEstimates, add_second_reading_routes
from deployments.web.sign_in_routes import add_sign_in_routes
from deployments.web.visitor import FORM_HEADER, HAS_ACCOUNT, SignInNeeded, read_visitor
from schemas.settings import Settings
from tasks.report import SHARED_FOLDER
from tasks.review import list_open_batches
from tasks.watching import ProgressReading
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

# A person is told after so long that the ledger is locked.
LONGEST_WAIT_S = 5.0
# Answers from another site that are looked at at once: each waits for a server of somebody else, and takes no memory.
_ANSWERS_AT_ONCE = 16
_KINDS = (
    add_sign_in_routes,
    add_account_routes,
    add_review_routes,
    add_coordinator_routes,
    add_message_routes,
    add_guideline_routes,
    add_paper_routes,
    add_second_reading_routes,
    add_mark_routes,
    add_run_routes,
    add_cost_routes,
    add_report_routes,
    add_answer_routes,
)


def create_app(
    settings: Settings,
    *,
    ledger: Ledger | None = None,
    continue_batch: Callable[[str], None] | None = None,
    begin_reading: Callable[[str], None] | None = None,
    is_https: bool = False,
) -> FastAPI:
    """The application; raises UsageError for a kind of sign-in that cannot be offered.

    Args:
        settings: whose home it serves.
        ledger: an open ledger; by default that of the settings is opened for the life of the application.
        continue_batch: what starts when the last decision of a batch is in; by default a process of its own that begins
            what follows.
        begin_reading: what starts when somebody has a model read a paper; by default a process of its own, too.
        is_https: whether the browser speaks TLS with it: the cookie then travels over nothing else.
    """
    kinds = open_kinds(settings)
    is_left = any(isinstance(kind, RedirectKind) for kind in kinds.values())
    address = read_desk_address(settings) if is_left else ""

    @asynccontextmanager
    async def hold_ledger(app: FastAPI) -> AsyncIterator[None]:
        opened = await run_in_threadpool(_open_ledger, settings.ledger_address) if ledger is None else ledger
        app.state.ledger = opened
        app.state.settings = settings
        app.state.key = read_cookie_key(settings)
        app.state.sessions = Sessions(opened, app.state.key)
        app.state.kinds = kinds
        app.state.doors = {
            name: PasswordDoor(at_once=_ANSWERS_AT_ONCE) if isinstance(kind, RedirectKind) else PasswordDoor()
            for name, kind in kinds.items()
        }
        app.state.accounts = DeskAccounts(opened, settings, HAS_ACCOUNT)
        app.state.attempts = Attempts(app.state.key, address)
        app.state.continue_batch = continue_batch or partial(begin_continuation, settings)
        app.state.begin_reading = begin_reading or partial(begin_continuation, settings, what=READING)
        app.state.is_https = is_https
        app.state.lake = LakeDoor(settings)
        app.state.estimates = ReadingEstimates(settings, opened, app.state.lake)
        app.state.sights = Sights(settings, app.state.lake)
        app.state.pictures = ReviewPictures(settings, app.state.lake, app.state.sights)
        app.state.similar = SimilarShelf(opened)
        app.state.progress = ProgressReading(opened)
        # A batch whose last decision came in when this server was about to end.
        for batch in await run_in_threadpool(list_open_batches, opened):
            if batch.status == "complete":
                app.state.continue_batch(batch.batch_id)
        try:
            yield
        finally:
            app.state.lake.close()
            if ledger is None:
                opened.close()

    app = FastAPI(
        title="Proctor web desk",
        lifespan=hold_ledger,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # A redirect would name the host that the caller named.
        redirect_slashes=False,
    )
    app.add_middleware(Guard, name="proctor.web", draw_fault=_draw_fault)
    app.add_middleware(SecurityHeaders)
    app.add_exception_handler(SignInNeeded, _ask_to_sign_in)
    app.add_exception_handler(HTTPException, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_form)
    shared = ("tasks.report", SHARED_FOLDER.name)
    app.mount("/static", StaticFiles(directory=STATIC, packages=[shared]), name="static")
    for add_routes in _KINDS:
        add_routes(app)
    return app


def _open_ledger(url: str) -> Ledger:
    return open_ledger(url, busy_s=LONGEST_WAIT_S)


async def _ask_to_sign_in(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInNeeded)
    if _is_script(request):
        return JSONResponse({"code": "signed_out"}, 401)
    then = f"?then={error.then}" if request.method == "GET" and error.then != "/" else ""
    return RedirectResponse(f"/sign-in{then}", 303)


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if _is_script(request):
        codes = {401: "signed_out", 403: "refused", 404: "not_found", 413: "too_large"}
        return JSONResponse({"code": codes.get(error.status_code, "malformed")}, error.status_code)
    visitor = await run_in_threadpool(read_visitor, request)
    code, is_read = error.status_code, request.method == "GET"
    return render_page(request, "error.html", visitor, status=code, code=code, is_read=is_read)


async def _refuse_form(request: Request, error: Exception) -> Response:
    return await _refuse(request, HTTPException(404))


def _draw_fault(scope: Scope, status: int) -> Response | None:
    """The page of a fault; null for our script. Nobody is looked up: the ledger may be at fault."""
    request = Request(scope)
    if _is_script(request):
        return None
    return render_page(request, "error.html", None, status=status, code=status, is_read=True)


def _is_script(request: Request) -> bool:
    """Whether our own script asks, which reads codes and not pages."""
    return FORM_HEADER in request.headers
