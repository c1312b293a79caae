"""Held papers beside their text, lines to be marked: for coordinators, for answers show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from deployments.web.lake import find_door, open_asked, read_lake
from deployments.web.pages import render_page
from deployments.web.pictures import answer_picture, find_pictures, read_paper_picture
from deployments.web.second_reading_routes import (
    describe_held,
    describe_state,
    find_refusal,
    list_allowed,
)
from deployments.web.show import choose_language, say, say_of_reading
from deployments.web.visitor import Body, Config, Coordinator, Store
from schemas.errors import ConflictError, DocumentError, StoreError, UsageError
from tasks.ingest import (
    HEADING_TYPES,
    ROLES,
    PaperAsRead,
    ParsedDocument,
    find_obstacle,
    keep_correction,
    list_held,
    read_again,
    release_document,
)
from tasks.ingest.originals import draw_page, list_whole_pages, open_original
from tasks.review import open_waiting_batch

MOST_LINES = 6_000


def add_paper_routes(app: FastAPI) -> None:
    """Add the pages of held papers; to everybody but coordinators they do not exist."""

    @app.get("/papers")
    def show_held(request: Request, visitor: Coordinator, ledger: Store, settings: Config) -> Response:
        try:
            held = list_held(read_lake(request))
        except StoreError:
            held = []
        readers, refusal = list_allowed(settings), find_refusal(request, settings, None)
        return render_page(
            request,
            "held_papers.html",
            visitor,
            held=held,
            readers=readers,
            refusal=refusal,
            may_choose=bool(readers) and not refusal,
            document_id="",
            second={"state": "", "model": "", "is_under_way": False},
            told=describe_held(request, ledger, held),
        )

    @app.get("/papers/{document_id}")
    def show_paper(
        request: Request, document_id: str, visitor: Coordinator, ledger: Store, settings: Config
    ) -> Response:
        paper = open_asked(request, document_id)
        pages = list_whole_pages(settings, open_original(paper.document, paper.pages))
        return render_page(
            request,
            "held_paper.html",
            visitor,
            paper=paper,
            lines=paper.lines[:MOST_LINES],
            left_out=max(0, len(paper.lines) - MOST_LINES),
            pages=pages,
            roles=ROLES,
            types=HEADING_TYPES,
            state=paper.state,
            reading=_describe_questions(request, document_id, paper),
            readers=list_allowed(settings),
            is_settled=find_obstacle(read_lake(request), paper) == "not_held",
            refusal=find_refusal(request, settings, paper),
            document_id=document_id,
            second=describe_state(request, ledger, paper),
        )

    @app.get("/papers/{document_id}/page/{number}")
    def show_page(
        request: Request, document_id: str, number: int, visitor: Coordinator, settings: Config
    ) -> Response:
        paper = open_asked(request, document_id)
        original = open_original(paper.document, paper.pages)
        if number not in list_whole_pages(settings, original):
            raise HTTPException(404)
        try:
            picture = draw_page(settings, original, number)
        except DocumentError:
            raise HTTPException(404) from None
        return Response(picture, media_type="image/png", headers={"cache-control": "private, max-age=600"})

    @app.get("/papers/{document_id}/picture/{sha256}")
    def show_picture(
        request: Request, document_id: str, sha256: str, visitor: Coordinator, settings: Config
    ) -> Response:
        """A picture of the paper."""
        try:
            data = read_paper_picture(read_lake(request), settings.archive_dir, document_id, sha256)
        except StoreError:
            data = None
        return answer_picture(data)

    @app.post("/papers/{document_id}/reading")
    def read_with_marks(
        request: Request, document_id: str, visitor: Coordinator, settings: Config, body: Body
    ) -> Response:
        """What the marks make of the paper; nothing is kept."""
        paper = open_asked(request, document_id)
        marks = str(body.get("marks", ""))
        return _answer(request, lambda: read_again(read_lake(request), settings, paper, marks))

    @app.post("/papers/{document_id}/correction")
    def keep_marks(
        request: Request, document_id: str, visitor: Coordinator, settings: Config, body: Body
    ) -> Response:
        """Keep the marks and the reading that they make; with `release` the paper goes on.

        Of a paper that somebody else has changed since it was shown nothing is kept.
        """
        paper = open_asked(request, document_id)

        def keep() -> ParsedDocument:
            with find_door(request).write() as lake:
                return keep_correction(
                    lake,
                    settings,
                    paper,
                    str(body.get("marks", "")),
                    visitor.user_id,
                    release=body.get("release") is True,
                    seen=str(body.get("seen")),
                )

        try:
            reply = _answer(request, keep, lambda: {"seen": open_asked(request, document_id).state})
        except ConflictError:
            message = say("paper_changed_elsewhere", choose_language(request))
            return JSONResponse({"code": "conflict", "message": message}, 409)
        if reply.status_code == 200:
            # What goes on waits for review at once, where there are annotators.
            open_waiting_batch(settings)
        return reply

    @app.post("/papers/{document_id}/release")
    def release(
        request: Request, document_id: str, visitor: Coordinator, settings: Config, body: Body
    ) -> Response:
        """Let the paper go on as it was landed."""
        open_asked(request, document_id)
        try:
            with find_door(request).write() as lake:
                release_document(lake, document_id, str(body.get("reason", "")), visitor.user_id)
        except UsageError as error:
            return JSONResponse({"code": "refused", "message": str(error)}, 409)
        open_waiting_batch(settings)
        return JSONResponse({"status": "released"})


def _answer(
    request: Request, read: Callable[[], ParsedDocument], tell_more: Callable[[], dict[str, Any]] = dict
) -> JSONResponse:
    """A reading as our script shows it, or why there is none."""
    try:
        parsed = read()
        found = _describe_questions(request, str(parsed.document["document_id"]), parsed)
    except ConflictError:
        raise
    except (UsageError, DocumentError, StoreError) as error:
        message = say_of_reading(str(error), choose_language(request))
        return JSONResponse({"code": "refused", "message": message}, 409)
    return JSONResponse(found | tell_more())


def _describe_questions(
    request: Request, document_id: str, paper: PaperAsRead | ParsedDocument
) -> dict[str, Any]:
    document, language = paper.document, choose_language(request)
    # A released paper keeps the reason for which it was held.
    is_released = isinstance(paper, PaperAsRead) and paper.is_released
    describe = find_pictures(
        read_lake(request), document_id, paper if isinstance(paper, ParsedDocument) else None
    )
    return {
        "status": "parsed" if is_released else document["status"],
        "reason": say("paper_goes_on", language)
        if is_released
        else say_of_reading(document["error"], language) or None,
        "expected": document["expected_right_rate"],
        "questions": [
            {
                "start": row["text_start"],
                "end": row["text_end"],
                "type": row["question_type"],
                "stem": row["stem"],
                "material": row["material"],
                "options": [[option["label"], option["text"]] for option in row["options"] or ()],
                "answer": list(row["answer"] or ()),
                "confidence": row["parse_confidence"],
                "pictures": describe(row),
            }
            for row in paper.questions
        ],
    }
