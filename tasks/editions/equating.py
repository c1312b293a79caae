"""Put an edition on the scale of all before it: a graded response model for each discipline.

Stands beside S, never instead of it. Questions that were asked in several editions, and the reference's sittings, link the
months; the fit starts from the last edition's. What is published here is frozen: the next edition's fit makes new rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from schemas.editions import ALL_DISCIPLINES
from tasks.editions.basis import Basis, QueryReader
from tasks.editions.estimates import StyleAnswers, count_stars
from tasks.editions.standings import MAIN_STYLE
from tasks.statistics.items import (
    EquatedDiscipline,
    GradedFit,
    GradedRows,
    Parameters,
    combine_disciplines,
    compute_bounds,
    compute_equated,
    compute_question_fit,
    fit_graded_response,
)

if TYPE_CHECKING:
    import polars as pl

_STARS = tuple(f"stars_{stars}_count" for stars in range(4))
# Fewer questions of a discipline say nothing of their difficulties, and the fit would not find its maximum.
# (Said in words by `about_equated` of tasks/report/labels.py.)
LEAST_QUESTIONS = 8
# As wide as the scale of a discipline, which ends at 10; a published error is ten times it and ends at 100.
WIDEST_SE = 10.0


@dataclass(frozen=True)
class Equating:
    """What the fits of an edition give; frames without rows where nothing could be equated.

    Attributes:
        scores: equated columns of `edition_scores` by model, prompt_style and discipline.
        persons: sat_edition_id, model, equated_score, equated_low, equated_high of everybody's latest sitting.
        items: rows of `edition_items` without the edition.
        fits: rows of `edition_fits` without the edition.
    """

    scores: pl.DataFrame = field(repr=False)
    persons: pl.DataFrame = field(repr=False)
    items: pl.DataFrame | None = field(repr=False)
    fits: pl.DataFrame | None = field(repr=False)


@dataclass(frozen=True)
class _History:
    """One discipline over all editions so far, with what its codes stand for."""

    rows: GradedRows
    questions: pl.DataFrame
    entries: pl.DataFrame


def equate_edition(
    read: QueryReader, basis: Basis, edition_id: str, styles: Sequence[StyleAnswers]
) -> Equating:
    """Fit every discipline over the editions so far, and equate whoever stands in the standings.

    Nothing is equated where a discipline has fewer than `LEAST_QUESTIONS` questions so far, its fit does not converge, or its
    answers do not fix the scale: a scale with a hole is none.
    """
    import polars as pl

    answers = next((one for one in styles if one.style == MAIN_STYLE), None)
    nothing = equate_nothing()
    if answers is None or answers.frame["discipline"].n_unique() < len(answers.disciplines):
        return nothing
    when = {
        "month": basis.run["month"],
        "planned_at": basis.run["planned_at"],
        "is_simulated": basis.run["is_simulated"],
    }
    own = count_stars(answers).with_columns(
        edition_id=pl.lit(edition_id),
        month=pl.lit(basis.run["month"]),
        bank_version=pl.lit(basis.run["bank_version"], dtype=pl.Int64),
    )
    last = {str(row["discipline"]): row for row in read("last_fit", when).iter_rows(named=True)}
    people = _list_people(read, basis, edition_id, answers)
    equated: list[EquatedDiscipline] = []
    items: list[pl.DataFrame] = []
    fits: list[dict[str, object]] = []
    histories = {
        discipline: _arrange(
            read("equating_stars", {**when, "discipline": discipline}),
            own.filter(pl.col("discipline") == discipline),
        )
        for discipline in answers.disciplines
    }
    if min(history.rows.question_count for history in histories.values()) < LEAST_QUESTIONS:
        return replace(nothing, fits=_withhold(histories, "questions"))
    for discipline, history in histories.items():
        before = last.get(discipline)
        fit = fit_graded_response(
            history.rows, start=None if before is None else _read_start(read, before, history)
        )
        fits.append(_describe_fit(discipline, history, fit))
        items.append(_list_items(discipline, history, fit))
        if fit.is_converged:
            equated.append(_equate(history, fit, people))
    found = Equating(
        scores=pl.DataFrame(),
        persons=nothing.persons,
        items=pl.concat(items),
        fits=pl.DataFrame(fits),
    )
    if len(equated) < len(fits) or any(map(_is_unfixed, equated)):
        reason = "draws" if len(equated) < len(fits) else "errors"
        return replace(found, fits=pl.DataFrame(fits).with_columns(withheld=pl.lit(reason)))
    whole = combine_disciplines(equated, answers.weights)
    columns = {
        "equated_score": whole.score,
        "equated_se": whole.se,
        "equated_low": whole.low,
        "equated_high": whole.high,
    }
    everybody = people.with_columns(
        **{name: pl.Series(values).fill_nan(None) for name, values in columns.items()},
        is_equated_apart=pl.Series(whole.is_disagreeing),
    )
    is_own = pl.col("sat_edition_id") == edition_id
    return Equating(
        scores=pl.concat(
            [
                everybody.filter(is_own & pl.col("equated_score").is_not_null()).with_columns(
                    discipline=pl.lit(ALL_DISCIPLINES)
                ),
                *(
                    _score_discipline(people, name, one).filter(is_own)
                    for name, one in zip(answers.disciplines, equated, strict=True)
                ),
            ],
            how="diagonal_relaxed",
        )
        .drop("sat_edition_id", "sat_in_run_id")
        .with_columns(prompt_style=pl.lit(MAIN_STYLE)),
        persons=everybody.select(nothing.persons.columns),
        items=found.items,
        fits=found.fits,
    )


def equate_nothing() -> Equating:
    """Where there is no common scale: no score, no fit."""
    import polars as pl

    return Equating(
        scores=pl.DataFrame(),
        persons=pl.DataFrame(
            schema={
                "sat_edition_id": pl.String,
                "model": pl.String,
                "equated_score": pl.Float64,
                "equated_low": pl.Float64,
                "equated_high": pl.Float64,
            }
        ),
        items=None,
        fits=None,
    )


def _withhold(histories: Mapping[str, _History], reason: str) -> pl.DataFrame:
    """Rows of `edition_fits` where no model was fitted, and why."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "discipline": discipline,
                "entry_count": history.rows.entry_count,
                "question_count": history.rows.question_count,
                "answer_count": round(float(history.rows.weight.sum())),
                "round_count": 0,
                "is_converged": False,
                "withheld": reason,
            }
            for discipline, history in histories.items()
        ]
    )


