"""Put an edition on the scale of those before it, by a graded response model.

Stands beside S, never instead of it. Questions that earlier editions of the scale published link the months, and enter with
their published numbers and errors; only what is new is estimated and written, so that an edition costs the same however many came
before. What is published here is frozen. Where no scale is yet, all editions so far are fitted together and set one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from schemas.editions import ALL_DISCIPLINES
from tasks.editions.basis import Basis, QueryReader
from tasks.editions.standings import MAIN_STYLE
from tasks.statistics import Floats
from tasks.statistics.items import (
    LEAST_LINK,
    EquatedScores,
    GradedFit,
    GradedRows,
    KnownQuestions,
    SameBank,
    Scale,
    ScaleForm,
    compute_equated,
    compute_question_fit,
    fit_graded_response,
)

METHOD = "chain"
# Fewer questions of a discipline, or answers to a question, say too little of how hard they are.
LEAST_QUESTIONS = 8
LEAST_ANSWERS = 4.0
# Where most questions are known, as of sets that are sat again, a link has little to bear: so many answers to a discipline will do.
LEAST_LINK_OF_KNOWN = 40.0
_MORE_DRAWS = 400
_STARS = tuple(f"stars_{stars}_count" for stars in range(4))
_UNKNOWN, _OPEN, _TRUE_FALSE = "unknown", "open", "true_false"


@dataclass(frozen=True)
class Equating:
    """What the fit of an edition gives; frames without rows where nothing could be equated.

    Attributes:
        scores: equated columns of `edition_scores` by model, prompt_style and discipline.
        persons: sat_edition_id, model, equated_score, equated_low, equated_high of everybody who is on the scale.
        items: rows of `edition_items` without the edition.
        fits: rows of `edition_fits` without the edition.
    """

    scores: pl.DataFrame = field(repr=False)
    persons: pl.DataFrame = field(repr=False)
    items: pl.DataFrame | None = field(repr=False)
    fits: pl.DataFrame | None = field(repr=False)


@dataclass(frozen=True)
class Answers:
    """The answers to fit, with what their codes stand for.

    Attributes:
        rows: as the model takes them.
        questions: question_uuid, lineage_uuid, discipline, first_month, format and passage by code.
        entries: model, sat_in_run_id and edition_id by code.
    """

    rows: GradedRows
    questions: pl.DataFrame
    entries: pl.DataFrame
    formats: Sequence[str]


@dataclass(frozen=True)
class PublishedScale:
    """A scale as its editions published it.

    Attributes:
        edition_ids: its editions, the one that set it first.
        shared: covariance of the errors of their links, disciplines × editions × editions.
        asymptotes: format → what chance earns, where an edition met it.
    """

    edition_ids: Sequence[str]
    shared: Floats
    thresholds: Floats
    asymptotes: Mapping[str, Sequence[float]]
    passage_sd: float


def equate_edition(
    read: QueryReader,
    basis: Basis,
    edition_id: str,
    counted: pl.DataFrame | None,
    *,
    is_from_nothing: bool = False,
) -> Equating:
    """Fit an edition on the scale of those before it, and equate its candidates.

    `counted` are all its stars (`count_stars`). With `is_from_nothing`, or where there is no scale yet, all editions so far are fitted and set a new one. Nothing is equated
    where the answers cannot carry it: the rows of `edition_fits` then say why.
    """
    weights = {name: weight for name, weight in basis.weights.items() if weight > 0}
    disciplines = list(weights)
    own = None if counted is None else counted.filter(pl.col("prompt_style") == MAIN_STYLE)
    if own is None or own["discipline"].n_unique() < len(disciplines):
        return equate_nothing()
    when = {name: basis.run[name] for name in ("month", "planned_at", "is_simulated")}
    own = own.with_columns(edition_id=pl.lit(edition_id), month=pl.lit(basis.run["month"]))
    bank = {"bank_version": basis.run["bank_version"]}
    scale = None if is_from_nothing else read_scale(read("scale_fits", when), disciplines)
    stars = [own]
    if scale is None:
        stars.insert(0, read("equating_stars", {**when, **bank, "disciplines": disciplines}))
    arranged = arrange_answers(read, stars, disciplines)
    known = None
    if scale is not None:
        same_bank = _read_same_bank(read, scale, basis.run["bank_version"], disciplines)
        known = replace(_read_known(read, scale, arranged, **bank), same_bank=same_bank)
    withheld = _find_reason(arranged.rows, known, len(disciplines))
    if withheld is not None:
        return _withhold(disciplines, arranged, scale, withheld)
    form = None if scale is None else _read_form(read, scale, arranged.formats, disciplines)
    fit, equated = fit_until_settled(
        arranged.rows, np.array(list(weights.values())), known, _choose_formats(scale, arranged.formats), form
    )
    if not equated.is_settled:
        return _withhold(disciplines, arranged, scale, "draws")
    everybody = _list_equated(arranged.entries, equated, disciplines)
    persons = everybody.filter(pl.col("discipline") == ALL_DISCIPLINES).rename(
        {"edition_id": "sat_edition_id"}
    )
    names = ["sat_edition_id", "model", "equated_score", "equated_low", "equated_high"]
    if scale is not None:
        earlier = read("equated_before", {"edition_ids": list(scale.edition_ids)})
        persons = pl.concat([persons.select(names), earlier.select(names)])
    return Equating(
        scores=everybody.filter(pl.col("edition_id") == edition_id)
        .drop("edition_id")
        .with_columns(prompt_style=pl.lit(MAIN_STYLE)),
        persons=persons.select(names).unique(["sat_edition_id", "model"], keep="first", maintain_order=True),
        items=_list_items(arranged, fit, has_scale=scale is not None),
        fits=_describe_fit(disciplines, arranged, fit, scale, edition_id),
    )


def fit_until_settled(
    rows: GradedRows,
    weights: Floats,
    known: KnownQuestions | None = None,
    scale: Scale | None = None,
    form: ScaleForm | None = None,
) -> tuple[GradedFit, EquatedScores]:
    """A fit and its scores; few answers settle slowly, and are drawn from for longer."""
    fit = fit_graded_response(rows, known=known, scale=scale)
    equated = compute_equated(rows, fit, weights, form=form)
    if not equated.is_settled:
        fit = fit_graded_response(rows, known=known, scale=scale, draws=_MORE_DRAWS)
        equated = compute_equated(rows, fit, weights, form=form)
    return fit, equated


def equate_nothing() -> Equating:
    """Where there is no common scale: no score, no fit."""
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


def read_scale(fits: pl.DataFrame, disciplines: Sequence[str]) -> PublishedScale | None:
    """The scale of rows of `scale_fits`; null without any, or where a discipline has none."""
    first = fits.head(0) if fits.is_empty() else fits.filter(edition_id=fits["scale_edition_id"][0])
    by_name = {str(row["discipline"]): row for row in first.iter_rows(named=True)}
    if any(name not in by_name for name in disciplines):
        return None
    edition_ids = fits["edition_id"].unique(maintain_order=True).to_list()
    place = {name: number for number, name in enumerate(edition_ids)}
    shared = np.zeros((len(disciplines), len(edition_ids), len(edition_ids)))
    asymptotes: dict[str, Sequence[float]] = {}
    for row in fits.iter_rows(named=True):
        asymptotes = {**json.loads(row["asymptotes"]), **asymptotes}
        if row["discipline"] not in disciplines:
            continue
        code = list(disciplines).index(row["discipline"])
        own = place[row["edition_id"]]
        for other, covariance in json.loads(row["link_covariances"]).items():
            shared[code, own, place[other]] = shared[code, place[other], own] = covariance
    thresholds = [[by_name[name][f"threshold_{star}"] for star in range(1, 4)] for name in disciplines]
    return PublishedScale(
        edition_ids=edition_ids,
        shared=np.array([_make_possible(one) for one in shared]),
        thresholds=np.array(thresholds, dtype=float),
        asymptotes=asymptotes,
        passage_sd=float(first["passage_sd"][0]),
    )


def arrange_answers(read: QueryReader, parts: Sequence[pl.DataFrame], disciplines: Sequence[str]) -> Answers:
    """The stars of some editions by codes; a sitting of several is one entry, of the first."""
    names = [
        "edition_id",
        "month",
        "sat_in_run_id",
        "model",
        "question_uuid",
        "lineage_uuid",
        "passage",
        "discipline",
    ]
    stars = (
        pl.concat(
            [part.select(pl.col(names).cast(pl.Categorical), *_STARS) for part in parts],
            how="vertical_relaxed",
        )
        .unique(["sat_in_run_id", "model", "question_uuid"], keep="first", maintain_order=True)
        # What nobody could judge says nothing of how hard a question is.
        .with_columns(answered=pl.sum_horizontal(_STARS))
        .filter(pl.col("answered") > 0)
    )
    editions = {str(name): code for code, name in enumerate(stars["edition_id"].unique(maintain_order=True))}
    as_text = pl.selectors.categorical().cast(pl.String)
    sat = (
        stars.group_by("sat_in_run_id", "model", maintain_order=True)
        .agg(edition_id=pl.col("edition_id").first())
        .with_row_index("entry")
    )
    entries = sat.with_columns(as_text)
    asked = (
        stars.group_by("question_uuid", maintain_order=True)
        .agg(
            pl.col("lineage_uuid").first(),
            pl.col("discipline").first(),
            pl.col("passage").drop_nulls().first(),
            first_month=pl.col("month").first(),
            home=pl.col("edition_id").first(),
        )
        .with_row_index("question")
    )
    found = asked.with_columns(as_text)
    questions = found.join(
        name_formats(read("question_traits", {"question_uuids": found["question_uuid"].to_list()})),
        on="question_uuid",
        how="left",
        maintain_order="left",
    ).with_columns(pl.col("format").fill_null(_UNKNOWN))
    formats = questions["format"].unique().sort().to_list()
    coded = (
        stars.join(sat.select("sat_in_run_id", "model", "entry"), on=["sat_in_run_id", "model"])
        .join(asked.select("question_uuid", "question"), on="question_uuid")
        .select("entry", "question", "answered", *_STARS)
    )
    del stars
    long = pl.concat(
        [
            coded.filter(pl.col(name) > 0).select(
                "entry", "question", "answered", star=pl.lit(star, pl.Int8), count=name
            )
            for star, name in enumerate(_STARS)
        ]
    ).sort("entry", "question", "star")

    def code(values: pl.Series, codes: Mapping[str, int]) -> np.ndarray:
        return values.replace_strict(codes, return_dtype=pl.Int64).to_numpy()

    return Answers(
        rows=GradedRows(
            entry=long["entry"].to_numpy().astype(np.int64),
            question=long["question"].to_numpy().astype(np.int64),
            stars=long["star"].to_numpy().astype(np.int64),
            weight=(long["count"] / long["answered"]).to_numpy(),
            entry_edition=code(entries["edition_id"], editions),
            question_discipline=code(
                questions["discipline"], {name: one for one, name in enumerate(disciplines)}
            ),
            question_home=code(questions["home"], editions),
            question_cluster=_code_clusters(questions),
            question_format=code(questions["format"], {name: one for one, name in enumerate(formats)}),
            format_chance=np.array([expect_chance(name) for name in formats]),
        ),
        questions=questions,
        entries=entries,
        formats=formats,
    )


def name_formats(traits: pl.DataFrame) -> pl.DataFrame:
    """question_uuid and format of rows of `question_traits`."""
    is_choice = (pl.col("question_type") == "multiple_choice") & (pl.col("option_count") > 1)
    several = pl.when(pl.col("key_count") > 1).then(pl.lit("choices-")).otherwise(pl.lit("choice-"))
    return traits.select(
        "question_uuid",
        format=pl.when(is_choice)
        .then(several + pl.col("option_count").cast(pl.String))
        .when(pl.col("question_type") == "true_false")
        .then(pl.lit(_TRUE_FALSE))
        .otherwise(pl.lit(_OPEN)),
    )


def expect_chance(question_format: str) -> float:
    """What one guess gives: 0 where there is nothing to guess, NaN where that is unknown."""
    if question_format in (_UNKNOWN, _OPEN, _TRUE_FALSE):
        return {_UNKNOWN: float("nan"), _OPEN: 0.0, _TRUE_FALSE: 0.5}[question_format]
    kind, _, count = question_format.partition("-")
    return 1.0 / int(count) if kind == "choice" else 1.0 / (2.0 ** int(count) - 1.0)


def _code_clusters(questions: pl.DataFrame) -> np.ndarray:
    """What was drawn together: a passage, else a lineage."""
    found = questions.select(pl.coalesce("passage", "lineage_uuid").rank("dense") - 1)
    return found.to_series().to_numpy().astype(np.int64)


def _read_known(
    read: QueryReader, scale: PublishedScale, arranged: Answers, *, bank_version: int
) -> KnownQuestions:
    asked = arranged.questions.select("question_uuid")
    published = read(
        "known_items",
        {
            "question_uuids": asked["question_uuid"].to_list(),
            "edition_ids": list(scale.edition_ids),
            "bank_version": bank_version,
        },
    ).filter(pl.col("difficulty_se").is_not_null() & pl.col("discrimination_se").is_not_null())
    found = asked.join(published, on="question_uuid", how="left", maintain_order="left")
    edition = found["edition_id"].fill_null(scale.edition_ids[0])
    discrimination = found["discrimination"].fill_null(1.0).to_numpy()
    return KnownQuestions(
        is_known=found["difficulty"].is_not_null().to_numpy(),
        difficulty=found["difficulty"].fill_null(0.0).to_numpy(),
        difficulty_se=found["difficulty_se"].fill_null(1.0).to_numpy(),
        log_discrimination=np.log(discrimination),
        log_discrimination_se=found["discrimination_se"].fill_null(1.0).to_numpy() / discrimination,
        correlation=found["error_correlation"].fill_null(0.0).to_numpy(),
        edition=edition.replace_strict(
            {name: code for code, name in enumerate(scale.edition_ids)}, return_dtype=pl.Int64
        ).to_numpy(),
        shared=scale.shared,
    )


def _read_same_bank(
    read: QueryReader, scale: PublishedScale, bank_version: int, disciplines: Sequence[str]
) -> SameBank | None:
    """The first edition of the scale that drew from the bank version; null without one."""
    given = {"edition_ids": list(scale.edition_ids), "bank_version": bank_version}
    found = pl.DataFrame({"discipline": list(disciplines)}).join(
        read("same_bank_levels", given), on="discipline", how="left", maintain_order="left"
    )
    if found["difficulty_mean"].has_nulls():
        return None
    drawn = found["drawn_count"].to_numpy()
    return SameBank(
        edition=list(scale.edition_ids).index(found["edition_id"][0]),
        level=found["difficulty_mean"].to_numpy(),
        variance=found["difficulty_sd"].to_numpy() ** 2 / drawn,
        log_discrimination=float(np.average(found["discrimination_mean"].to_numpy(), weights=drawn)),
        log_discrimination_variance=float(found["discrimination_sd"][0]) ** 2 / float(drawn.sum()),
    )


def _read_form(
    read: QueryReader, scale: PublishedScale, formats: Sequence[str], disciplines: Sequence[str]
) -> ScaleForm:
    found = read("form_items", {"edition_id": scale.edition_ids[0]}).filter(
        pl.col("discipline").is_in(list(disciplines))
    )
    codes = {name: code for code, name in enumerate(_join_formats(scale, formats))}
    discrimination = found["discrimination"].to_numpy()
    return ScaleForm(
        discipline=found["discipline"]
        .replace_strict({name: code for code, name in enumerate(disciplines)}, return_dtype=pl.Int64)
        .to_numpy(),
        format=found["format"].replace_strict(codes, return_dtype=pl.Int64).to_numpy(),
        cluster=_code_clusters(found),
        difficulty=found["difficulty"].to_numpy(),
        difficulty_se=found["difficulty_se"].to_numpy(),
        log_discrimination=np.log(discrimination),
        log_discrimination_se=found["discrimination_se"].fill_null(0.0).to_numpy() / discrimination,
        correlation=found["error_correlation"].fill_null(0.0).to_numpy(),
    )


def _join_formats(scale: PublishedScale, formats: Sequence[str]) -> list[str]:
    """The formats of an edition by code, then those that only the scale has met."""
    return [*formats, *sorted(set(scale.asymptotes) - set(formats))]


def _choose_formats(scale: PublishedScale | None, formats: Sequence[str]) -> Scale | None:
    """The scale with asymptotes by the codes of `_join_formats`; NaN for a new format."""
    if scale is None:
        return None
    nothing = [float("nan")] * scale.thresholds.shape[1]
    asymptotes = [scale.asymptotes.get(name, nothing) for name in _join_formats(scale, formats)]
    return Scale(scale.thresholds, np.array(asymptotes, dtype=float), scale.passage_sd)


def _make_possible(covariance: Floats) -> Floats:
    """The nearest covariance: what editions share was published edition by edition."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.maximum(values, 0.0) @ vectors.T)


