"""The annotator's pages: what waits, one question, its decision, and drafts of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from deployments.auth import SignedIn
from deployments.web.card import (
    describe_decision,
    describe_faults,
    find_accept_fault,
    list_doubts,
    write_given,
    write_original,
)
from deployments.web.guideline_routes import find_unread
from deployments.web.originals import BusyError, Sight, Sights, SimilarShelf
from deployments.web.pages import count_days, render_page
from deployments.web.pictures import ReviewPictures, answer_picture, place_pictures_in
from deployments.web.references import read_reference, refer
from deployments.web.show import choose_language, show_question
from deployments.web.visitor import COORDINATORS, Body, Config, Reviewer, Store, Visitor
from schemas.errors import DocumentError, GateError, StoreError, UsageError
from schemas.reviews import REJECT_REASONS
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.judging.marking import may_mark
from tasks.questions.display import render_start
from tasks.review.assigning import read_daily_quota
from tasks.review.channels import list_pictures, parse_decision, translate
from tasks.review.decisions import Fault, GivenDecision, Item
from tasks.review.desk import (
    MOST_CHARACTERS,
    QUEUES,
    NewMessage,
    OpenQuestion,
    Queue,
    count_batch_work,
    count_decided_since,
    count_listed,
    list_conversations,
    list_queue,
    list_work,
    open_question,
    read_first,
    read_last_decided,
    read_settled,
    save_draft,
    write_message,
)
from tasks.review.recording import StaleError, Submission, SubmissionReceipt, record_one
from tasks.watching import WATCHERS
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text

ROWS_PER_PAGE = 500
SHOWN_OF_A_STEM = 90
SOURCE = "web page"
# So many similar questions are shown, and looked at until there are as many.
_MOST_SIMILAR = 3
_MOST_LOOKED_AT = 30


def _open(request: Request, batch_id: str, reference: str, visitor: Reviewer, ledger: Store) -> OpenQuestion:
    """The question that the reference means to this visitor; 404 for what was not given to them."""
    question_uuid = read_reference(request.app.state.key, visitor.user_id, batch_id, reference)
    found = question_uuid and open_question(ledger, batch_id, question_uuid, visitor.user_id)
    if not found:
        raise HTTPException(404)
    return found


Opened = Annotated[OpenQuestion, Depends(_open)]


def add_review_routes(app: FastAPI) -> None:
    """Add the annotator's pages."""

    @app.get("/")
    def show_work(request: Request, visitor: Visitor, ledger: Store, settings: Config) -> Response:
        is_reviewer = may_mark(ledger, visitor.user_id)
        work = list_work(ledger, visitor.user_id) if is_reviewer else []
        if not work and visitor.role in COORDINATORS:
            return RedirectResponse("/coordination", 303)
        if not work and visitor.role in WATCHERS:
            return RedirectResponse("/runs", 303)
        now = now_text()
        if unread := find_unread(request, visitor, ledger):
            return unread
        return render_page(
            request,
            "work.html",
            visitor,
            conversations=[
                (refer(request, visitor, one.batch_id, one.question_uuid), one)
                for one in (list_conversations(ledger, visitor.user_id) if is_reviewer else ())
                if one.stem is not None
            ],
            work=[(one, count_days(one.due_at, now)) for one in work],
            queues=QUEUES,
            today=_count_today(ledger, visitor.user_id),
            quota=read_daily_quota(ledger, settings, visitor.user_id),
            is_due=any(count_days(one.due_at, now) <= 0 and any(one.waiting.values()) for one in work),
        )

    @app.get("/review/{batch_id}/list/{queue}")
    def show_list(
        request: Request, batch_id: str, queue: str, visitor: Reviewer, ledger: Store, page: int = 1
    ) -> Response:
        name = _check_queue(queue)
        listed = count_listed(ledger, batch_id, visitor.user_id)
        if not any(listed.values()):
            raise HTTPException(404)
        page_count = -(-listed[name] // ROWS_PER_PAGE) or 1
        page = min(max(page, 1), page_count)
        start = (page - 1) * ROWS_PER_PAGE
        lines = list_queue(ledger, batch_id, visitor.user_id, name, start, ROWS_PER_PAGE)
        return render_page(
            request,
            "list.html",
            visitor,
            batch_id=batch_id,
            listed=listed,
            is_waiting=any(line.decision is None for line in lines)
            or read_first(ledger, batch_id, visitor.user_id, name) is not None,
            queue=name,
            queues=QUEUES,
            lines=[(refer(request, visitor, batch_id, line.item_uuid), line) for line in lines],
            show_start=partial(render_start, language=choose_language(request), most=SHOWN_OF_A_STEM),
            start=start,
            page=page,
            page_count=page_count,
            now=now_text(),
        )

    @app.get("/review/{batch_id}/next/{queue}")
    def show_next(request: Request, batch_id: str, queue: str, visitor: Reviewer, ledger: Store) -> Response:
        name = _check_queue(queue)
        first = read_first(ledger, batch_id, visitor.user_id, name)
        if first is None:
            return RedirectResponse(f"/review/{batch_id}/list/{name}", 303)
        return RedirectResponse(_locate(request, visitor, batch_id, first), 303)

    @app.get("/review/{batch_id}/question/{reference}")
    def show_one(
        request: Request, reference: str, visitor: Visitor, ledger: Store, settings: Config, one: Opened
    ) -> Response:
        if unread := find_unread(request, visitor, ledger):
            return unread
        assigned, decided = count_batch_work(ledger, one.batch.batch_id, visitor.user_id)
        return render_page(
            request,
            "question.html",
            visitor,
            **_describe(request, visitor, one, reference),
            assigned_count=assigned,
            decided_count=decided,
            today=_count_today(ledger, visitor.user_id),
            quota=read_daily_quota(ledger, settings, visitor.user_id),
            is_due=count_days(one.batch.due_at, now_text()) <= 0,
            reasons=REJECT_REASONS,
        )

    @app.get("/review/{batch_id}/question/{reference}/card")
    def show_card(request: Request, reference: str, visitor: Visitor, one: Opened) -> Response:
        """The card alone: the page fetches those that come next, so that nobody waits for them."""
        return render_page(request, "card.html", visitor, **_describe(request, visitor, one, reference))

    @app.get("/review/{batch_id}/question/{reference}/original")
    def show_original(request: Request, reference: str, visitor: Visitor, one: Opened) -> Response:
        """The question's place in its paper, in a request of its own: drawing one takes seconds."""
        sights: Sights = request.app.state.sights
        sight = _find_sight(sights, one)
        return render_page(
            request,
            "original.html",
            visitor,
            address=f"/review/{one.batch.batch_id}/question/{reference}",
            pictures=sights.list_pictures(sight) if sight else [],
            excerpt=sight and sight.excerpt,
            problem=sight and sight.view.problem,
        )

    @app.get("/review/{batch_id}/question/{reference}/similar")
    def show_similar(request: Request, visitor: Visitor, ledger: Store, one: Opened) -> Response:
        """Similar questions already decided, asked for apart: the index may have to be made."""
        try:
            similar = _list_similar(request, ledger, visitor, one)
        except BusyError:
            # The page asks again.
            return Response(status_code=202)
        return render_page(request, "similar.html", visitor, similar=similar)

    @app.post("/review/{batch_id}/question/{reference}/message")
    async def send_message(
        request: Request, visitor: Visitor, body: Body, ledger: Store, one: Opened
    ) -> Response:
        """Write to the coordinators, and show what stands there then."""
        return await run_in_threadpool(_send, request, ledger, visitor, one, body)

    @app.get("/review/{batch_id}/question/{reference}/page/{page}.png")
    def show_page(request: Request, page: int, one: Opened) -> Response:
        """A page of the question's paper as a picture."""
        sights: Sights = request.app.state.sights
        sight = _find_sight(sights, one)
        picture = sights.draw(sight, page) if sight and sight.may_show(page) else None
        if picture is None:
            raise HTTPException(404)
        # Kept by this person's browser alone, and not for long: going back shows it at once.
        return Response(picture, media_type="image/png", headers={"cache-control": "private, max-age=600"})

    @app.get("/review/{batch_id}/question/{reference}/picture/{sha256}")
    def show_picture(request: Request, sha256: str, one: Opened) -> Response:
        """A picture of the question, or one that was made of its paper."""
        pictures: ReviewPictures = request.app.state.pictures
        return answer_picture(pictures.read(one.work.item, sha256))

    @app.post("/review/{batch_id}/question/{reference}/picture")
    async def make_picture(request: Request, body: Body, one: Opened) -> Response:
        """Cut a picture out of the paper again, or take a file in its place."""
        pictures: ReviewPictures = request.app.state.pictures
        try:
            made = await run_in_threadpool(pictures.make, one.work.item, body)
        except DocumentError as error:
            return JSONResponse({"code": error.code, "message": str(error)}, 422)
        except (BusyError, StoreError):
            raise HTTPException(503) from None
        return JSONResponse(made)

    @app.get("/review/{batch_id}/previous")
    def find_previous(
        request: Request, batch_id: str, visitor: Reviewer, ledger: Store, before: str = ""
    ) -> Response:
        found = read_last_decided(ledger, batch_id, visitor.user_id, before or None)
        reference = None if found is None else refer(request, visitor, batch_id, found)
        return JSONResponse({"reference": reference})

    @app.post("/review/{batch_id}/question/{reference}/decision")
    async def decide(request: Request, visitor: Visitor, body: Body, ledger: Store, one: Opened) -> Response:
        """Record a decision: the same again changes nothing, one not seen so is shown instead."""
        return await run_in_threadpool(_decide, request, ledger, visitor, one, body)

    @app.post("/review/{batch_id}/question/{reference}/draft")
    async def keep_draft(visitor: Visitor, body: Body, ledger: Store, one: Opened) -> Response:
        """Keep what was begun, for another device and after anything that happens here."""
        draft = body.get("draft")
        if not isinstance(draft, dict | None):
            raise HTTPException(400)
        await run_in_threadpool(
            save_draft,
            ledger,
            one.batch.batch_id,
            one.work.item.question_uuid,
            visitor.user_id,
            draft,
            now_text(),
        )
        return JSONResponse({})


def _decide(
    request: Request, ledger: Ledger, visitor: SignedIn, one: OpenQuestion, body: Mapping[str, Any]
) -> Response:
    language = choose_language(request)
    item, batch_id = one.work.item, one.batch.batch_id
    seen = body.get("seen")
    if not isinstance(seen, str | None):
        raise HTTPException(400)
    given, faults = parse_decision(body, item.question_uuid, item.content, item.notes)
    if given is not None and given.decision != "reject":
        faults = _find_picture_faults(request, item, given)
    if given is None or faults:
        return JSONResponse({"code": "faulty", "faults": describe_faults(faults, language)}, 422)
    submission = Submission(
        SOURCE,
        batch_id,
        visitor.user_id,
        one.assignment.role,
        "web",
        [given],
        seen={item.question_uuid: seen or None},
    )
    try:
        report = record_one(ledger, submission, now_text())
    except StaleError as error:
        shown = error.stands and describe_decision(item.content, error.stands, language)
        return JSONResponse(
            {
                "code": "conflict",
                "seen": error.stands.decided_at if error.stands else None,
                "stands": " · ".join(filter(None, (shown.word, shown.reason, shown.comment)))
                if shown
                else "",
            },
            409,
        )
    except GateError:
        return JSONResponse({"code": "closed"}, 410)
    except UsageError:
        # It was given to somebody else between reading it and recording.
        raise HTTPException(404) from None
    save_draft(ledger, batch_id, item.question_uuid, visitor.user_id, None, now_text())
    for name in report.complete_batches:
        request.app.state.continue_batch(name)
    stands = open_question(ledger, batch_id, item.question_uuid, visitor.user_id)
    receipt: SubmissionReceipt = report.receipts[0]
    return JSONResponse(
        {
            "seen": stands.work.own.decided_at if stands and stands.work.own else None,
            "is_new": receipt.new_count == 1,
            "is_complete": bool(report.complete_batches),
            "decided": count_batch_work(ledger, batch_id, visitor.user_id)[1],
            "today": _count_today(ledger, visitor.user_id),
        }
    )


def _find_picture_faults(request: Request, item: Item, given: GivenDecision) -> list[Fault]:
    """Pictures that are not of the question's paper, or whose bytes are lost."""
    pictures: ReviewPictures = request.app.state.pictures
    added = given.edit.pictures or () if given.edit else ()
    if any(not pictures.may_hold(item, one.sha256) for one in added):
        return [Fault("pictures", "a picture is not of this paper")]
    content = given.edit.apply(item.content) if given.edit else item.content
    if pictures.is_lost(content):
        return [Fault("pictures", "a picture is lost; cut it out again, put another in its place, or reject")]
    return []


def _send(
    request: Request, ledger: Ledger, visitor: SignedIn, one: OpenQuestion, body: Mapping[str, Any]
) -> Response:
    text, item = body.get("text"), one.work.item
    if not isinstance(text, str):
        raise HTTPException(400)
    try:
        written = NewMessage(visitor.user_id, text)
        write_message(ledger, one.batch.batch_id, item.question_uuid, written, now_text())
    except GateError:
        return JSONResponse({"code": "closed"}, 410)
    except UsageError:
        raise HTTPException(400) from None
    again = open_question(ledger, one.batch.batch_id, item.question_uuid, visitor.user_id)
    address = request.url.path.removesuffix("/message")
    return render_page(request, "talk.html", visitor, address=address, **_describe_talk(again or one))


def _describe_talk(one: OpenQuestion) -> dict[str, Any]:
    return {
        "messages": one.work.messages,
        "is_open": not one.batch.is_closed,
        "is_adjudicator": one.assignment.role == "adjudicator",
        "most_characters": MOST_CHARACTERS,
    }


def _list_similar(
    request: Request, ledger: Ledger, visitor: SignedIn, one: OpenQuestion
) -> list[dict[str, Any]]:
    """The most similar questions whose decision this annotator may know; raises BusyError."""
    language, here = choose_language(request), (one.batch.batch_id, one.work.item.question_uuid)
    shelf: SimilarShelf = request.app.state.similar
    likes = shelf.find(*here)
    found: list[dict[str, Any]] = []
    for key, share in likes[:_MOST_LOOKED_AT]:
        settled = read_settled(ledger, key, here, visitor.user_id)
        if settled is not None:
            shown = show_question(settled.content, language)
            found.append({"settled": settled, "percent": round(100 * share), "shown": shown})
        if len(found) == _MOST_SIMILAR:
            break
    return found


def _describe(request: Request, visitor: SignedIn, one: OpenQuestion, reference: str) -> dict[str, Any]:
    """What the card's template places."""
    language, item, batch_id = choose_language(request), one.work.item, one.batch.batch_id
    address = f"/review/{batch_id}/question/{reference}"
    pictures: ReviewPictures = request.app.state.pictures
    described = pictures.describe(item.content) if list_pictures(item.content) else []
    fault = find_accept_fault(item, language)
    if described and not fault and pictures.is_lost(item.content):
        fault = translate(
            "a picture is lost; cut it out again, put another in its place, or reject", language
        )
    return {
        "one": one,
        "item": item,
        "content": item.content,
        "reference": reference,
        "address": address,
        "next_reference": one.next_uuid and refer(request, visitor, batch_id, one.next_uuid),
        "shown": place_pictures_in(show_question(item.content, language), described, address, language),
        "doubts": list_doubts(item, language),
        "accept_fault": fault,
        "own": one.work.own and describe_decision(item.content, one.work.own, language),
        "opinions": [describe_decision(item.content, earlier, language) for earlier in one.work.earlier],
        "original": write_original(item.content, described),
        "given": write_given(one.work.own),
        "draft": json.dumps(one.draft["draft"], ensure_ascii=False) if one.draft else "",
        "question_types": QUESTION_TYPES,
        "discipline_codes": DISCIPLINES,
        "days_left": count_days(one.assignment.due_at, now_text()),
        **_describe_talk(one),
    }


def _find_sight(sights: Sights, one: OpenQuestion) -> Sight | None:
    try:
        return sights.find(one.work.item)
    except BusyError:
        raise HTTPException(503) from None


def _check_queue(queue: str) -> Queue:
    if queue not in QUEUES:
        raise HTTPException(404)
    return queue


def _locate(request: Request, visitor: SignedIn, batch_id: str, question_uuid: str) -> str:
    return f"/review/{batch_id}/question/{refer(request, visitor, batch_id, question_uuid)}"


def _count_today(ledger: Ledger, annotator: str) -> int:
    """Decisions since the day began (UTC), as `proctor review status` counts them."""
    return count_decided_since(ledger, annotator, f"{now_text()[:10]}T00:00:00.000000+00:00")
