# Rank correlation of Gscore, and of each of its parts, with people, by profile and similarity model.
from .agreement import compute_sample_agreement as compute_sample_agreement

# Read a filled-in workbook of a sample and land its scores; an empty score is no rating.
from .rating_workbook import land_ratings as land_ratings

# Write the responses to be scored, in an order that tells nothing, without models or Gscores.
from .rating_workbook import export_rating_workbook as export_rating_workbook

# Draw answers for people to score: subjects in the shares of the pool, one model at random for each question.
from .sample import draw_sample as draw_sample

# A sample that was kept; raises UsageError naming those there are.
from .sample import read_sample as read_sample

# Keep a sample under a name; returns whether it is new. Raises UsageError when the name holds another sample.
from .sample import write_sample as write_sample

# Raise UsageError where a model has given another answer than the one in a sample.
from .sample import check_answers as check_answers

# Raise UsageError where a question of a sample has another place than it was drawn at.
from .sample import check_places as check_places
