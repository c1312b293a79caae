"""From an edition's stars to its frozen numbers: scores, ranks and pairs with their errors.

What nobody could judge earns nothing and stays in N; an answer of the reference that nobody could judge is left out of R,
because a 0 there would raise everybody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from schemas.editions import ALL_DISCIPLINES
from tasks.editions.basis import Basis
from tasks.statistics import Codes, Floats, StarRows
from tasks.statistics.scores import (
    ERROR_RATE,
    Differences,
    Estimate,
    HeadToHead,
    Pairs,
    RelativeScores,
    compare_stars,
    compute_discipline_pairs,
    compute_pairs,
    compute_ranks,
    compute_scores,
)

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class StyleAnswers:
    """The counted answers of one prompt style, with the codes that the estimators take.

    Attributes:
        frame: answers of complete sessions, stars 0 where nobody could judge, by model, question and session; with `passage` (null
            for none), `candidate`, `discipline_code`, `question`, `lineage` and `cluster`, which is the passage or the lineage.
        models: candidates by code.
        disciplines: those that have weight, by code.
    """

    style: str
    frame: pl.DataFrame
    models: Sequence[str]
    disciplines: Sequence[str]
    weights: Floats


def arrange_styles(basis: Basis) -> Iterator[StyleAnswers]:
    """The answers of complete sessions by prompt style, one style in memory at a time."""
    if basis.answers.is_empty():
        return
    weights = {name: weight for name, weight in basis.weights.items() if weight > 0}
    complete = basis.sessions.filter("is_complete")["session_id"]
    passages = pl.DataFrame(
        list(basis.passages.items()), schema={"lineage_uuid": pl.String, "passage": pl.String}, orient="row"
    )
    is_counted = pl.col("session_id").is_in(complete.implode()) & pl.col("discipline").is_in(list(weights))
    for style in basis.answers["prompt_style"].unique().sort():
        frame = (
            basis.answers.lazy()
            .filter((pl.col("prompt_style") == style) & is_counted)
            .select(
                *("session_id", "sat_in_run_id", "set_id", "model", "prompt_style", "repeat"),
                *("question_uuid", "lineage_uuid", "discipline", "score_status"),
                pl.col("stars").fill_null(0),
            )
            .collect()
        )
        if frame.is_empty():
            continue
        frame = frame.join(
            passages.with_columns(
                pl.col(name).cast(frame.schema["lineage_uuid"]) for name in passages.columns
            ),
            on="lineage_uuid",
            how="left",
        ).sort("model", "question_uuid", "repeat", "session_id")
        yield StyleAnswers(
            style=str(style),
            frame=frame.with_columns(
                candidate=pl.col("model").rank("dense").cast(pl.Int64) - 1,
                discipline_code=pl.col("discipline").replace_strict(
                    {name: code for code, name in enumerate(weights)}, return_dtype=pl.Int64
                ),
                question=pl.col("question_uuid").rank("dense").cast(pl.Int64) - 1,
                lineage=pl.col("lineage_uuid").rank("dense").cast(pl.Int64) - 1,
                cluster=name_cluster().rank("dense").cast(pl.Int64) - 1,
                # The reference sits every set as its first repeat: what is repeated is the sitting.
                repeat=pl.col("session_id").rank("dense").over("model").cast(pl.Int64),
                # Sets that it sat as the same repeat are no repeats of each other.
                sat=pl.when(
                    pl.col("session_id").n_unique().over("model") > pl.col("repeat").n_unique().over("model")
                )
                .then(pl.col("set_id").rank("dense").cast(pl.Int64) - 1)
                .otherwise(0),
            ).drop("session_id"),
            models=frame["model"].unique().sort().to_list(),
            disciplines=list(weights),
            weights=np.array(list(weights.values())),
        )


def count_stars(answers: StyleAnswers) -> pl.DataFrame:
    """Rows of `edition_stars` without the edition: each candidate's stars for each question.

    A reference may answer a question in two sets of a run, of which one has it as an anchor: these are repeats.
    """
    is_unparsed = pl.col("score_status") == "unparsed"
    return (
        answers.frame.group_by("candidate", "question")
        .agg(
            pl.col(
                *("model", "prompt_style", "question_uuid", "lineage_uuid", "discipline"),
                *("set_id", "sat_in_run_id", "passage"),
            ).first(),
            *(
                ((pl.col("stars") == stars) & ~is_unparsed).sum().cast(pl.Int32).alias(f"stars_{stars}_count")
                for stars in range(4)
            ),
            unparsed_count=is_unparsed.sum().cast(pl.Int32),
        )
        .sort("candidate", "question")
        .drop("candidate", "question")
    )


def estimate_scores(
    answers: StyleAnswers, pairs: Pairs, sessions: pl.DataFrame, reference: str
) -> pl.DataFrame:
    """Rows of `edition_scores` of a style, without the edition: all disciplines and each."""
    count = len(answers.models)
    scores = compute_scores(make_rows(answers.frame), answers.weights, candidate_count=count)
    relative = _compute_relative(answers, reference)
    differences = pairs.differences
    ranks = compute_ranks(
        scores.score.value, pairs.first, pairs.second, differences.difference, pairs.together.p_value
    )
    whole = {
        "candidate": np.arange(count),
        "item_count": scores.question_count,
        **_columns("score", scores.score),
        "score_sd": scores.repeat_sd,
        "rank": ranks.rank,
        "rank_low": ranks.lowest,
        "rank_high": ranks.highest,
        "rank_group": [name_group(int(group)) for group in ranks.group],
        **({} if relative is None else _columns("relative", relative.relative)),
    }
    disciplines = len(answers.disciplines)
    by_discipline = {
        "candidate": np.repeat(np.arange(count), disciplines),
        "discipline": list(answers.disciplines) * count,
        "item_count": scores.discipline_count.ravel(),
        "score": scores.discipline_score.ravel() * 10,
        "score_se": scores.discipline_se.ravel() * 10,
        "score_low": scores.discipline_low.ravel() * 10,
        "score_high": scores.discipline_high.ravel() * 10,
    }
    if relative is not None:
        by_discipline |= {
            "relative_score": relative.discipline_relative.ravel(),
            "relative_se": relative.discipline_se.ravel(),
        }
    found = pl.concat(
        [
            pl.DataFrame(whole).with_columns(discipline=pl.lit(ALL_DISCIPLINES)),
            pl.DataFrame(by_discipline).filter(pl.col("item_count") > 0),
        ],
        how="diagonal_relaxed",
    ).with_columns(
        model=pl.col("candidate").replace_strict(dict(enumerate(answers.models)), return_dtype=pl.String),
        **{name: pl.col(name).replace(0, None) for name in ("rank", "rank_low", "rank_high")},
    )
    return (
        found.with_columns(pl.selectors.float().fill_nan(None))
        .join(_count_answers(answers, reference), on=["model", "discipline"])
        .join(_describe_repeats(answers.style, sessions), on="model")
        .with_columns(is_reference=pl.col("model") == reference, prompt_style=pl.lit(answers.style))
        # The spread over repeats is that of whole sessions.
        .with_columns(
            **{
                name: pl.when(pl.col("discipline") == ALL_DISCIPLINES).then(name)
                for name in ("lowest_score", "highest_score")
            }
        )
        .drop("candidate")
    )


def estimate_pairs(answers: StyleAnswers, pairs: Pairs) -> Iterator[pl.DataFrame]:
    """Rows of `edition_pairs` of a style without the edition, a frame for each discipline.

    That over all disciplines is among them, in the order of their names. All pairs are told together over all
    disciplines; by discipline a pair's disciplines are.
    """
    by_discipline = compute_discipline_pairs(
        make_rows(answers.frame),
        candidate_count=len(answers.models),
        discipline_count=len(answers.disciplines),
    )
    found = {ALL_DISCIPLINES: pairs, **dict(zip(answers.disciplines, by_discipline, strict=True))}
    del by_discipline
    for name in sorted(found):
        is_whole = name == ALL_DISCIPLINES
        rows = answers.frame if is_whole else answers.frame.filter(pl.col("discipline") == name)
        # Of many candidates what is told of a discipline is large: it goes when it is written down.
        listed = _list_pairs(answers, rows, found.pop(name), name)
        yield listed.filter(pl.lit(is_whole) | pl.col("difference").is_not_nan()).with_columns(
            pl.selectors.float().fill_nan(None), prompt_style=pl.lit(answers.style)
        )


def compare_candidates(answers: StyleAnswers) -> Pairs:
    """All pairs of candidates of the style."""
    return compute_pairs(make_rows(answers.frame), answers.weights, candidate_count=len(answers.models))


def make_rows(frame: pl.DataFrame) -> StarRows:
    """Answers with their codes as the estimators take them."""
    return StarRows(
        candidate=_codes(frame, "candidate"),
        discipline=_codes(frame, "discipline_code"),
        question=_codes(frame, "question"),
        lineage=_codes(frame, "lineage"),
        stars=frame["stars"].to_numpy().astype(float),
        repeat=_codes(frame, "repeat") - 1 if "repeat" in frame.columns else None,
        cluster=_codes(frame, "cluster"),
        sat=_codes(frame, "sat") if "sat" in frame.columns else None,
    )


def name_cluster() -> pl.Expr:
    """What a question was drawn with: its passage, or its lineage alone."""
    return pl.coalesce("passage", "lineage_uuid")


def name_group(number: int) -> str | None:
    """A, B, … Z, AA, AB, …; None for 0, a candidate without a rank."""
    if number == 0:
        return None
    letters = ""
    while number:
        number, rest = divmod(number - 1, len(_LETTERS))
        letters = _LETTERS[rest] + letters
    return letters


def _compute_relative(answers: StyleAnswers, reference: str) -> RelativeScores | None:
    if reference not in answers.models:
        return None
    judged = answers.frame.filter((pl.col("model") != reference) | (pl.col("score_status") != "unparsed"))
    return compute_scores(
        make_rows(judged),
        answers.weights,
        candidate_count=len(answers.models),
        reference=answers.models.index(reference),
    ).relative


def _count_answers(answers: StyleAnswers, reference: str) -> pl.DataFrame:
    """What N is made of, and how many pairs R has: over all disciplines and in each."""
    of_reference = (
        answers.frame.filter((pl.col("model") == reference) & (pl.col("score_status") != "unparsed"))[
            "question"
        ]
        .unique()
        .implode()
    )
    frame = answers.frame.select(
        "model",
        "discipline",
        is_scored=pl.col("score_status").is_in(["scored", "unanswered"]),
        is_unanswered=pl.col("score_status") == "unanswered",
        is_unparsed=pl.col("score_status") == "unparsed",
        # As in R: what nobody could read of the reference is left out, also where another of its sittings could be read.
        is_pair=pl.col("question").is_in(of_reference)
        & ((pl.col("model") != reference) | (pl.col("score_status") != "unparsed")),
    )
    sums = (
        pl.len().cast(pl.Int64).alias("question_count"),
        *(
            pl.col(f"is_{name}").sum().cast(pl.Int64).alias(f"{name}_count")
            for name in ("scored", "unanswered", "unparsed", "pair")
        ),
    )
    counts = [
        frame.group_by("model", "discipline").agg(*sums),
        frame.group_by("model").agg(*sums).with_columns(discipline=pl.lit(ALL_DISCIPLINES)),
    ]
    names = pl.col("model", "discipline").cast(pl.String)
    return pl.concat([part.with_columns(names) for part in counts], how="diagonal")


def _describe_repeats(style: str, sessions: pl.DataFrame) -> pl.DataFrame:
    return (
        sessions.filter(pl.col("is_complete") & (pl.col("prompt_style") == style))
        .group_by("model")
        .agg(
            organisation=pl.col("organisation").first(),
            repeat_count=pl.len().cast(pl.Int64),
            lowest_score=pl.col("score").min(),
            highest_score=pl.col("score").max(),
        )
    )


def _list_pairs(answers: StyleAnswers, frame: pl.DataFrame, pairs: Pairs, discipline: str) -> pl.DataFrame:
    wins: HeadToHead = compare_stars(make_rows(frame), len(answers.models), pairs.first, pairs.second)
    models = np.array(answers.models, dtype=object)
    differences: Differences = pairs.differences
    return pl.DataFrame(
        {
            "discipline": [discipline] * len(pairs.first),
            "model_a": pl.Series(models[pairs.first].tolist(), dtype=pl.String),
            "model_b": pl.Series(models[pairs.second].tolist(), dtype=pl.String),
            "pair_count": pairs.common_count,
            "is_paired": pairs.is_paired,
            "difference": differences.difference,
            "difference_se": differences.se,
            "difference_low": differences.low,
            "difference_high": differences.high,
            "p_value": differences.p_value,
            "p_together": pairs.together.p_value,
            "together_low": pairs.together.low,
            "together_high": pairs.together.high,
            "win_a_count": wins.first_wins,
            "win_b_count": wins.second_wins,
            "tie_count": wins.ties,
            "stars_a": wins.first_stars,
            "stars_b": wins.second_stars,
        }
    ).with_columns(is_distinguishable=pl.col("p_together").fill_nan(None) <= ERROR_RATE)


def _columns(name: str, estimate: Estimate) -> dict[str, Any]:
    value = "score" if name == "score" else f"{name}_score"
    return {
        value: estimate.value,
        f"{name}_se": estimate.se,
        f"{name}_low": estimate.low,
        f"{name}_high": estimate.high,
    }


def _codes(frame: pl.DataFrame, name: str) -> Codes:
    return frame[name].to_numpy().astype(np.int64, copy=False)
