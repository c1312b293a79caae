"""The report: one HTML page that needs no network, no server and no other file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from schemas.vocabulary import PROMPT_STYLES
from tasks.report.charts import (
    TREND_CANDIDATES,
    choose_trend_models,
    render_heatmap,
    render_release,
    render_trend,
)
from tasks.report.gscore_page import read_gscore_page, write_gscore_csv
from tasks.report.labels import LABELS, SHORT_DISCIPLINES, Language, label
from tasks.statistics.curve import Curve, fit_curve
from tasks.statistics.spearman import compute_external_correlations

NamedQuery = Callable[[str, dict[str, object]], pl.DataFrame]

DISCIPLINE_COLUMNS: dict[str, str] = {
    "engineering": "Engineering",
    "economics": "Economics",
    "education": "Education",
    "law": "Law",
    "literature": "Literature",
    "management": "Management",
    "science": "Science",
    "history": "History",
    "medicine": "Medicine",
    "military_science": "Military Science",
}
_TEMPLATES = Path(__file__).parent / "templates"


def render_report(
    run_named: NamedQuery,
    out_dir: Path,
    *,
    language: Language = "zh",
    include_simulated: bool | None = None,
    generated_at: dt.datetime | None = None,
) -> Path:
    """Write `index.html` and `leaderboard.csv` into `out_dir`, and return the path of the page.

    Where there are Gscores, `gscore.html` and `gscore.csv` lie next to them, linked from the page.

    Args:
        run_named: runs a named query of warehouse/sql/analyses with parameters (`Lake.run_named`).
        out_dir: folder, made where it is missing; the files are replaced.
        language: the language that the page opens in; the reader can switch.
        include_simulated: None shows simulated candidates only where there is no real one; True adds them, marked;
            False leaves them out.
        generated_at: time printed in the footer; now by default.

    A lake without a completely judged session gives a page that says so. Raises UsageError for another language.
    """
    label("title", language)  # a language that we do not speak is refused before anything is queried
    shown: dict[str, object] = {"simulated": include_simulated}
    history = run_named("leaderboard_history", dict(shown))
    page = _read_page(run_named, shown, history) if history.height else {"is_empty": True}
    gscores = read_gscore_page(run_named, include_simulated)
    printed = {
        "language": language,
        "generated_at": (generated_at or dt.datetime.now(dt.UTC)).strftime("%Y-%m-%d %H:%M UTC"),
    }
    out_dir.mkdir(parents=True, exist_ok=True)
    _write_csv(history, out_dir / "leaderboard.csv")
    if gscores is not None:
        write_gscore_csv(run_named, out_dir / "gscore.csv", include_simulated)
        (out_dir / "gscore.html").write_text(_render(gscores | printed, "gscore.html.j2"), encoding="utf-8")
    path = out_dir / "index.html"
    path.write_text(_render(page | printed | {"has_gscores": gscores is not None}), encoding="utf-8")
    return path


def _read_page(run_named: NamedQuery, shown: dict[str, object], history: pl.DataFrame) -> dict[str, Any]:
    """Everything the template shows, from the named queries."""
    months = history["month"].unique().sort(descending=True).to_list()
    styles = [style for style in PROMPT_STYLES if style in set(history["prompt_style"])]
    month, style = _choose_edition(history, months, styles)
    heatmap = run_named("discipline_heatmap", {**shown, "month": month, "prompt_style": style})
    trend = run_named("monthly_trend", dict(shown))
    release = run_named("score_by_release_date", dict(shown))
    curve = fit_curve(release["release_date"].to_list(), release["score"].to_list())
    return {
        "is_empty": False,
        "months": months,
        "styles": styles,
        "month": month,
        "style": style,
        "rows": history.to_dicts(),
        "editions": _summarise_editions(history),
        "disciplines": DISCIPLINE_COLUMNS,
        "is_simulated": bool(history["is_simulated"].any()),
        "is_all_simulated": bool(history["is_simulated"].all()),
        "figures": _draw_figures(heatmap, trend, release, curve),
        "curve": curve,
        "heatmap_table": _widen(heatmap),
        "trend": trend.sort(["month", "rank"], descending=[True, False]).to_dicts(),
        "trend_count": len(choose_trend_models(trend)),
        "is_trend_cut": trend["model"].n_unique() > TREND_CANDIDATES,
        "release": release.sort("release_date", descending=True).to_dicts(),
        "stability": run_named("style_stability", {**shown, "month": month}).to_dicts(),
        "calibration": run_named("judge_calibration", {}).to_dicts(),
        "external": compute_external_correlations(
            run_named("external_pairs", {**shown, "month": month})
        ).to_dicts(),
        "costs": run_named("cost_by_model", {}).to_dicts(),
    }


def _choose_edition(history: pl.DataFrame, months: list[str], styles: list[str]) -> tuple[str, str]:
    """What the page opens with: the latest month, zero-shot where it was sat."""
    month = months[0]
    sat = set(history.filter(pl.col("month") == month)["prompt_style"])
    return month, next(style for style in styles if style in sat)


def _summarise_editions(history: pl.DataFrame) -> list[dict[str, Any]]:
    """One summary per month and prompt style: what was sat, who judged, and what is missing."""
    return (
        history.group_by("month", "prompt_style", maintain_order=True)
        .agg(
            candidate_count=pl.len(),
            question_count=pl.col("question_count").sum(),
            unparsed_count=pl.col("unparsed_count").sum(),
            judges=pl.col("judge").unique().sort(),
            references=pl.col("reference_model").unique().sort(),
            runs=pl.col("run_id").unique().sort(),
            bank_versions=pl.col("bank_version").unique().sort(),
            is_provisional=pl.col("is_provisional").any(),
            is_simulated=pl.col("is_simulated").any(),
        )
        .to_dicts()
    )


def _draw_figures(
    heatmap: pl.DataFrame, trend: pl.DataFrame, release: pl.DataFrame, curve: Curve | None
) -> dict[str, dict[str, str]]:
    """SVG of each figure in both languages; a figure without data has no entry."""
    figures: dict[str, dict[str, str]] = {}
    languages: tuple[Language, ...] = ("zh", "en")
    for name, frame, draw in (
        ("heatmap", heatmap, render_heatmap),
        ("trend", trend, render_trend),
        ("release", release, partial(render_release, curve=curve)),
    ):
        if frame.height:
            figures[name] = {language: draw(frame, language=language) for language in languages}
    return figures


def _widen(heatmap: pl.DataFrame) -> list[dict[str, Any]]:
    """The heat map as a table: one row per candidate with the scores by discipline."""
    return [
        {"model": model, "scores": dict(zip(rows["discipline"], rows["discipline_score"], strict=True))}
        for (model,), rows in heatmap.sort("rank", "model").group_by("model", maintain_order=True)
    ]


def _write_csv(history: pl.DataFrame, path: Path) -> None:
    """The leaderboard of every month and style as CSV; a byte order mark so that spreadsheets read Chinese names."""
    path.write_bytes(b"\xef\xbb\xbf" + history.write_csv().encode("utf-8"))


def _render(page: Mapping[str, Any], template: str = "report.html.j2") -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup, escape

    def bilingual(key: str, **values: object) -> Markup:
        zh, en = (text.format(**values) if values else text for text in LABELS[key])
        return both.format(escape(zh), escape(en))

    def abbreviated(discipline: str) -> Markup:
        return both.format(*SHORT_DISCIPLINES[discipline])

    both = Markup('<span class="zh" lang="zh">{}</span><span class="en" lang="en">{}</span>')
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        t=bilingual, short=abbreviated, plain=lambda key: label(key, page["language"]), labels=LABELS
    )
    environment.filters["number"] = lambda value, digits=2: "–" if value is None else f"{value:,.{digits}f}"
    return environment.get_template(template).render(page)