def _list_people(read: QueryReader, basis: Basis, edition_id: str, answers: StyleAnswers) -> pl.DataFrame:
    """Whose score is equated: this edition's candidates, and the others by their latest edition."""
    import polars as pl

    own = (
        answers.frame.group_by("model")
        .agg(sat_in_run_id=pl.col("sat_in_run_id").first())
        .with_columns(sat_edition_id=pl.lit(edition_id))
        .sort("model")
    )
    earlier = (
        read("earlier_standings", {"month": basis.run["month"], "is_simulated": basis.run["is_simulated"]})
        .filter(~pl.col("model").is_in(own["model"].implode()))
        .select("model", "sat_edition_id", sat_in_run_id=pl.lit(None, dtype=pl.String))
    )
    return pl.concat([own, earlier], how="diagonal_relaxed").select(
        "model", "sat_edition_id", "sat_in_run_id"
    )


def _arrange(before: pl.DataFrame, own: pl.DataFrame) -> _History:
    """Codes for one discipline; a sitting of several editions is one entry, of the first."""
    import polars as pl

    names = [
        "edition_id",
        "month",
        "bank_version",
        "sat_in_run_id",
        "model",
        "question_uuid",
        "lineage_uuid",
        *_STARS,
    ]
    stars = (
        pl.concat([before.select(names), own.select(names)], how="vertical_relaxed")
        .with_row_index("at")
        .with_columns(edition=pl.col("edition_id").rank("dense"))
        .unique(["sat_in_run_id", "model", "question_uuid"], keep="first", maintain_order=True)
    )
    # Editions by their place in time, not by their names.
    order = stars.group_by("edition_id").agg(pl.col("at").min()).sort("at")["edition_id"]
    editions = {name: code for code, name in enumerate(order)}
    entries = (
        stars.group_by("sat_in_run_id", "model", maintain_order=True)
        .agg(edition_id=pl.col("edition_id").first())
        .with_row_index("entry")
    )
    questions = (
        stars.group_by("question_uuid", maintain_order=True)
        .agg(
            pl.col("lineage_uuid").first(),
            first_month=pl.col("month").first(),
            bank_version=pl.col("bank_version").first(),
        )
        .with_row_index("question")
        .with_columns(
            season=pl.col("bank_version").rank("dense").cast(pl.Int64) - 1,
            lineage=pl.col("lineage_uuid").rank("dense").cast(pl.Int64) - 1,
        )
    )
    long = (
        stars.join(entries.select("sat_in_run_id", "model", "entry"), on=["sat_in_run_id", "model"])
        .join(questions.select("question_uuid", "question"), on="question_uuid")
        .sort("at")
        .with_columns(answered=pl.sum_horizontal(_STARS))
        .unpivot(on=_STARS, index=["entry", "question", "answered"], variable_name="star", value_name="count")
        .filter(pl.col("count") > 0)
    )
    return _History(
        rows=GradedRows(
            entry=long["entry"].to_numpy().astype(np.int64),
            question=long["question"].to_numpy().astype(np.int64),
            stars=long["star"]
            .replace_strict({name: stars for stars, name in enumerate(_STARS)}, return_dtype=pl.Int64)
            .to_numpy(),
            weight=(long["count"] / long["answered"]).to_numpy(),
            entry_edition=entries["edition_id"].replace_strict(editions, return_dtype=pl.Int64).to_numpy(),
            question_season=questions["season"].to_numpy(),
            question_lineage=questions["lineage"].to_numpy(),
        ),
        questions=questions,
        entries=entries,
    )


