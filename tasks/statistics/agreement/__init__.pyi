# Alpha of the ratings, a sequence per item, gaps left out; at most 1, null if undefined.
from .raters import compute_alpha as compute_alpha

# An estimate with its 95% interval.
from .bounds import Bounded as Bounded

# An estimate with its 95% interval, whose ends are null where its error is not known.
from .bounds import MaybeBounded as MaybeBounded

# Two judges on the same responses: the difference of their agreement with people.
from .bounds import compute_agreement_difference as compute_agreement_difference

# A share over clusters, with Wilson's interval on as many answers as they are worth; null without an answer.
from .controls import compute_clustered_share as compute_clustered_share

# What a judge's stars by kind of control answer say of it; None is a reply that could not be read.
from .controls import compute_controls as compute_controls

# Why a judge is not fit, as the end of a sentence that begins with its name; empty where it is.
from .controls import describe_faults as describe_faults

# What control answers say of a judge.
from .controls import ControlVerdict as ControlVerdict

# Cohen's kappa with its large-sample interval (Fleiss and others 1969); null if undefined.
from .bounds import compute_kappa_interval as compute_kappa_interval

# A mean with its interval by Student's t; null for fewer than two values.
from .bounds import compute_mean as compute_mean

# A share with Wilson's interval (Wilson 1927), 0 to 1; `total` is at least 1.
from .bounds import compute_share as compute_share

# Kappa of two raters over the same items, -1 to 1; null when it is undefined.
from .raters import compute_kappa as compute_kappa

# An estimate as columns `NAME`, `NAME_low` and `NAME_high`, all null for none.
from .bounds import name_bounds as name_bounds

# Share of items that both raters put in the same category, 0 to 1; null without items.
from .raters import compute_percent_agreement as compute_percent_agreement

# A weighting of Cohen's kappa.
from .raters import Weighting as Weighting

# The weightings of Cohen's kappa, by name.
from .raters import WEIGHTINGS as WEIGHTINGS

# Agreement over ratings by unit and rater.
from .raters import compute_agreement as compute_agreement

# Agreement of any number of raters, with gaps.
from .raters import RaterAgreement as RaterAgreement

# A value that a rater gave.
from .raters import Value as Value
