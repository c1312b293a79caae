"""Coordinators publish guidelines; each annotator is shown what changed until it is read."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deployments.auth import SignedIn
from deployments.web.pages import render_page
from deployments.web.visitor import ANNOTATORS, COORDINATORS, Coordinator, Form, Store, Visitor, keep_own_path
from schemas.errors import UsageError
from tasks.review.desk import (
    list_guidelines,
    list_unread_guidelines,
    mark_guidelines_read,
    publish_guidelines,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text


def add_guideline_routes(app: FastAPI) -> None:
    """Add the pages of the guidelines, which annotators and coordinators have."""

    @app.get("/guidelines")
    def show_guidelines(request: Request, visitor: Visitor, ledger: Store, then: str = "/") -> Response:
        _need_reader(visitor)
        unread = list_unread_guidelines(ledger, visitor.user_id) if visitor.role in ANNOTATORS else ()
        return render_page(
            request,
            "guidelines.html",
            visitor,
            versions=list_guidelines(ledger),
            unread={one.version for one in unread},
            newest=unread[-1].version if unread else 0,
            then=keep_own_path(then),
            published=request.query_params.get("published") == "1",
        )

    @app.post("/guidelines/read")
    def mark_read(request: Request, visitor: Visitor, ledger: Store, form: Form) -> Response:
        _need_reader(visitor)
        version = form.get("version", "")
        if not (version.isdecimal() and len(version) < 9):
            raise HTTPException(400)
        try:
            mark_guidelines_read(ledger, visitor.user_id, int(version), now_text())
        except UsageError:
            raise HTTPException(400) from None
        return RedirectResponse(keep_own_path(form.get("then", "/")), 303)

    @app.post("/guidelines")
    def publish(request: Request, visitor: Coordinator, ledger: Store, form: Form) -> Response:
        try:
            publish_guidelines(
                ledger,
                form.get("changes", ""),
                now_text(),
                changes_zh=form.get("changes_zh", ""),
                published_by=visitor.user_id,
            )
        except UsageError:
            raise HTTPException(400) from None
        return RedirectResponse("/guidelines?published=1", 303)


def find_unread(request: Request, visitor: SignedIn, ledger: Ledger) -> Response | None:
    """Where an annotator is led first who has not read what changed; null for everybody else."""
    if visitor.role not in ANNOTATORS or not list_unread_guidelines(ledger, visitor.user_id):
        return None
    return RedirectResponse(f"/guidelines?then={quote(request.url.path)}", 303)


def _need_reader(visitor: SignedIn) -> None:
    if visitor.role not in (*ANNOTATORS, *COORDINATORS):
        raise HTTPException(404)
