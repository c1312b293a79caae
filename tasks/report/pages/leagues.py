"""The page of the leagues: how their candidates stand, domain by domain, with the way to each league's own page."""

from __future__ import annotations

import re

import polars as pl

from tasks.report.league_page import name_file
from tasks.report.pages.common import MODEL, round_last_digits
from tasks.report.panel_charts import dots
from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "参评模型互相出题、作答、评判。每个联赛有自己的一页，包含检验、评判者矩阵与家族偏向。",
    "Models set questions for each other, answer and judge. Each league has a page of its own, with tests, judges against answerers, and favour "
    "of families.",
)
_FILLED_BY = ("proctor league run", "proctor league report")


def read_leagues(source: Source) -> list[Panel]:
    """A panel for each league and domain, judged in full; one that says what fills it where there is none."""
    ranking = round_last_digits(source.run_named("league_ranking", {"run_type": "full"}))
    if ranking.is_empty():
        title: Words = ("联赛", "Leagues")
        return [Panel("ranking", title, ABOUT, "league_ranking", ranking, filled_by=_FILLED_BY)]
    return [
        _read_domain(str(league_id), str(domain), rows)
        for (league_id, domain), rows in ranking.partition_by(
            "league_id", "domain", as_dict=True, maintain_order=True
        ).items()
    ]


def _read_domain(league_id: str, domain: str, rows: pl.DataFrame) -> Panel:
    title = f"{league_id} · {domain}"
    first = rows.row(0, named=True)
    finding = None
    if first["score"] is not None:
        finding = (
            f"{title}：{rows.height} 个模型中第一的是 {first['model']}，{first['score']:.2f} 分。",
            f"{title}: of {rows.height} candidates {first['model']} is first with {first['score']:.2f}.",
        )
    return Panel(
        name="ranking-" + re.sub(r"[^A-Za-z0-9]", "-", title) + f"-{sum(map(ord, title))}",
        title=(title, title),
        about=(
            "得分与 95% 区间（按作答）；出题难度为别人在它所出题目上的得分，越低越难。",
            "Score with its 95% interval over answers; setting is what others got on its questions, lower is harder.",
        ),
        query="league_ranking",
        params={"league_id": league_id, "domain": domain, "run_type": "full"},
        frame=rows,
        cells=(
            Cell("rank", ("名次", "Rank"), "count"),
            MODEL,
            Cell("score", ("得分", "Score"), "number"),
            Cell("answer_low", ("95% 区间", "95% interval"), "interval", 2, "answer_high"),
            Cell("setting_score", ("出题难度", "Setting"), "number"),
            Cell("answer_count", ("作答数", "Answers"), "count"),
            Cell("is_imported", ("导入", "imported"), "flag"),
            Cell("is_simulated", ("模拟数据", "SIMULATED"), "flag", is_warning=True),
        ),
        finding=finding,
        draw=dots(
            rows.filter(pl.col("score").is_not_null()), name="model", value="score", low="answer_low", high="answer_high", title=("得分", "score")
        )
        if finding is not None
        else None,
        filled_by=_FILLED_BY,
        more=f"{name_file(league_id)}.html",
    )  # fmt: skip
