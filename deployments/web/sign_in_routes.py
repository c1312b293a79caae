"""Signing in, by every kind that is offered, and out."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from urllib.parse import urlencode

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deployments.auth import (
    DEVICE_S,
    MOST_CHARACTERS,
    SESSION_S,
    Attempts,
    DeskAccounts,
    Outcome,
    PasswordDoor,
)
from deployments.auth.kinds import (
    OWN_KIND,
    FormKind,
    Recognised,
    RedirectKind,
    SignInFault,
    SignInKind,
    is_web_address,
)
from deployments.web.pages import render_page
from deployments.web.visitor import (
    DEVICE_COOKIE,
    SESSION_COOKIE,
    Form,
    Visitor,
    keep_own_path,
    read_device,
    read_form,
    read_kinds,
    read_sessions,
    read_visitor,
)
from schemas.errors import StoreError
from warehouse.ledger.engine.logs.chain import CALLER, Caller, Entry, add_entry

_FORM_COOKIE = "proctor_form"
_ATTEMPT_COOKIE = "proctor_attempt"
_LOG = logging.getLogger("proctor.web")
# Somebody waits before a page: what takes longer at another server has failed.
_LONGEST_WAIT_S: Final = 20.0
_REFUSALS: Final[dict[Outcome | str, tuple[str, int]]] = {
    "pause": ("sign_in_pause", 429),
    "busy": ("sign_in_busy", 429),
    "away": ("sign_in_away", 503),
}


def add_sign_in_routes(app: FastAPI) -> None:
    """Add the ways in and out."""

    @app.get("/sign-in")
    def show_sign_in(request: Request, then: str = "/", left: str = "") -> Response:
        if read_visitor(request) is not None:
            return RedirectResponse(keep_own_path(then), 303)
        return _show_sign_in(request, then, left=left)

    @app.post("/sign-in")
    async def sign_in(request: Request) -> Response:
        fields = await read_form(request)
        then, name = fields.get("then", "/"), fields.get("user_id", "").strip()[:200]
        kind_name = fields.get("kind", OWN_KIND)
        kind = read_kinds(request).get(kind_name)
        if not isinstance(kind, FormKind):
            raise HTTPException(404)
        nonce = request.cookies.get(_FORM_COOKIE, "")
        if not nonce or not read_sessions(request).is_form_token(
            f"sign-in {nonce}", fields.get("form_token", "")
        ):
            return _show_sign_in(request, then, "sign_in_again", 403)
        form = {field.name: fields.get(field.name, "")[:MOST_CHARACTERS] for field in kind.fields}
        accounts = _read_accounts(request)
        outcome, person = await _try(
            request,
            kind_name,
            name,
            lambda: kind.read_form(form | {"user_id": name}, accounts),
            read_device(request, name),
        )
        reply = await _answer(request, kind_name, then, outcome, person, name)
        if reply.status_code != 303 or person is None:
            return reply
        reply.delete_cookie(_FORM_COOKIE, path="/sign-in")
        if read_device(request, person.user_id) is None:
            cookie = read_sessions(request).remember_device(person.user_id)
            _set_cookie(request, reply, DEVICE_COOKIE, cookie, DEVICE_S, is_strict=True)
        return reply

    @app.get("/sign-in/{kind_name}")
    async def leave(request: Request, kind_name: str, then: str = "/") -> Response:
        """Send the browser to the other site by a link: the policy lets no form lead there."""
        kind = _need_redirect(request, kind_name)
        if await run_in_threadpool(read_visitor, request) is not None:
            return RedirectResponse(keep_own_path(then), 303)
        attempts: Attempts = app.state.attempts
        attempt, cookie = attempts.begin(kind_name, keep_own_path(then))
        address = await _ask(kind_name, kind.begin(attempt))
        if address is None:
            return _show_sign_in(request, then, *_REFUSALS["away"])
        reply = RedirectResponse(address, 303)
        _set_cookie(request, reply, _ATTEMPT_COOKIE, cookie, path=f"/sign-in/{kind_name}")
        return reply

    @app.get("/sign-in/{kind_name}/back")
    async def come_back(request: Request, kind_name: str) -> Response:
        kind = _need_redirect(request, kind_name)
        query = dict(request.query_params)
        attempts: Attempts = app.state.attempts
        begun = attempts.read(kind_name, request.cookies.get(_ATTEMPT_COOKIE), query.get("state", ""))
        if begun is None:
            return _show_sign_in(request, "/", "sign_in_again", 403)
        attempt, then = begun
        outcome, person = await _try(
            request, kind_name, attempt.state, lambda: kind.read_answer(attempt, query)
        )
        reply = await _answer(request, kind_name, then, outcome, person)
        reply.delete_cookie(_ATTEMPT_COOKIE, path=f"/sign-in/{kind_name}")
        return reply

    @app.get("/sign-in/{kind_name}/out")
    async def leave_for_good(request: Request, kind_name: str) -> Response:
        """Sign out at the other site, too; the session here has ended already."""
        kind = _need_redirect(request, kind_name)
        attempts: Attempts = app.state.attempts
        address = await _ask(kind_name, kind.end(f"{attempts.address}/sign-in"))
        return RedirectResponse(address or "/sign-in", 303)

    @app.post("/sign-out")
    def sign_out(request: Request, visitor: Visitor, form: Form) -> Response:
        read_sessions(request).end(visitor.session_id)
        is_elsewhere = isinstance(read_kinds(request)[visitor.kind], RedirectKind)
        reply = RedirectResponse(f"/sign-in?left={visitor.kind}" if is_elsewhere else "/sign-in", 303)
        reply.delete_cookie(SESSION_COOKIE)
        return reply


def set_session(request: Request, reply: Response, cookie: str) -> None:
    """Let the browser have a session."""
    _set_cookie(request, reply, SESSION_COOKIE, cookie, SESSION_S)


def act_as(request: Request, user_id: str | None) -> None:
    """Let the audit log name who acts in what follows of this request, and from where."""
    CALLER.set(Caller(user_id, request.client.host[:64] if request.client else None))


async def _try(
    request: Request,
    kind_name: str,
    account: str,
    recognise: Callable[[], Awaitable[Recognised | None]],
    device: str | None = None,
) -> tuple[Outcome | str, Recognised | None]:
    """What comes of an attempt, counted at the door of its kind; `away` where it cannot say."""
    door: PasswordDoor = request.app.state.doors[kind_name]
    address = request.client.host if request.client else None

    async def verify() -> Recognised | None:
        async with asyncio.timeout(_LONGEST_WAIT_S):
            person = await recognise()
        if person is not None and not person.user_id.isprintable():
            raise ValueError("The name of an account is printable.")
        return person

    try:
        return await door.count(address, account, verify, device)
    except StoreError:
        raise
    except Exception as error:
        _note_fault(kind_name, error)
        return "away", None


async def _ask(kind_name: str, asked: Awaitable[str | None]) -> str | None:
    """Where a kind sends somebody; null where nowhere, not known now, or not allowed."""
    try:
        async with asyncio.timeout(_LONGEST_WAIT_S):
            address = await asked
    except Exception as error:
        _note_fault(kind_name, error)
        return None
    if address is not None and not is_web_address(address):
        _LOG.error("sign-in by %s leads to an address that is not https: nobody is sent there", kind_name)
        return None
    return address


def _note_fault(kind_name: str, error: Exception) -> None:
    """One line, with the class alone where what a fault says may quote a code or a password."""
    why = str(error) if isinstance(error, SignInFault) else type(error).__name__
    _LOG.error("sign-in by %s failed: %s", kind_name, why)


async def _answer(
    request: Request,
    kind_name: str,
    then: str,
    outcome: Outcome | str,
    person: Recognised | None,
    typed_name: str = "",
) -> Response:
    """Let somebody in, or show the page again; who is refused learns no more than who guesses."""
    if outcome in _REFUSALS:
        return _show_sign_in(request, then, *_REFUSALS[outcome])
    name = person.user_id if person else typed_name
    is_admitted = await run_in_threadpool(_admit, request, kind_name, name, person)
    if not is_admitted:
        is_form = isinstance(read_kinds(request)[kind_name], FormKind)
        return _show_sign_in(request, then, "sign_in_wrong" if is_form else "sign_in_refused", 401)
    reply = RedirectResponse(keep_own_path(then), 303)
    teams = () if person is None else _read_accounts(request).find_teams(person)
    set_session(request, reply, await run_in_threadpool(_start_session, request, kind_name, name, teams))
    return reply


def _admit(request: Request, kind_name: str, name: str, person: Recognised | None) -> bool:
    """Whether somebody may come in; written down unless nobody has that name."""
    accounts = _read_accounts(request)
    # An account that is made or changed here is so by the installation, not by whom it belongs to.
    act_as(request, None)
    is_admitted = person is not None and accounts.admit(person)
    if not accounts.is_known(name):
        return False
    act_as(request, name if is_admitted else None)
    entry = Entry("sign_in", is_by_caller=is_admitted, target=None if is_admitted else name)
    entry.code = None if kind_name == OWN_KIND else f"by_{kind_name}"
    if not is_admitted:
        entry.http_status = 401
        entry.code = "password_wrong" if kind_name == OWN_KIND else f"refused_by_{kind_name}"
    with accounts.ledger.write() as connection:
        add_entry(connection, entry)
    return is_admitted


def _start_session(request: Request, kind_name: str, name: str, teams: Sequence[str]) -> str:
    """A session that nobody had before; the one that the browser had ends."""
    before = read_visitor(request)
    if before is not None:
        read_sessions(request).end(before.session_id)
    return read_sessions(request).start(name, kind_name, teams)


def _show_sign_in(
    request: Request, then: str, message: str | None = None, status: int = 200, *, left: str = ""
) -> Response:
    """The sign-in page, its forms tied to a cookie: no other site signs a browser in."""
    nonce = request.cookies.get(_FORM_COOKIE) or secrets.token_urlsafe(32)
    kinds = read_kinds(request)
    reply = render_page(
        request,
        "sign_in.html",
        None,
        status=status,
        message=message,
        then=keep_own_path(then),
        forms={name: kind for name, kind in kinds.items() if isinstance(kind, FormKind)},
        elsewhere={name: kind for name, kind in kinds.items() if isinstance(kind, RedirectKind)},
        link=urlencode,
        left=left,
        token=read_sessions(request).make_form_token(f"sign-in {nonce}"),
    )
    _set_cookie(request, reply, _FORM_COOKIE, nonce, 3600, path="/sign-in", is_strict=True)
    return reply


def _set_cookie(
    request: Request,
    reply: Response,
    name: str,
    value: str,
    seconds: int | None = None,
    *,
    path: str = "/",
    is_strict: bool = False,
) -> None:
    """A cookie that no script reads, and that over TLS travels over nothing else."""
    reply.set_cookie(
        name,
        value,
        max_age=seconds,
        path=path,
        httponly=True,
        # What another site's link leads to must know who comes back.
        samesite="strict" if is_strict else "lax",
        secure=request.app.state.is_https,
    )


def _need_redirect(request: Request, kind_name: str) -> RedirectKind:
    kind: SignInKind | None = read_kinds(request).get(kind_name)
    if not isinstance(kind, RedirectKind):
        raise HTTPException(404)
    return kind


def _read_accounts(request: Request) -> DeskAccounts:
    accounts: DeskAccounts = request.app.state.accounts
    return accounts
