# An array of whole numbers that stand for names.
from .cells import Codes as Codes

# An array of floating-point numbers.
from .cells import Floats as Floats

# Judged answers of an edition and prompt style (or several, pooled): a row for each answer.
from .cells import StarRows as StarRows

# A fitted curve of S (0 to 100) over time.
from .curve import Curve as Curve

# Fit S against release date by least squares.
from .curve import fit_curve as fit_curve

# Mean of the values in each of `size` cells, and how many there are; NaN in an empty cell.
from .score import compute_means as compute_means

# The same S but for the last bits, of single sessions: as editions have always added it.
from .score import compute_session_score as compute_session_score

# The most that S can be.
from .score import FULL_SCORE as FULL_SCORE

# What a star is worth in points of S.
from .score import POINTS_PER_STAR as POINTS_PER_STAR

# Correlation of our scores with each benchmark, from rows of the query `external_pairs`.
from .spearman import compute_external_correlations as compute_external_correlations

# Matrix products of the block on one thread: ours are small, and sums are added in one order everywhere.
from .one_thread import on_one_thread as on_one_thread

# Pearson's r of two lists of one length; raises UsageError for different lengths.
from .spearman import compute_pearson as compute_pearson

# Spearman's rho of two lists of one length; raises UsageError for different lengths.
from .spearman import compute_spearman as compute_spearman

# Interval of Spearman's rho by Fisher's z, with the variance of Bonett and Wright (2000).
from .spearman import compute_spearman_interval as compute_spearman_interval

# Rank correlation of two lists; ties share their mean rank.
from .spearman import Spearman as Spearman
