# Equated scores of all entries; without a form on the questions of the fit's first edition.
from .equating import compute_equated as compute_equated

# Equated scores beside S; NaN where a discipline with weight is missing.
from .equating import EquatedScores as EquatedScores

# The questions on which scores of a scale are expected: those of its first edition.
from .graded_model import ScaleForm as ScaleForm

# Answers that should link a discipline to other months.
from .expected_error import LEAST_LINK as LEAST_LINK

# Standard error of an equated score to be expected of a set, in points of 100; null where nothing links it to others.
from .expected_error import expect_equated_se as expect_equated_se

# Stars of one or more editions, a row for each answer (or repeat), with codes from 0.
from .graded_model import GradedRows as GradedRows

# Questions as earlier editions of a scale published them; their errors enter, too.
from .graded_model import KnownQuestions as KnownQuestions

# An earlier edition whose questions were drawn from the bank from which a fit's new ones are.
from .graded_model import SameBank as SameBank

# What a scale has once and for all.
from .graded_model import Scale as Scale

# The model of all disciplines; the same rows and seed give the same numbers.
from .graded_response import fit_graded_response as fit_graded_response

# What was found, on the scale.
from .graded_response import GradedFit as GradedFit

# How well each question fits the model, and which people should look at.
from .question_fit import compute_question_fit as compute_question_fit
