"""Questions and answers for those who watch; each look is in the audit log before it."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from deployments.auth import SignedIn
from deployments.web.lake import Kept
from deployments.web.pages import render_page
from deployments.web.pictures import embed_pictures
from deployments.web.run_routes import need_run, open_lake_for
from deployments.web.show import choose_language, show_bare_question, show_question
from deployments.web.visitor import Form, Store, Watcher, read_sight
from schemas.errors import UsageError
from schemas.vocabulary import DISCIPLINES, PROMPT_STYLES
from tasks.proof import explain_answer, find_sitting
from tasks.questions.display import render_text
from tasks.watching import Look, Sight, WatchedRun, is_seen, may_read_references, note_look
from tasks.watching.answers import (
    DISPUTES,
    STARS,
    STATUSES,
    AnswerFilter,
    AnswerLine,
    cut_page,
    filter_lines,
    find_text,
    list_answers,
    read_answer,
    read_excerpts,
)
from warehouse.ledger.engine.ledger import Ledger

_LONGEST_SEARCH = 200
_FIELDS = ("session", "style", "discipline", "status", "stars", "dispute")
# Candidates whose lines (9,000 at the paper's size) are kept, and for how long: filters and pages then read texts alone.
_MOST_KEPT, _LANDED_S, _OPEN_S = 8, 60.0, 3.0
# Searched texts of all sessions: one that has been pushed out is a list of everything again.
_MOST_SEARCHED = 1_000

Lines = Sequence[AnswerLine]


def add_answer_routes(app: FastAPI) -> None:
    """Add the pages of answers: an address names ids alone, and no searched text."""
    landed: Kept[tuple[str, str], Lines] = Kept(_MOST_KEPT, _LANDED_S)
    fresh: Kept[tuple[str, str], Lines] = Kept(_MOST_KEPT, _OPEN_S)
    searched: Kept[tuple[str, str], str] = Kept(_MOST_SEARCHED)

    def read_lines(request: Request, ledger: Ledger, run: WatchedRun, model: str, sight: Sight) -> Lines:
        """The lines of a candidate; none of one that is out of sight, kept or not."""
        if not is_seen(sight, model):
            return ()
        kept = landed if run.is_landed else fresh
        lines = kept.get((run.run_id, model))
        if lines is None:
            lines = list_answers(ledger, open_lake_for(request, sight), run, model)
            if lines:
                kept.put((run.run_id, model), lines)
        return lines

    @app.get("/runs/{run_id}/answers")
    def show_answers(request: Request, run_id: str, visitor: Watcher, ledger: Store) -> Response:
        asked = request.query_params
        if not asked.get("model"):
            # Whoever signed in again comes back to the path alone.
            return RedirectResponse(f"/runs/{quote(run_id, safe='')}", 303)
        text = searched.get((visitor.session_id, asked.get("search", ""))) or ""
        sight = read_sight(request, visitor)
        lake = open_lake_for(request, sight)
        run = need_run(request, ledger, lake, run_id, sight)
        model = asked.get("model", "")
        lines = read_lines(request, ledger, run, model, sight)
        if not lines:
            raise HTTPException(404)
        wanted = _read_filter(asked)
        keys = find_text(ledger, lake, run, model, lines, text) if text else None
        number = asked.get("page", "1")
        page = cut_page(
            filter_lines(lines, wanted, run.judge, keys),
            int(number) if number.isdecimal() and len(number) < 9 else 1,
        )
        _note(request, ledger, visitor, "search" if text else "answers", f"{run_id} {model}")
        fields = {name: asked[name] for name in (*_FIELDS, "search") if asked.get(name)}
        return render_page(
            request,
            "answers.html",
            visitor,
            run=run,
            model=model,
            text=text,
            page=page,
            excerpts=read_excerpts(ledger, lake, run, page.lines),
            chosen={name: fields.get(name, "") for name in _FIELDS},
            choices=list_choices(lines),
            link=lambda **changed: _write_query({"model": model, **fields, **changed}),
        )

    @app.post("/runs/{run_id}/answers")
    def search_answers(request: Request, run_id: str, visitor: Watcher, form: Form) -> Response:
        """The address of what is asked for, to which one can come back; a searched text is in none."""
        asked = {name: form.get(name, "") for name in ("model", *_FIELDS)}
        if text := form.get("text", "").strip()[:_LONGEST_SEARCH]:
            asked["search"] = secrets.token_hex(8)
            searched.put((visitor.session_id, asked["search"]), text)
        return RedirectResponse(f"/runs/{quote(run_id, safe='')}/answers?{_write_query(asked)}", 303)

    @app.get("/runs/{run_id}/answer")
    def show_answer(
        request: Request,
        run_id: str,
        visitor: Watcher,
        ledger: Store,
        model: str = "",
        session: str = "",
        seq: int = 0,
    ) -> Response:
        sight = read_sight(request, visitor)
        lake = open_lake_for(request, sight)
        run = need_run(request, ledger, lake, run_id, sight)
        lines = read_lines(request, ledger, run, model, sight)
        own = [line for line in lines if line.session_id == session]
        place = next((place for place, line in enumerate(own) if line.seq == seq), None)
        if place is None:
            raise HTTPException(404)
        has_reference = may_read_references(visitor.role)
        look: Look = "answer_with_reference" if has_reference else "answer"
        _note(request, ledger, visitor, look, session, seq)
        whole = read_answer(ledger, lake, run, own[place], with_reference=has_reference)
        language = choose_language(request)
        show = _show_with_reference if has_reference else show_bare_question
        return render_page(
            request,
            "answer.html",
            visitor,
            run=run,
            model=model,
            line=own[place],
            question=embed_pictures(
                show(whole.question, language),
                whole.question,
                request.app.state.settings.archive_dir,
                language,
            )
            if whole.question
            else None,
            response=whole.response,
            shown={
                name: render_text(str(whole.response[name]), language)
                for name in ("response", "reasoning", "answer")
                if whole.response and whole.response.get(name)
            },
            judgements=[
                {**row, "shown": render_text(str(row["reason"]), language) if row.get("reason") else None}
                for row in whole.judgements
            ],
            has_reference=has_reference,
            previous=own[place - 1] if place else None,
            following=own[place + 1] if place + 1 < len(own) else None,
            link=_write_query,
        )

    @app.get("/runs/{run_id}/proof")
    def show_proof(
        request: Request,
        run_id: str,
        visitor: Watcher,
        ledger: Store,
        model: str = "",
        session: str = "",
        seq: int = 0,
    ) -> Response:
        """From an answer's stars back to its page, with reviewers: for who sees references."""
        if not may_read_references(visitor.role):
            raise HTTPException(403)
        sight = read_sight(request, visitor)
        lake = open_lake_for(request, sight)
        run = need_run(request, ledger, lake, run_id, sight)
        line = next(
            (
                one
                for one in read_lines(request, ledger, run, model, sight)
                if (one.session_id, one.seq) == (session, seq)
            ),
            None,
        )
        if line is None or lake is None:
            raise HTTPException(404)
        _note(request, ledger, visitor, "answer_with_reference", session, seq)
        try:
            with lake.one_thread():
                walk = explain_answer(
                    ledger,
                    lake,
                    request.app.state.settings,
                    find_sitting(ledger, session),
                    seq,
                    language=choose_language(request),
                )
        except UsageError:
            # It landed from a ledger that is not this one.
            raise HTTPException(404) from None
        return render_page(
            request, "proof.html", visitor, run=run, model=model, line=line, walk=walk, link=_write_query
        )


