# Draw a set of anchor responses from a judged run, spread as a rating sample is, and land `anchor_responses`.
from .anchors import draw_anchors as draw_anchors

# What the month's look at each judge will cost: calls still to be made, and USD at the mean cost of its judgements.
from .anchors import estimate_watch as estimate_watch

# Agreement of `first` and `second`; rows that lack one are left out and counted.
from .marks import compare_marks as compare_marks

# The two columns of a CSV, JSONL or Parquet file as numbers; raises UsageError for what is not there or is no number.
from .marks import read_marks as read_marks

# The form in which people give stars: a workbook or the web.
from .ratings import FORM as FORM

# A round that was drawn, with what people gave so far.
from .ratings import Round as Round

# How far a round has come: responses drawn, rated by two, settled, in dispute, and by rater what is given and what is open.
from .ratings import count_ratings as count_ratings

# Write the rater's workbook of a round and return how many responses it holds; what the rater gave before stands in it.
from .ratings import export_ratings as export_ratings

# Land the stars of one rater. The same workbook again changes nothing; an emptied cell takes nothing back.
from .ratings import import_ratings as import_ratings

# Land stars of one rater by (session_id, seq), whatever the channel; what they gave before stays beside them.
from .ratings import land_ratings as land_ratings

# What a rater may give stars to in a round: what was drawn for them, others' disputes, and what they settled.
from .ratings import list_own_places as list_own_places

# By which a response of a round is known to its raters.
from .ratings import name_key as name_key

# The responses at these places of a round, with their questions (tasks.judging.landing.join_questions).
from .ratings import read_responses as read_responses

# The round asked for, by default the one drawn last; raises UsageError where there is none.
from .ratings import read_round as read_round

# A line for each judge, each two judges and each round of raters.
from .report import describe_calibration as describe_calibration

# The occasion's judges with agreement, bias and kappas over all rounds, their differences, how far the raters agree with
from .report import read_calibration as read_calibration

# What is to be drawn.
from .sample import DrawRequest as DrawRequest

# Draw a round and land `calibration_samples`; the same request again changes nothing.
from .sample import draw_calibration as draw_calibration

# Ask the judge for stars of every trial, once a month and version of its prompt, and say what each address won.
from .selftest import try_judge as try_judge

# Compare every judge with the people of an occasion; an empty one is that drawn last.
from .task import compare_judges as compare_judges

# Correct the last edition of a run for its judge; without a run, those that an occasion drew from (by default the last).
from .task import correct_scores as correct_scores

# Let every judge in use judge the anchor set again, once a month; an empty month is the present one.
from .task import watch_anchors as watch_anchors

__all__ = [
    "FORM",
    "DrawRequest",
    "Round",
    "compare_judges",
    "compare_marks",
    "correct_scores",
    "count_ratings",
    "describe_calibration",
    "draw_anchors",
    "draw_calibration",
    "estimate_watch",
    "export_ratings",
    "import_ratings",
    "land_ratings",
    "list_own_places",
    "name_key",
    "read_calibration",
    "read_marks",
    "read_responses",
    "read_round",
    "try_judge",
    "watch_anchors",
]
