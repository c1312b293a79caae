"""The page of costs by team and month for those who watch, and its rows as a file."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlencode

from fastapi import FastAPI, Query
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deployments.auth import SignedIn
from deployments.web.pages import render_page
from deployments.web.run_routes import open_lake_for
from deployments.web.visitor import Watcher, read_sight
from schemas.table import MONTH_PATTERN
from tasks.watching import read_costs

if TYPE_CHECKING:
    import polars as pl

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
