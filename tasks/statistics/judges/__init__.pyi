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

# What the jury makes of the votes, with the error of every candidate's mean stars.
from .jury import hear_jury as hear_jury

# What the jury says.
from .jury import Jury as Jury

# The stars that responses got, a row for each response; codes are whole numbers from 0.
from .jury import Votes as Votes

# Effects of all features together; all NaN where there is too little to tell any.
from .style import compute_style_effects as compute_style_effects

# Mean stars less what the form of the responses gains over that of the mean candidate.
from .style import control_scores as control_scores

# Responses that people rated and the judge judged: a row each.
from .style import StyledRows as StyledRows

# Stars that a judge gives for one more of each feature, (features,).
from .style import StyleEffects as StyleEffects
