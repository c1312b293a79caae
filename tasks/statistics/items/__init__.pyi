# Equated scores from 0 to 100 over disciplines with their fixed weights, in the same order.
from .equating import combine_disciplines as combine_disciplines

# 95% interval of scores from 0 to `most`, by their log odds; NaN where score or error is.
from .equating import compute_bounds as compute_bounds

# Equated scores of one discipline for some `entries` (by default all; few cost less).
from .equating import compute_equated as compute_equated

# One discipline of some entries, shape (entries,); NaN for an entry without answers in it.
from .equating import EquatedDiscipline as EquatedDiscipline

# Standard error of an equated score to be expected of a set, in points of 100; null where nothing links it to others.
from .expected_error import expect_equated_se as expect_equated_se

# Stars of one discipline over many editions, a row for each answer (or repeat), with codes.
from .graded_model import GradedRows as GradedRows

# The model of one discipline; the same rows and start give the same numbers.
from .graded_response import fit_graded_response as fit_graded_response

# A fitted discipline.
from .graded_response import GradedFit as GradedFit

# All that the model learns; also where a later fit may start.
from .graded_start import Parameters as Parameters

# Infit and outfit of every question at the entries' posterior means; repeats weigh as one.
from .question_fit import compute_question_fit as compute_question_fit

__all__ = [
    "EquatedDiscipline",
    "GradedFit",
    "GradedRows",
    "Parameters",
    "combine_disciplines",
    "compute_bounds",
    "compute_equated",
    "compute_question_fit",
    "expect_equated_se",
    "fit_graded_response",
]
