"""The coordinators' side of what is written on questions: what waits, and the answer."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deployments.auth import SignedIn
from deployments.web.pages import render_page
from deployments.web.references import read_reference, refer
from deployments.web.show import choose_language, show_question
from deployments.web.visitor import Coordinator, Form, Store
from schemas.errors import GateError, UsageError
from tasks.review.desk import (
    MOST_CHARACTERS,
    NewMessage,
    count_waiting,
    list_conversations,
    open_for_coordinator,
    write_message,
)
from warehouse.ledger.engine.moments import now_text


def add_message_routes(app: FastAPI) -> None:
    """Add the pages of messages; to everybody but coordinators they do not exist."""

    @app.get("/messages")
    def show_messages(request: Request, visitor: Coordinator, ledger: Store) -> Response:
        found = list_conversations(ledger)
        return render_page(
            request,
            "messages.html",
            visitor,
            conversations=[(refer(request, visitor, one.batch_id, one.question_uuid), one) for one in found],
            waiting=count_waiting(found),
        )

    @app.get("/messages/{batch_id}/{reference}")
    def show_conversation(
        request: Request, batch_id: str, reference: str, visitor: Coordinator, ledger: Store
    ) -> Response:
        uuid = _read(request, visitor, batch_id, reference)
        found = open_for_coordinator(ledger, batch_id, uuid, visitor.user_id)
        if found is None:
            raise HTTPException(404)
        content = found.item.content
        return render_page(
            request,
            "conversation.html",
            visitor,
            batch_id=batch_id,
            content=content,
            shown=show_question(content, choose_language(request)),
            messages=found.messages,
            annotators=found.annotators,
            asked=next((one.to for one in reversed(found.messages) if one.who == "reviewer"), None),
            is_open=found.is_open,
            most_characters=MOST_CHARACTERS,
        )

    @app.post("/messages/{batch_id}/{reference}")
    def answer(
        request: Request, batch_id: str, reference: str, visitor: Coordinator, ledger: Store, form: Form
    ) -> Response:
        uuid = _read(request, visitor, batch_id, reference)
        try:
            written = NewMessage(
                visitor.user_id, form.get("text", ""), is_coordinator=True, to=form.get("to") or None
            )
            write_message(ledger, batch_id, uuid, written, now_text())
        except UsageError:
            raise HTTPException(400) from None
        except GateError:
            raise HTTPException(409) from None
        return RedirectResponse(f"/messages/{batch_id}/{reference}", 303)


def _read(request: Request, visitor: SignedIn, batch_id: str, reference: str) -> str:
    uuid = read_reference(request.app.state.key, visitor.user_id, batch_id, reference)
    if uuid is None:
        raise HTTPException(404)
    return uuid
