"""Of Gscore, what tests of other rooms need beside its face.

It is one place, so that a room can move what is its own.
"""

from __future__ import annotations

from tasks.gscore.cgeval.files import QUESTION_HEADERS, read_cgeval_questions
from tasks.gscore.metrics.batch import score_surface

__all__ = ["QUESTION_HEADERS", "read_cgeval_questions", "score_surface"]
