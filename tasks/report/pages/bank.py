"""The page of the bank: what it holds, how it grew, and for how long it lasts. Nobody who has met anything is named."""

from __future__ import annotations

import polars as pl

from tasks.report.pages.common import DISCIPLINE, DISCIPLINE_WORDS, round_last_digits
from tasks.report.pages.contamination import read_kind
from tasks.report.panel_charts import bars
from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "题库里有什么，各版本增减了多少，按现在的速度还能用几个月。题目本身不在这里。",
    "What the bank holds, how it changed from version to version, and for how many months it lasts. No question is shown.",
)
_TYPES: dict[str, Words] = {
    "multiple_choice": ("选择题", "multiple choice"),
    "true_false": ("判断题", "true or false"),
    "fill_in_the_blank": ("填空题", "fill in the blank"),
    "short_answer": ("简答题", "short answer"),
    "term_explanation": ("名词解释", "term"),
    "material_analysis": ("材料分析", "material analysis"),
    "calculation": ("计算题", "calculation"),
    "essay": ("论述题", "essay"),
}
_DISCIPLINES: dict[str, Words] = {**DISCIPLINE_WORDS, "unknown": ("未标学科", "none given")}
_FILLED_BY = ("proctor ingest", "proctor review", "proctor dedupe")
_NAMES: dict[str, Words] = {
    **_DISCIPLINES,
    "all": ("合计", "all"),
    "undergraduate_final": ("本科期末", "undergraduate finals"),
    "postgraduate_entrance": ("研究生入学", "postgraduate entrance"),
    "other": ("其他", "other"),
    "unknown": ("未标", "none given"),
}


def read_bank(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [_read_outlook(source), _read_types(source), _read_growth(source), _read_sizes(source)]


def _read_outlook(source: Source) -> Panel:
    frame, params = read_kind(source, "exposure_outlook")
    known = frame.filter(pl.col("least_months_left").is_not_null())
    finding = None
    if known.height:
        first = known.row(0, named=True)
        zh, en = DISCIPLINE_WORDS.get(first["discipline"], (first["discipline"],) * 2)
        finding = (
            f"最先用完的是{zh}：对用得最快的机构还够 {first['least_months_left']:.0f} 个月，中位数 {first['median_months_left']:.0f} 个月。",
            f"{en} runs out first: it lasts {first['least_months_left']:.0f} months for the organisation that is through it soonest, "
            f"{first['median_months_left']:.0f} for the one in the middle.",
        )
    return Panel(
        name="outlook",
        title=("还能用多久", "How long it lasts"),
        about=(
            "每个机构按自己从首次考试以来每月新见谱系的平均数，还能用几个月；取各机构中最少的与中位数。不计可以再次使用的旧题。",
            "Months left to each organisation at the pace at which it has met lineages since its first month: the least and the median over "
            "organisations. What has rested and may return is not counted.",
        ),
        query="exposure_outlook",
        params=params,
        frame=frame,
        cells=(
            DISCIPLINE,
            Cell("lineage_count", ("谱系", "Lineages"), "count"),
            Cell("organisation_count", ("机构数", "Organisations"), "count"),
            Cell("most_met_count", ("最多见过", "Met at most"), "count"),
            Cell("median_met_count", ("见过的中位数", "Met, median"), "number", 1),
            Cell("least_months_left", ("至少还能用（月）", "Months left, least"), "number", 1),
            Cell("median_months_left", ("中位数（月）", "Months left, median"), "number", 1),
        ),
        finding=finding,
        draw=bars(
            known, name="discipline", names=DISCIPLINE_WORDS, value="least_months_left", title=("至少还能用的月数", "months left, least")
        )
        if known.height
        else None,
        filled_by=(*_FILLED_BY, "proctor evaluate"),
    )  # fmt: skip


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
    return Panel(
        name="types",
        title=("学科与题型", "Disciplines and types"),
        about=(
            "最新版本中各学科、各题型的题数（含变体）。",
            "Questions of the latest version by discipline and type, variants included.",
        ),
        query="bank_by_type",
        frame=frame.drop("total", strict=False),
        cells=(
            Cell("discipline", ("学科", "Discipline"), "word", words=_DISCIPLINES),
            Cell("question_type", ("题型", "Type"), "word", words=_TYPES),
            Cell("lineage_count", ("谱系", "Lineages"), "count"),
            Cell("original_count", ("原题", "Originals"), "count"),
            Cell("question_count", ("题数", "Questions"), "count"),
        ),
        finding=finding,
        draw=bars(
            frame, name="discipline", names=_DISCIPLINES, value="question_count", title=("题数", "questions"),
            series="question_type", series_words=_TYPES,
        )
        if frame.height
        else None,
        filled_by=_FILLED_BY,
        is_folded=True,
    )  # fmt: skip


def _name(discipline: str) -> Words:
    return _DISCIPLINES.get(discipline, (discipline, discipline))


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
    moves = {"entered_count": ("进入", "entered"), "left_out_count": ("退出", "left")}
    return Panel(
        name="versions",
        title=("各版本", "Versions"),
        about=(
            "每个版本的题数、进入与退出的题数，及其内容的哈希。改过的题既退出又进入。",
            "What each version holds, what entered and left with it, and the hash of its content. A question that was edited leaves and enters.",
        ),
        query="bank_growth",
        frame=frame,
        cells=(
            Cell("bank_version", ("版本", "Version"), "count"),
            Cell("published_at", ("发布", "Published"), "moment"),
            Cell("question_count", ("题数", "Questions"), "count"),
            Cell("lineage_count", ("谱系", "Lineages"), "count"),
            Cell("entered_count", moves["entered_count"], "count"),
            Cell("left_out_count", moves["left_out_count"], "count"),
            Cell("duplicate_count", ("因重复未收", "Duplicates left out"), "count"),
            Cell("content_hash", ("哈希", "Hash"), "hash"),
        ),
        finding=finding,
        draw=bars(
            frame.unpivot(on=list(moves), index="bank_version", variable_name="move", value_name="count").sort("bank_version"),
            name="bank_version", value="count", title=("题数", "questions"), series="move", series_words=moves,
        )
        if frame.height > 1
        else None,
        filled_by=_FILLED_BY,
    )  # fmt: skip


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
    return Panel(
        name="sources",
        title=("扩充前后", "Before and after augmentation"),
        about=(
            "按学科与来源：原题数、含变体的题数、增幅与占比。",
            "By discipline and by source: originals, questions with their variants, the increase and the shares.",
        ),
        query="bank_statistics",
        frame=frame,
        cells=(
            Cell(
                "grouped_by",
                ("分组", "By"),
                "word",
                words={
                    "discipline": ("学科", "discipline"),
                    "source_kind": ("来源", "source"),
                    "total": ("合计", "total"),
                },
            ),
            Cell("name", ("名称", "Name"), "word", words=_NAMES),
            Cell("original_count", ("原题", "Originals"), "count"),
            Cell("question_count", ("题数", "Questions"), "count"),
            Cell("increase_rate", ("增幅（%）", "Increase (%)"), "number", 1),
            Cell("original_share", ("原题占比（%）", "Share of originals (%)"), "number", 1),
            Cell("question_share", ("题数占比（%）", "Share of questions (%)"), "number", 1),
        ),
        finding=finding,
        filled_by=_FILLED_BY,
    )
