# Exact overlap for every k of judges that put the same lists in random order.
from .consistency import compute_chance as compute_chance

# One overlap for every k that each round has; `runs` says which run a round belongs to.
from .consistency import compute_consistency as compute_consistency

# The overlap of the judges' top k over several rounds.
from .consistency import Overlap as Overlap

# The four tests for each family that has two members or more; rows are single scores.
from .family_bias import compute_family_bias as compute_family_bias

# F of groups of scores; raises UsageError for fewer than two, or where nothing varies.
from .group_tests import compute_one_way as compute_one_way

# The spread of the runs' mean scores; `most` is the highest score that can be had.
from .group_tests import compute_run_spread as compute_run_spread

# Tukey's HSD after an analysis of variance (Tukey–Kramer where group sizes differ).
from .group_tests import compute_tukey as compute_tukey

# The mean of `scores` with the interval between the 2.5% and 97.5% points of its resamples.
from .mean_interval import compute_mean_interval as compute_mean_interval

# A generator for each name: another candidate in the data changes no other's draws.
from .mean_interval import make_generator as make_generator

# Resamples of a bootstrap interval.
from .mean_interval import RESAMPLES as RESAMPLES
