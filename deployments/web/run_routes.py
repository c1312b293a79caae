"""Pages of runs, results and costs for those who watch: of every model, or of their teams."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import urlencode

import polars as pl
from fastapi import FastAPI, Query
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from deployments.auth import SignedIn
from deployments.command_line.printing import render_duration
from deployments.web.lake import Kept, find_door
from deployments.web.pages import render_page
from deployments.web.visitor import Store, Watcher, read_sight
from schemas.errors import StoreAway, StoreError
from schemas.table import MONTH_PATTERN
from tasks.exam import CandidateProgress, RunProgress
from tasks.watching import (
    RUNS_PER_PAGE,
    ProgressReading,
    Sight,
    WatchedRun,
    find_run,
    list_landed_runs,
    list_published_months,
    list_sessions,
    narrow_progress,
    read_costs,
    read_month,
)
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger

SESSIONS_PER_PAGE = 100
_MOST_KEPT, _KEPT_S = 32, 60.0
# Months that are shown where none is asked for: what is older costs a scan, and is asked for by name.
_MONTHS_SHOWN: Final = 12
_SUMMED: Final = (
    "call_count",
    "failed_count",
    "input_token_count",
    "output_token_count",
    "cost_usd",
    "unpriced_count",
)
FromMonth = Annotated[str, Query(alias="from")]


def add_run_routes(app: FastAPI) -> None:
    """Add the pages of runs: numbers and names, no text of a question or an answer."""
    app.state.landed_runs = Kept[tuple[str, Sight], WatchedRun](_MOST_KEPT, _KEPT_S)

    @app.get("/runs")
    def show_runs(request: Request, visitor: Watcher, page: int = 1) -> Response:
        sight = read_sight(request, visitor)
        lake = open_lake_for(request, sight)
        landed, count = ([], 0) if lake is None else list_landed_runs(lake, page)
        under_way = _read_progress(request, sight)
        return render_page(
            request,
            "runs.html",
            visitor,
            runs=[_describe_run(run) for run in under_way],
            landed=landed,
            page=max(page, 1),
            page_count=-(-count // RUNS_PER_PAGE) or 1,
        )

    @app.get("/runs/progress")
    def show_progress(request: Request, visitor: Watcher) -> Response:
        """The numbers of the runs under way, which the page's script asks for every few seconds."""
        found = _read_progress(request, read_sight(request, visitor))
        return JSONResponse({"runs": [_describe_run(run) for run in found]})

    @app.get("/runs/{run_id}")
    def show_run(
        request: Request, run_id: str, visitor: Watcher, ledger: Store, model: str = "", page: int = 1
    ) -> Response:
        sight = read_sight(request, visitor)
        lake = open_lake_for(request, sight)
        run = need_run(request, ledger, lake, run_id, sight)
        found = list_sessions(ledger, lake, run, sight)
        models = sorted({row["model"] for row in found})
        shown = [row for row in found if model in ("", row["model"])]
        count = -(-len(shown) // SESSIONS_PER_PAGE) or 1
        page = min(max(page, 1), count)
        start = (page - 1) * SESSIONS_PER_PAGE
        return render_page(
            request,
            "run.html",
            visitor,
            run=run,
            models=models,
            model=model,
            sessions=shown[start : start + SESSIONS_PER_PAGE],
            session_count=len(shown),
            page=page,
            page_count=count,
            link=urlencode,
        )

    @app.get("/results")
    def show_results(request: Request, visitor: Watcher, month: str = "") -> Response:
        lake = open_lake_for(request, read_sight(request, visitor))
        months = [] if lake is None else list_published_months(lake)
        if month and re.fullmatch(MONTH_PATTERN, month) is None:
            raise HTTPException(404)
        chosen = month or (months[0] if months else "")
        runs = read_month(lake, chosen) if lake is not None and chosen in months else []
        if month and not runs:
            raise HTTPException(404)
        return render_page(
            request, "results.html", visitor, months=months, month=chosen, runs=runs, link=urlencode
        )


def open_lake_for(request: Request, sight: Sight) -> Lake | None:
    """The lake for reading, with what is in sight; null where nobody has made one yet."""
    try:
        return find_door(request).read(sight)
    except StoreAway:
        raise
    except StoreError:
        return None


def need_run(request: Request, ledger: Ledger, lake: Lake | None, run_id: str, sight: Sight) -> WatchedRun:
    """The run of the address, kept a minute once landed; 404 where no model in sight is in it."""
    kept: Kept[tuple[str, Sight], WatchedRun] = request.app.state.landed_runs
    known = kept.get((run_id, sight))
    if known is not None:
        return known
    run = find_run(ledger, lake, run_id, sight)
    if run is None:
        raise HTTPException(404)
    if run.is_landed:
        kept.put((run_id, sight), run)
    return run


def _read_progress(request: Request, sight: Sight) -> list[RunProgress]:
    reading: ProgressReading = request.app.state.progress
    found = (narrow_progress(run, sight) for run in reading.read())
    return [run for run in found if run is not None]


def _describe_run(run: RunProgress) -> dict[str, Any]:
    """A run under way as its page shows it, every number a text for the script to place."""
    return {
        "run_id": run.run_id,
        "updated_at": run.updated_at[11:19],
        "whole": _describe_numbers(run, sum(sum(one.failed_calls.values()) for one in run.candidates)),
        "candidates": [
            {
                "model": one.model,
                "is_outside": one.is_outside,
                "sessions": f"{one.closed_count} / {one.session_count}",
                **_describe_numbers(one, sum(one.failed_calls.values())),
                "failed_names": ", ".join(f"{count} × {name}" for name, count in one.failed_calls.items()),
            }
            for one in run.candidates
        ],
    }


def _describe_numbers(one: RunProgress | CandidateProgress, failed_count: int) -> dict[str, Any]:
    return {
        "done": one.done,
        "total": one.total,
        "counted": f"{one.done:,} / {one.total:,}",
        "per_minute": f"{one.per_minute:,.1f}",
        "left": "–" if one.left_s is None else render_duration(one.left_s),
        "cost": "–" if one.cost_usd is None else f"${one.cost_usd:,.4f}",
        "failed": str(failed_count),
    }


def add_cost_routes(app: FastAPI) -> None:
    """Add the page of costs and its files; both hold names and numbers alone."""

    @app.get("/costs")
    def show_costs(
        request: Request, visitor: Watcher, from_month: FromMonth = "", through: str = ""
    ) -> Response:
        start = from_month or _name_month(_MONTHS_SHOWN)
        rows = _read(request, visitor, start, through)
        return render_page(
            request,
            "costs.html",
            visitor,
            rows=[] if rows is None else rows.to_dicts(),
            totals={} if rows is None else {name: rows[name].sum() for name in _SUMMED},
            months={"from": start, "through": through},
            query=urlencode({"from": start, "through": through}),
        )

    @app.get("/costs/{form}")
    def export_costs(
        request: Request, visitor: Watcher, form: str, from_month: FromMonth = "", through: str = ""
    ) -> Response:
        """The same rows as `csv` or `json`."""
        if form not in ("csv", "json"):
            raise HTTPException(404)
        from tasks.texts import write_safe_csv

        rows = _read(request, visitor, from_month, through)
        if rows is None:
            raise HTTPException(404)
        content = write_safe_csv(rows) if form == "csv" else rows.write_json()
        return Response(
            content,
            media_type="text/csv" if form == "csv" else "application/json",
            headers={"content-disposition": f"attachment; filename=costs.{form}"},
        )


def _read(request: Request, visitor: SignedIn, start: str, end: str) -> pl.DataFrame | None:
    """The rows of the months that are asked for, empty for all; None in a home without a lake."""
    if any(month and re.fullmatch(MONTH_PATTERN, month) is None for month in (start, end)):
        raise HTTPException(404)
    lake = open_lake_for(request, read_sight(request, visitor))
    return None if lake is None else read_costs(lake, start or None, end or None)


def _name_month(count: int) -> str:
    """The first of so many months of which this one is the last."""
    now = datetime.now(UTC)
    months = now.year * 12 + now.month - count
    return f"{months // 12:04}-{months % 12 + 1:02}"
