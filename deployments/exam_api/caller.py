"""Who calls, and with what.

That is the token, the lease, and the protocol and ledger of this process. All are coroutines, though none
waits: each of the others would cost every request a thread's turn.

Lists come a page at a time.

The caller names the last entry of the page before, and no reply grows with history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Header, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from deployments.exam_api import bodies
from schemas.errors import ExamError
from tasks.exam.protocol import ExamProtocol, Lease
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import CALLER, Caller

_bearer = HTTPBearer(auto_error=False, bearerFormat="JWT", description="A token of the exam.")
T = TypeVar("T")
MOST_PER_PAGE: Final = 500
Limit = Annotated[int, Query(ge=1, le=MOST_PER_PAGE)]


async def read_token(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    """The token that is shown; raises ExamError 401 without one.

    A route that depends on this is closed to strangers.
    """
    if credentials is None:
        raise ExamError(401, "token_missing", "Send a token in the header `Authorization: Bearer …`.")
    return credentials.credentials


async def _read_protocol(request: Request) -> ExamProtocol:
    # In the request's own context, so that every entry of the audit log that it makes has the address.
    CALLER.set(Caller(address=request.client.host[:64] if request.client else None))
    protocol: ExamProtocol = request.app.state.protocol
    return protocol


def acting_as(user_id: str) -> None:
    """Let the audit log name who acts in what follows of this request."""
    CALLER.set(replace(CALLER.get(), user_id=user_id))


async def _read_ledger(request: Request) -> Ledger:
    ledger: Ledger = request.app.state.ledger
    return ledger


async def _read_lease(
    session_id: bodies.SessionId,
    x_lease_secret: Annotated[bodies.LeaseSecret, Header()],
    x_lease_generation: Annotated[int, Header(ge=1, le=2**31 - 1)],
) -> Lease:
    return Lease(session_id, x_lease_generation, x_lease_secret, 0.0, "", 0, 0)


Token = Annotated[str, Depends(read_token)]
Exam = Annotated[ExamProtocol, Depends(_read_protocol)]
Store = Annotated[Ledger, Depends(_read_ledger)]
Held = Annotated[Lease, Depends(_read_lease)]


def cut_page(found: Sequence[T], limit: int, name: Callable[[T], str]) -> tuple[Sequence[T], str | None]:
    """The page, and what the next one follows.

    `found` has one entry more than the page when there is a next page.
    """
    page = found[:limit]
    return page, name(page[-1]) if len(found) > limit else None
