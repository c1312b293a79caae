"""The page of contamination, in three parts.

It shows what candidates know by heart, what having met a question gains, and how far the bank is spread.

No organisation is named: who has met what is for those who may see it (`proctor contamination leaks`, `organisation_exposure`).
"""

from __future__ import annotations

import polars as pl

from tasks.contamination import find_leaks
from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("contamination")
ABOUT = _PAGE.about

# A candidate that recalls more than this, by the lower end of its interval, has read the questions (docs/contamination.md).
_FALSE_ALARM_PERCENT = 5


def read_contamination(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [_read_recall(source), _read_leaks(source), _read_pooling(source), _read_forecast(source)]


def _read_recall(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("contamination_recall", {})).with_columns(
        is_flagged=pl.col("recalled_low") > _FALSE_ALARM_PERCENT
    )
    finding = None
    if frame.height:
        ours = frame.filter(pl.col("source") == "bank")
        flagged = ours.filter(pl.col("is_flagged"))["model"].unique().sort().to_list()
        finding = (
            f"记得本题库的模型：{'、'.join(flagged)}。" if flagged else f"{ours['model'].n_unique()} 个模型都没有背过本题库的迹象。",
            f"Candidates that recall our bank: {', '.join(flagged)}."
            if flagged
            else f"None of {ours['model'].n_unique()} candidates shows that it recalls our bank.",
        )  # fmt: skip
    return _PAGE.panel("recall", frame, finding=finding, drawn=frame.sort("recalled_rate", descending=True))


def _read_leaks(source: Source) -> Panel:
    rows = source.run_named("leak_rows", source.shown)
    frame = _watch_leaks(rows)
    finding = None
    if frame.height:
        found, tested = int(frame["is_found"].sum()), frame["gain"].count()
        finding = (
            f"{tested} 个可比较的机构中，{found} 个在见过的题目上得分高于预期。",
            f"Of {tested} organisations that can be compared {found} score more than expected on questions met before.",
        )
    return _PAGE.panel(
        "leaks", frame, params=source.shown, finding=finding, drawn=frame.filter(pl.col("gain").is_not_null())
    )


_LEAKS = {
    "place": pl.Int64, "question_count": pl.Int64, "met_count": pl.Int64, "gain": pl.Float64, "gain_low": pl.Float64,
    "gain_high": pl.Float64, "p_value": pl.Float64, "least_found": pl.Float64, "is_found": pl.Boolean,
}  # fmt: skip


def _watch_leaks(rows: pl.DataFrame) -> pl.DataFrame:
    """The leak watch without the organisations' names, the largest gain first.

    The organisations are numbered in that order.
    """
    found = [] if rows.is_empty() else find_leaks(rows)
    ordered = sorted(found, key=lambda row: (row["gain"] is None, -(row["gain"] or 0)))
    return round_last_digits(
        pl.DataFrame(
            [
                {
                    "place": place,
                    **{name: row[name] for name in ("question_count", "met_count", "gain", "p_value")},
                    "gain_low": None if row["gain"] is None else row["gain"] - 1.96 * row["gain_se"],
                    "gain_high": None if row["gain"] is None else row["gain"] + 1.96 * row["gain_se"],
                    "least_found": row["least_found"],
                    "is_found": row["is_found"],
                }
                for place, row in enumerate(ordered, start=1)
            ],
            schema=_LEAKS,
        )
    )


def _read_pooling(source: Source) -> Panel:
    frame, params = read_kind(source, "pooling_risk")
    finding = None
    if frame.height:
        last = frame.row(-1, named=True)
        finding = (
            f"{last['k']} 个机构合起来平均见过题库的 {last['expected_share'] * 100:.0f}%，最多 {last['at_most_share'] * 100:.0f}%。",
            f"{last['k']} organisations that pool have met {last['expected_share'] * 100:.0f}% of the bank on average, "
            f"{last['at_most_share'] * 100:.0f}% at most.",
        )
    drawn = frame.unpivot(
        on=["expected_share", "at_most_share"], index="k", variable_name="measure", value_name="share"
    )
    return _PAGE.panel("pooling", frame, params=params, finding=finding, drawn=drawn)


def _read_forecast(source: Source) -> Panel:
    frame, params = read_kind(source, "pooling_forecast")
    frame = frame.filter(pl.col("pooled_share").is_finite())  # without a bank there is nothing to share
    finding = None
    if frame.height:
        now = frame.filter(~pl.col("is_forecast")).row(-1, named=True)
        half = frame.filter(pl.col("pooled_share") >= 0.5)["month"]
        zh, en = "按此速度一年内不会过半。", "at this pace it will not be half within a year."
        if now["pooled_share"] >= 0.5:
            zh, en = f"{half[0]} 起已过半。", f"it has been half since {half[0]}."
        elif half.len():
            zh, en = f"按此速度 {half[0]} 过半。", f"at this pace it is half by {half[0]}."
        finding = (
            f"到 {now['month']}，所有机构合起来见过题库的 {now['pooled_share'] * 100:.0f}%；{zh}",
            f"By {now['month']} all organisations together have met {now['pooled_share'] * 100:.0f}% of the bank; {en}",
        )
    return _PAGE.panel(
        "forecast",
        frame,
        params=params,
        finding=finding,
        drawn=frame.with_columns(series=pl.lit("all"), part=pl.col("is_forecast").cast(pl.String)),
    )


def read_kind(source: Source, query: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """The rows of a query whose parameter `simulated` is true or false.

    They are the rows of real runs, or those of simulated runs where there is no real one.
    """
    first, second = (True, False) if source.include_simulated else (False, True)
    frame = round_last_digits(source.run_named(query, {"simulated": first}))
    # Some of these queries have a row for each discipline of the bank, whether or not anybody has sat.
    is_bare = frame.is_empty() or (
        "organisation_count" in frame.columns and not frame["organisation_count"].sum()
    )
    if is_bare and source.include_simulated is None:
        return round_last_digits(source.run_named(query, {"simulated": second})), {"simulated": second}
    return (frame.clear() if is_bare else frame), {"simulated": first}
