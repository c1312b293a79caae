# Stars of the common questions; takes columns model, question_uuid, discipline and stars.
from .bootstrap import arrange_stars as arrange_stars

# Stars of the questions that every candidate has stars for.
from .bootstrap import CommonStars as CommonStars

# Three of 1,000, one of 2,000 and one of 4,000 (LLMEval-Fair, table 9), as (sample_size, resample).
from .bootstrap import DEFAULT_PLAN as DEFAULT_PLAN

# S of every candidate on every resample: columns model, resample, sample_size and score.
from .bootstrap import draw_resamples as draw_resamples

# Ratings, mean 1000, from wins (`wins[i, j]`: i over j; a tie is half a win each).
from .elo import compute_bradley_terry as compute_bradley_terry

# The most likely rating, given opponents' ratings and results (1 won, 0.5 equal, 0 lost).
from .elo import compute_entry_rating as compute_entry_rating

# A rating on the Elo scale and its 95% interval.
from .elo import EntryRating as EntryRating

# 10, 20, 50, 100, … as far as there are questions, and all of them.
from .rating_curves import choose_sizes as choose_sizes

# One point for each size and method.
from .rating_curves import compute_rating_curves as compute_rating_curves

# Replays of each share by both methods; Elo only up to `MOST_ELO_GAMES` in a sample.
from .sparse_replays import compute_replays as compute_replays

# Repeats of a replay.
from .sparse_replays import REPEATS as REPEATS

# The shares of questions that replays keep.
from .sparse_replays import SHARES as SHARES
