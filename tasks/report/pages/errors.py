"""The page of errors: why failed responses fail, by candidate and by discipline."""

from __future__ import annotations

import polars as pl

from tasks.report.pages.common import DISCIPLINE, DISCIPLINE_WORDS, INTERVAL, MODEL, round_last_digits
from tasks.report.panel_charts import bars, say_cut
from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "得 0 星或 1 星的作答抽样后标注原因；有人工标注时以人工为准，其余由模型预标注。",
    "Responses with 0 or 1 star, a sample of which is labelled with its cause. A person's label counts before a model's.",
)
_CLASSES: dict[str, Words] = {
    "disciplinary_knowledge": ("学科知识", "disciplinary knowledge"),
    "misunderstanding": ("误解题意", "misunderstanding"),
    "logical_reasoning": ("逻辑推理", "logical reasoning"),
    "factual_inaccuracy": ("事实错误", "factual inaccuracy"),
    "format_compliance": ("格式不符", "format"),
}
_FILLED_BY = ("proctor errors draw", "proctor errors prelabel", "proctor errors import")


def read_errors(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [
        _read_shares(source, "error_shares", "model", MODEL, ("按参评模型", "By candidate"), {}),
        _read_shares(
            source,
            "error_shares_by_discipline",
            "discipline",
            DISCIPLINE,
            ("按学科", "By discipline"),
            DISCIPLINE_WORDS,
        ),
    ]


def _read_shares(
    source: Source, query: str, by: str, cell: Cell, title: Words, names: dict[str, Words]
) -> Panel:
    frame = round_last_digits(source.run_named(query, {}))
    return Panel(
        name=by,
        title=title,
        about=say_cut((
            "各原因占已标注的失败作答的比例；表中有 Wilson 95% 区间和其中人工标注的数目。",
            "Each cause's share of the labelled failures; the table has Wilson's 95% interval and how many labels are people's.",
        ), frame, by),
        query=query,
        frame=frame,
        cells=(
            cell,
            Cell("error_class", ("原因", "Cause"), "word", words=_CLASSES),
            Cell("label_count", ("数目", "Count"), "count"),
            Cell("human_count", ("其中人工", "Of these by people"), "count"),
            Cell("labelled_count", ("已标注", "Labelled"), "count"),
            Cell("error_share", ("比例（%）", "Share (%)"), "number", 1),
            Cell("error_share_low", INTERVAL, "interval", 1, "error_share_high"),
        ),
        finding=_find(frame, by, names),
        draw=bars(
            frame.sort(by, "error_class"), name=by, names=names, value="error_share", title=("比例（%）", "share (%)"),
            series="error_class", series_words=_CLASSES, domain=(0, 100),
        )
        if frame.height
        else None,
        filled_by=_FILLED_BY,
        is_folded=True,
    )  # fmt: skip


def _find(frame: pl.DataFrame, by: str, names: dict[str, Words]) -> Words | None:
    """The commonest cause over all, and where its share is largest by the lower end of its interval: few labels say little."""
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
    where = names.get(most[by], (most[by], most[by]))
    zh, en = _CLASSES.get(cause, (cause, cause))
    return (
        f"最常见的原因是{zh}：{total} 条中的 {count} 条（{count / total * 100:.0f}%）；最集中于 {where[0]}（{most['labelled_count']} 条中的 {most['error_share']:.0f}%）。",
        f"The commonest cause is {en}: {count} of {total} ({count / total * 100:.0f}%); it is surest to be large for {where[1]} "
        f"({most['error_share']:.0f}% of {most['labelled_count']}).",
    )
