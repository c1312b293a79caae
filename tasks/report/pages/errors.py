"""The page of errors: why failed responses fail, by candidate and by discipline."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source
from tasks.texts import Words

_PAGE = read_page("errors")
ABOUT = _PAGE.about


def read_errors(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [
        _read_shares(source, "error_shares", "model"),
        _read_shares(source, "error_shares_by_discipline", "discipline"),
    ]


def _read_shares(source: Source, query: str, by: str) -> Panel:
    frame = round_last_digits(source.run_named(query, source.shown))
    return _PAGE.panel(
        by, frame, params=source.shown, finding=_find(frame, by), drawn=frame.sort(by, "error_class")
    )


def _find(frame: pl.DataFrame, by: str) -> Words | None:
    """The commonest cause over all, and where the lower end of its share is largest."""
    if frame.is_empty():
        return None
    counts = (
        frame.group_by("error_class")
        .agg(pl.col("label_count").sum())
        .sort(["label_count", "error_class"], descending=[True, False])
    )
    cause, count, total = counts["error_class"][0], counts["label_count"][0], counts["label_count"].sum()
    most = (
        frame.filter(pl.col("error_class") == cause)
        .sort(["error_share_low", by], descending=[True, False])
        .row(0, named=True)
    )
    names = {"cause": _PAGE.name(cause, "classes"), "where": _PAGE.name(most[by], "disciplines")}
    shares = {"count": count, "total": total, "share": count / total * 100}
    return _PAGE.say("commonest", most | names | shares)
