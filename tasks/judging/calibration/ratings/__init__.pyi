# How far a round has come: responses drawn, rated by two, settled, in dispute, and by rater what is given and what is open.
from .rounds import count_ratings as count_ratings

# Write the rater's workbook of a round and return how many responses it holds; what the rater gave before stands in it.
from .rounds import export_ratings as export_ratings

# The form in which people give stars: a workbook or the web.
from .rounds import FORM as FORM

# Land the stars of one rater. The same workbook again changes nothing; an emptied cell takes nothing back.
from .rounds import import_ratings as import_ratings

# Land stars of one rater by (session_id, seq), whatever the channel; what they gave before stays beside them.
from .rounds import land_ratings as land_ratings

# The places whose texts are there: of an erased response nothing can be shown.
from .rounds import leave_out_erased as leave_out_erased

# What a rater may give stars to in a round: what was drawn for them, others' disputes, and what they settled.
from .rounds import list_own_places as list_own_places

# By which a response of a round is known to its raters.
from .rounds import name_key as name_key

# The responses at these places of a round, with their questions (tasks.judging.landing.join_questions).
from .rounds import read_responses as read_responses

# The round asked for, by default the one drawn last; raises UsageError where there is none.
from .rounds import read_round as read_round

# A round that was drawn, with what people gave so far.
from .rounds import Round as Round

# Draw a round and land `calibration_samples`; the same request again changes nothing.
from .sample import draw_calibration as draw_calibration

# `size` responses in the order of the draw, with `pool_count`.
from .sample import draw_rating_sample as draw_rating_sample

# What is to be drawn.
from .sample import DrawRequest as DrawRequest

# The unit of a round.
from .sample import name_round as name_round
