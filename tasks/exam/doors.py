"""Two doors to one protocol: in process, and over HTTP through the exam API.

The protocol itself is the door in process. Both speak the same interface and raise the same ExamError, so that whoever sits an
exam need not know which it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self
from urllib.parse import quote, urlencode

from tasks.exam.http_calls import PATIENCE_S, HttpCaller
from tasks.exam.protocol import Answer, Lease, Put, Quota, Receipt, SessionStatus, SessionSummary

if TYPE_CHECKING:
    from warehouse.ledger.money.calls import FinishedCall


class Door(Protocol):
    """What a sitter needs; each method does and raises what the method of ExamProtocol does."""

    @property
    def keeps_calls(self) -> bool: ...  # noqa: D102

    async def open_session(self, token: str, session_id: str, lease_secret: str | None = None) -> Lease: ...  # noqa: D102
    async def renew_lease(self, token: str, lease: Lease) -> Lease: ...  # noqa: D102
    async def next_question(self, token: str, lease: Lease) -> Put | None: ...  # noqa: D102
    async def read_pending(self, token: str, lease: Lease) -> list[Put]: ...  # noqa: D102
    async def submit_answer(self, token: str, lease: Lease, seq: int, answer: Answer) -> Receipt: ...  # noqa: D102
    async def submit_and_next(  # noqa: D102
        self, token: str, lease: Lease, seq: int, answer: Answer, call: FinishedCall | None = None
    ) -> tuple[Receipt, Put | None]: ...
    async def read_status(self, token: str, session_id: str) -> SessionStatus: ...  # noqa: D102
    async def release_session(self, token: str, session_id: str) -> SessionStatus: ...  # noqa: D102
    async def list_sessions(self, token: str, run_id: str | None = None) -> list[SessionSummary]: ...  # noqa: D102


class HttpDoor:
    """The exam API at an address.

    Every call may be sent again: what was done already is reported, and never done twice.

    Args:
        url: address of the API, without a path.
        patience_s: how long a server that does not answer is tried again before DoorError.
    """

    keeps_calls: Final = False

    def __init__(self, url: str, *, patience_s: float = PATIENCE_S) -> None:
        self._caller = HttpCaller(url, patience_s=patience_s)
        self._call = self._caller.call

    async def __aenter__(self) -> Self:
        await self._caller.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._caller.__aexit__(kind, value, trace)

    async def open_session(self, token: str, session_id: str, lease_secret: str | None = None) -> Lease:
        """See ExamProtocol.open_session."""
        body = await self._call(
            "POST", f"/sessions/{_segment(session_id)}/open", token, json={"lease_secret": lease_secret}
        )
        return Lease.from_body(body, body["secret"])

    async def renew_lease(self, token: str, lease: Lease) -> Lease:
        """See ExamProtocol.renew_lease."""
        body = await self._call("POST", f"/sessions/{_segment(lease.session_id)}/renew", token, lease)
        return Lease.from_body(body, lease.secret)

    async def next_question(self, token: str, lease: Lease) -> Put | None:
        """See ExamProtocol.next_question."""
        body = await self._call("GET", f"/sessions/{_segment(lease.session_id)}/next", token, lease)
        return None if body["question"] is None else Put.from_body(body["question"])

    async def read_pending(self, token: str, lease: Lease) -> list[Put]:
        """An empty list: at most one question is pending, and next_question gives it again."""
        del token, lease
        return []

    async def submit_answer(self, token: str, lease: Lease, seq: int, answer: Answer) -> Receipt:
        """See ExamProtocol.submit_answer."""
        body = await self._submit(token, lease, seq, answer, wants_next=False)
        return Receipt(**body["receipt"])

    async def submit_and_next(
        self, token: str, lease: Lease, seq: int, answer: Answer, call: FinishedCall | None = None
    ) -> tuple[Receipt, Put | None]:
        """See ExamProtocol.submit_and_next; calls are kept before they come here."""
        assert call is None, "this door keeps no calls"
        body = await self._submit(token, lease, seq, answer, wants_next=True)
        return Receipt(**body["receipt"]), None if body["question"] is None else Put.from_body(
            body["question"]
        )

    async def read_status(self, token: str, session_id: str) -> SessionStatus:
        """See ExamProtocol.read_status."""
        return _parse_status(await self._call("GET", f"/sessions/{_segment(session_id)}", token))

    async def release_session(self, token: str, session_id: str) -> SessionStatus:
        """See ExamProtocol.release_session."""
        return _parse_status(await self._call("POST", f"/sessions/{_segment(session_id)}/release", token))

    async def list_sessions(self, token: str, run_id: str | None = None) -> list[SessionSummary]:
        """See ExamProtocol.list_sessions."""
        found: list[SessionSummary] = []
        query = {} if run_id is None else {"run_id": run_id}
        while True:
            body = await self._call("GET", f"/sessions?{urlencode(query)}", token)
            found += [SessionSummary(**item) for item in body["sessions"]]
            if body["next_after"] is None:
                return found
            query["after"] = body["next_after"]

    async def _submit(self, token: str, lease: Lease, seq: int, answer: Answer, *, wants_next: bool) -> Any:
        body = {"seq": seq, "wants_next": wants_next, **asdict(answer.fitted())}
        return await self._call(
            "POST", f"/sessions/{_segment(lease.session_id)}/answers", token, lease, json=body
        )


def _parse_status(body: Mapping[str, Any]) -> SessionStatus:
    quotas = {
        name: None if body[name] is None else Quota(**body[name])
        for name in ("session", "candidate", "organisation")
    }
    return SessionStatus(**{**body, **quotas})


def _segment(text: str) -> str:
    return quote(text, safe="")
