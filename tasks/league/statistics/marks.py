"""The scores of a league's domain and type of run as arrays: who asked, judged, answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tasks.statistics import compute_means

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FULL_SCORE = 100.0
_NOBODY = -1


@dataclass(frozen=True)
class Marks:
    """Scores: every array has one element for each score.

    Candidates are places in `models`, -1 where nobody is named.

    Attributes:
        models: candidates, sorted by name.
        score: Borda points or 0 to 100; NaN for what could not be read.
        run: independent run; -1 where it is not known.
        question: number of the question: of one run, round and asker.
        answer: number of the answer: of one question and answerer.
        asker, judge, answerer: who did what.
        most_points: highest score that could be had.
        is_borda: whether the points come from ranks.
        is_imported, is_simulated: as of the league.
    """

    models: Sequence[str]
    score: Floats
    run: Codes
    question: Codes
    answer: Codes
    asker: Codes
    judge: Codes
    answerer: Codes
    most_points: float
    is_borda: bool
    is_imported: bool
    is_simulated: bool

    @property
    def is_read(self) -> NDArray[np.bool_]:
        """Whether there is a score."""
        return ~np.isnan(self.score)


def arrange_marks(frame: pl.DataFrame) -> Marks:
    """The rows of `league_marks_of` of one domain and type of run (at least one)."""
    names = frame.select(pl.concat_list("asker", "judge", "answerer").explode().drop_nulls().unique().sort())
    models = names.to_series().to_list()
    place = {name: code for code, name in enumerate(models)}

    def encode(column: str) -> Codes:
        return np.array([place.get(name, _NOBODY) for name in frame[column].to_list()], dtype=np.int64)

    question = frame.select(pl.struct("league_run", "round", "asker").rank("dense")).to_series()
    answer = frame.select(pl.struct("league_run", "round", "asker", "answerer").rank("dense")).to_series()
    most_points = float(frame["most_points"].cast(pl.Float64).max() or 0.0)  # type: ignore[arg-type]
    return Marks(
        models=models,
        score=frame["score"].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
        run=frame["league_run"].fill_null(_NOBODY).to_numpy().astype(np.int64),
        question=question.to_numpy().astype(np.int64),
        answer=answer.to_numpy().astype(np.int64),
        asker=encode("asker"),
        judge=encode("judge"),
        answerer=encode("answerer"),
        most_points=most_points,
        is_borda=frame["rank"].is_not_null().any() or most_points != FULL_SCORE,
        is_imported=bool(frame["is_imported"].any()),
        is_simulated=bool(frame["is_simulated"].any()),
    )


def average_answers(marks: Marks) -> tuple[Floats, Codes]:
    """Mean score and answerer of every answer that has a score."""
    is_read = marks.is_read
    _, first, code = np.unique(marks.answer[is_read], return_index=True, return_inverse=True)
    mean = np.bincount(code, weights=marks.score[is_read]) / np.maximum(np.bincount(code), 1)
    return mean, marks.answerer[is_read][first]


def list_rounds(marks: Marks) -> Iterator[tuple[int, Floats]]:
    """Run and lists (judges x answers, NaN: none) of every question whose judges are known."""
    is_named = marks.judge >= 0
    for number in np.unique(marks.question[is_named]):
        own = is_named & (marks.question == number)
        judges, row = np.unique(marks.judge[own], return_inverse=True)
        answerers, column = np.unique(marks.answerer[own], return_inverse=True)
        lists = np.full((len(judges), len(answerers)), np.nan)
        lists[row, column] = marks.score[own]
        yield int(marks.run[own][0]), lists


def list_comparisons(marks: Marks) -> Floats:
    """Every list of scores, a judge's of one question or the answers' means: lists x candidates.

    Where a file names neither judges nor rounds a candidate has several scores on its one list: their mean.
    """
    keys = np.stack([marks.question, marks.judge], axis=1)[marks.is_read]
    _, row = np.unique(keys, axis=0, return_inverse=True)
    shape = (int(row.max(initial=-1)) + 1, len(marks.models))
    mean, _ = compute_means(
        row.ravel() * shape[1] + marks.answerer[marks.is_read],
        marks.score[marks.is_read],
        shape[0] * shape[1],
    )
    # What differs in the last bits only is equal: a tie, and no win.
    return np.round(mean, 9).reshape(shape)
