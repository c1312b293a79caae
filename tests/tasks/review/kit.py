"""What tests of other rooms need of the review beside its face, in one place."""

from __future__ import annotations

from tasks.review.agreement import Vote
from tasks.review.assigning.annotators import Annotator
from tasks.review.assigning.distribution import draw_annotators
from tasks.review.batch import list_batches, read_batch, read_decisions
from tasks.review.landing import land_closed_batches
from tasks.review.overview.progress import read_outcomes, read_progress
from tasks.review.recording.desk import record_submission
from tasks.review.sample import open_sample_batch

__all__ = [
    "Annotator",
    "Vote",
    "draw_annotators",
    "land_closed_batches",
    "list_batches",
    "open_sample_batch",
    "read_batch",
    "read_decisions",
    "read_outcomes",
    "read_progress",
    "record_submission",
]
