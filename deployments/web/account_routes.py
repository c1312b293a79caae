"""What belongs to whoever is signed in: the session, the password, and the language."""

from __future__ import annotations

from urllib.parse import urlparse

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from deployments.auth import (
    MOST_CHARACTERS,
    DeskAccounts,
    PasswordDoor,
    SignedIn,
    Weakness,
    find_weakness,
    hash_password,
)
from deployments.auth.kinds import OWN_KIND
from deployments.web.pages import render_page
from deployments.web.show import LANGUAGE_COOKIE
from deployments.web.sign_in_routes import act_as, set_session
from deployments.web.visitor import (
    Form,
    Store,
    Visitor,
    keep_own_path,
    read_device,
    read_kinds,
    read_sessions,
)
from tasks.review import LANGUAGES
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import users

_LANGUAGE_S = 365 * 86_400
_WEAK = {
    Weakness.LENGTH: "password_length",
    Weakness.NAME: "password_name",
    Weakness.COMMON: "password_common",
}


def add_account_routes(app: FastAPI) -> None:
    """Add the pages of whoever is signed in."""

    @app.get("/session")
    def show_session(request: Request, visitor: Visitor) -> Response:
        """Who is signed in, and their forms' token, for a page open since before they signed in."""
        token = read_sessions(request).make_form_token(visitor.session_id)
        return JSONResponse({"user_id": visitor.user_id, "form_token": token})

    @app.get("/account")
    def show_account(request: Request, visitor: Visitor) -> Response:
        return _show_account(request, visitor, has_password=_has_password(request, visitor))

    @app.post("/account")
    async def change_password(request: Request, visitor: Visitor, form: Form, ledger: Store) -> Response:
        if not await run_in_threadpool(_has_password, request, visitor):
            raise HTTPException(404)
        new = form.get("new_password", "")
        door: PasswordDoor = app.state.doors[OWN_KIND]
        accounts: DeskAccounts = app.state.accounts
        fault = None
        weakness = find_weakness(new, visitor.user_id)
        if weakness is not None:
            fault = _WEAK[weakness]
        elif new != form.get("repeated_password", ""):
            fault = "password_differs"
        else:
            # Guesses count as at the door, though who guesses is signed in.
            address = request.client.host if request.client else None
            outcome, _ = await door.check(
                address,
                visitor.user_id,
                form.get("old_password", "")[:MOST_CHARACTERS],
                lambda: accounts.read_hash(visitor.user_id),
                read_device(request, visitor.user_id),
            )
            fault = None if outcome == "right" else "password_wrong"
        if fault:
            return _show_account(request, visitor, fault, status=422)
        async with door.places.hold():
            hashed = await run_in_threadpool(hash_password, new)
        act_as(request, visitor.user_id)
        await run_in_threadpool(_write_hash, ledger, visitor.user_id, hashed)
        # The new password ended every session, this one too: a new one begins here.
        cookie = await run_in_threadpool(read_sessions(request).start, visitor.user_id, visitor.kind)
        started = await run_in_threadpool(read_sessions(request).read, cookie)
        reply = _show_account(request, started, "password_changed", is_done=True)
        set_session(request, reply, cookie)
        return reply

    @app.get("/language/{language}")
    def choose(request: Request, language: str) -> Response:
        """Keep the language and go back to the page that asked."""
        reply = RedirectResponse(_find_page(request), 303)
        if language in LANGUAGES:
            reply.set_cookie(
                LANGUAGE_COOKIE, language, max_age=_LANGUAGE_S, samesite="lax", secure=app.state.is_https
            )
        return reply


def _find_page(request: Request) -> str:
    """The page of ours that a request says it comes from; else the start page."""
    try:
        came_from = urlparse(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    is_ours = came_from.netloc == request.headers.get("host", "")
    page = f"{came_from.path}?{came_from.query}" if came_from.query else came_from.path
    return keep_own_path(page if is_ours else "/")


def _show_account(
    request: Request,
    visitor: SignedIn | None,
    message: str | None = None,
    *,
    status: int = 200,
    is_done: bool = False,
    has_password: bool = True,
) -> Response:
    return render_page(
        request,
        "account.html",
        visitor,
        status=status,
        message=message,
        is_done=is_done,
        has_password=has_password,
    )


def _has_password(request: Request, visitor: SignedIn) -> bool:
    """Whether somebody has a password that is of use here."""
    accounts: DeskAccounts = request.app.state.accounts
    return OWN_KIND in read_kinds(request) and accounts.read_hash(visitor.user_id) is not None


def _write_hash(ledger: Ledger, name: str, hashed: str) -> None:
    with ledger.write() as connection:
        users.write_password_hash(connection, name, hashed)
