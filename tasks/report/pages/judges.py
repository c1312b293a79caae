"""The page of the judges.

It shows how far they agree with people and with each other, towards whom they are generous, and whether they
changed.
"""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.pages.corrected import read_corrected
from tasks.report.panels import Panel, Source
from tasks.texts import Words

_PAGE = read_page("judges")
ABOUT = _PAGE.about


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
    return _PAGE.panel("calibration", frame.drop("name", "series"), finding=finding, drawn=frame)


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
    return _PAGE.panel("choice", frame, finding=finding)


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
    return _PAGE.panel("bias", frame, finding=finding, drawn=drawn)


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
    return _PAGE.panel("confusion", frame, finding=finding, drawn=_keep_latest(frame))


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
    return _PAGE.panel("agreement", frame.drop("series"), finding=finding, drawn=frame)


def _read_disagreements(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_disagreements", source.shown))
    finding = None
    if frame.height:
        worst = frame.row(0, named=True)
        zh, en = _PAGE.name(worst["discipline"], "disciplines")
        finding = (
            f"{worst['month']} 分歧最大的是{zh}：平均相差 {worst['mean_distance']:.2f} 星，{worst['disagreement_rate'] * 100:.0f}% 的作答星数不同。",
            f"In {worst['month']} they disagree most in {en}: {worst['mean_distance']:.2f} stars apart on average, different stars for "
            f"{worst['disagreement_rate'] * 100:.0f}% of the responses.",
        )
    return _PAGE.panel(
        "disagreements",
        frame,
        params=source.shown,
        finding=finding,
        drawn=frame.with_columns(series=pl.format("{} – {}", "judge_a", "judge_b")),
    )


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
    return _PAGE.panel("drift", frame.drop("series"), finding=finding, drawn=frame)
