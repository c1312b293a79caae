"""The page of the bank: what it holds, how it grew, and how long it will last.

Nobody who has met any question is named.
"""

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
        zh, en = _PAGE.name(first["discipline"], "disciplines")
        finding = (
            f"最先用完的是{zh}：对用得最快的机构还够 {first['least_months_left']:.0f} 个月，中位数 {first['median_months_left']:.0f} 个月。",
            f"{en} runs out first: it lasts {first['least_months_left']:.0f} months for the organisation that is through it soonest, "
            f"{first['median_months_left']:.0f} for the one in the middle.",
        )
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
        version, count = frame["bank_version"][0], frame["question_count"].sum()
        if few == many:
            zh, en = f"各学科均为 {few:,} 题。", f"{few:,} of each discipline."
        else:
            zh = f"最多的是{_name(most)[0]}（{many:,}），最少的是{_name(least)[0]}（{few:,}）。"
            en = f"most are of {_name(most)[1]} ({many:,}), fewest of {_name(least)[1]} ({few:,})."
        finding = (
            f"第 {version} 版共 {count:,} 题；{zh}",
            f"Version {version} holds {count:,} questions; {en}",
        )
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
        finding = (
            f"只有第 {first['bank_version']} 版：{first['question_count']:,} 题。",
            f"There is version {first['bank_version']} alone: {first['question_count']:,} questions.",
        )
        if frame.height > 1:
            finding = (
                f"从第 {first['bank_version']} 版的 {first['question_count']:,} 题到第 {last['bank_version']} 版的 {last['question_count']:,} 题。",
                f"From {first['question_count']:,} questions in version {first['bank_version']} to {last['question_count']:,} in version "
                f"{last['bank_version']}.",
            )
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
        finding = (
            f"扩充使题目从 {row['original_count']:,} 题增至 {row['question_count']:,} 题（+{row['increase_rate'] or 0:.0f}%）。",
            f"Augmentation makes {row['question_count']:,} questions of {row['original_count']:,} originals "
            f"(+{row['increase_rate'] or 0:.0f}%).",
        )
    return _PAGE.panel("sources", frame, finding=finding)
