"""The page of a league by domain, beside the exam; questions only where asked for."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import polars as pl

from schemas.errors import UsageError
from tasks.report.frame import Issue, write_page, write_table
from tasks.report.labels import LABELS, Language
from tasks.report.league_charts import render_cells, render_radar, render_solving, render_top_k
from tasks.report.panels import NamedQuery

_LANGUAGES: tuple[Language, ...] = ("zh", "en")
_ANSWER = "answer"


def render_league(
    run_named: NamedQuery,
    league_id: str,
    out_dir: Path,
    *,
    language: Language = "zh",
    with_questions: bool = False,
    generated_at: dt.datetime | None = None,
) -> Path:
    """Write `league-NAME.html` and `league-NAME.csv` into `out_dir`.

    Returns the path of the page.

    Args:
        run_named: runs a named query of warehouse/sql/analyses with parameters (`Lake.run_named`).
        league_id: a league whose statistics have landed.
        out_dir: folder, made where it is missing; the files are replaced.
        language: the language that the page opens in; the reader can switch.
        with_questions: adds every question with its reference answer, originality and validation: for roles that may see
            questions. The page says so at its top.
        generated_at: time printed in the footer; now by default.

    Raises UsageError for another language, or a league without statistics.
    """
    issue = Issue(
        out_dir, language, generated_at
    )  # a language that we do not speak is refused before anything is queried
    given: dict[str, object] = {"league_id": league_id}
    run_named = _round(run_named)
    ranking = run_named("league_ranking", dict(given))
    overlaps = run_named("league_top_k", dict(given))
    if ranking.is_empty() and overlaps.is_empty():
        raise UsageError(
            f"League {league_id} has no statistics to show. Run `proctor league report {league_id}`."
        )
    domains = [
        _read_domain(run_named, league_id, domain, with_questions=with_questions)
        for domain in sorted({*ranking["domain"], *overlaps["domain"]})
    ]
    page = {
        "league_id": league_id,
        "file_name": name_file(league_id),
        "domains": domains,
        "run_types": run_named("league_run_types", dict(given)).to_dicts(),
        "costs": run_named("league_costs", dict(given)).to_dicts(),
        "is_imported": bool(ranking["is_imported"].any()) or ranking.is_empty(),
        "is_simulated": bool(ranking["is_simulated"].any()),
        "with_questions": with_questions,
        "resamples": ranking["resample_count"].max() if ranking.height else None,
        "seed": ranking["seed"].max() if ranking.height else None,
    }
    zh, en = LABELS["league_title"]
    path = write_page(
        issue,
        name_file(league_id),
        "league.html.j2",
        page,
        title=(f"{zh} {league_id}", f"{en} {league_id}"),
        current="league",
    )
    write_table(ranking, path.with_suffix(".csv"))
    return path


def name_file(league_id: str) -> str:
    """The name of a league's page without suffix: letters, digits, dots, dashes, underlines."""
    return "league-" + re.sub(r"[^A-Za-z0-9._-]", "_", league_id)


def _round(run_named: NamedQuery) -> NamedQuery:
    """The same queries without their last digits, which threads make different each time."""
    return lambda name, given: run_named(name, given).with_columns(pl.col(pl.Float64).round(9))


def _read_domain(
    run_named: NamedQuery, league_id: str, domain: str, *, with_questions: bool
) -> dict[str, Any]:
    """Everything that the template shows of a domain, judged in full."""
    given: dict[str, object] = {"league_id": league_id, "domain": domain}
    ranking = run_named("league_ranking", {**given, "run_type": "full"})
    by_asker = run_named("league_by_asker", dict(given))
    cells = run_named("league_heatmap", dict(given))
    overlaps = run_named("league_top_k", dict(given))
    pairs = run_named("league_group_tests", {**given, "unit": _ANSWER})
    agreement = run_named("league_agreement", dict(given)).to_dicts()
    beside = run_named("league_beside_exam", {"league_id": league_id}).filter(domain=domain)
    replays = run_named("league_sparse_replays", dict(given))
    return {
        "name": domain,
        "rows": ranking.to_dicts(),
        "has_single": bool(ranking.height and ranking["score_count"].sum() > ranking["answer_count"].sum()),
        "figures": _draw_figures(ranking, by_asker, cells, overlaps, domain),
        "overlaps": overlaps.to_dicts(),
        "pair_count": pairs.height,
        "apart_count": int(pairs["is_distinguishable"].sum()) if pairs.height else 0,
        "alike": pairs.filter(~pl.col("is_distinguishable")).to_dicts(),
        "anova": pairs.row(0, named=True) if pairs.height else None,
        "families": run_named("league_families", dict(given)).to_dicts(),
        "agreement": {(row["compared_with"], row["method"]): row for row in agreement},
        "beside": beside.to_dicts(),
        "has_exam": bool(beside.height and beside["exam_rank"].is_not_null().any()),
        "replays": replays.to_dicts(),
        "questions": run_named("league_questions_set", dict(given)).to_dicts() if with_questions else [],
    }


def _draw_figures(
    ranking: pl.DataFrame, by_asker: pl.DataFrame, cells: pl.DataFrame, overlaps: pl.DataFrame, domain: str
) -> dict[str, dict[str, str]]:
    """SVG of each figure in both languages; a figure without data has no entry."""
    order = ranking["model"].to_list()
    # Ids in a page are letters and digits.
    slug = re.sub(r"[^A-Za-z0-9]", "", domain) + str(sum(map(ord, domain)))
    figures: dict[str, dict[str, str]] = {}
    if by_asker["asker"].n_unique() > 2:
        figures["radar"] = dict.fromkeys(("zh", "en"), render_radar(by_asker, order))
    if cells["score"].drop_nulls().len():
        figures["heat"] = {one: render_cells(cells, one, f"cells{slug}") for one in _LANGUAGES}
    if ranking["setting_score"].drop_nulls().len() > 1:
        figures["solving"] = {one: render_solving(ranking, one, f"solving{slug}") for one in _LANGUAGES}
    if overlaps.height > 1:
        figures["top_k"] = {one: render_top_k(overlaps, one, f"topk{slug}") for one in _LANGUAGES}
    return figures