def _read_start(read: QueryReader, before: dict[str, object], history: _History) -> Parameters:
    """The last edition's parameters; NaN for what it did not have."""
    import polars as pl

    known = history.questions.join(
        read(
            "last_items",
            {name: before[name] for name in ("edition_id", "month", "discipline")},
        ),
        on="question_uuid",
        how="left",
        maintain_order="left",
    )

    def number(name: str) -> float:
        return float(str(before[name]))

    return Parameters(
        difficulty=known["difficulty"].fill_null(float("nan")).to_numpy(),
        log_discrimination=known.select(pl.col("discrimination").log())["discrimination"]
        .fill_null(float("nan"))
        .to_numpy(),
        thresholds=np.array([number(f"threshold_{stars}") for stars in range(1, 4)]),
        edition_mean=np.full(int(history.rows.entry_edition.max()) + 1, np.nan),
        season_mean=np.full(int(history.rows.question_season.max()) + 1, np.nan),
        ability_sd=number("ability_sd"),
        difficulty_sd=number("difficulty_sd"),
        discrimination_mean=number("discrimination_mean"),
        discrimination_sd=number("discrimination_sd"),
    )


def _equate(history: _History, fit: GradedFit, people: pl.DataFrame) -> EquatedDiscipline:
    """Equated scores of the people in their order; NaN without answers in the discipline."""
    import polars as pl

    by_edition = history.entries.select("model", "entry", sat_edition_id="edition_id").unique(
        ["model", "sat_edition_id"], keep="first", maintain_order=True
    )
    by_run = history.entries.select("model", "sat_in_run_id", run_entry="entry")
    found = (
        people.join(by_run, on=["model", "sat_in_run_id"], how="left", maintain_order="left")
        .join(by_edition, on=["model", "sat_edition_id"], how="left", maintain_order="left")
        .select(entry=pl.coalesce("run_entry", "entry"))["entry"]
    )
    entries = found.fill_null(0).to_numpy().astype(np.int64)
    equated = compute_equated(history.rows, fit, entries)
    is_known = found.is_not_null().to_numpy()

    def blank(values: np.ndarray) -> np.ndarray:
        return np.where(is_known, values, np.nan)

    return EquatedDiscipline(
        # One order of people in every discipline, whatever their entries are called there.
        entry=np.arange(len(entries)),
        ability=blank(equated.ability),
        ability_se=blank(equated.ability_se),
        score=blank(equated.score),
        score_se=blank(equated.score_se),
        own_score=blank(equated.own_score),
        own_se=blank(equated.own_se),
        covariance=blank(equated.covariance),
        lineage_count=np.where(is_known, equated.lineage_count, 0),
    )


def _is_unfixed(equated: EquatedDiscipline) -> bool:
    """Whether an error is wider than the scale: a likelihood so flat has no maximum to go by."""
    errors = equated.score_se[~np.isnan(equated.score)]
    return bool((~np.isfinite(errors) | (errors > WIDEST_SE)).any())


def _score_discipline(people: pl.DataFrame, discipline: str, equated: EquatedDiscipline) -> pl.DataFrame:
    import polars as pl

    score, se = equated.score * 10, equated.score_se * 10
    low, high = compute_bounds(score, se, equated.lineage_count - 1.0, most=100.0)
    return people.with_columns(
        discipline=pl.lit(discipline),
        equated_score=pl.Series(score).fill_nan(None),
        equated_se=pl.Series(se).fill_nan(None),
        equated_low=pl.Series(low).fill_nan(None),
        equated_high=pl.Series(high).fill_nan(None),
    )


def _describe_fit(discipline: str, history: _History, fit: GradedFit) -> dict[str, object]:
    found = fit.parameters
    return {
        "discipline": discipline,
        "entry_count": history.rows.entry_count,
        "question_count": history.rows.question_count,
        "answer_count": round(float(history.rows.weight.sum())),
        **{f"threshold_{stars}": float(value) for stars, value in enumerate(found.thresholds, start=1)},
        "ability_sd": found.ability_sd,
        "difficulty_sd": found.difficulty_sd,
        "discrimination_mean": found.discrimination_mean,
        "discrimination_sd": found.discrimination_sd,
        "round_count": fit.round_count,
        "is_converged": fit.is_converged,
    }


def _list_items(discipline: str, history: _History, fit: GradedFit) -> pl.DataFrame:
    import polars as pl

    fitted = compute_question_fit(history.rows, fit)
    return history.questions.select(
        "question_uuid",
        "lineage_uuid",
        "first_month",
        discipline=pl.lit(discipline),
        answer_count=pl.Series(np.round(fit.answer_weight).astype(np.int64)),
        discrimination=pl.Series(fit.discrimination),
        discrimination_se=pl.Series(fit.discrimination_se).fill_nan(None),
        difficulty=pl.Series(fit.parameters.difficulty),
        difficulty_se=pl.Series(fit.difficulty_se).fill_nan(None),
        fit=pl.Series(fitted.infit).fill_nan(None),
        is_misfit=pl.Series(fitted.needs_review),
    )
