"""The pages whose content a reader chooses.

They are the leaderboard of a month and style, one candidate, and several candidates compared. Their templates hold what is read without
scripts; the scripts draw the rest from the data of every edition, which lies in the folder once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from tasks.report.board_data import DISCIPLINE_ORDER, describe_board, write_data
from tasks.report.frame import SITE_PAGES, Issue, write_page, write_table
from tasks.report.labels import LABELS, SITE_LABELS
from tasks.report.pages.candidates import (
    read_candidate,
    read_compare,
    widen_differences,
    write_candidate_data,
    write_difference_data,
)
from tasks.report.pages.leaderboard import ABOUT, describe_opening, read_leaderboard, say_first
from tasks.report.panel_pages import PanelPage, show_panel, write_panel_data, write_panels
from tasks.report.panels import Panel, Source
from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import render_query

_BOARD: Final = "data/board.js"
_CANDIDATES: Final = "data/candidates.js"
_DIFFERENCES: Final = "data/differences.js"
# They are the same in every row of an edition or of a candidate, and stand once in data/index-behind.csv, data/index-editions.csv and
# data/index-candidates.csv.
_OF_AN_EDITION: Final = (
    "published_at", "overridden_gates", "override_reason", "revision", "run_id", "bank_version", "judge", "reference_model",
    "is_provisional", "provisional_because", "control_count", "control_wrong_count", "control_gap", "key_count", "key_disagreement_count",
    "unequated_because", "is_repetition", "is_reference", "grade",
)  # fmt: skip
# What follows from other columns, or is a column of the page of stability.
_DERIVED: Final = (
    "style_mean",
    "style_variance",
    "style_count",
    "scored_count",
    "lowest_score",
    "highest_score",
)
_OF_A_CANDIDATE: Final = ("organisation", "family", "mode", "base_model", "is_open", "release_date")
# What the scripts say besides the words of their own pages.
_SPOKEN: Final = (
    "all", "open", "closed", "rank", "model", "organisation", "score", "interval", "chance_score", "equated_score", "equated_apart", "relative_score",
    "question_count", "judge", "reference_model", "bank_version", "style", "month", "state", "zero_shot", "few_shot", "chain_of_thought",
    "release_date", "discipline", "discipline_score", "simulated", "provisional", "gates", "repetition",
    "repetition_about", "edition", "grade", "revision", "published_at", "place_without_score", "place_uncompared", "place_first", "place_certain",
    "place_shared_with_one", "place_shared", "p_together", "together_interval", "reference_mark", "table_view", "score_change", *DISCIPLINE_ORDER,
)  # fmt: skip


def write_leaderboard(source: Source, issue: Issue, history: pl.DataFrame) -> Path:
    """Write `index.html`, the data of every edition and `leaderboard.csv`; the page's path."""
    page = PanelPage("index", ABOUT, lambda asked: read_leaderboard(asked, history), "leaderboard.html.j2")
    write_table(
        history.drop(_OF_AN_EDITION, _OF_A_CANDIDATE, _DERIVED).with_columns(pl.selectors.float().round(2)),
        issue.folder / "leaderboard.csv",
    )
    write_table(
        history.unique(["model", "is_simulated"], keep="first", maintain_order=True).select(
            "model", *_OF_A_CANDIDATE, "is_simulated"
        ),
        issue.folder / "data" / "index-candidates.csv",
    )
    write_data(issue.folder / _BOARD, "board", describe_board(history))
    return write_panels(
        issue,
        page,
        page.read(source),
        is_simulated=_has_simulated(history),
        more={**describe_opening(history), **_share(source), "verdicts": say_first(source, history)},
        scripts=(_BOARD, "board.js", "leaderboard.js") if history.height else (),
    )


def write_candidate(source: Source, issue: Issue, history: pl.DataFrame) -> Path:
    """Write `candidate.html`, which shows the candidate that its address names, and its data."""
    panels = read_candidate(source)
    write_candidate_data(source, panels, issue.folder / _CANDIDATES)
    return _write_chosen(source, issue, history, "candidate", panels, _CANDIDATES)


def write_compare(source: Source, issue: Issue, history: pl.DataFrame) -> Path:
    """Write `compare.html`, which compares the candidates that its address names, and its data."""
    panels = read_compare(source)
    write_difference_data(panels, issue.folder / _DIFFERENCES)
    return _write_chosen(source, issue, history, "compare", widen_differences(panels), _DIFFERENCES)


def _write_chosen(
    source: Source, issue: Issue, history: pl.DataFrame, name: str, panels: Mapping[str, Panel], data: str
) -> Path:
    for panel in panels.values():
        write_panel_data(
            issue, name, replace(panel, frame=panel.frame.with_columns(pl.selectors.float().round(5)))
        )
    is_empty = not history.height
    values = {
        "is_empty": is_empty,
        "is_simulated": _has_simulated(history),
        "has_figures": not is_empty,
        "panels": {key: show_panel(name, panel, issue.folder) for key, panel in panels.items()},
        **_share(source),
    }
    title = next(page.title for page in SITE_PAGES if page.name == name)
    scripts = () if is_empty else (_BOARD, data, "board.js", f"{name}.js")
    return write_page(issue, name, f"{name}.html.j2", values, title=title, scripts=scripts)


def _share(source: Source) -> dict[str, Any]:
    """What the templates of the three pages have in common: scripts' words, and the basis."""
    words = SITE_LABELS | {key: LABELS[key] for key in _SPOKEN}
    query = "leaderboard_history"
    return {
        # Inside a script element of data nothing may end that element.
        "words": json.dumps(words, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "board": {
            "data": "leaderboard.csv",
            "query": query,
            "sql": render_query(find_query(query), source.shown),
        },
    }


def _has_simulated(history: pl.DataFrame) -> bool:
    return bool(history.height and history["is_simulated"].any())
