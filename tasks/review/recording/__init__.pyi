# The days that an adjudicator has.
from .adjudication import ADJUDICATION_DAYS as ADJUDICATION_DAYS

# Give every dispute without an adjudicator to somebody of the discipline.
from .adjudication import assign_adjudicators as assign_adjudicators

# What came of everything handed in: recorded, refused, disputes given out, batches that wait for nothing.
from .desk import DeskReport as DeskReport

# Record each submission, all of it or none, and give the disputes that show to adjudicators.
from .desk import record as record

# Record one submission, as `record` does, for a channel that answers its annotator at once.
from .desk import record_one as record_one

# Something handed in of which nothing was recorded, and why: every fault with its place.
from .desk import RefusedSubmission as RefusedSubmission

# What somebody hands in of a batch, as the lake's `quarantine` names it.
from .desk import name_unit as name_unit

# A fault of something handed in, with its place.
from .desk import RowFault as RowFault

# A decision was given on the question since the annotator looked at it; nothing was recorded.
from .desk import StaleError as StaleError

# Decisions of one annotator in one batch, as a channel parsed them.
from .desk import Submission as Submission

# What recording a submission changed.
from .desk import SubmissionReceipt as SubmissionReceipt
