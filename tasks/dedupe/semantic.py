"""Semantic duplicates, optional: embeddings propose, the same guards as for near-duplicates decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 2_048


def list_similar_pairs(
    vectors: NDArray[np.float32], threshold: float, is_new: Sequence[bool] | None = None
) -> Iterator[tuple[int, int, float]]:
    """Pairs of places (lower first) with a cosine of at least `threshold`; with `is_new`, one of each pair is new.

    Args:
        vectors: one embedding per row; they need not have length 1.
        threshold: smallest cosine.
        is_new: which rows are new; null compares all.
    """
    import numpy as np

    count = len(vectors)
    if count < 2:
        return
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    for start in range(0, count, BLOCK):
        cosines = unit[start : start + BLOCK] @ unit[start:].T
        for row, column in zip(*np.nonzero(cosines >= threshold), strict=True):
            first, second = start + int(row), start + int(column)
            if second > first and (is_new is None or is_new[first] or is_new[second]):
                yield first, second, min(1.0, float(cosines[row, column]))
