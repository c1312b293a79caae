"""The judges of an edition as a jury: weights, confusions, scores, stars of responses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import polars as pl

from schemas.tables import get_table
from tasks.judging.calibration.judged_edition import JudgedEdition, scale_stars
from tasks.statistics import Floats
from tasks.statistics.judges import (
    Corrected,
    Jury,
    Votes,
    compute_judge_weight,
    correct_by_ratings,
    hear_jury,
)
from warehouse.lake import Batch, Lake, hash_rows

PERSON = "person"
LEAST_RATED = 20
# Two judges alone do not tell who of them errs; three do, or two and people.
_JUDGES_ALONE = 3
_KEY = ["session_id", "seq"]
ALL = "all"


@dataclass(frozen=True)
class JuryCase:
    """What a jury decides on.

    Attributes:
        asked: rows of edition_asked of candidates that have a score, in order, with `owner`, the place of candidate and style in
            `owners`.
        owners: prompt style and candidate.
        judges: judge and version of its prompt, in order of their columns.
        disciplines: in order of their codes.
        votes: the same as arrays.
        votes_hash: over votes and ratings.
    """

    asked: pl.DataFrame
    owners: list[tuple[str, str]]
    judges: list[tuple[str, str]]
    disciplines: list[str]
    votes: Votes
    votes_hash: str


def land_jury(lake: Lake, judged: JudgedEdition, last_unit: str | None, *, now: datetime) -> bool:
    """Land what the judges of an edition say as a jury; says whether there is one.

    There is where two judges or more judged it, and people rated 20 responses or more, unless the judges are three. The same
    judgements and ratings again change nothing, unless others were looked at since: `last_unit` is what was landed last.
    """
    given = {"edition_id": judged.edition["edition_id"], "months": judged.months}
    votes = lake.read("edition_votes", given)
    judges = votes.filter(votes["judge"] != PERSON).select("judge", "prompt_wording").n_unique()
    if judges < 2 or (judges < _JUDGES_ALONE and judged.rated.height < LEAST_RATED):
        return False
    case = make_case(judged, lake.read("edition_asked", given | {"month": judged.edition["month"]}), votes)
    unit = f"{given['edition_id']}/{case.votes_hash}"
    if last_unit != unit:
        weights = np.array([judged.weights.get(name, 0.0) for name in case.disciplines])
        jury = hear_jury(case.votes, weights, candidate_count=len(case.owners))
        lake.land_together(
            [
                Batch("jury_judges", unit, describe_judges(judged, case, jury, now)),
                Batch("jury_confusions", unit, describe_confusions(judged, case, jury, now)),
                Batch("jury_scores", unit, score_by_jury(judged, case, jury, now)),
                Batch("jury_stars", str(given["edition_id"]), describe_stars(judged, case, jury)),
            ]
        )
    return True


def make_case(judged: JudgedEdition, asked: pl.DataFrame, votes: pl.DataFrame) -> JuryCase:
    """Votes on all that was asked, with people's: known, and where no judge could be read."""
    owners = (
        judged.scores.select("prompt_style", "model").sort("prompt_style", "model").with_row_index("owner")
    )
    rows = asked.join(owners, on=["prompt_style", "model"]).sort(_KEY)
    machine = votes.filter(pl.col("judge") != PERSON)
    judges = machine.select("judge", "prompt_wording").unique().sort("judge", "prompt_wording").rows()
    known = (
        rows.select(_KEY)
        .join(votes.filter(pl.col("judge") == PERSON).select(*_KEY, stood_in="stars"), on=_KEY, how="left")
        .join(judged.rated.select(*_KEY, "mean_stars"), on=_KEY, how="left", maintain_order="left")
        .select(stars=pl.coalesce("mean_stars", "stood_in"))["stars"]
        .cast(pl.Float64)
        .to_numpy()
    )
    columns = [
        rows.select(_KEY)
        .join(
            machine.filter((pl.col("judge") == name) & (pl.col("prompt_wording") == wording)).select(
                *_KEY, "stars"
            ),
            on=_KEY,
            how="left",
            maintain_order="left",
        )["stars"]
        .fill_null(-1)
        .to_numpy()
        for name, wording in judges
    ]
    disciplines = sorted({*judged.weights, *rows["discipline"]})
    # A mean between two stars is a share of raters for each of them.
    shares = np.maximum(0.0, 1.0 - np.abs(known[:, None] - np.arange(4)[None, :]))
    return JuryCase(
        asked=rows,
        owners=owners.select("prompt_style", "model").rows(),
        judges=judges,
        disciplines=disciplines,
        votes=Votes(
            stars=np.stack(columns, axis=1).astype(np.int64),
            judge=np.arange(len(judges)),
            candidate=rows["owner"].to_numpy().astype(np.int64),
            discipline=rows.select(pl.col("discipline").replace_strict(disciplines, range(len(disciplines))))[
                "discipline"
            ]
            .to_numpy()
            .astype(np.int64),
            known=np.where(np.isnan(known)[:, None], np.nan, shares),
            cluster=rows["cluster"].rank("dense").to_numpy().astype(np.int64),
        ),
        votes_hash=hash_rows(
            pl.concat(
                [
                    votes.select(
                        *_KEY,
                        by=pl.format("{}/{}", "judge", "prompt_wording"),
                        stars=pl.col("stars").cast(pl.Float64),
                    ),
                    judged.rated.select(*_KEY, by=pl.lit("people"), stars="mean_stars"),
                ]
            )
        )[:12],
    )


