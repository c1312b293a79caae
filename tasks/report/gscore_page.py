"""The page of generated text: Gscores by category and subject."""

from __future__ import annotations

from typing import Any

import polars as pl

from schemas.errors import UsageError
from tasks.gscore.people import compute_sample_agreement
from tasks.report.frame import Issue, write_page, write_table
from tasks.report.labels import LABELS
from tasks.report.panels import NamedQuery, Panel, Source, choose_shown

EDITION = ["run_id", "profile", "similarity_model"]
PARTS = ("bleu4", "rouge2", "chrf", "similarity", "accuracy")
KIND_SCORES = (*PARTS, "accuracy_unordered", "accuracy_symbolic", "step_chrf")
_RESAMPLES = 300
_SEED = 1


def write_gscore_page(source: Source, issue: Issue) -> bool:
    """Write `gscore.html` and `gscore.csv`; False, and neither, for a lake without Gscores."""
    page, path = read_gscore_page(source.run_named, source.include_simulated), issue.folder / "gscore.csv"
    if page is None:
        path.unlink(missing_ok=True)
        return False
    write_page(issue, "gscore", "gscore.html.j2", page, title=LABELS["gscore_title"])
    write_table(_choose(source.run_named("gscore_by_subject", {}), source.include_simulated), path)
    return True


def read_gscore_panels(source: Source) -> list[Panel]:
    """What the page is made of where there are no Gscores: a panel that says what fills it."""
    return [
        Panel(
            name="gscore",
            title=LABELS["gscore_title"],
            about=LABELS["about_gscore"],
            query="gscore_by_category",
            frame=source.run_named("gscore_by_category", {}).clear(),
            filled_by=("proctor cgeval run", "proctor cgeval score"),
        )
    ]


def read_gscore_page(run_named: NamedQuery, include_simulated: bool | None = None) -> dict[str, Any] | None:
    """Everything the template shows, by edition, or None for a lake without Gscores."""
    categories = _choose(run_named("gscore_by_category", {}), include_simulated)
    if categories.is_empty():
        return None
    subjects = _choose(run_named("gscore_by_subject", {}), include_simulated)
    kinds = _choose(run_named("gscore_by_kind", {}), include_simulated)
    editions = [
        _describe_edition(rows, _of_edition(subjects, key), _of_edition(kinds, key))
        for key, rows in categories.group_by(EDITION, maintain_order=True)
    ]
    return {
        "editions": editions,
        "is_simulated": bool(categories["is_simulated"].any()),
        "agreement": _read_agreement(run_named),
        "parts": PARTS,
        "kind_scores": KIND_SCORES,
    }


def _choose(frame: pl.DataFrame, include_simulated: bool | None) -> pl.DataFrame:
    # Threads add up in any order: the last digits would differ from one rendering of the same lake to the next.
    return choose_shown(frame.with_columns(pl.col(pl.Float64).round(9)), include_simulated, EDITION)


def _of_edition(frame: pl.DataFrame, key: tuple[object, ...]) -> pl.DataFrame:
    return frame.filter(
        pl.all_horizontal(pl.col(name) == value for name, value in zip(EDITION, key, strict=True))
    )


def _describe_edition(rows: pl.DataFrame, subjects: pl.DataFrame, kinds: pl.DataFrame) -> dict[str, Any]:
    """One edition for the page: candidates, best first, by category, subject and kind of item."""
    overall = rows.filter(pl.col("category").is_null()).sort(
        ["gscore", "model"], descending=[True, False], nulls_last=True
    )
    names = rows["category"].drop_nulls().unique().sort().to_list()
    by_category = {(row["model"], row["category"]): row["gscore"] for row in rows.to_dicts()}
    by_subject = {(row["model"], row["subject"]): row["gscore"] for row in subjects.to_dicts()}
    ranks = overall["gscore"].round(9).rank("min", descending=True).to_list()
    models = overall["model"].to_list()
    return {
        **{name: rows[name][0] for name in EDITION},
        "categories": names,
        "rows": [
            {
                **row,
                "rank": None if rank is None else int(rank),
                "categories": [by_category.get((row["model"], name)) for name in names],
            }
            for row, rank in zip(overall.to_dicts(), ranks, strict=True)
        ],
        "models": models,
        "subjects": [
            {
                "category": category,
                "subject": subject,
                "item_count": count,
                "scores": [by_subject.get((model, subject)) for model in models],
            }
            for category, subject, count in subjects.group_by("category", "subject", maintain_order=True)
            .agg((pl.col("scored_count") + pl.col("unscored_count")).max())
            .sort("category", "subject")
            .iter_rows()
        ],
        "kinds": kinds.to_dicts(),
        "unscored_count": int(overall["unscored_count"].sum()),
    }


def _read_agreement(run_named: NamedQuery) -> list[dict[str, Any]]:
    """Rank correlations with people; empty where nobody has rated."""
    try:
        found = compute_sample_agreement(run_named, None, _SEED, resample_count=_RESAMPLES)
    except UsageError:
        return []
    return found.filter(pl.col("kendall_tau").is_not_null()).to_dicts()
