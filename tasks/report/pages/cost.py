"""The page of costs: month by month, by model, and for each point of S."""

from __future__ import annotations

import polars as pl

from tasks.report.labels import LABELS
from tasks.report.month_charts import month_bars
from tasks.report.pages.common import MODEL, MONTH, round_last_digits
from tasks.report.panel_charts import bars, say_cut, scatter
from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "付费调用花了多少：按月、按模型、按每一分 S。价格未知的调用只计数，不计费。",
    "What paid calls cost: by month, by model, and for each point of S. Calls without a known price are counted and cost nothing here.",
)
_PURPOSES: dict[str, Words] = {
    name.removeprefix("purpose_"): words for name, words in LABELS.items() if name.startswith("purpose_")
}
_USD: Words = ("费用（美元）", "Cost (USD)")
_FILLED_BY = ("proctor evaluate", "proctor judge")


def read_cost(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [_read_points(source), _read_months(source), _read_models(source)]


def _read_points(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("cost_per_point", source.shown))
    efficient = frame.filter(pl.col("is_efficient"))
    finding = None
    if efficient.height:
        best = efficient.sort("score", descending=True).row(0, named=True)
        names = efficient.sort("score", descending=True)["model"].head(5).to_list()
        zh, en = "、".join(names), ", ".join(names)
        finding = (
            f"没有别的模型以更低费用得到同样高分的（按 S）：{zh}。其中 S 最高的 {best['model']} 每千题 {best['cost_per_1000_usd']:.2f} 美元。",
            f"Nobody scores as much for less than {en}; the best of them, {best['model']}, costs {best['cost_per_1000_usd']:.2f} dollars for "
            f"1,000 questions.",
        )
    return Panel(
        name="points",
        title=("每一分的费用", "Cost of a point"),
        about=(
            "最近一月的 S 与千题零样本作答的费用（对数轴）。“划算”：没有别的模型以更低费用得到至少同样的 S。",
            "S of the latest month against what 1,000 zero-shot answers cost (logarithmic axis). Efficient: no other candidate scores at least "
            "as much for less.",
        ),
        query="cost_per_point",
        params=source.shown,
        frame=frame,
        cells=(
            MODEL,
            Cell("score", ("S", "S"), "number"),
            Cell("cost_per_1000_usd", ("千题（美元）", "1,000 questions (USD)"), "number", 3),
            Cell("cost_per_point_usd", ("每分（美元）", "Each point (USD)"), "number", 4),
            Cell("priced_count", ("有价格的作答", "Answers with a price"), "count"),
            Cell("unpriced_count", ("无价格的", "Without"), "count"),
            Cell("is_efficient", ("划算", "efficient"), "flag"),
        ),
        finding=finding,
        draw=scatter(
            frame, across="cost_per_1000_usd", up="score", name="model", across_title=("千题费用（美元）", "USD for 1,000 questions"),
            up_title=("S", "S"), flag="is_efficient", flag_words=(("划算", "efficient"), ("其他", "others")), is_log=True,
        )
        if finding is not None
        else None,
        filled_by=("proctor evaluate", "proctor publish"),
        is_folded=True,
    )  # fmt: skip


def _read_months(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("cost_by_month", {}))
    finding = None
    if frame.height:
        totals = frame.group_by("month").agg(pl.col("cost_usd").sum()).sort("month")
        last, total = totals.row(-1, named=True), totals["cost_usd"].sum()
        finding = (
            f"{totals.height} 个月共 {total:,.2f} 美元；{last['month']} 为 {last['cost_usd']:,.2f} 美元。",
            f"{total:,.2f} dollars in {totals.height} months; {last['cost_usd']:,.2f} in {last['month']}.",
        )
    return Panel(
        name="months",
        title=("按月", "By month"),
        about=("每月的费用，按用途分。", "What each month cost, by purpose."),
        query="cost_by_month",
        frame=frame,
        cells=(
            MONTH,
            Cell("purpose", ("用途", "Purpose"), "word", words=_PURPOSES),
            Cell("call_count", ("调用", "Calls"), "count"),
            Cell("failed_count", ("失败", "Failed"), "count"),
            Cell("input_token_count", ("输入词元", "Tokens in"), "count"),
            Cell("output_token_count", ("输出词元", "Tokens out"), "count"),
            Cell("cost_usd", _USD, "number"),
            Cell("unpriced_count", ("无价格", "Without a price"), "count"),
        ),
        finding=finding,
        draw=month_bars(frame, value="cost_usd", title=_USD, series="purpose", series_words=_PURPOSES)
        if frame.height
        else None,
        filled_by=_FILLED_BY,
        is_folded=True,
    )


def _read_models(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("cost_by_model", {}))
    finding = None
    if frame.height:
        totals = (
            frame.group_by("model")
            .agg(pl.col("cost_usd").sum())
            .sort(["cost_usd", "model"], descending=[True, False])
        )
        most, total = totals.row(0, named=True), totals["cost_usd"].sum()
        share = most["cost_usd"] / total * 100 if total else 0
        finding = (
            f"花费最多的是 {most['model']}：{most['cost_usd']:,.2f} 美元，占 {share:.0f}%。",
            f"{most['model']} cost most: {most['cost_usd']:,.2f} dollars, {share:.0f}% of all.",
        )
        frame = frame.join(totals.rename({"cost_usd": "total"}), on="model").sort(
            ["total", "model", "purpose"], descending=[True, False, False]
        )
    return Panel(
        name="models",
        title=("按模型", "By model"),
        about=say_cut(("各模型各用途的费用，不分月份。", "What each model cost over all months, by purpose."), frame, "model"),
        query="cost_by_model",
        frame=frame.drop("total", strict=False),
        cells=(
            MODEL,
            Cell("purpose", ("用途", "Purpose"), "word", words=_PURPOSES),
            Cell("call_count", ("调用", "Calls"), "count"),
            Cell("input_token_count", ("输入词元", "Tokens in"), "count"),
            Cell("output_token_count", ("输出词元", "Tokens out"), "count"),
            Cell("cost_usd", _USD, "number"),
            Cell("unpriced_count", ("无价格", "Without a price"), "count"),
        ),
        finding=finding,
        draw=bars(frame, name="model", value="cost_usd", title=_USD, series="purpose", series_words=_PURPOSES)
        if frame.height
        else None,
        filled_by=_FILLED_BY,
        is_folded=True,
    )  # fmt: skip
