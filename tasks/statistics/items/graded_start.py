"""Where a fit of the graded response model starts, and the scale of all its numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.errors import UsageError
from tasks.statistics.cells import Floats
from tasks.statistics.items.graded_model import GradedRows

_DEFAULT_THRESHOLDS = {1: (0.0,), 3: (-0.8, 0.0, 0.8)}
_LOGIT_SHRINKAGE = 1.3  # mean logits of stars vary less than the abilities behind them


@dataclass(frozen=True)
class Parameters:
    """All that the model learns; also where a later fit may start.

    Attributes:
        difficulty: b of each question, logits, shape (questions,).
        log_discrimination: log a, shape (questions,).
        thresholds: c_k, summing to 0, shape (stars,).
        edition_mean: mean ability of each edition, shape (editions,).
        season_mean: mean difficulty of each season's questions, the first 0, shape (seasons,).
        ability_sd, difficulty_sd: of entries about their edition, of questions about their season.
        discrimination_mean, discrimination_sd: of log a.
    """

    difficulty: Floats
    log_discrimination: Floats
    thresholds: Floats
    edition_mean: Floats
    season_mean: Floats
    ability_sd: float
    difficulty_sd: float
    discrimination_mean: float
    discrimination_sd: float


def find_origin(rows: GradedRows, answered: Floats) -> NDArray[np.bool_]:
    """The questions whose mean sets the scale: answered ones of the first season that has any."""
    known = answered > 0
    return np.asarray(known & (rows.question_season == rows.question_season[known].min()))


def guess_parameters(rows: GradedRows, is_origin: NDArray[np.bool_]) -> tuple[Parameters, Floats]:
    """Parameters and abilities to start from: logits of stars as ability less difficulty.

    The linear problem links editions at once, which EM alone would do in small steps.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    count = len(rows.stars)
    root = np.sqrt(rows.weight)
    logit = np.log((rows.stars + 0.5) / (rows.most_stars - rows.stars + 0.5)) * _LOGIT_SHRINKAGE
    at = np.arange(count)
    design = csr_array(
        (
            np.concatenate([root, -root]),
            (np.concatenate([at, at]), np.concatenate([rows.entry, rows.entry_count + rows.question])),
        ),
        (count, rows.entry_count + rows.question_count),
    )
    found = lsqr(design, logit * root, damp=0.7, atol=1e-6, btol=1e-6, iter_lim=300)[0]
    ability, difficulty = found[: rows.entry_count], found[rows.entry_count :]
    season = rows.question_season
    thresholds = np.array(
        _DEFAULT_THRESHOLDS.get(rows.most_stars, np.linspace(-1.0, 1.0, rows.most_stars)), dtype=float
    )
    edition_mean = average_by(ability, rows.entry_edition, int(rows.entry_edition.max(initial=0)) + 1)
    season_mean = average_by(difficulty, season, int(season.max(initial=0)) + 1)
    guess = Parameters(
        difficulty=difficulty,
        log_discrimination=np.zeros(rows.question_count),
        thresholds=thresholds,
        edition_mean=edition_mean,
        season_mean=season_mean,
        ability_sd=max(float(np.std(ability - edition_mean[rows.entry_edition])), 0.3),
        difficulty_sd=max(float(np.std(difficulty - season_mean[season])), 0.3),
        discrimination_mean=0.0,
        discrimination_sd=0.3,
    )
    return put_on_scale(guess, is_origin), ability - float(difficulty[is_origin].mean())


def fill_start(start: Parameters, guess: Parameters) -> Parameters:
    """The earlier parameters, and the guess moved onto their scale where there are none."""
    names = ("difficulty", "log_discrimination", "edition_mean", "season_mean")
    for name in names:
        earlier, guessed = getattr(start, name), getattr(guess, name)
        if earlier.shape != guessed.shape:
            raise UsageError(
                f"The start has {len(earlier)} values of {name}, the rows have {len(guessed)}. Put NaN where there is none."
            )
    known = ~np.isnan(start.difficulty)
    shift = float(np.mean(start.difficulty[known] - guess.difficulty[known])) if known.any() else 0.0
    values: dict[str, Any] = {}
    for name in names:
        earlier, guessed = getattr(start, name), getattr(guess, name)
        moved = guessed if name == "log_discrimination" else guessed + shift
        values[name] = np.where(np.isnan(earlier), moved, earlier)
    return replace(start, **values)


def put_on_scale(found: Parameters, is_origin: NDArray[np.bool_]) -> Parameters:
    """The same model with mean difficulty and log discrimination 0 over the origin's questions."""
    origin = float(found.difficulty[is_origin].mean())
    log_unit = float(found.log_discrimination[is_origin].mean())
    unit = float(np.exp(log_unit))
    return Parameters(
        difficulty=(found.difficulty - origin) * unit,
        log_discrimination=found.log_discrimination - log_unit,
        thresholds=found.thresholds * unit,
        edition_mean=(found.edition_mean - origin) * unit,
        season_mean=(found.season_mean - origin) * unit,
        ability_sd=found.ability_sd * unit,
        difficulty_sd=found.difficulty_sd * unit,
        discrimination_mean=found.discrimination_mean - log_unit,
        discrimination_sd=found.discrimination_sd,
    )


def average_by(values: Floats, codes: NDArray[np.int64], count: int) -> Floats:
    """Mean of the values of each code; the mean of all values for a code without any."""
    number = np.bincount(codes, minlength=count)
    mean = np.bincount(codes, weights=values, minlength=count) / np.maximum(number, 1)
    return np.where(number > 0, mean, values.mean())
