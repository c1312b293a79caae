"""Signing in and out, the password, and the language."""

from __future__ import annotations

import secrets
from urllib.parse import urlparse

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from deployments.auth import (
    DEVICE_S,
    MOST_CHARACTERS,
    SESSION_S,
    Outcome,
    PasswordDoor,
    Weakness,
    find_weakness,
    hash_password,
)
from deployments.web.pages import render_page
from deployments.web.visitor import (
    HAS_ACCOUNT,
    SESSION_COOKIE,
    Form,
    Store,
    Visitor,
    read_form,
    read_sessions,
    read_visitor,
)
from deployments.web.wording import LANGUAGE_COOKIE
from tasks.review import LANGUAGES
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import CALLER, Caller, Entry, add_entry
from warehouse.ledger.trust import users

_FORM_COOKIE = "proctor_form"
_DEVICE_COOKIE = "proctor_device"
_LANGUAGE_S = 365 * 86_400
_WEAK = {
    Weakness.LENGTH: "password_length",
    Weakness.NAME: "password_name",
    Weakness.COMMON: "password_common",
}


def add_sign_in_routes(app: FastAPI) -> None:
    """Add the way in and out."""

    @app.get("/sign-in")
    def show_sign_in(request: Request, then: str = "/") -> Response:
        if read_visitor(request) is not None:
            return RedirectResponse(_keep_own_path(then), 303)
        return _show_sign_in(request, then)

    @app.post("/sign-in")
    async def sign_in(request: Request, ledger: Store) -> Response:
        fields = await read_form(request)
        then, name = fields.get("then", "/"), fields.get("user_id", "").strip()[:200]
        nonce = request.cookies.get(_FORM_COOKIE, "")
        if not nonce or not read_sessions(request).is_form_token(
            f"sign-in {nonce}", fields.get("form_token", "")
        ):
            return _show_sign_in(request, then, "sign_in_again", 403)
        outcome = await _check(request, ledger, name, fields.get("password", ""))
        if outcome == "pause":
            return _show_sign_in(request, then, "sign_in_pause", 429)
        if outcome == "busy":
            return _show_sign_in(request, then, "sign_in_busy", 429)
        await run_in_threadpool(_note_sign_in, request, ledger, name, is_right=outcome == "right")
        if outcome == "wrong":
            return _show_sign_in(request, then, "sign_in_wrong", 401)
        reply = RedirectResponse(_keep_own_path(then), 303)
        _set_session(app, reply, await run_in_threadpool(read_sessions(request).start, name))
        reply.delete_cookie(_FORM_COOKIE, path="/sign-in")
        if read_sessions(request).read_device(request.cookies.get(_DEVICE_COOKIE), name) is None:
            reply.set_cookie(
                _DEVICE_COOKIE,
                read_sessions(request).remember_device(name),
                max_age=DEVICE_S,
                httponly=True,
                samesite="strict",
                secure=app.state.is_https,
            )
        return reply

    @app.post("/sign-out")
    def sign_out(request: Request, visitor: Visitor, form: Form) -> Response:
        read_sessions(request).end(visitor.session_id)
        reply = RedirectResponse("/sign-in", 303)
        reply.delete_cookie(SESSION_COOKIE)
        return reply

    @app.get("/session")
    def show_session(request: Request, visitor: Visitor) -> Response:
        """Who is signed in, and the token of their forms.

        This is for a page that was open while somebody signed in again.
        """
        token = read_sessions(request).make_form_token(visitor.session_id)
        return JSONResponse({"user_id": visitor.user_id, "form_token": token})

    @app.get("/account")
    def show_account(request: Request, visitor: Visitor) -> Response:
        return render_page(request, "account.html", visitor, message=None, is_done=False)

    @app.post("/account")
    async def change_password(request: Request, visitor: Visitor, form: Form, ledger: Store) -> Response:
        new = form.get("new_password", "")
        fault = None
        weakness = find_weakness(new, visitor.user_id)
        if weakness is not None:
            fault = _WEAK[weakness]
        elif new != form.get("repeated_password", ""):
            fault = "password_differs"
        # Guesses count as at the door, though who guesses is signed in.
        elif await _check(request, ledger, visitor.user_id, form.get("old_password", "")) != "right":
            fault = "password_wrong"
        if fault:
            return render_page(request, "account.html", visitor, status=422, message=fault, is_done=False)
        async with app.state.passwords.places.hold():
            hashed = await run_in_threadpool(hash_password, new)
        _act_as(request, visitor.user_id)
        await run_in_threadpool(_write_hash, ledger, visitor.user_id, hashed)
        # The new password ended every session, this one too: a new one begins here.
        cookie = await run_in_threadpool(read_sessions(request).start, visitor.user_id)
        started = await run_in_threadpool(read_sessions(request).read, cookie)
        reply = render_page(request, "account.html", started, message="password_changed", is_done=True)
        _set_session(app, reply, cookie)
        return reply

    @app.get("/language/{language}")
    def choose(request: Request, language: str) -> Response:
        """Keep the language and go back to the page that asked."""
        came_from = urlparse(request.headers.get("referer", ""))
        is_ours = came_from.netloc == request.headers.get("host", "")
        page = f"{came_from.path}?{came_from.query}" if came_from.query else came_from.path
        reply = RedirectResponse(_keep_own_path(page if is_ours else "/"), 303)
        if language in LANGUAGES:
            reply.set_cookie(
                LANGUAGE_COOKIE,
                language,
                max_age=_LANGUAGE_S,
                samesite="lax",
                httponly=True,
                secure=app.state.is_https,
            )
        return reply


