"""The page of the judges: agreement with people and each other, generosity, changes."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.pages.jury import read_jury
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
        *read_jury(source),
    ]


def _read_calibration(source: Source) -> Panel:
    frame = round_last_digits(source.read_shown("judge_calibration")).with_columns(
        name=pl.format("{} ({})", "judge", "prompt_version"), series=pl.format("{} / {}", "occasion", "round")
    )
    finding = None
    if (known := _keep_latest(frame).filter(pl.col("mean_kappa").is_not_null())).height:
        best = known.sort(["mean_kappa", "judge"], descending=[True, False]).row(0, named=True)
        finding = _PAGE.say("calibration", best | {"when": _name_occasion(best["occasion"])})
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
    frame = round_last_digits(source.read_shown("judge_choice"))
    finding = None
    if frame.height:
        first = _keep_latest(frame).row(0, named=True)
        which = "apart" if first["is_distinguishable"] else "alike"
        finding = _PAGE.say(which, first | {"points": first["difference"] * 100})
    return _PAGE.panel("choice", frame, finding=finding)


def _read_bias(source: Source) -> Panel:
    found = round_last_digits(source.read_shown("judge_groups"))
    frame = found.filter(pl.col("group_kind") != "all") if found.height else found
    finding = None
    if frame.height:
        latest = _keep_latest(frame)
        counts = {"all": latest.height, "biased": latest.filter(pl.col("is_biased")).height}
        finding = _PAGE.say("bias", counts)
    drawn = _keep_latest(frame).filter(pl.col("group_kind").is_in(["family_of_judge", "discipline"]))
    return _PAGE.panel("bias", frame, finding=finding, drawn=drawn)


def _read_confusion(source: Source) -> Panel:
    frame = round_last_digits(source.read_shown("judge_confusion"))
    finding = None
    if frame.height:
        latest = _keep_latest(frame)
        total = int(latest["response_count"].sum())
        far = latest.filter((pl.col("agreed_stars") - pl.col("judged_stars")).abs() >= 2)[
            "response_count"
        ].sum()
        finding = _PAGE.say("confusion", {"total": total, "far": far / total * 100})
    return _PAGE.panel("confusion", frame, finding=finding, drawn=_keep_latest(frame))


def _read_agreement(source: Source) -> Panel:
    frame = round_last_digits(source.read_shown("judge_agreement")).with_columns(
        series=pl.format("{} – {}", "judge_a", "judge_b")
    )
    finding = None
    if frame.height:
        last = frame.filter(pl.col("kappa").is_not_null()).sort("month").tail(1)
        if last.height:
            row = last.row(0, named=True)
            finding = _PAGE.say("agreement", row | {"same": row["agreement_rate"] * 100})
    return _PAGE.panel("agreement", frame.drop("series"), finding=finding, drawn=frame)


def _read_disagreements(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_disagreements", source.shown))
    finding = None
    if frame.height:
        worst = frame.row(0, named=True)
        name = _PAGE.name(worst["discipline"], "disciplines")
        values = worst | {"name": name, "different": worst["disagreement_rate"] * 100}
        finding = _PAGE.say("disagreements", values)
    return _PAGE.panel(
        "disagreements",
        frame,
        params=source.shown,
        finding=finding,
        drawn=frame.with_columns(series=pl.format("{} – {}", "judge_a", "judge_b")),
    )


def _read_drift(source: Source) -> Panel:
    frame = round_last_digits(source.read_shown("judge_drift_history")).with_columns(
        series=pl.format("{} ({})", "judge", "anchor_set")
    )
    finding = None
    if frame.height:
        alarms = frame.filter(pl.col("is_alarm"))["judge"].unique().sort().to_list()
        finding = _PAGE.say("drift" if alarms else "no_drift", {"judges": alarms})
    return _PAGE.panel("drift", frame.drop("series"), finding=finding, drawn=frame)
