"""The token comes first: nobody's body is read before it is known who sends it.

Whoever shows no token that we signed and that still lives is answered from the head of the request alone. Open to strangers are
the routes that ask for no token; they take small bodies only.
"""

from __future__ import annotations

from typing import Final

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from deployments.auth import Guard
from deployments.exam_api.caller import read_token
from deployments.exam_api.refusals import name_session, refuse
from deployments.exam_api.strangers import StrangerLog
from schemas.errors import ExamError
from tasks.exam.protocol import ExamProtocol

# What strangers may send: the longest name and password, or key, every character escaped, fit several times.
LARGEST_OF_STRANGERS_BYTES: Final = 64_000
# A body that is not read is drained up to so much; with more to come the connection ends.
_DRAINED_BYTES: Final = 65_536
_ACTIONS: Final = {
    "open": "open",
    "renew": "renew",
    "next": "next",
    "answers": "submit",
    "release": "release",
}
_LONGEST_TOKEN: Final = 4_096


class TokenGate:
    """Lets through who shows a token, and what is open to all."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._for_strangers = Guard(app, "proctor.exam_api", lambda _path: LARGEST_OF_STRANGERS_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            user_id = _check_token(request)
        except ExamError as error:
            if _is_open(request):
                await self._for_strangers(scope, receive, send)
                return
            strangers: StrangerLog = request.app.state.strangers
            protocol: ExamProtocol = request.app.state.protocol
            await strangers.note(
                request.client.host if request.client else None,
                _name_action(request.url.path),
                error.status,
                error.code,
                protocol.name_caller(request.headers.get("authorization", "").partition(" ")[2].strip()),
                name_session(_find_session(request.url.path)),
            )
            reply = await refuse(request, error)
            if _is_long(request):
                reply.headers["Connection"] = "close"
            await reply(scope, receive, send)
            return
        scope.setdefault("state", {}).update(is_known=True, user_id=user_id)
        await self._app(scope, receive, send)


def read_shown_token(request: Request) -> str:
    """The token of the header `Authorization`; raises ExamError 401 without one."""
    values = request.headers.getlist("authorization")
    scheme, _, token = (values[0] if len(values) == 1 else "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise ExamError(401, "token_missing", "Send a token in the header `Authorization: Bearer …`.")
    return token


def _check_token(request: Request) -> str:
    token = read_shown_token(request)
    if len(token) > _LONGEST_TOKEN:
        raise ExamError(
            401, "token_invalid", "The token's signature or form is not valid. Ask for a new one."
        )
    protocol: ExamProtocol = request.app.state.protocol
    return protocol.look_at_token(token).user_id


def _is_open(request: Request) -> bool:
    """Whether the route asks for no token; who shows none is not told what does not exist."""
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            return not isinstance(route, APIRoute) or not _asks_for_token(route.dependant)
    return False


def _asks_for_token(dependant: Dependant) -> bool:
    return any(part.call is read_token or _asks_for_token(part) for part in dependant.dependencies)


def _name_action(path: str) -> str:
    """What was wanted, in the protocol's words: strangers choose no words of the log."""
    parts = path.strip("/").split("/")
    if parts[0] != "sessions" or len(parts) > 3:
        return "show_token"
    return ("list", "status", _ACTIONS.get(parts[-1], "show_token"))[len(parts) - 1]


def _find_session(path: str) -> str | None:
    parts = path.strip("/").split("/")
    return parts[1] if len(parts) > 1 and parts[0] == "sessions" else None


def _is_long(request: Request) -> bool:
    """Whether more is to come than is worth waiting for."""
    length = request.headers.get("content-length", "0")
    return "transfer-encoding" in request.headers or not length.isdecimal() or int(length) > _DRAINED_BYTES
