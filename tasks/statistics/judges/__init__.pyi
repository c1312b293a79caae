# λ: the slope of people's stars on the judge's, within candidates; 0 where those are alike.
from .correction import compute_judge_weight as compute_judge_weight

# The estimate by random effects of candidate within family, unrated candidates included.
from .correction import correct_by_families as correct_by_families

# The prediction-powered estimate of every candidate with at least two rated responses.
from .correction import correct_by_ratings as correct_by_ratings

# Mean stars corrected for the judge, shape (candidates,); NaN where nothing can be said.
from .correction import Corrected as Corrected

# What the judge alone says of every candidate, shape (candidates,).
from .correction import JudgedScores as JudgedScores

# Responses that people rated and the judge judged: one row each, all arrays of one length.
from .correction import RatedRows as RatedRows

# Watch a judge over months.
from .drift import compute_drift as compute_drift

__all__ = [
    "Corrected",
    "JudgedScores",
    "RatedRows",
    "compute_drift",
    "compute_judge_weight",
    "correct_by_families",
    "correct_by_ratings",
]
