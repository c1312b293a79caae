"""How every route begins: who asks, what they may see, and whether a form is theirs."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote

from fastapi import Depends
from starlette.exceptions import HTTPException
from starlette.requests import Request

from deployments.auth import Sessions, SignedIn, has_zero
from deployments.auth.kinds import SignInKind
from schemas.errors import RegistryError
from schemas.settings import Settings
from tasks.judging.marking import may_mark
from tasks.watching import WATCHERS, Sight, find_sight
from warehouse.ledger.engine.ledger import Ledger

SESSION_COOKIE = "proctor_session"
DEVICE_COOKIE = "proctor_device"
FORM_HEADER = "x-proctor-form"
# Who reads and decides, and who gives the work out. Others have no account here, whatever their password.
ANNOTATORS = ("annotator",)
COORDINATORS = ("admin", "examiner")
# Who looks at runs and answers of every model (tasks.watching.access); analysts have no other work here.
HAS_ACCOUNT = (*ANNOTATORS, *COORDINATORS, *(role for role in WATCHERS if role not in COORDINATORS))
_MOST_FIELDS = 100
_LOG = logging.getLogger("proctor.web")


class SignInNeeded(Exception):
    """Nobody is signed in; `then` is the page that they wanted."""

    def __init__(self, then: str) -> None:
        super().__init__("Nobody is signed in.")
        self.then = then


def read_sessions(request: Request) -> Sessions:
    """The sessions of this server."""
    sessions: Sessions = request.app.state.sessions
    return sessions


def read_kinds(request: Request) -> Mapping[str, SignInKind]:
    """The kinds of sign-in that are offered, by name."""
    kinds: Mapping[str, SignInKind] = request.app.state.kinds
    return kinds


def read_visitor(request: Request) -> SignedIn | None:
    """Who asks, with their teams; null for nobody, and for a kind that is offered no more."""
    found = read_sessions(request).read(request.cookies.get(SESSION_COOKIE))
    if found is None or found.kind not in read_kinds(request):
        return None
    request.state.is_known = True
    named = (team for team, members in _read_settings(request).teams.items() if found.user_id in members)
    return replace(found, teams=tuple(sorted({*found.teams, *named})))


def is_watcher(visitor: SignedIn) -> bool:
    """Whether somebody looks at runs: of every model by role, or of those of their teams."""
    return visitor.role in WATCHERS or bool(visitor.teams)


def read_sight(request: Request, visitor: SignedIn) -> Sight:
    """The models that somebody sees, null for all; 503, and a log line, without the registry."""
    try:
        return find_sight(_read_settings(request), visitor.role, visitor.teams)
    except RegistryError as error:
        _LOG.error("Teams see nothing until the registry can be read: %s", error)
        raise HTTPException(503) from None


def read_device(request: Request, user_id: str) -> str | None:
    """The name of this browser where the account's password was given in it; else null."""
    return read_sessions(request).read_device(request.cookies.get(DEVICE_COOKIE), user_id)


def _need_visitor(request: Request) -> SignedIn:
    visitor = read_visitor(request)
    if visitor is None:
        raise SignInNeeded(quote(request.url.path))
    return visitor


def _need_coordinator(request: Request) -> SignedIn:
    visitor = _need_visitor(request)
    if visitor.role not in COORDINATORS:
        raise HTTPException(404)
    return visitor


def _need_reviewer(request: Request) -> SignedIn:
    visitor = _need_visitor(request)
    # What was given to them before stays theirs, and is no longer shown.
    if not may_mark(_read_ledger(request), visitor.user_id):
        raise HTTPException(404)
    return visitor


def _need_watcher(request: Request) -> SignedIn:
    visitor = _need_visitor(request)
    if not is_watcher(visitor):
        raise HTTPException(403)
    return visitor


def _read_ledger(request: Request) -> Ledger:
    ledger: Ledger = request.app.state.ledger
    return ledger


def _read_settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def keep_own_path(then: str) -> str:
    """A path of this server; what could be taken for another site becomes the start page."""
    is_own = then.startswith("/") and not then.startswith(("//", "/\\")) and then.isprintable()
    return then if is_own and "\\" not in then else "/"


def check_form(request: Request, visitor: SignedIn, token: str) -> None:
    """Raise 403 unless the form carries the token of this session."""
    if not read_sessions(request).is_form_token(visitor.session_id, token):
        raise HTTPException(403)


async def read_form(request: Request) -> dict[str, str]:
    """A form's fields, the last of a name counts; 400 for no form, or the character zero."""
    try:
        text = (await request.body()).decode("utf-8")
        fields = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError:
        raise HTTPException(400) from None
    if has_zero(fields):
        raise HTTPException(400)
    # A form sends a line's end as two characters; its page, and what may be written, count one.
    return {name: value.replace("\r\n", "\n") for name, value in fields}


async def _read_json(request: Request) -> Mapping[str, Any]:
    """The JSON object of a request with its session's token; raises 400, 401 and 403."""
    visitor = read_visitor(request)
    if visitor is None:
        raise HTTPException(401)
    check_form(request, visitor, request.headers.get(FORM_HEADER, ""))
    try:
        value = json.loads(await request.body())
        # Half a surrogate pair is no text that a store could keep.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise HTTPException(400) from None
    if not isinstance(value, Mapping) or has_zero(value):
        raise HTTPException(400)
    return value


async def _read_checked_form(request: Request) -> Mapping[str, str]:
    """The fields of a form with its session's token; raises 400, 403 and SignInNeeded."""
    visitor = _need_visitor(request)
    fields = await read_form(request)
    check_form(request, visitor, fields.get("form_token", ""))
    return fields


Visitor = Annotated[SignedIn, Depends(_need_visitor)]
Reviewer = Annotated[SignedIn, Depends(_need_reviewer)]
Coordinator = Annotated[SignedIn, Depends(_need_coordinator)]
Watcher = Annotated[SignedIn, Depends(_need_watcher)]
Store = Annotated[Ledger, Depends(_read_ledger)]
Config = Annotated[Settings, Depends(_read_settings)]
Form = Annotated[Mapping[str, str], Depends(_read_checked_form)]
Body = Annotated[Mapping[str, Any], Depends(_read_json)]