def _show_with_reference(content: Any, language: Any) -> Any:
    return (
        show_question(content, language, answer_heading="reference")
        if content.answer
        else show_bare_question(content, language)
    )


def _note(
    request: Request, ledger: Ledger, visitor: SignedIn, look: Look, target: str, seq: int | None = None
) -> None:
    address = request.client.host[:64] if request.client else None
    note_look(ledger, visitor.user_id, look, target, seq=seq, address=address)


def _read_filter(asked: Mapping[str, str]) -> AnswerFilter:
    """What is asked for; a value that there is not is 404."""
    known = {
        "style": PROMPT_STYLES,
        "discipline": DISCIPLINES,
        "status": STATUSES,
        "stars": STARS,
        "dispute": tuple(map(str, DISPUTES)),
    }
    chosen = {name: asked.get(name) or None for name in _FIELDS}
    if any(chosen[name] is not None and chosen[name] not in words for name, words in known.items()):
        raise HTTPException(404)
    return AnswerFilter(
        session_id=chosen["session"],
        prompt_style=chosen["style"],
        discipline=chosen["discipline"],
        answer_status=chosen["status"],
        stars=chosen["stars"],
        dispute=None if chosen["dispute"] is None else int(chosen["dispute"]),
    )


def list_choices(lines: Lines) -> dict[str, list[Any]]:
    """What can be chosen: only what the candidate's lines have."""
    met = {
        "style": {line.prompt_style for line in lines},
        "discipline": {line.discipline for line in lines},
        "status": {line.answer_status for line in lines},
    }
    sessions = {line.session_id: (line.prompt_style, line.repeat) for line in lines}
    alike = Counter(sessions.values())
    return {
        # Who sits several sets does so in sessions of one style and repeat: their ids tell them apart, as on the run's page.
        "session": [
            (name, kind, name if alike[kind] > 1 else "")
            for name, kind in sorted(sessions.items(), key=lambda one: (one[1], one[0]))
        ],
        "style": [name for name in PROMPT_STYLES if name in met["style"]],
        "discipline": [name for name in DISCIPLINES if name in met["discipline"]],
        "status": [name for name in STATUSES if name in met["status"]],
        "stars": list(STARS),
        "dispute": list(map(str, DISPUTES)),
    }


def _write_query(values: Mapping[str, Any]) -> str:
    return urlencode({name: value for name, value in values.items() if value not in (None, "")})
