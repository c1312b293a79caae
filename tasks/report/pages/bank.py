"""The page of the bank: what it holds, how it grew, how long it will last; no names."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.pages.contamination import read_kind
from tasks.report.panels import Panel, Source
from tasks.texts import Words

_PAGE = read_page("bank")
ABOUT = _PAGE.about


def read_bank(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [_read_outlook(source), _read_types(source), _read_growth(source), _read_sizes(source)]


def _read_outlook(source: Source) -> Panel:
    frame, params = read_kind(source, "exposure_outlook")
    known = frame.filter(pl.col("least_months_left").is_not_null())
    finding = None
    if known.height:
        first = known.row(0, named=True)
        finding = _PAGE.say("outlook", first | {"name": _PAGE.name(first["discipline"], "disciplines")})
    return _PAGE.panel("outlook", frame, params=params, finding=finding, drawn=known)


def _read_types(source: Source) -> Panel:
    frame = source.run_named("bank_by_type", {})
    finding = None
    if frame.height:
        totals = (
            frame.group_by("discipline")
            .agg(pl.col("question_count").sum())
            .sort("question_count", "discipline")
        )
        (least, few), (most, many) = totals.row(0), totals.row(-1)
        values = {"version": frame["bank_version"][0], "count": frame["question_count"].sum()}
        values |= {"most": _name(most), "many": many, "least": _name(least), "few": few}
        finding = _PAGE.say("even_types" if few == many else "types", values)
        frame = frame.join(totals.select("discipline", total="question_count"), on="discipline").sort(
            ["total", "discipline", "question_type"], descending=[True, False, False]
        )
    return _PAGE.panel("types", frame.drop("total", strict=False), finding=finding, drawn=frame)


def _name(discipline: str) -> Words:
    return _PAGE.name(discipline, "disciplines", "no_discipline")


def _read_growth(source: Source) -> Panel:
    frame = source.run_named("bank_growth", {})
    finding = None
    if frame.height:
        first, last = frame.row(0, named=True), frame.row(-1, named=True)
        values = first | {"last_version": last["bank_version"], "last_count": last["question_count"]}
        finding = _PAGE.say("growth" if frame.height > 1 else "one_version", values)
    return _PAGE.panel(
        "versions",
        frame,
        finding=finding,
        drawn=frame.unpivot(
            on=list(_PAGE.words["moves"]), index="bank_version", variable_name="move", value_name="count"
        ).sort("bank_version")
        if frame.height > 1
        else None,
    )


def _read_sizes(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("bank_statistics", {}))
    total = frame.filter(pl.col("grouped_by") == "total")
    finding = None
    if total.height:
        row = total.row(0, named=True)
        finding = _PAGE.say("sources", row | {"increase": row["increase_rate"] or 0})
    return _PAGE.panel("sources", frame, finding=finding)
