# Agreement and throughput of one batch, discipline, annotator, or pair of annotators.
from .agreement import Agreement as Agreement

# Agreement per batch, discipline, annotator and pair of annotators, in that order and by name.
from .agreement import compute_review_agreement as compute_review_agreement

# Every batch that still takes decisions, oldest first.
from .batch import list_open_batches as list_open_batches

# Open a review batch with questions that are or were in the bank, for a reason; running it again changes nothing.
from .doubted import assign_doubted as assign_doubted

# Apply the gate and close the batch; closing it again gives the same frames.
from .closing import close_batch as close_batch

# Land the batches that are closed in the ledger and not in the lake; returns rows newly landed by table.
from .missing import land_missing_batches as land_missing_batches

# Keep in `quarantine` every row of a workbook that could not be recorded, until a later file has it right.
from .landing import land_row_faults as land_row_faults

# Rows of `questions` that no landed decision settles; of a question found in two documents the first counts.
from .landing import read_unreviewed as read_unreviewed

# How many these are; none of their text is read.
from .landing import count_unreviewed as count_unreviewed

# Put questions that nobody has reviewed into a batch, if there are annotators to give them to; returns ids and counts.
from .landing import open_waiting_batch as open_waiting_batch

# Close and land every batch that is decided or past its deadline; an empty id means all.
from .task import close_reviewed_batches as close_reviewed_batches

# Put questions that nobody has reviewed into a batch, if there are annotators to give them to.
from .task import open_review_batch as open_review_batch

# Give the sample of a model's variants to annotators, if there are any.
from .task import open_variant_samples as open_variant_samples

# Every first review, of one batch or of all; adjudications are no independent reviews and are left out.
from .agreement import read_votes as read_votes

# A language of what annotators read.
from .words import Language as Language

# The languages of what annotators read.
from .words import LANGUAGES as LANGUAGES

# What is shown for each code of the topic, in the order of the table.
from .words import list_words as list_words

# The code for what a person chose or typed, in either language; null when it is none, or may be two.
from .words import parse_word as parse_word
