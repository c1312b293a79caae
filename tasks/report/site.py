"""The report site: a folder of pages over the whole lake, the leaderboard first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from schemas.settings import Settings
from tasks.report.chosen_pages import write_candidate, write_compare, write_leaderboard
from tasks.report.frame import Issue, write_library
from tasks.report.gscore_page import read_gscore_panels, write_gscore_page
from tasks.report.kept_pages import KeptPages
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
# Under PROCTOR_HOME.
REPORTS: Final = "reports"
_OF_TEAMS: Final = "reports-of-teams"
_MODELS: Final = "models-shown"


def render_site(source: Source, issue: Issue) -> Path:
    """Write every page of the site into the issue's folder.

    Returns the path of the first page, `index.html`. Pages that would say the same again are left as they are, where `source` can tell
    what they rest on (`kept_pages.py`). Each figure has its data in `data/`. Pages of leagues that lie in the folder are linked from the
    page of leagues. Raises UsageError for a language that the site does not speak.
    """
    source = replace(source, run_named=_remember(source.run_named))
    # Before any page: the one that found it missing would rest on it, and the same page of a report done again would not.
    issue.folder.mkdir(parents=True, exist_ok=True)
    write_library(issue.folder)
    pages = KeptPages(source, issue)
    caveats, is_simulated = pages.make("", _say_of_all)
    said = [(kind, tuple(name), tuple(about)) for kind, name, about in caveats]
    issue = replace(issue, caveats=[*issue.caveats, *said])
    for name, write in (
        ("index", write_leaderboard),
        ("candidate", write_candidate),
        ("compare", write_compare),
    ):
        pages.make(name, _with_history(write, issue), caveats)
    for page in PANEL_PAGES:
        make = _from_panels(page, issue, is_simulated=is_simulated)
        if page.name == "method":
            make(source)  # always: what it shows of the public folder no query gives
        else:
            pages.make(page.name, make, caveats, is_simulated)
    pages.make("gscore", lambda source: _write_gscore(source, issue), caveats)
    pages.save()
    return issue.folder / "index.html"


def _say_of_all(source: Source) -> tuple[Any, bool]:
    """What stands at the top of every page, and whether anything is simulated."""
    history = source.run_named("leaderboard_history", source.shown)
    return list_caveats(history), bool(history.height and history["is_simulated"].any())


def _with_history(
    write: Callable[[Source, Issue, pl.DataFrame], object], issue: Issue
) -> Callable[[Source], None]:
    def make(source: Source) -> None:
        write(source, issue, source.run_named("leaderboard_history", source.shown))

    return make


def _from_panels(page: PanelPage, issue: Issue, *, is_simulated: bool) -> Callable[[Source], None]:
    def make(source: Source) -> None:
        write_panels(issue, page, page.read(source), is_simulated=is_simulated)

    return make


def _write_gscore(source: Source, issue: Issue) -> None:
    if not write_gscore_page(source, issue):
        empty = PanelPage("gscore", ("", ""), read_gscore_panels)
        write_panels(issue, empty, empty.read(source), is_simulated=False)


def _remember(run_named: NamedQuery) -> NamedQuery:
    """The queries, each run once with the same parameters, however many pages rest on it."""
    known: dict[tuple[str, str], pl.DataFrame] = {}

    def read(name: str, parameters: dict[str, object]) -> pl.DataFrame:
        key = (name, repr(sorted(parameters.items())))
        if key not in known:
            known[key] = run_named(name, parameters)
        return known[key]

    return read


def note_models(folder: Path, models: Iterable[str]) -> None:
    """Note beside a team's site which models it shows."""
    (folder / _MODELS).write_text(json.dumps(sorted(models)), encoding="utf-8")


def read_models(folder: Path) -> frozenset[str] | None:
    """The models that a team's site shows; null where there is no site of which that is known."""
    try:
        return frozenset(json.loads((folder / _MODELS).read_text("utf-8")))
    except (OSError, ValueError):
        return None


def name_team_folder(settings: Settings, team: str) -> Path:
    """The folder of the site of a team, apart from the site of every model."""
    return settings.home / _OF_TEAMS / team
