"""The page of the judges: how far they agree with people and with each other, towards whom they are generous, whether they changed."""

from __future__ import annotations

import polars as pl

from tasks.report.month_charts import month_lines
from tasks.report.pages.common import DISCIPLINE, DISCIPLINE_WORDS, INTERVAL, JUDGE, MONTH, round_last_digits
from tasks.report.pages.corrected import read_corrected
from tasks.report.panel_charts import cells, dots
from tasks.report.panels import Cell, Panel, Source, Words

ABOUT: Words = (
    "星数由裁判模型给出。这一页说明裁判与人、与彼此的一致程度，对谁偏宽，以及是否在名称不变的情况下变了。",
    "Stars are given by judges that are models. How far they agree with people and with each other, towards whom they are generous, and "
    "whether they changed under an unchanged name.",
)
_PROMPT: Words = ("提示词版本", "Prompt")
_GROUP_KINDS: dict[str, Words] = {
    "all": ("全部", "all responses"),
    "discipline": ("学科", "discipline"),
    "candidate": ("参评模型", "candidate"),
    "family": ("系列", "family"),
    "family_of_judge": ("是否与裁判同系列", "family of the judge"),
    "prompt_style": ("提示方式", "prompt style"),
    "response_length": ("作答长度", "length of the response"),
    "option_place": ("所选选项的位置", "place of the option"),
}
_GROUPS: dict[str, Words] = {
    **DISCIPLINE_WORDS,
    "own": ("同系列", "own family"),
    "other": ("其他系列", "another family"),
    "short": ("短", "short"),
    "medium": ("中", "medium"),
    "long": ("长", "long"),
    "first": ("第一项", "first"),
    "later": ("后面的项", "later"),
    "all": ("全部", "all"),
}


