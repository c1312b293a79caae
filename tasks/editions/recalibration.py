"""What a fit of all editions from nothing would move; writes nothing.

An edition takes earlier questions as they were published. With years of answers more is known of them than when they were new, so
that now and then it is worth asking how far the scale has come away from what all answers say together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from schemas.errors import UsageError
from tasks.editions.equating import arrange_answers, fit_until_settled, read_scale
from tasks.editions.standings import MAIN_STYLE
from tasks.statistics import on_one_thread

if TYPE_CHECKING:
    from warehouse.lake import Lake


@dataclass(frozen=True)
class Recalibration:
    """What would move, as of one edition.

    Attributes:
        edition_count, question_count: what was fitted again.
        largest_move, mean_move: of an equated score of the edition, in points, whatever its sign; null where none was published.
        candidates: model, equated_score, equated_low, equated_high, recalibrated_score, move; one row per candidate of the edition.
        questions: question_uuid, difficulty, recalibrated_difficulty, move, for each that moved by more than two errors.
    """

    edition_id: str
    edition_count: int
    question_count: int
    largest_move: float | None
    mean_move: float | None
    candidates: pl.DataFrame = field(repr=False)
    questions: pl.DataFrame = field(repr=False)


@on_one_thread()
def compute_recalibration(lake: Lake, run_id: str) -> Recalibration:
    """All editions up to a run's last fitted from nothing; UsageError where that cannot be."""
    with lake.read_transaction():
        found = lake.read("run_revisions", {"run_id": run_id})
        if found.is_empty():
            raise UsageError(
                f"Run {run_id} has no edition, so there is nothing to compare. Run `proctor publish {run_id}` first."
            )
        edition = found.row(-1, named=True)
        disciplines = [str(name) for name in edition["disciplines"]]
        when = {name: edition[name] for name in ("month", "planned_at", "is_simulated")}
        which = {name: edition[name] for name in ("edition_id", "month")}
        sat = lake.read("edition_style_scores", which).filter(prompt_style=MAIN_STYLE)["model"].to_list()
        own = lake.read("edition_stars_of", {**which, "prompt_style": MAIN_STYLE, "models": sat})
        bank = {"bank_version": edition["bank_version"]}
        before = lake.read("equating_stars", {**when, **bank, "disciplines": disciplines})
        published = lake.read("equated_before", {"edition_ids": [edition["edition_id"]]})
        scale = read_scale(lake.read("scale_fits", when), disciplines)
        arranged = arrange_answers(lake.read, [before, own], disciplines)
        known = lake.read(
            "known_items",
            {
                "question_uuids": arranged.questions["question_uuid"].to_list(),
                "edition_ids": [*([] if scale is None else scale.edition_ids), edition["edition_id"]],
                **bank,
            },
        )
    weights = json.loads(edition["weights"])
    fit, equated = fit_until_settled(arranged.rows, np.array([float(weights[name]) for name in disciplines]))
    candidates = (
        arranged.entries.with_columns(recalibrated_score=pl.Series(equated.score))
        .filter(edition_id=str(edition["edition_id"]))
        .unique("model", keep="first", maintain_order=True)
        .join(published.filter(sat_edition_id=str(edition["edition_id"])), on="model", how="left")
        .select(
            "model",
            "equated_score",
            "equated_low",
            "equated_high",
            "recalibrated_score",
            move=pl.col("recalibrated_score") - pl.col("equated_score"),
        )
        .sort(pl.col("move").abs(), descending=True, nulls_last=True)
    )
    questions = (
        arranged.questions.select("question_uuid", recalibrated_difficulty=pl.Series(fit.difficulty))
        .join(known.select("question_uuid", "difficulty", "difficulty_se"), on="question_uuid")
        .with_columns(move=pl.col("recalibrated_difficulty") - pl.col("difficulty"))
        .filter(pl.col("move").abs() > 2.0 * pl.col("difficulty_se"))
        .select("question_uuid", "difficulty", "recalibrated_difficulty", "move")
        .sort(pl.col("move").abs(), descending=True)
    )
    moves = np.abs(candidates["move"].drop_nulls().to_numpy())
    return Recalibration(
        edition_id=str(edition["edition_id"]),
        edition_count=int(arranged.rows.entry_edition.max()) + 1,
        question_count=arranged.rows.question_count,
        largest_move=float(moves.max()) if len(moves) else None,
        mean_move=float(moves.mean()) if len(moves) else None,
        candidates=candidates,
        questions=questions,
    )