def _find_reason(rows: GradedRows, known: KnownQuestions | None, disciplines: int) -> str | None:
    """Why these answers cannot be equated; null where they can."""
    answers = np.bincount(rows.question, weights=rows.weight, minlength=rows.question_count)
    questions = np.bincount(rows.question_discipline, minlength=disciplines)
    if questions.min() < LEAST_QUESTIONS:
        return "questions"
    if known is not None:
        linked = np.bincount(
            rows.question_discipline, weights=answers * known.is_known, minlength=disciplines
        )
        least = LEAST_LINK_OF_KNOWN if known.is_known.mean() > 0.5 else LEAST_LINK
        if linked.min() == 0 or linked.mean() < least:
            return "anchors"
    mean = np.bincount(rows.question_discipline, weights=answers, minlength=disciplines) / questions
    return "answers" if mean.min() < LEAST_ANSWERS else None


def _list_equated(entries: pl.DataFrame, equated: EquatedScores, disciplines: Sequence[str]) -> pl.DataFrame:
    """Equated columns by edition, model and discipline; of several sittings the first."""
    first = entries.with_columns(
        discipline=pl.lit(ALL_DISCIPLINES),
        equated_score=equated.score,
        equated_se=equated.se,
        equated_low=equated.low,
        equated_high=equated.high,
        is_equated_apart=equated.is_disagreeing,
    )
    parts = [first]
    for code, discipline in enumerate(disciplines):
        parts.append(
            entries.with_columns(
                discipline=pl.lit(discipline),
                equated_score=equated.discipline_score[:, code],
                equated_se=equated.discipline_se[:, code],
                equated_low=equated.discipline_low[:, code],
                equated_high=equated.discipline_high[:, code],
            )
        )
    return (
        pl.concat(parts, how="diagonal_relaxed")
        .with_columns(pl.selectors.float().fill_nan(None))
        .filter(pl.col("equated_score").is_not_null())
        # Who sat in this run stands before what was borrowed from another.
        .unique(["edition_id", "model", "discipline"], keep="first", maintain_order=True)
        .drop("entry", "sat_in_run_id")
    )


