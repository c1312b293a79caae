"""Marks that people give: stars for responses, classes of failures, verdicts on a league."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from deployments.auth import SignedIn
from deployments.web.lake import Kept, find_door, read_lake
from deployments.web.pages import render_page
from deployments.web.show import choose_language, show_question
from deployments.web.visitor import Body, Form, Store, Visitor
from schemas.errors import StoreAway, StoreError, UsageError
from tasks.judging.marking import (
    GivenMark,
    MarkItem,
    StaleMarkError,
    Work,
    WorkSummary,
    find_work,
    give_mark,
    is_landing_due,
    land_given,
    open_work,
    read_given,
)
from tasks.questions.display import render_text
from tasks.review import Language
from warehouse.ledger.engine.ledger import Ledger

# A work's texts are read once and kept this long; what waits in a league changes while others decide.
_MOST_KEPT, _SECONDS = 16, 600.0


def add_mark_routes(app: FastAPI) -> None:
    """Add the pages of marks."""
    kept: Kept[tuple[str, str], Work] = Kept(_MOST_KEPT, _SECONDS)

    @app.get("/marks")
    def show_marks(request: Request, visitor: Visitor, ledger: Store) -> Response:
        works = [(one, _count_given(ledger, one, visitor.user_id)) for one in _find(request, visitor)]
        return render_page(request, "marks.html", visitor, works=works)

    @app.get("/marks/{work_id}")
    def show_next(request: Request, work_id: str, visitor: Visitor, ledger: Store) -> Response:
        work = _open(request, kept, visitor, work_id)
        given = read_given(ledger, work)
        key = next((key for key in work.items if not _has_mark(work.items[key], given)), None)
        if key is None:
            return _show(request, visitor, work, None, given)
        return RedirectResponse(f"/marks/{work_id}/{key}", 303)

    @app.get("/marks/{work_id}/{key}")
    def show_item(request: Request, work_id: str, key: str, visitor: Visitor, ledger: Store) -> Response:
        work = _open(request, kept, visitor, work_id)
        if key not in work.items:
            raise HTTPException(404)
        return _show(request, visitor, work, work.items[key], read_given(ledger, work))

    @app.get("/marks/{work_id}/{key}/card")
    def show_card(request: Request, work_id: str, key: str, visitor: Visitor, ledger: Store) -> Response:
        """The item alone: the page fetches the one that comes next, so that nobody waits for it."""
        work = _open(request, kept, visitor, work_id)
        if key not in work.items:
            raise HTTPException(404)
        values = _describe(request, work, work.items[key], read_given(ledger, work))
        return render_page(request, "mark_card.html", visitor, **values)

    @app.post("/marks/{work_id}/{key}/mark")
    async def take_mark(
        request: Request, work_id: str, key: str, visitor: Visitor, body: Body, ledger: Store
    ) -> Response:
        """Keep a mark: the same again changes nothing, one not seen so is shown instead."""
        work = await run_in_threadpool(_open, request, kept, visitor, work_id)
        mark, note, seen = body.get("mark"), body.get("note") or "", body.get("seen")
        if not isinstance(mark, str) or not isinstance(note, str) or not isinstance(seen, str | None):
            raise HTTPException(400)
        if key not in work.items:
            raise HTTPException(404)
        try:
            given = await run_in_threadpool(give_mark, ledger, work, key, mark, note, seen=seen)
        except StaleMarkError as error:
            return JSONResponse(_describe_conflict(error.stands, choose_language(request)), 409)
        except UsageError:
            return JSONResponse({"code": "faulty", "faults": []}, 422)
        is_due = await run_in_threadpool(is_landing_due, ledger, work)
        if is_due:
            await run_in_threadpool(_land, request, ledger, work)
        return JSONResponse({"seen": given.given_at, "is_new": False, "is_complete": is_due})

    @app.post("/marks/{work_id}/hand-in")
    def hand_in(request: Request, work_id: str, visitor: Visitor, form: Form, ledger: Store) -> Response:
        """Land what was given so far, although more is asked for."""
        work = _open(request, kept, visitor, work_id)
        _land(request, ledger, work)
        kept.drop((visitor.session_id, work_id))
        return RedirectResponse("/marks", 303)


def _show(
    request: Request, visitor: SignedIn, work: Work, item: MarkItem | None, given: dict[str, GivenMark]
) -> Response:
    values = _describe(request, work, item, given) if item else {"item": None, "work": work}
    done = sum(_has_mark(one, given) for one in work.items.values())
    return render_page(request, "mark.html", visitor, **values, done=done, total=len(work.items))


def _describe(request: Request, work: Work, item: MarkItem, given: dict[str, GivenMark]) -> dict[str, Any]:
    """What the card's template places."""
    language = choose_language(request)
    keys = list(work.items)
    place = keys.index(item.key)
    after = [*keys[place + 1 :], *keys[:place]]
    stands = given.get(item.key)
    return {
        "work": work,
        "item": item,
        "place": place + 1,
        "previous": keys[place - 1] if place else None,
        "next": next((key for key in after if not _has_mark(work.items[key], given)), None),
        "shown": show_question(item.question, language, answer_heading="reference")
        if item.question
        else None,
        "texts": [(name, render_text(text, language)) for name, text in item.texts],
        "mark": stands.mark if stands else item.landed,
        "note": stands.note if stands else "",
        "seen": stands.given_at if stands else "",
    }


def _describe_conflict(stands: GivenMark | None, language: Language) -> dict[str, Any]:
    return {
        "code": "conflict",
        "seen": stands.given_at if stands else None,
        "stands": " · ".join(filter(None, (stands.mark, stands.note))) if stands else "",
        "language": language,
    }


def _has_mark(item: MarkItem, given: dict[str, GivenMark]) -> bool:
    return bool(item.landed) or item.key in given


def _find(request: Request, visitor: SignedIn) -> list[WorkSummary]:
    try:
        return find_work(request.app.state.ledger, read_lake(request), visitor.user_id)
    except StoreAway:
        raise
    except StoreError:
        return []  # a home whose lake nobody has made yet has nothing to mark


def _open(request: Request, kept: Kept[tuple[str, str], Work], visitor: SignedIn, work_id: str) -> Work:
    """The work that the address names, if it is this visitor's; else 404."""
    # Another role ends the session, and with it what was kept.
    work = kept.get((visitor.session_id, work_id))
    if work is None:
        summary = next((one for one in _find(request, visitor) if one.work_id == work_id), None)
        if summary is None:
            raise HTTPException(404)
        ledger: Ledger = request.app.state.ledger
        work = open_work(ledger, read_lake(request), summary.kind, summary.name, visitor.user_id)
        kept.put((visitor.session_id, work_id), work)
    return work


def _count_given(ledger: Ledger, one: WorkSummary, person: str) -> int:
    """How many items have a mark, landed or not; the ledger knows none that came by a workbook."""
    given = read_given(ledger, Work(one.kind, one.name, person, {}))
    waiting = sum(not mark.has_landed for mark in given.values())
    return min(one.landed_count + waiting, one.item_count)


def _land(request: Request, ledger: Ledger, work: Work) -> None:
    with find_door(request).write() as lake:
        land_given(ledger, lake, work.kind, work.name, work.person)
