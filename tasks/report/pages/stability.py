"""The page of stability: what the order and the scores do when other questions are drawn, fewer, or under another prompt style."""

from __future__ import annotations

import polars as pl

from tasks.report.pages.common import MODEL, MONTH, STYLE_WORDS, round_last_digits
from tasks.report.panel_charts import dots, number_lines, say_cut
from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "换一批题目、题目更少、换一种提示方式时，分数和名次会变多少。",
    "How much scores and ranks move when other questions are drawn, when there are fewer, and under another prompt style.",
)
_METHODS: dict[str, Words] = {
    "score": ("按 S", "by S"),
    "elo": ("Elo", "Elo"),
    "bradley_terry": ("Bradley–Terry", "Bradley–Terry"),
}
_SAMPLED = ("proctor stability RUN",)


def read_stability(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [
        _read_order(source),
        _read_resamples(source),
        _read_draws(source),
        _read_styles(source),
    ]


def _read_order(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("rating_stability", {}))
    finding = None
    by_score = frame.filter((pl.col("method") == "score") & pl.col("spearman").is_not_null())
    if by_score.height:
        small, large = (
            by_score.sort("sample_size").row(0, named=True),
            by_score.sort("sample_size").row(-1, named=True),
        )
        finding = (
            f"按 S 排序：{small['sample_size']} 题时与全部题目的名次相关 {small['spearman']:.3f}，{large['sample_size']} 题时 {large['spearman']:.3f}。",
            f"By S the order correlates {small['spearman']:.3f} with that of all questions at {small['sample_size']} questions, "
            f"{large['spearman']:.3f} at {large['sample_size']}.",
        )  # fmt: skip
    return Panel(
        name="order",
        title=("需要多少题", "How many questions it takes"),
        about=(
            "从一套题中抽取不同数量的题目重新排序，与全部题目的次序的 Spearman 秩相关（多次抽样的平均）。",
            "The order on samples of a set's questions against that on all of them: Spearman's rank correlation, the mean over samples.",
        ),
        query="rating_stability",
        frame=frame,
        cells=(
            MONTH,
            Cell("set_id", ("题集", "Set")),
            Cell("method", ("方法", "Method"), "word", words=_METHODS),
            Cell("sample_size", ("题数", "Questions"), "count"),
            Cell("spearman", ("秩相关", "Rank correlation"), "number", 3),
            Cell("spearman_sd", ("标准差", "sd"), "number", 3),
            Cell("in_place_count", ("名次已定", "In their place"), "count"),
            Cell("candidate_count", ("模型数", "Candidates"), "count"),
            Cell("largest_rank_shift", ("最多相差名次", "Largest shift"), "count"),
        ),
        finding=finding,
        draw=number_lines(
            frame.filter(pl.col("set_id") == frame["set_id"][0]), at="sample_size", value="spearman",
            title=("秩相关", "rank correlation"), at_title=("题数", "questions"), series="method", series_words=_METHODS, is_log=True,
        )
        if finding is not None
        else None,
        filled_by=_SAMPLED,
        is_folded=True,
    )  # fmt: skip


def _read_resamples(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("repeat_stability", {})).with_columns(
        low=pl.col("score_mean") - 1.96 * pl.col("score_variance").sqrt(),
        high=pl.col("score_mean") + 1.96 * pl.col("score_variance").sqrt(),
    )
    finding = None
    if (known := frame.filter(pl.col("score_variance").is_not_null())).height:
        widest = known.sort("score_variance", descending=True).row(0, named=True)
        finding = (
            f"重抽样间 S 的标准差最大为 {widest['score_variance'] ** 0.5:.2f}（{widest['model']}）。",
            f"The largest standard deviation of S over the resamples is {widest['score_variance'] ** 0.5:.2f} ({widest['model']}).",
        )
    return Panel(
        name="resamples",
        title=("同一套题的重抽样", "Resamples of the set"),
        about=say_cut(
            (
                "有放回地重抽题目（默认三次 1,000 题，各一次 2,000 与 4,000 题）时 S 的均值，横线为 ±1.96 个标准差；R 的方差是样本方差。",
                "Mean of S when the set's questions are drawn again with replacement (by default three times 1,000, once 2,000 and 4,000); the "
                "line is 1.96 standard deviations to each side. The variance of R is a sample variance.",
            ),
            frame,
            "model",
        ),
        query="repeat_stability",
        frame=frame.drop("low", "high"),
        cells=(
            MODEL,
            Cell("set_id", ("题集", "Set")),
            Cell("score_mean", ("S 的均值", "Mean of S"), "number"),
            Cell("score_variance", ("S 的方差", "Variance of S"), "number", 3),
            Cell("relative_score_mean", ("R 的均值", "Mean of R"), "number"),
            Cell("relative_score_variance", ("R 的方差", "Variance of R"), "number", 3),
            Cell("resample_count", ("重抽样次数", "Resamples"), "count"),
            Cell("is_larger_than_set", ("多于题集", "more than the set has"), "flag"),
        ),
        finding=finding,
        draw=dots(
            frame.filter(pl.col("set_id") == frame["set_id"][0]),
            name="model",
            value="score_mean",
            low="low",
            high="high",
            title=("S", "S"),
        )
        if frame.height
        else None,
        filled_by=_SAMPLED,
        is_folded=True,
    )


def _read_draws(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("draw_stability", source.shown))
    long = (
        frame.select("model", "scores").explode("scores").rename({"scores": "score"})
        if frame.height
        else frame.select("model")
    )
    finding = None
    if (known := frame.filter(pl.col("score_variance").is_not_null())).height:
        observed, expected = known["score_variance"].mean(), known["expected_score_variance"].mean()
        if isinstance(observed, float) and isinstance(expected, float):
            finding = (
                f"各次抽题间 S 的方差平均为 {observed:.2f}，仅由抽题可预期 {expected:.2f}。",
                f"Over the draws S varies by {observed:.2f} on average (variance); the drawing of questions alone lets expect {expected:.2f}.",
            )
    return Panel(
        name="draws",
        title=("同月另抽的题集", "Other draws of the same month"),
        about=(
            "同一月在不同题集上各考一次，每点为一次的 S。",
            "The same month sat on several sets of questions; each point is the S of one.",
        ),
        query="draw_stability",
        params=source.shown,
        frame=frame,
        cells=(
            MODEL,
            Cell("draw_count", ("抽题次数", "Draws"), "count"),
            Cell("score_mean", ("S 的均值", "Mean of S"), "number"),
            Cell("score_variance", ("S 的方差", "Variance of S"), "number", 3),
            Cell("expected_score_variance", ("可预期的方差", "Variance to be expected"), "number", 3),
            Cell("relative_score_mean", ("R 的均值", "Mean of R"), "number"),
            Cell("relative_score_variance", ("R 的方差", "Variance of R"), "number", 3),
        ),
        finding=finding,
        draw=dots(long, name="model", value="score", title=("S", "S")) if frame.height else None,
        filled_by=("proctor evaluate --draw 1000",),
        is_folded=True,
    )


def _read_styles(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("style_stability", source.shown))
    columns = {f"{style}_score": style for style in STYLE_WORDS}
    long = (
        frame.unpivot(on=list(columns), index="model", variable_name="style", value_name="score")
        .with_columns(pl.col("style").replace(columns))
        .filter(pl.col("score").is_not_null())
    )
    finding = None
    if (known := frame.filter(pl.col("style_count") > 1)).height:
        widest = known.sort("style_variance", descending=True).row(0, named=True)
        middle = float(known.select(pl.col("style_variance").median()).item())
        finding = (
            f"受提示方式影响最大的是 {widest['model']}：总体方差 {widest['style_variance']:.2f}；中位数 {middle:.2f}。",
            f"The prompt style matters most to {widest['model']}: a population variance of {widest['style_variance']:.2f}; the median is "
            f"{middle:.2f}.",
        )
    return Panel(
        name="styles",
        title=("提示方式", "Prompt styles"),
        about=say_cut((
            "最近一月各提示方式下的 S，以及三者的均值与总体方差。",
            "S under each prompt style in the latest month, with their mean and population variance.",
        ), frame, "model"),
        query="style_stability",
        params=source.shown,
        frame=frame,
        cells=(
            MODEL,
            *(Cell(f"{style}_score", words, "number") for style, words in STYLE_WORDS.items()),
            Cell("style_mean", ("均值", "Mean"), "number"),
            Cell("style_variance", ("总体方差", "Population variance"), "number"),
        ),
        finding=finding,
        draw=dots(
            long.join(frame.select("model").with_row_index("place"), on="model").sort("place"),
            name="model", value="score", title=("S", "S"), series="style", series_words=STYLE_WORDS,
        )
        if finding is not None
        else None,
        filled_by=("proctor evaluate", "proctor publish"),
        is_folded=True,
    )  # fmt: skip
