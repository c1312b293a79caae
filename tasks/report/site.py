"""The report site: a folder of pages over the whole lake, the leaderboard first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from tasks.report.chosen_pages import write_candidate, write_compare, write_leaderboard
from tasks.report.frame import Issue
from tasks.report.gscore_page import read_gscore_panels, write_gscore_page
from tasks.report.pages import bank, contamination, cost, errors, judges, leagues, method, stability, trends
from tasks.report.panel_pages import PanelPage, write_panels
from tasks.report.panels import NamedQuery, Source
from tasks.report.words import list_caveats

PANEL_PAGES: Final = (
    PanelPage("trends", trends.ABOUT, trends.read_trends),
    PanelPage("judges", judges.ABOUT, judges.read_judges),
    PanelPage("stability", stability.ABOUT, stability.read_stability),
    PanelPage("contamination", contamination.ABOUT, contamination.read_contamination),
    PanelPage("errors", errors.ABOUT, errors.read_errors),
    PanelPage("bank", bank.ABOUT, bank.read_bank),
    PanelPage("league", leagues.ABOUT, leagues.read_leagues),
    PanelPage("cost", cost.ABOUT, cost.read_cost),
    PanelPage("method", method.ABOUT, method.read_method, "method.html.j2"),
)


def render_site(source: Source, issue: Issue) -> Path:
    """Write every page of the site into the issue's folder.

    Returns the path of the first page, `index.html`.

    Each figure has its data in `data/`. Pages of leagues that lie in the folder are linked from the page of leagues. Raises UsageError for
    a language that the site does not speak.
    """
    source = replace(source, run_named=_remember(source.run_named))
    history = source.run_named("leaderboard_history", source.shown)
    is_simulated = bool(history.height and history["is_simulated"].any())
    issue = replace(issue, caveats=list_caveats(history))
    index = write_leaderboard(source, issue, history)
    write_candidate(source, issue, history)
    write_compare(source, issue, history)
    for page in PANEL_PAGES:
        write_panels(issue, page, page.read(source), is_simulated=is_simulated)
    if not write_gscore_page(source, issue):
        empty = PanelPage("gscore", ("", ""), read_gscore_panels)
        write_panels(issue, empty, empty.read(source), is_simulated=False)
    return index


def _remember(run_named: NamedQuery) -> NamedQuery:
    """The queries, each run once with the same parameters, however many pages rest on it."""
    known: dict[tuple[str, str], pl.DataFrame] = {}

    def read(name: str, parameters: dict[str, object]) -> pl.DataFrame:
        key = (name, repr(sorted(parameters.items())))
        if key not in known:
            known[key] = run_named(name, parameters)
        return known[key]

    return read
