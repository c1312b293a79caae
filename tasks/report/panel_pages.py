"""A page of panels: figures in both languages, rows as CSV, and the SQL behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tasks.report.charts import write_spec
from tasks.report.frame import SITE_PAGES, Issue, write_page, write_table
from tasks.report.labels import LANGUAGES
from tasks.report.panels import Panel, Source, write_rows
from tasks.texts import Words
from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import render_query

_TEMPLATE: Final = "panels.html.j2"
_DATA: Final = "data"
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True)
class PanelPage:
    """A page made of panels: name, top sentence, what reads it, and its template."""

    name: str
    about: Words
    read: Callable[[Source], list[Panel]]
    template: str = _TEMPLATE


def write_panels(
    issue: Issue,
    page: PanelPage,
    panels: list[Panel],
    *,
    is_simulated: bool,
    more: Mapping[str, Any] = _NOTHING,
    scripts: Sequence[str] = (),
) -> Path:
    """Write a page of panels and their data (`data/<page>-<panel>.csv`); `more` for its words."""
    for panel in panels:
        write_panel_data(issue, page.name, panel)
    title = next(one.title for one in SITE_PAGES if one.name == page.name)
    values = {
        "about": page.about,
        "panels": [show_panel(page.name, panel, issue.folder) for panel in panels],
        "is_simulated": is_simulated,
        "halves": _pair_short(panels),
        "has_figures": any(panel.draw is not None and panel.frame.height for panel in panels),
        **more,
    }
    return write_page(issue, page.name, page.template, values, title=title, scripts=scripts)


def write_panel_data(issue: Issue, page: str, panel: Panel) -> None:
    """The rows of a panel as a CSV of the site; without any, that of an earlier rendering goes."""
    path = issue.folder / _DATA / f"{page}-{panel.name}.csv"
    if panel.frame.height:
        write_table(panel.frame, path)
    else:
        path.unlink(missing_ok=True)


def show_panel(page: str, panel: Panel, folder: Path) -> dict[str, Any]:
    """What the template shows of a panel."""
    has_more = bool(panel.more) and (folder / panel.more).is_file()
    return {
        "name": panel.name,
        "title": panel.title,
        "about": panel.about,
        "finding": panel.finding,
        "is_simulated": "is_simulated" in panel.frame.columns and panel.frame["is_simulated"].any(),
        "filled_by": panel.filled_by,
        "is_folded": panel.is_folded,
        "cells": panel.shown_cells,
        "rows": write_rows(panel),
        "figure": _draw(panel),
        "data": f"{_DATA}/{page}-{panel.name}.csv",
        "query": panel.query,
        "sql": render_query(find_query(panel.query), dict(panel.params)) if panel.query else "",
        "more": panel.more if has_more else "",
    }


def _pair_short(panels: Sequence[Panel]) -> set[str]:
    """The names of panels without a figure or an open table that stand side by side."""
    paired: set[str] = set()
    waiting = ""
    for panel in panels:
        is_short = panel.frame.is_empty() or (panel.is_folded and panel.draw is None)
        if is_short and waiting:
            paired |= {waiting, panel.name}
        waiting = panel.name if is_short and panel.name not in paired else ""
    return paired


def _draw(panel: Panel) -> str:
    """The panel's figure as JSON for a script, words as `{"$zh": …, "$en": …}`; maybe empty."""
    if panel.draw is None or panel.frame.is_empty():
        return ""
    from altair.utils.schemapi import debug_mode

    # Each part of a chart would be held to Vega-Lite's schema as it is made, twice as dear as making it.
    with debug_mode(arg=False):
        chinese, english = (_write_spec(panel.draw(language)) for language in LANGUAGES)
    text = json.dumps(_share_rows(_merge(chinese, english)), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _write_spec(chart: Any) -> Any:
    spec = write_spec(chart)
    spec.pop("config", None)
    if "concat" not in spec:
        spec["width"] = "container"
    return spec


def _merge(chinese: Any, english: Any) -> Any:
    """What both have in common, and both words where they differ."""
    if chinese == english:
        return chinese
    if isinstance(chinese, dict) and isinstance(english, dict) and chinese.keys() == english.keys():
        return {key: _merge(value, english[key]) for key, value in chinese.items()}
    if isinstance(chinese, list) and isinstance(english, list) and len(chinese) == len(english):
        return [_merge(one, other) for one, other in zip(chinese, english, strict=True)]
    return {"$zh": chinese, "$en": english}


def _share_rows(spec: Any) -> Any:
    """The specification with its rows once, by name, however many layers draw them."""
    datasets: dict[str, Any] = {}
    names: dict[str, str] = {}

    def walk(part: Any) -> Any:
        if isinstance(part, list):
            return [walk(one) for one in part]
        if not isinstance(part, dict):
            return part
        rows = part.get("data", {}).get("values") if isinstance(part.get("data"), dict) else None
        if rows is None:
            return {key: walk(value) for key, value in part.items()}
        name = names.setdefault(json.dumps(rows), f"rows{len(names)}")
        datasets[name] = rows
        return {key: {"name": name} if key == "data" else walk(value) for key, value in part.items()}

    return walk(spec) | {"datasets": datasets}
