"""Requests that need a second person: what waits, and the second person's word."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Path, Query
from fastapi.concurrency import run_in_threadpool

from deployments.exam_api import bodies
from deployments.exam_api.caller import MOST_PER_PAGE, Exam, Limit, Store, Token, cut_page
from schemas.ledger.trust import Approval
from tasks.running.approvals import name_state
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust.approvals import list_approvals

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


def add_approval_routes(app: FastAPI) -> None:
    """Add what examiners and admins may ask of requests, and decide."""

    @app.get("/approvals")
    async def list_requests(
        token: Token,
        protocol: Exam,
        ledger: Store,
        after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
        limit: Limit = MOST_PER_PAGE,
    ) -> bodies.ApprovalList:
        """Requests for a second person by number, decided ones too. A page at a time."""
        await run_in_threadpool(protocol.check_token, token, "decide_requests", "list_requests")
        found = await run_in_threadpool(_read_page, ledger, after, limit + 1)
        page, next_after = cut_page(found, limit, lambda one: str(one.approval_id))
        return bodies.ApprovalList(
            approvals=[_describe(one) for one in page],
            next_after=None if next_after is None else int(next_after),
        )

    @app.post("/approvals/{approval_id}/approve")
    async def approve_request(approval_id: Number, token: Token, protocol: Exam) -> bodies.ApprovalBody:
        """Agree to exactly what is asked, as somebody other than the person who asked.

        The token must be of one's own password.
        """
        return await run_in_threadpool(_decide, protocol, token, approval_id, is_approved=True)

    @app.post("/approvals/{approval_id}/refuse")
    async def refuse_request(approval_id: Number, token: Token, protocol: Exam) -> bodies.ApprovalBody:
        """Refuse what is asked, or take back an approval that was not used."""
        return await run_in_threadpool(_decide, protocol, token, approval_id, is_approved=False)


def _decide(protocol: Exam, token: str, approval_id: int, *, is_approved: bool) -> bodies.ApprovalBody:
    return _describe(protocol.decide(token, approval_id, is_approved=is_approved))


def _read_page(ledger: Ledger, after: int, limit: int) -> list[Approval]:
    with ledger.read() as connection:
        return list_approvals(connection, after=after, limit=limit)


def _describe(approval: Approval) -> bodies.ApprovalBody:
    values = approval.as_values() | {"state": name_state(approval)}
    return bodies.ApprovalBody(**{name: values[name] for name in bodies.ApprovalBody.model_fields})
