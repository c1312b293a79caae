"""The page of contamination: what candidates know by heart, what having met a question gains, and how far the bank is spread.

No organisation is named: who has met what is for those who may see it (`proctor contamination leaks`, `organisation_exposure`).
"""

from __future__ import annotations

import polars as pl

from tasks.contamination import find_leaks
from tasks.report.month_charts import month_lines
from tasks.report.pages.common import INTERVAL, MODEL, MONTH, round_last_digits
from tasks.report.panel_charts import dots, number_lines, say_cut
from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "参评模型是否背过题目，见过的题目是否得分更高，题库已经散布到什么程度。这里不写明任何机构。",
    "Whether candidates know questions by heart, whether they score more on questions that were met before, and how far the bank is "
    "spread. No organisation is named here.",
)
# A candidate that recalls more than this, by the lower end of its interval, has read the questions (docs/contamination.md).
_FALSE_ALARM_PERCENT = 5
_SOURCES: dict[str, Words] = {"bank": ("本题库", "our bank")}


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
    return Panel(
        name="recall",
        title=("挖空重放", "Blanked questions"),
        about=say_cut((
            "题目中的关键片段被挖空，模型补全三次，至少两次正确算记得。横线为 Wilson 95% 区间；本题库的区间下限超过 5% 即标记。",
            "A key span of a question is blanked and completed three times; it is recalled when two are right. The line is Wilson's 95% interval; "
            "a candidate is marked where the lower end is above 5% for our bank.",
        ), frame, "model"),
        query="contamination_recall",
        frame=frame,
        cells=(
            MODEL,
            Cell("source", ("题目来源", "Questions of"), "word", words=_SOURCES),
            Cell("question_count", ("题数", "Questions"), "count"),
            Cell("recalled_count", ("记得", "Recalled"), "count"),
            Cell("recalled_rate", ("比例（%）", "Share (%)"), "number", 1),
            Cell("recalled_low", INTERVAL, "interval", 1, "recalled_high"),
            Cell("uncompared_count", ("无法比较", "Not compared"), "count"),
            Cell("is_flagged", ("背过", "memorised"), "flag", is_warning=True),
        ),
        finding=finding,
        draw=dots(
            frame.sort("recalled_rate", descending=True), name="model", value="recalled_rate", low="recalled_low", high="recalled_high",
            title=("记得的比例（%）", "recalled (%)"), series="source", series_words=_SOURCES, mark_at=_FALSE_ALARM_PERCENT,
        )
        if frame.height
        else None,
        filled_by=("proctor contamination run",),
        is_folded=True,
    )  # fmt: skip


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
    return Panel(
        name="leaks",
        title=("见过的题目是否多得分", "Gains on questions met before"),
        about=(
            "最近一版中，每个机构在它或参照模型的提供方见过的题目上，比按题目难度与自身能力的预期多得的星数（±1.96 个标准误）。"
            "“可发现”是八成情况下能发现的最小增益；各机构分摊 5% 的误报率。每点是一个机构，不写明是哪个。",
            "In the latest edition: stars beyond what difficulty and ability let expect, on questions that the organisation, or the provider of the "
            "reference, had met before (1.96 standard errors to each side). Detectable is the smallest gain that would be found in 80% of cases; "
            "5% false alarms are shared out. Each point is an organisation; which one is not said.",
        ),
        query="leak_rows",
        params=source.shown,
        frame=frame,
        cells=(
            Cell("place", ("机构", "Organisation"), "count"),
            Cell("question_count", ("作答数", "Answers"), "count"),
            Cell("met_count", ("见过的", "Of these met before"), "count"),
            Cell("gain", ("增益（星）", "Gain (stars)"), "number", 3),
            Cell("gain_low", INTERVAL, "interval", 3, "gain_high"),
            Cell("p_value", ("p 值", "p"), "p"),
            Cell("least_found", ("可发现", "Detectable"), "number", 3),
            Cell("is_found", ("泄漏", "leak"), "flag", is_warning=True),
        ),
        finding=finding,
        draw=dots(
            frame.filter(pl.col("gain").is_not_null()), name="place", value="gain", low="gain_low", high="gain_high",
            title=("增益（星）", "gain (stars)"), mark_at=0,
        )
        if frame["gain"].count()
        else None,
        filled_by=("proctor publish",),
        is_folded=True,
    )  # fmt: skip


