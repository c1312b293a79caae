"""The panel of corrected scores: what S would be if people had judged."""

from __future__ import annotations

import polars as pl

from tasks.report.pages.common import INTERVAL, MODEL, MONTH, round_last_digits
from tasks.report.panel_charts import dots, say_cut
from tasks.report.panels import Cell, Panel, Source, Words

_ESTIMATORS: dict[str, Words] = {
    "prediction_powered": ("按本模型的评分", "by the candidate's own ratings"),
    "family_effects": ("按所有模型的评分", "by the ratings of all"),
}
_MEASURES: dict[str, Words] = {"score": ("发布的 S", "S as published"), "corrected": ("校正后", "corrected")}


def read_corrected(source: Source) -> Panel:
    """S of the last month that has ratings beside S corrected for the judge."""
    found = round_last_digits(source.run_named("corrected_leaderboard", source.shown))
    frame = found.filter(pl.col("month") == pl.col("month").max())
    # The estimator that everybody has.
    drawn = frame.filter(pl.col("estimator") == "family_effects").sort("score", descending=True)
    finding = None
    if drawn.height:
        apart = drawn.filter(pl.col("is_judged_apart"))["model"].to_list()
        finding = (
            f"{frame['month'][0]}：{drawn.height} 个模型中 {len(apart)} 个的 S 在校正分的 95% 区间之外。",
            f"{frame['month'][0]}: S of {len(apart)} of {drawn.height} candidates lies outside the 95% interval of the corrected score.",
        )
    return Panel(
        name="corrected",
        title=("如果由人评判", "If people had judged"),
        about=say_cut((
            "用人的评分校正裁判之后的 S 与 95% 区间，列在发布的 S 旁边；发布的 S 不变。图为按所有模型的评分校正。",
            "S corrected for the judge by people's ratings, with its 95% interval, beside S as it was published, which stays. The figure has the "
            "estimate by the ratings of all candidates.",
        ), drawn, "model"),
        query="corrected_leaderboard",
        params=source.shown,
        frame=frame,
        cells=(
            MODEL,
            MONTH,
            Cell("estimator", ("估计", "Estimate"), "word", words=_ESTIMATORS),
            Cell("score", ("S", "S"), "number"),
            Cell("corrected_score", ("校正后", "Corrected"), "number"),
            Cell("corrected_low", INTERVAL, "interval", 1, "corrected_high"),
            Cell("rated_count", ("人评的作答", "Rated responses"), "count"),
            Cell("is_judged_apart", ("与 S 不一致", "differs from S"), "flag", is_warning=True),
        ),
        finding=finding,
        draw=dots(
            _lengthen(drawn), name="model", value="value", low="low", high="high", title=("S", "S"), series="measure",
            series_words=_MEASURES,
        )
        if finding is not None
        else None,
        filled_by=("proctor calibrate report", "proctor publish"),
        is_folded=True,
    )  # fmt: skip


def _lengthen(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for S and one for the corrected score of each candidate."""
    ends = {"score": ("score", "score", "score"), "corrected": ("corrected_score", "corrected_low", "corrected_high")}  # fmt: skip
    parts = [
        rows.with_row_index("place").select(
            "place", "model", measure=pl.lit(name), value=value, low=low, high=high
        )
        for name, (value, low, high) in ends.items()
    ]
    return pl.concat(parts).sort("place", maintain_order=True)
