"""How far each batch is, who is late, how far annotators agree, and the release of a batch."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deployments.web.pages import count_days, render_page
from deployments.web.visitor import Config, Coordinator, Form, Store
from schemas.errors import UsageError
from tasks.review import Agreement, close_batch, compute_review_agreement, read_votes
from tasks.review.assigning import reassign
from tasks.review.desk import count_waiting, list_conversations
from tasks.review.overview import BatchDetail, list_batch_summaries, read_batch_detail
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text

# With more decisions than these agreement is computed when it is asked for: it takes a second for each 20,000.
MOST_VOTES_AT_ONCE = 5_000


def add_coordinator_routes(app: FastAPI) -> None:
    """Add the coordinator's pages; to everybody else they do not exist."""

    @app.get("/coordination")
    def show_batches(request: Request, visitor: Coordinator, ledger: Store) -> Response:
        now = now_text()
        batches = list_batch_summaries(ledger, now)
        return render_page(
            request,
            "coordination.html",
            visitor,
            batches=[(batch, count_days(batch.due_at, now)) for batch in batches],
            released=request.query_params.get("released") == "1",
            waiting=count_waiting(list_conversations(ledger)),
        )

    @app.get("/coordination/{batch_id}")
    def show_batch(request: Request, batch_id: str, visitor: Coordinator, ledger: Store) -> Response:
        now = now_text()
        detail = _read(ledger, batch_id, now)
        decided = sum(share.decided_count for share in detail.annotators)
        is_shown = decided <= MOST_VOTES_AT_ONCE or request.query_params.get("agreement") == "1"
        return render_page(
            request,
            "batch.html",
            visitor,
            detail=detail,
            days_left=count_days(detail.due_at, now),
            late=[share for share in detail.annotators if share.overdue_count],
            agreement=_read_agreement(ledger, batch_id) if is_shown else None,
            movable=[share for share in detail.annotators if share.decided_count < share.assigned_count],
            moved=_read_moved(request),
        )

    @app.post("/coordination/{batch_id}/reassign")
    def move_work(
        request: Request, batch_id: str, visitor: Coordinator, ledger: Store, settings: Config, form: Form
    ) -> Response:
        """Move somebody's undecided work to others of the batch's disciplines; decisions stay."""
        _check_understood(form)
        _read(ledger, batch_id, now_text())
        try:
            found = reassign(ledger, form.get("annotator", ""), settings, now_text(), batch_id=batch_id)
        except UsageError:
            raise HTTPException(404) from None
        moved, left = (
            sum(sum(one.moved.values()) for one in found),
            sum(sum(one.left.values()) for one in found),
        )
        return RedirectResponse(f"/coordination/{batch_id}?moved={moved}&left={left}", 303)

    @app.post("/coordination/{batch_id}/release")
    def release(request: Request, batch_id: str, visitor: Coordinator, ledger: Store, form: Form) -> Response:
        """Close a batch before everything is decided: what is settled goes on, the rest stays out."""
        _check_understood(form)
        detail = _read(ledger, batch_id, now_text())
        if detail.status != "closed":
            close_batch(ledger, batch_id, now_text(), early=True)
            request.app.state.continue_batch(batch_id)
        return RedirectResponse("/coordination?released=1", 303)


def _read_agreement(ledger: Ledger, batch_id: str) -> dict[str, list[Agreement]]:
    rows = compute_review_agreement(read_votes(ledger, batch_id))
    return {
        scope: [row for row in rows if row.scope == scope]
        for scope in ("batch", "discipline", "annotator", "pair")
    }


def _read_moved(request: Request) -> tuple[int, int] | None:
    """How much was moved just now, and how much nobody could take; null where unasked."""
    counts = [request.query_params.get(name, "") for name in ("moved", "left")]
    return (
        (int(counts[0]), int(counts[1])) if all(one.isdecimal() and len(one) < 9 for one in counts) else None
    )


def _check_understood(form: Mapping[str, str]) -> None:
    """The box beside the button must be ticked: what follows is not taken back."""
    if form.get("is_understood") != "yes":
        raise HTTPException(400)


def _read(ledger: Ledger, batch_id: str, now: str) -> BatchDetail:
    try:
        return read_batch_detail(ledger, batch_id, now)
    except UsageError:
        raise HTTPException(404) from None
