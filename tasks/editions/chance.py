"""The chance level of what each candidate sat, frozen with the edition beside its S."""

from __future__ import annotations

import numpy as np
import polars as pl

from schemas.editions import ALL_DISCIPLINES
from tasks.editions.basis import Basis, QueryReader
from tasks.editions.estimates import StyleAnswers
from tasks.questions import find_blind_key
from tasks.statistics.scores import ChanceLevel, compute_chance, correct_for_chance


def add_chance(read: QueryReader, basis: Basis, answers: StyleAnswers, scores: pl.DataFrame) -> pl.DataFrame:
    """Rows of `edition_scores` with their chance level; without one where a key is not known."""
    asked = answers.frame.select("candidate", "question_uuid", "question", "discipline_code")
    known = read(
        "set_keys",
        {
            "question_uuids": asked["question_uuid"].unique().sort().to_list(),
            "bank_version": basis.run["bank_version"],
        },
    )
    keys = {
        row["question_uuid"]: find_blind_key(row["question_type"], row["options"], row["answer"])
        for row in known.iter_rows(named=True)
    }
    # Who shares a set shares its level.
    levels: dict[tuple[str, ...], ChanceLevel] = {}
    rows: list[dict[str, object]] = []
    for code, model in enumerate(answers.models):
        held = asked.filter(pl.col("candidate") == code).unique("question").sort("question")
        questions = tuple(held["question_uuid"])
        if not set(questions) <= keys.keys():
            continue
        if questions not in levels:
            levels[questions] = compute_chance(
                held["discipline_code"].to_numpy().astype(np.int64),
                [keys[question].kind for question in questions],
                [keys[question].right for question in questions],
                answers.weights,
            )
        level = levels[questions]
        words = ", ".join(level.rules) or None
        rows.append(
            {
                "model": model,
                "discipline": ALL_DISCIPLINES,
                "chance_score": level.score,
                "chance_answers": words,
            }
        )
        rows += [
            {"model": model, "discipline": name, "chance_score": float(score), "chance_answers": words}
            for name, score in zip(answers.disciplines, level.by_discipline, strict=True)
        ]
    if not rows:
        return scores
    found = scores.join(
        pl.DataFrame(rows).with_columns(pl.col("chance_score").fill_nan(None)),
        on=["model", "discipline"],
        how="left",
    )
    corrected = correct_for_chance(
        found["score"].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
        found["chance_score"].fill_null(float("nan")).to_numpy(),
    )
    return found.with_columns(corrected_score=pl.Series(corrected).fill_nan(None))
