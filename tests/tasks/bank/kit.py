"""Of the bank, what tests of other rooms need beside its faces.

It is one place, so that a room can move what is its own.
"""

from __future__ import annotations

from tasks.bank.augment.true_false import augment_questions
from tasks.bank.dedupe.index import compute_signatures
from tasks.bank.dedupe.likeness import list_near_pairs
from tasks.bank.dedupe.near import compute_jaccard

__all__ = [
    "augment_questions",
    "compute_jaccard",
    "compute_signatures",
    "list_near_pairs",
]
