"""What tests of other rooms need of the review beside its face, in one place."""

from __future__ import annotations

from tasks.review.agreement import Vote as Vote
from tasks.review.assigning.annotators import Annotator as Annotator
from tasks.review.assigning.distribution import draw_annotators as draw_annotators
from tasks.review.batch import list_batches as list_batches
from tasks.review.batch import read_batch as read_batch
from tasks.review.batch import read_decisions as read_decisions
from tasks.review.landing import land_closed_batches as land_closed_batches
from tasks.review.landing import open_sample_batch as open_sample_batch
from tasks.review.overview.progress import read_outcomes as read_outcomes
from tasks.review.overview.progress import read_progress as read_progress
from tasks.review.recording.desk import record_submission as record_submission
