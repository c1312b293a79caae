"""What the API refuses: one form for all errors, without a word of what was sent."""

from __future__ import annotations

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from deployments.exam_api import bodies
from deployments.exam_api.strangers import StrangerLog
from schemas.errors import ExamError

_FIELDS = frozenset(
    name
    for body in (
        bodies.TokenRequest,
        bodies.KeyRequest,
        bodies.IssueRequest,
        bodies.OpenRequest,
        bodies.AnswerRequest,
        bodies.UserRequest,
        bodies.UserChange,
    )
    for name in body.model_fields
) | {"session_id", "user_id", "run_id", "x-lease-secret", "x-lease-generation"}


# Seconds after which a password that had no place is sent again.
BUSY_RETRY_S = "3"


async def refuse(_request: Request, error: Exception) -> JSONResponse:
    """A refusal of the protocol in the API's form."""
    assert isinstance(error, ExamError)
    reply = _error(error.status, error.code, str(error))
    if error.code == "busy":
        reply.headers["Retry-After"] = BUSY_RETRY_S
    return reply


async def refuse_usage(_request: Request, error: Exception) -> JSONResponse:
    """What the ledger refuses as a wrong request: a name that is taken."""
    return _error(409, "not_possible", "This is not possible as things stand: the name is taken or unknown.")


async def refuse_form(request: Request, error: Exception) -> JSONResponse:
    """Name the fields that are wrong; never repeat what was sent."""
    assert isinstance(error, RequestValidationError)
    places = sorted({".".join(str(part) for part in item["loc"][:2]) for item in error.errors()})
    known = [place for place in places if place.split(".")[-1] in _FIELDS] or ["the request"]
    # Into no session's story: the token was looked at, and not yet whether the session is theirs.
    named = name_session(request.path_params.get("session_id"))
    await note_refusal(request, "malformed", 422, "request_invalid", named)
    return _error(
        422, "request_invalid", f"Missing or malformed: {', '.join(known)}. /openapi.json has the form."
    )


async def refuse_http(_request: Request, error: Exception) -> JSONResponse:
    """A request that is none of the API: no such address, method or body."""
    assert isinstance(error, HTTPException)
    words = {
        400: "request_unreadable",
        404: "not_found",
        405: "method_not_allowed",
        413: "body_too_large",
        503: "busy",
    }
    code = words.get(error.status_code, "refused")
    message = "The address, the method or the body is not one that the API takes."
    reply = _error(error.status_code, code, error.detail if error.status_code in (413, 503) else message)
    for name, value in (error.headers or {}).items():
        reply.headers[name] = value
    return reply


def name_session(given: object) -> str | None:
    """A session's id where it has the form of one, else None: strangers choose no log's words."""
    is_named = isinstance(given, str) and 0 < len(given) <= 80 and given.replace("-", "").isalnum()
    return str(given) if is_named else None


async def note_refusal(
    request: Request, action: str, status: int, code: str, target: str | None = None
) -> None:
    """Write a refusal that the protocol did not see into the audit log.

    Such refusals are of strangers, and are limited by the measure for strangers.
    """
    strangers: StrangerLog = request.app.state.strangers
    user_id = request.scope.get("state", {}).get("user_id")
    address = request.client.host if request.client else None
    await strangers.note(address, action, status, code, user_id, target)


def _error(status: int, code: str, message: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"code": code, "message": message}, status_code=status, headers=headers)