def _list_items(arranged: Answers, fit: GradedFit, *, has_scale: bool) -> pl.DataFrame:
    """What was estimated: what is known keeps what was published of it, where it was published."""
    rows = arranged.rows
    fitted = compute_question_fit(rows, fit)
    return arranged.questions.select(
        "question_uuid",
        "lineage_uuid",
        "first_month",
        "discipline",
        "format",
        "passage",
        answer_count=pl.Series(np.round(fit.answer_weight).astype(np.int64)),
        discrimination=pl.Series(fit.discrimination),
        discrimination_se=pl.Series(fit.discrimination_se),
        difficulty=pl.Series(fit.difficulty),
        difficulty_se=pl.Series(fit.difficulty_se),
        error_correlation=pl.Series(fit.correlation),
        fit=pl.Series(fitted.infit).fill_nan(None),
        is_misfit=pl.Series(fitted.needs_review),
        is_on_form=pl.Series((rows.question_home == 0) & (not has_scale)),
        is_moved=pl.Series(fit.is_moved),
    ).filter(pl.Series(~fit.is_known))


def _describe_fit(
    disciplines: Sequence[str],
    arranged: Answers,
    fit: GradedFit,
    scale: PublishedScale | None,
    edition_id: str,
) -> pl.DataFrame:
    rows, draws = arranged.rows, fit.draws
    earlier = [] if scale is None else list(scale.edition_ids)
    asymptotes = {
        name: [round(float(value), 6) for value in fit.scale.asymptotes[code]]
        for code, name in enumerate(arranged.formats)
    }
    found = []
    for code, discipline in enumerate(disciplines):
        mine = rows.question_discipline == code
        new = np.log(fit.discrimination[mine & ~fit.is_known])
        found.append(
            {
                **_count_answers(arranged, code),
                "discipline": discipline,
                **{
                    f"threshold_{star}": float(value)
                    for star, value in enumerate(fit.scale.thresholds[code], start=1)
                },
                "ability_sd": draws.ability_sd,
                "difficulty_sd": float(draws.difficulty_sd[code]),
                "discrimination_mean": float(new.mean()) if len(new) else None,
                "discrimination_sd": draws.discrimination_sd,
                "round_count": fit.round_count,
                "is_converged": True,
                "method": METHOD,
                "scale_edition_id": earlier[0] if earlier else edition_id,
                "asymptotes": json.dumps(asymptotes),
                "passage_sd": fit.scale.passage_sd,
                "anchor_count": int((mine & fit.is_known).sum()),
                "moved_count": int((mine & fit.is_moved).sum()),
                "link_covariances": json.dumps(
                    dict(zip([*earlier, edition_id], map(float, fit.shared[code]), strict=True))
                ),
            }
        )
    return pl.DataFrame(found)


def _withhold(
    disciplines: Sequence[str], arranged: Answers, scale: PublishedScale | None, reason: str
) -> Equating:
    """No score, and the reason in the rows of `edition_fits`."""
    fits = [
        {
            **_count_answers(arranged, code),
            "discipline": discipline,
            "round_count": 0,
            "is_converged": False,
            "method": METHOD,
            "scale_edition_id": None if scale is None else scale.edition_ids[0],
            "withheld": reason,
        }
        for code, discipline in enumerate(disciplines)
    ]
    nothing = equate_nothing()
    return Equating(scores=nothing.scores, persons=nothing.persons, items=None, fits=pl.DataFrame(fits))


def _count_answers(arranged: Answers, discipline: int) -> dict[str, Any]:
    rows = arranged.rows
    mine = rows.question_discipline == discipline
    of_rows = mine[rows.question]
    return {
        "entry_count": len(np.unique(rows.entry[of_rows])),
        "question_count": int(mine.sum()),
        "answer_count": round(float(rows.weight[of_rows].sum())),
    }
