"""What tests of other rooms need of the bank beside its faces, in one place."""

from __future__ import annotations

from tasks.bank.augment.true_false import augment_questions as augment_questions
from tasks.bank.dedupe.index import compute_signatures as compute_signatures
from tasks.bank.dedupe.likeness import list_near_pairs as list_near_pairs
from tasks.bank.dedupe.near import compute_jaccard as compute_jaccard
