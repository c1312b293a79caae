"""The page of the leagues: standings by domain, with links to each league's page."""

from __future__ import annotations

import re

import polars as pl

from tasks.report.league_page import name_file
from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("leagues")
ABOUT = _PAGE.about


def read_leagues(source: Source) -> list[Panel]:
    """A panel for each league and domain judged in full, or one that says what fills the page."""
    ranking = round_last_digits(source.run_named("league_ranking", {"run_type": "full"}))
    if ranking.is_empty():
        return [_PAGE.panel("ranking", ranking, about=ABOUT)]
    return [
        _read_domain(str(league_id), str(domain), rows)
        for (league_id, domain), rows in ranking.partition_by(
            "league_id", "domain", as_dict=True, maintain_order=True
        ).items()
    ]


def _read_domain(league_id: str, domain: str, rows: pl.DataFrame) -> Panel:
    title = f"{league_id} · {domain}"
    first = rows.row(0, named=True)
    finding = None
    if first["score"] is not None:
        finding = _PAGE.say("domain", first | {"title": title, "count": rows.height})
    return _PAGE.panel(
        "domain",
        rows,
        name="ranking-" + re.sub(r"[^A-Za-z0-9]", "-", title) + f"-{sum(map(ord, title))}",
        title=(title, title),
        params={"league_id": league_id, "domain": domain, "run_type": "full"},
        finding=finding,
        drawn=rows.filter(pl.col("score").is_not_null()) if finding else None,
        more=f"{name_file(league_id)}.html",
    )
