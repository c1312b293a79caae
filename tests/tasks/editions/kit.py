"""Of the editions, what tests of other rooms need beside its face: to publish in process.

It is one place, so that a room can move what is its own.
"""

from __future__ import annotations

from tasks.editions.basis import Basis, JudgeInOrder, read_basis
from tasks.editions.gates import find_shut_gates
from tasks.editions.improvements import estimate_improvements
from tasks.editions.public_entries import prove_edition
from tasks.editions.public_files import _describe_edition as describe_public
from tasks.editions.publish import Edition, Revision, freeze_edition, publish_run
from tasks.editions.roots import publish_and_keep_root
from tasks.editions.stability import compute_stability

__all__ = [
    "Basis",
    "Edition",
    "JudgeInOrder",
    "Revision",
    "compute_stability",
    "describe_public",
    "estimate_improvements",
    "find_shut_gates",
    "freeze_edition",
    "prove_edition",
    "publish_and_keep_root",
    "publish_run",
    "read_basis",
]
