# Draw a set of anchor responses from a judged run, spread as a rating sample is, and land `anchor_responses`.
from .anchors import draw_anchors as draw_anchors

# What the month's look at each judge will cost: calls still to be made, and USD at the mean cost of its judgements.
from .anchors import estimate_watch as estimate_watch

# Agreement of `first` and `second`; rows that lack one are left out and counted.
from .marks import compare_marks as compare_marks

# The two columns of a CSV, JSONL or Parquet file as numbers; raises UsageError for what is not there or is no number.
from .marks import read_marks as read_marks

# A line for each judge, each two judges and each round of raters.
from .report import describe_calibration as describe_calibration

# The occasion's judges with agreement, bias and kappas over all rounds, their differences, how far the raters agree with
from .report import read_calibration as read_calibration

# Ask the judge for stars of every trial, once a month and version of its prompt, and say what each address won.
from .report import try_judge as try_judge

# Compare every judge with the people of an occasion; an empty one is that drawn last.
from .task import compare_judges as compare_judges

# Correct the last edition of a run for its judge; without a run, those that an occasion drew from (by default the last).
from .task import correct_scores as correct_scores

# Let every judge in use judge the anchor set again, once a month; an empty month is the present one.
from .task import watch_anchors as watch_anchors
