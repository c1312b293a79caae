"""What an edition counts of questions with pictures: no number mixes two ways to see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from schemas.editions import ALT_TEXT, PICTURES, TEXT_ONLY
from tasks.editions.basis import Basis
from tasks.editions.estimates import arrange_styles, compare_candidates, estimate_scores


def find_picture_scope(basis: Basis) -> str | None:
    """What S, R, ranks and pairs rest on: null without pictures, `pictures`, or `text_only`."""
    if not basis.pictured:
        return None
    return PICTURES if all(ways == {PICTURES} for ways in _find_ways(basis).values()) else TEXT_ONLY


def choose_counted(basis: Basis) -> Basis:
    """The basis with the answers that S and all that is made of it rest on."""
    return _leave_out_pictured(basis) if find_picture_scope(basis) == TEXT_ONLY else basis


def estimate_series(basis: Basis, sessions: pl.DataFrame) -> pl.DataFrame | None:
    """Rows of `edition_series` without the edition; null where no picture was asked about."""
    parts = []
    for series, part in _list_series(basis) if basis.pictured else ():
        for answers in arrange_styles(part):
            scores = estimate_scores(
                answers, compare_candidates(answers), sessions, str(basis.run["reference_model"])
            )
            is_pictured = pl.col("question_uuid").is_in(list(basis.pictured))
            counts = answers.frame.group_by("model", "discipline").agg(
                picture_count=is_pictured.sum().cast(pl.Int64)
            )
            whole = counts.group_by("model").agg(pl.col("picture_count").sum(), discipline=pl.lit("all"))
            counts = pl.concat(
                [
                    part.select(pl.col("model", "discipline").cast(pl.String), "picture_count")
                    for part in (counts, whole)
                ]
            )
            parts.append(
                scores.join(counts, on=["model", "discipline"], how="left").with_columns(
                    series=pl.lit(series)
                )
            )
    return pl.concat(parts, how="diagonal_relaxed") if parts else None


def _list_series(basis: Basis) -> Iterator[tuple[str, Basis]]:
    """Each way of counting with the answers that it rests on."""
    yield TEXT_ONLY, _leave_out_pictured(basis)
    ways = _find_ways(basis)
    for series in (PICTURES, ALT_TEXT):
        models = [model for model, found in ways.items() if found == {series}]
        if models:
            yield (
                series,
                replace(
                    basis,
                    sessions=basis.sessions.filter(pl.col("model").is_in(models)),
                    answers=basis.answers.filter(pl.col("model").is_in(models)),
                ),
            )


def _find_ways(basis: Basis) -> Mapping[str, set[str]]:
    """How each candidate met the pictures; who answered none of them stands with those that saw."""
    asked = basis.answers.filter(pl.col("question_uuid").is_in(list(basis.pictured)))
    ways: dict[str, set[str]] = {str(model): set() for model in asked["model"].unique().sort()}
    for model, version in asked.select("model", "prompt_version").drop_nulls().unique().iter_rows():
        ways[model].add(PICTURES if str(version).endswith(f"/{PICTURES}") else ALT_TEXT)
    return {model: found or {PICTURES} for model, found in ways.items()}


def _leave_out_pictured(basis: Basis) -> Basis:
    """The basis with its questions without pictures alone."""
    is_pictured = pl.col("question_uuid").is_in(list(basis.pictured))
    left_out = basis.answers.filter(is_pictured).group_by("session_id").agg(left_out=pl.len())
    left_out = left_out.with_columns(pl.col("session_id").cast(pl.String))
    sessions = basis.sessions.join(left_out, on="session_id", how="left")
    count = pl.col("question_count") - pl.col("left_out").fill_null(0).cast(pl.Int64)
    return replace(
        basis,
        sessions=sessions.with_columns(question_count=count).drop("left_out"),
        answers=basis.answers.filter(~is_pictured),
    )