def _show_sign_in(request: Request, then: str, message: str | None = None, status: int = 200) -> Response:
    """The sign-in form, tied to a cookie of its own.

    The cookie means that another site cannot sign a browser in as somebody else.
    """
    nonce = request.cookies.get(_FORM_COOKIE) or secrets.token_urlsafe(32)
    reply = render_page(
        request,
        "sign_in.html",
        None,
        status=status,
        message=message,
        then=_keep_own_path(then),
        token=read_sessions(request).make_form_token(f"sign-in {nonce}"),
    )
    reply.set_cookie(
        _FORM_COOKIE,
        nonce,
        max_age=3600,
        httponly=True,
        samesite="strict",
        path="/sign-in",
        secure=request.app.state.is_https,
    )
    return reply


def _set_session(app: FastAPI, reply: Response, cookie: str) -> None:
    reply.set_cookie(
        SESSION_COOKIE,
        cookie,
        max_age=SESSION_S,
        httponly=True,
        samesite="lax",
        secure=app.state.is_https,
    )


async def _check(request: Request, ledger: Ledger, name: str, password: str) -> Outcome:
    """Whether it is the password of somebody who has work here."""
    door: PasswordDoor = request.app.state.passwords
    address = request.client.host if request.client else None
    device = read_sessions(request).read_device(request.cookies.get(_DEVICE_COOKIE), name)
    outcome, _ = await door.check(
        address, name, password[:MOST_CHARACTERS], lambda: _read_hash(ledger, name), device
    )
    return outcome


def _act_as(request: Request, user_id: str | None) -> None:
    """Let the audit log name who acts in what follows of this request, and from where."""
    CALLER.set(Caller(user_id, request.client.host[:64] if request.client else None))


def _note_sign_in(request: Request, ledger: Ledger, name: str, *, is_right: bool) -> None:
    """Write down a sign-in, or a wrong password of somebody who is known.

    Names that no user has are not written down.
    """
    with ledger.read() as connection:
        if users.read_user(connection, name) is None:
            return
    _act_as(request, name if is_right else None)
    entry = Entry("sign_in", is_by_caller=is_right, target=None if is_right else name)
    if not is_right:
        entry.http_status, entry.code = 401, "password_wrong"
    with ledger.write() as connection:
        add_entry(connection, entry)


def _read_hash(ledger: Ledger, name: str) -> str | None:
    """The password hash of somebody who has work here; None for anybody else.

    Returning None for all others means that a caller learns nothing more.
    """
    with ledger.read() as connection:
        user = users.read_user(connection, name)
        if user is None or user.role not in HAS_ACCOUNT:
            return None
        return users.read_password_hash(connection, name)


def _write_hash(ledger: Ledger, name: str, hashed: str) -> None:
    with ledger.write() as connection:
        users.write_password_hash(connection, name, hashed)


def _keep_own_path(then: str) -> str:
    """A path of this server.

    Anything that a browser could take for another site becomes the start page.
    """
    is_own = then.startswith("/") and not then.startswith(("//", "/\\")) and then.isprintable()
    return then if is_own and "\\" not in then else "/"