_LEAKS = {
    "place": pl.Int64, "question_count": pl.Int64, "met_count": pl.Int64, "gain": pl.Float64, "gain_low": pl.Float64,
    "gain_high": pl.Float64, "p_value": pl.Float64, "least_found": pl.Float64, "is_found": pl.Boolean,
}  # fmt: skip


def _watch_leaks(rows: pl.DataFrame) -> pl.DataFrame:
    """The leak watch without the organisations' names, the largest gain first; they are numbered in that order."""
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
    return Panel(
        name="pooling",
        title=("合谋风险", "If organisations pool"),
        about=(
            "k 个机构把见过的题目合在一起，占题库的比例：对所有组合的平均（精确值），以及任何组合都不超过的上限。",
            "The share of the bank that k organisations have met together: the mean over all choices of them (exact), and what no choice exceeds.",
        ),
        query="pooling_risk",
        params=params,
        frame=frame,
        cells=(
            Cell("k", ("机构数", "Organisations"), "count"),
            Cell("expected_count", ("平均谱系数", "Lineages on average"), "number", 1),
            Cell("expected_share", ("平均比例", "Share on average"), "percent", 1),
            Cell("at_most_count", ("最多谱系数", "Lineages at most"), "count"),
            Cell("at_most_share", ("最多比例", "Share at most"), "percent", 1),
        ),
        finding=finding,
        draw=number_lines(
            drawn, at="k", value="share", title=("占题库的比例", "share of the bank"), at_title=("合谋的机构数", "organisations that pool"),
            series="measure", series_words={"expected_share": ("平均", "on average"), "at_most_share": ("最多", "at most")}, percent=True, zero=True,
        )
        if frame.height
        else None,
        filled_by=("proctor evaluate",),
        is_folded=True,
    )  # fmt: skip


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
    return Panel(
        name="forecast",
        title=("散布的进度与预测", "How far the bank is spread, and will be"),
        about=(
            "所有机构合起来见过的谱系占题库的比例；虚线按最近六个有考试的月份的平均速度推算，题库不变。",
            "Lineages that all organisations together have met, as a share of the bank; the broken line goes on at the mean pace of the last six "
            "months with a run, the bank staying as it is.",
        ),
        query="pooling_forecast",
        params=params,
        frame=frame,
        cells=(
            MONTH,
            Cell("pooled_count", ("谱系数", "Lineages"), "number", 0),
            Cell("pooled_share", ("占题库", "Share of the bank"), "percent", 1),
            Cell("is_forecast", ("预测", "forecast"), "flag"),
        ),
        finding=finding,
        draw=month_lines(
            frame.with_columns(series=pl.lit("all"), part=pl.col("is_forecast").cast(pl.String)), value="pooled_share",
            title=("占题库的比例", "share of the bank"), series="part", series_words={"false": ("至今", "so far"), "true": ("预测", "forecast")},
            dashed="is_forecast", percent=True, zero=True,
        )
        if frame.height
        else None,
        filled_by=("proctor evaluate",),
        is_folded=True,
    )  # fmt: skip


def read_kind(source: Source, query: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """The rows of a query whose parameter `simulated` is true or false: of real runs, and where there is none of simulated ones."""
    first, second = (True, False) if source.include_simulated else (False, True)
    frame = round_last_digits(source.run_named(query, {"simulated": first}))
    # Some of these queries have a row for each discipline of the bank, whether or not anybody has sat.
    is_bare = frame.is_empty() or (
        "organisation_count" in frame.columns and not frame["organisation_count"].sum()
    )
    if is_bare and source.include_simulated is None:
        return round_last_digits(source.run_named(query, {"simulated": second})), {"simulated": second}
    return (frame.clear() if is_bare else frame), {"simulated": first}