def read_judges(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [
        _read_calibration(source),
        _read_choice(source),
        _read_bias(source),
        _read_confusion(source),
        _read_agreement(source),
        _read_disagreements(source),
        _read_drift(source),
        read_corrected(source),
    ]


def _read_calibration(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_calibration", {})).with_columns(
        name=pl.format("{} ({})", "judge", "prompt_version"), series=pl.format("{} / {}", "occasion", "round")
    )
    finding = None
    if (known := _keep_latest(frame).filter(pl.col("mean_kappa").is_not_null())).height:
        best = known.sort(["mean_kappa", "judge"], descending=[True, False]).row(0, named=True)
        finding = (
            f"{_name_occasion(best['occasion'])[0]}校准中与人最一致的是 {best['judge']}：平均 κ = {best['mean_kappa']:.3f}（{best['candidate_count']} 个参评模型，从 "
            f"{best['lowest_kappa']:.2f} 到 {best['highest_kappa']:.2f}）。",
            f"{best['judge']} agrees most with people in the {_name_occasion(best['occasion'])[1]} calibration: mean κ {best['mean_kappa']:.3f} over {best['candidate_count']} candidates, from "
            f"{best['lowest_kappa']:.2f} to {best['highest_kappa']:.2f}.",
        )
    return Panel(
        name="calibration",
        title=("与人的一致性", "Judges and people"),
        about=(
            "对抽样作答，裁判的星数与评分者的共识之间的 Cohen κ（不加权），对各参评模型取平均；横线从最低到最高的模型。",
            "Cohen's κ (unweighted) between the judge's stars and the raters' consensus on sampled responses, the mean over candidates; the line "
            "goes from the lowest candidate to the highest.",
        ),
        query="judge_calibration",
        frame=frame.drop("name", "series"),
        cells=(
            JUDGE,
            Cell("prompt_version", _PROMPT),
            Cell("occasion", ("校准场合", "Occasion")),
            Cell("round", ("轮次", "Round"), "count"),
            Cell("mean_kappa", ("平均 κ", "Mean κ"), "number", 3),
            Cell("lowest_kappa", ("最低与最高", "Lowest and highest"), "interval", 3, "highest_kappa"),
            Cell("candidate_count", ("模型数", "Candidates"), "count"),
            Cell("pair_count", ("作答数", "Responses"), "count"),
        ),
        finding=finding,
        draw=dots(
            frame, name="name", value="mean_kappa", title=("平均 κ", "mean κ"), low="lowest_kappa", high="highest_kappa", series="series"
        )
        if frame.height
        else None,
        filled_by=("proctor calibrate draw", "proctor calibrate import", "proctor calibrate report"),
    )  # fmt: skip


def _keep_latest(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of the last occasion: `first` comes before every month."""
    if frame.is_empty():
        return frame
    months = frame.filter(pl.col("occasion") != "first")["occasion"]
    return frame.filter(pl.col("occasion") == (months.max() or "first"))


def _name_occasion(occasion: str) -> Words:
    return ("首次", "first") if occasion == "first" else (f"{occasion} ", occasion)


def _read_choice(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_choice", {}))
    finding = None
    if frame.height:
        first = _keep_latest(frame).row(0, named=True)
        is_apart = first["is_distinguishable"]
        finding = (
            f"{first['judge_a']} 比 {first['judge_b']} 更常与人一致，相差 {first['difference'] * 100:.1f} 个百分点"
            + ("，可以区分。" if is_apart else "，不能排除偶然。"),
            f"{first['judge_a']} agrees with people more often than {first['judge_b']}, by {first['difference'] * 100:.1f} points of 100: "
            + ("more than chance." if is_apart else "no more than chance allows."),
        )
    return Panel(
        name="choice",
        title=("选哪个裁判", "Which judge"),
        about=(
            "两个裁判都评过的抽样作答上，与人同星的比例之差（McNemar 精确检验）。",
            "The difference between two judges' shares of responses with the same stars as people, on those that both judged (McNemar's exact test).",
        ),
        query="judge_choice",
        frame=frame,
        cells=(
            Cell("occasion", ("校准场合", "Occasion")),
            Cell("judge_a", ("更一致的", "Agrees more")),
            Cell("judge_b", ("另一个", "The other")),
            Cell("pair_count", ("作答数", "Responses"), "count"),
            Cell("difference", ("差", "Difference"), "number", 3),
            Cell("difference_low", INTERVAL, "interval", 3, "difference_high"),
            Cell("p_value", ("p 值", "p"), "p"),
            Cell("is_distinguishable", ("可以区分", "distinguishable"), "flag"),
        ),
        finding=finding,
        filled_by=("proctor calibrate report",),
    )


def _read_bias(source: Source) -> Panel:
    found = round_last_digits(source.run_named("judge_groups", {}))
    frame = found.filter(pl.col("group_kind") != "all") if found.height else found
    finding = None
    if frame.height:
        latest = _keep_latest(frame)
        biased = latest.filter(pl.col("is_biased"))
        finding = (
            f"最近一次校准的 {latest.height} 组中有 {biased.height} 组的偏差的 95% 区间不含 0。",
            f"The 95% interval of the bias leaves out 0 in {biased.height} of {latest.height} groups of the last calibration.",
        )
    drawn = _keep_latest(frame).filter(pl.col("group_kind").is_in(["family_of_judge", "discipline"]))
    return Panel(
        name="bias",
        title=("对谁偏宽", "Towards whom a judge is generous"),
        about=(
            "偏差：裁判的平均星数减去评分者的平均星数，大于 0 为偏宽。图中为最近一次校准的各学科和是否与裁判同系列，表中为全部。",
            "Bias: the judge's mean stars less the raters'; above 0 it is generous. The figure has disciplines and the judge's own family in the last "
            "calibration, the table every group of every one.",
        ),
        query="judge_groups",
        frame=frame,
        cells=(
            JUDGE,
            Cell("occasion", ("校准场合", "Occasion")),
            Cell("group_kind", ("分组", "Group"), "word", words=_GROUP_KINDS),
            Cell("group_name", ("哪一组", "Which"), "word", words=_GROUPS),
            Cell("pair_count", ("作答数", "Responses"), "count"),
            Cell("agreement_rate", ("同星比例", "Same stars"), "percent", 1),
            Cell("bias", ("偏差", "Bias"), "number"),
            Cell("bias_low", INTERVAL, "interval", 2, "bias_high"),
            Cell("is_biased", ("有偏", "biased"), "flag", is_warning=True),
        ),
        finding=finding,
        draw=dots(
            drawn, name="group_name", names=_GROUPS, value="bias", title=("偏差（星）", "bias (stars)"), low="bias_low",
            high="bias_high", series="judge", mark_at=0,
        )
        if drawn.height
        else None,
        filled_by=("proctor calibrate report",),
        is_folded=True,
    )  # fmt: skip


def _read_confusion(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_confusion", {}))
    finding = None
    if frame.height:
        latest = _keep_latest(frame)
        total = int(latest["response_count"].sum())
        far = latest.filter((pl.col("agreed_stars") - pl.col("judged_stars")).abs() >= 2)[
            "response_count"
        ].sum()
        finding = (
            f"{total:,} 对星数中，相差两星或以上的占 {far / total * 100:.1f}%。",
            f"Of {total:,} pairs of stars {far / total * 100:.1f}% lie two or three stars apart.",
        )
    return Panel(
        name="confusion",
        title=("裁判给出的与人给出的", "Stars of judges and of people"),
        about=(
            "每格为人给出该星数（行）的作答中，裁判给出该星数（列）的比例；图为最近一次校准。",
            "Each cell: of the responses with these stars from people (row), the share with these stars from the judge (column), in the last calibration.",
        ),
        query="judge_confusion",
        frame=frame,
        cells=(
            JUDGE,
            Cell("prompt_version", _PROMPT),
            Cell("occasion", ("校准场合", "Occasion")),
            Cell("agreed_stars", ("人", "People"), "count"),
            Cell("judged_stars", ("裁判", "Judge"), "count"),
            Cell("response_count", ("作答数", "Responses"), "count"),
            Cell("share", ("比例", "Share"), "percent", 1),
        ),
        finding=finding,
        draw=cells(
            _keep_latest(frame), across="judged_stars", down="agreed_stars", value="share",
            title=("比例", "share"), across_title=("裁判", "judge"), down_title=("人", "people"), facet="judge",
        )
        if frame.height
        else None,
        filled_by=("proctor calibrate report",),
        is_folded=True,
    )  # fmt: skip


def _read_agreement(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_agreement", {})).with_columns(
        series=pl.format("{} – {}", "judge_a", "judge_b")
    )
    finding = None
    if frame.height:
        last = frame.filter(pl.col("kappa").is_not_null()).sort("month").tail(1)
        if last.height:
            row = last.row(0, named=True)
            finding = (
                f"{row['month']}：{row['judge_a']} 与 {row['judge_b']} 在 {row['pair_count']:,} 条作答上 κ = {row['kappa']:.2f}，"
                f"同星 {row['agreement_rate'] * 100:.0f}%。",
                f"{row['month']}: κ {row['kappa']:.2f} between {row['judge_a']} and {row['judge_b']} on {row['pair_count']:,} responses; the same "
                f"stars for {row['agreement_rate'] * 100:.0f}%.",
            )
    return Panel(
        name="agreement",
        title=("裁判之间的一致性", "Judges among themselves"),
        about=(
            "每月，两个裁判对同一批作答的 Cohen κ（不加权）。没有评判的月份是空缺。",
            "Cohen's κ (unweighted) of two judges on the same responses, month by month. A month without judgements is a gap.",
        ),
        query="judge_agreement",
        frame=frame.drop("series"),
        cells=(
            MONTH,
            Cell("judge_a", ("裁判甲", "Judge A")),
            Cell("judge_b", ("裁判乙", "Judge B")),
            Cell("pair_count", ("作答数", "Responses"), "count"),
            Cell("agreement_rate", ("同星比例", "Same stars"), "percent", 1),
            Cell("kappa", ("κ", "κ"), "number", 3),
            Cell("mean_stars_a", ("甲的平均星数", "Mean stars of A"), "number"),
            Cell("mean_stars_b", ("乙的平均星数", "Mean stars of B"), "number"),
        ),
        finding=finding,
        draw=month_lines(frame, value="kappa", title=("κ", "κ"), series="series") if frame.height else None,
        filled_by=("proctor judge",),
        is_folded=True,
    )


def _read_disagreements(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_disagreements", source.shown))
    finding = None
    if frame.height:
        worst = frame.row(0, named=True)
        zh, en = DISCIPLINE_WORDS.get(worst["discipline"], (worst["discipline"],) * 2)
        finding = (
            f"{worst['month']} 分歧最大的是{zh}：平均相差 {worst['mean_distance']:.2f} 星，{worst['disagreement_rate'] * 100:.0f}% 的作答星数不同。",
            f"In {worst['month']} they disagree most in {en}: {worst['mean_distance']:.2f} stars apart on average, different stars for "
            f"{worst['disagreement_rate'] * 100:.0f}% of the responses.",
        )
    return Panel(
        name="disagreements",
        title=("裁判在哪里分歧", "Where judges disagree"),
        about=(
            "最近一月，两个裁判对同一作答的星数平均相差多少，按学科。是哪些作答，见 proctor sql disputed_responses（需要相应权限）。",
            "The mean distance of two judges' stars for the same response in the latest month, by discipline. Which responses these are is asked "
            "by proctor sql disputed_responses.",
        ),
        query="judge_disagreements",
        params=source.shown,
        frame=frame,
        cells=(
            DISCIPLINE,
            Cell("judge_a", ("裁判甲", "Judge A")),
            Cell("judge_b", ("裁判乙", "Judge B")),
            Cell("pair_count", ("作答数", "Responses"), "count"),
            Cell("mean_distance", ("平均相差（星）", "Mean distance (stars)"), "number"),
            Cell("disagreement_rate", ("星数不同", "Different stars"), "percent", 1),
            Cell("far_apart_count", ("相差两星以上", "Two stars or more"), "count"),
            Cell("mean_difference", ("甲减乙", "A less B"), "number"),
        ),
        finding=finding,
        draw=dots(
            frame.with_columns(series=pl.format("{} – {}", "judge_a", "judge_b")), name="discipline", names=DISCIPLINE_WORDS,
            value="mean_distance", title=("平均相差（星）", "mean distance (stars)"), series="series", zero=True,
        )
        if frame.height
        else None,
        filled_by=("proctor judge",),
        is_folded=True,
    )  # fmt: skip


def _read_drift(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_drift_history", {})).with_columns(
        series=pl.format("{} ({})", "judge", "anchor_set")
    )
    finding = None
    if frame.height:
        alarms = frame.filter(pl.col("is_alarm"))["judge"].unique().sort().to_list()
        finding = (
            f"有变化的裁判：{'、'.join(alarms)}。" if alarms else "没有裁判越过警戒线。",
            f"Judges that changed: {', '.join(alarms)}." if alarms else "No judge has crossed the bound.",
        )
    return Panel(
        name="drift",
        title=("裁判漂移", "Drift of judges"),
        about=(
            "同一批锚定作答每月重新评判：该月平均星数减去第一个月的。证据大于 1 为警报。",
            "The same anchor responses, judged again every month: mean stars of the month less those of the first. Evidence above 1 is an alarm.",
        ),
        query="judge_drift_history",
        frame=frame.drop("series"),
        cells=(
            Cell("anchor_set", ("锚定集", "Anchor set")),
            JUDGE,
            MONTH,
            Cell("response_count", ("作答数", "Responses"), "count"),
            Cell("month_stars", ("较第一月（星）", "Against the first month (stars)"), "number", 3),
            Cell("since_month", ("变化始于", "Change since")),
            Cell("change_stars", ("变化（星）", "Change (stars)"), "number", 3),
            Cell("evidence", ("证据", "Evidence"), "number"),
            Cell("is_alarm", ("警报", "alarm"), "flag", is_warning=True),
        ),
        finding=finding,
        draw=month_lines(
            frame,
            value="month_stars",
            title=("较第一月（星）", "stars against the first month"),
            series="series",
        )
        if frame.height
        else None,
        filled_by=("proctor drift draw", "proctor drift run"),
        is_folded=True,
    )