def describe_judges(judged: JudgedEdition, case: JuryCase, jury: Jury, now: datetime) -> pl.DataFrame:
    """Rows of `jury_judges`."""
    is_given = case.votes.stars >= 0
    is_rated = ~np.isnan(case.votes.known[:, 0])
    total = jury.information.sum(axis=0)
    rows = []
    for field, discipline in enumerate([*case.disciplines, ALL]):
        of_field = np.ones(len(is_rated), dtype=bool) if discipline == ALL else case.votes.discipline == field
        if not of_field.any():
            continue
        for place, (name, wording) in enumerate(case.judges):
            heard = of_field & is_given[:, place]
            rows.append(
                _describe(judged, case)
                | {
                    "judge": name,
                    "prompt_version": wording,
                    "discipline": discipline,
                    "information_bits": float(jury.information[place, field]),
                    "weight": float(jury.information[place, field] / total[field])
                    if total[field] > 0
                    else None,
                    "agreement_rate": float(jury.agreement[place, field]),
                    "bias": float(jury.bias[place, field]),
                    "response_count": int(heard.sum()),
                    "rated_count": int((heard & is_rated).sum()),
                    "computed_at": now,
                }
            )
    return get_table("jury_judges").frame(rows)


def describe_confusions(judged: JudgedEdition, case: JuryCase, jury: Jury, now: datetime) -> pl.DataFrame:
    """Rows of `jury_confusions`."""
    asked = set(case.votes.discipline.tolist())
    return get_table("jury_confusions").frame(
        [
            _describe(judged, case)
            | {
                "judge": name,
                "prompt_version": wording,
                "discipline": discipline,
                "deserved_stars": deserved,
                "given_stars": given,
                "chance": float(jury.given[place, field, deserved, given]),
                "computed_at": now,
            }
            for place, (name, wording) in enumerate(case.judges)
            for field, discipline in enumerate([*case.disciplines, ALL])
            if discipline == ALL or field in asked
            for deserved in range(4)
            for given in range(4)
        ]
    )


def score_by_jury(judged: JudgedEdition, case: JuryCase, jury: Jury, now: datetime) -> pl.DataFrame:
    """Rows of `jury_scores`."""
    place_of = {owner: place for place, owner in enumerate(case.owners)}
    answered = np.bincount(case.votes.candidate, minlength=len(case.owners))
    rows = []
    for style in judged.styles:
        scores = judged.scores_of(style)
        places = np.array([place_of[(style, model)] for model in scores["model"]])
        rated_count = dict(judged.rated_of(style).group_by("model").len().iter_rows())
        found = {"jury": _choose(jury.score, places)}
        if judged.rated_of(style).height >= LEAST_RATED:
            found["prediction_powered"] = _correct(judged, case, jury, style, places)
        for estimator, estimate in found.items():
            rows += [
                _describe(judged, case)
                | {
                    "prompt_style": style,
                    "model": model,
                    "estimator": estimator,
                    "score": score,
                    "judge_count": len(case.judges),
                    "response_count": int(answered[places[number]]),
                    "rated_count": rated_count.get(model, 0),
                    "computed_at": now,
                }
                | scale_stars("jury", estimate, number)
                for number, (model, score) in enumerate(scores.select("model", "score").iter_rows())
                if not np.isnan(estimate.stars[number])
            ]
    return get_table("jury_scores").frame(rows)


def describe_stars(judged: JudgedEdition, case: JuryCase, jury: Jury) -> pl.DataFrame:
    """Rows of `jury_stars`, of responses that some judge gave stars or people rated."""
    is_rated = ~np.isnan(case.votes.known[:, 0])
    table = get_table("jury_stars")
    return (
        case.asked.with_columns(
            edition_id=pl.lit(judged.edition["edition_id"]),
            is_simulated=pl.lit(judged.edition["is_simulated"]),
            votes_hash=pl.lit(case.votes_hash),
            jury_stars=pl.Series(jury.chances @ np.arange(4)),
            **{f"chance_{stars}": pl.Series(np.minimum(jury.chances[:, stars], 1.0)) for stars in range(4)},
            judge_count=pl.Series((case.votes.stars >= 0).sum(axis=1)),
            is_rated=pl.Series(is_rated),
        )
        .filter((pl.col("judge_count") > 0) | pl.col("is_rated"))
        .select(pl.col(column.name).cast(table.polars_schema[column.name]) for column in table.own_columns)
    )


def _correct(judged: JudgedEdition, case: JuryCase, jury: Jury, style: str, places: Floats) -> Corrected:
    """The jury's scores by judges alone, corrected by people as a single judge's are."""
    heard = case.asked.select(_KEY).with_columns(heard=jury.heard_apart)
    stars = (
        judged.rated_of(style).select(_KEY).join(heard, on=_KEY, how="left", maintain_order="left")["heard"]
    )
    scores = replace(
        judged.arrange_scores(style),
        stars=jury.heard_score.stars[places],
        se=np.nan_to_num(jury.heard_score.se[places]),
    )
    responses = judged.arrange_ratings(style, stars.to_numpy())
    return correct_by_ratings(scores, responses, compute_judge_weight(responses))


def _choose(found: Corrected, places: Floats) -> Corrected:
    return Corrected(found.stars[places], found.se[places], found.low[places], found.high[places])


def _describe(judged: JudgedEdition, case: JuryCase) -> dict[str, object]:
    named = judged.describe()
    return {name: named[name] for name in ("edition_id", "month", "is_simulated")} | {
        "votes_hash": case.votes_hash
    }
