"""The report: one HTML page that needs no network, no server and no other file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
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
from tasks.report.labels import Language, label
from tasks.report.rendering import render_template
from tasks.report.words import describe_place, format_interval, format_rank_range
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


def render_report(
    run_named: NamedQuery,
    out_dir: Path,
    *,
    language: Language = "zh",
    include_simulated: bool | None = None,
    generated_at: dt.datetime | None = None,
) -> Path:
    """Write `index.html` and `leaderboard.csv` into `out_dir`, and return the path of the page.

    Where there are Gscores, `gscore.html` and `gscore.csv` lie next to them, linked from the page; so are the pages of
    leagues that lie in the folder.

    Args:
        run_named: runs a named query of warehouse/sql/analyses with parameters (`Lake.run_named`).
        out_dir: folder, made where it is missing; the files are replaced.
        language: the language that the page opens in; the reader can switch.
        include_simulated: None shows simulated candidates only where there is no real one; True adds them, marked;
            False leaves them out.
        generated_at: time printed in the footer; now by default.

    A lake without a published edition gives a page that says so. Raises UsageError for another language.
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
        (out_dir / "gscore.html").write_text(
            render_template(gscores | printed, "gscore.html.j2"), encoding="utf-8"
        )
    path = out_dir / "index.html"
    beside = {
        "has_gscores": gscores is not None,
        "leagues": sorted(found.name for found in out_dir.glob("league-*.html")),
    }
    path.write_text(render_template(page | printed | beside), encoding="utf-8")
    return path


def _read_page(run_named: NamedQuery, shown: dict[str, object], history: pl.DataFrame) -> dict[str, Any]:
    """Everything the template shows, from the named queries."""
    months = history["month"].unique().sort(descending=True).to_list()
    styles = [style for style in PROMPT_STYLES if style in set(history["prompt_style"])]
    month, style = _choose_edition(history, months, styles)
    opened = {**shown, "month": month, "prompt_style": style}
    heatmap = run_named("discipline_heatmap", opened)
    trend = run_named("monthly_trend", dict(shown))
    release = run_named("score_by_release_date", dict(shown))
    curve = fit_curve(release["release_date"].to_list(), release["score"].to_list())
    return {
        "is_empty": False,
        "months": months,
        "styles": styles,
        "month": month,
        "style": style,
        "rows": [row | _describe_row(row) for row in history.iter_rows(named=True)],
        "editions": _summarise_editions(history),
        "published": run_named("editions_published", dict(shown)).to_dicts(),
        "neighbours": compare_neighbours(
            history.filter(month=month, prompt_style=style), run_named("rank_comparisons", opened)
        ),
        "standings": run_named("standings", dict(shown)).to_dicts(),
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


def compare_neighbours(rows: pl.DataFrame, pairs: pl.DataFrame) -> list[dict[str, Any]]:
    """Each candidate beside the next one in the order of S, as the better less the worse.

    Takes the rows of `leaderboard_history` of one month and style, and those of `rank_comparisons` of the same. A second run
    of the month and simulated candidates have an order of their own. Of candidates without a score there is no row.
    """
    known = {(row["edition_id"], row["model_a"], row["model_b"]): row for row in pairs.iter_rows(named=True)}
    found = []
    for (edition_id,), of_edition in rows.filter(pl.col("rank").is_not_null()).group_by(
        "edition_id", maintain_order=True
    ):
        models = of_edition.sort("rank", "model")["model"].to_list()
        for better, worse in pairwise(models):
            first, second = sorted((better, worse))
            pair = known.get((edition_id, first, second))
            if pair is None:
                continue
            sign = 1 if first == better else -1
            ends = sorted(
                sign * pair[name] for name in ("difference_low", "difference_high") if pair[name] is not None
            )
            found.append(
                {
                    "better": better,
                    "worse": worse,
                    "difference": None if pair["difference"] is None else sign * pair["difference"],
                    "low": ends[0] if ends else None,
                    "high": ends[-1] if ends else None,
                    "p_holm": pair["p_holm"],
                    "is_distinguishable": pair["is_distinguishable"],
                    "pair_count": pair["pair_count"],
                    "is_repetition": pair["is_repetition"],
                }
            )
    return found


def _describe_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the board prints of a row beside its numbers."""
    return {
        "interval": format_interval(row["score_low"], row["score_high"]),
        "relative_interval": format_interval(row["relative_low"], row["relative_high"]),
        "equated_interval": format_interval(row["equated_low"], row["equated_high"]),
        "rank_range": format_rank_range(row["rank_low"], row["rank_high"]),
        "place": (describe_place(row, "zh"), describe_place(row, "en")),
    }


def _choose_edition(history: pl.DataFrame, months: list[str], styles: list[str]) -> tuple[str, str]:
    """What the page opens with: the latest month, zero-shot where it was sat."""
    month = months[0]
    sat = set(history.filter(pl.col("month") == month)["prompt_style"])
    return month, next(style for style in styles if style in sat)


def _summarise_editions(history: pl.DataFrame) -> list[dict[str, Any]]:
    """One summary per edition and prompt style: what was sat, who judged, what is missing, and how it was published."""
    summaries: list[dict[str, Any]] = (
        history.group_by("month", "edition_id", "prompt_style", maintain_order=True)
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
            revision=pl.col("revision").first(),
            published_at=pl.col("published_at").first(),
            is_repetition=pl.col("is_repetition").first(),
            overridden_gates=pl.col("overridden_gates").first(),
            override_reason=pl.col("override_reason").first(),
        )
        .to_dicts()
    )
    return summaries


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
    """The leaderboard of every month and style as CSV; a byte order mark so that spreadsheets read Chinese names.

    A cell holds no list: several values are joined with semicolons.
    """
    flat = history.with_columns(pl.selectors.by_dtype(pl.List(pl.String)).list.join("; "))
    path.write_bytes(b"\xef\xbb\xbf" + flat.write_csv().encode("utf-8"))
