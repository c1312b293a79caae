"""Questions of one meaning in other words: embeddings propose pairs, people alone decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import polars as pl

from schemas.errors import GateError
from schemas.lazy import np
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.dedupe.index import EXACT_ONLY_METHODS
from warehouse.lake import Lake

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

BLOCK = 2_048


def land_semantic_pairs(
    lake: Lake, settings: Settings, encoder: str, threshold: float, encode: Encode | None = None
) -> pl.DataFrame:
    """Look for pairs in the latest bank version and land them for people to look at.

    Returns them with both stems.

    Variants that differ from their siblings by an option or an order only are left out, and so are pairs of one lineage.
    `encode` replaces the embedding model of that name. Raises GateError without a bank.
    """
    bank = lake.read("bank_stems").filter(pl.col("method").is_in(EXACT_ONLY_METHODS).not_())
    if bank.is_empty():
        raise GateError(
            "No bank is published yet, so there is nothing to compare. Run `proctor dedupe` first."
        )
    version = int(bank["bank_version"][0])
    texts = bank["stem"].to_list()
    vectors = encode(texts) if encode is not None else _encode(settings, encoder, texts)
    uuids, lineages = bank["question_uuid"].to_list(), bank["lineage_uuid"].to_list()
    pairs = get_table("semantic_pairs").frame(
        [
            {
                "bank_version": version,
                "first_uuid": uuids[first],
                "second_uuid": uuids[second],
                "cosine": cosine,
                "encoder": encoder,
            }
            for first, second, cosine in list_similar_pairs(vectors, threshold)
            if lineages[first] != lineages[second]
        ]
    )
    lake.land("semantic_pairs", f"{version}/{encoder}", pairs)
    stems = bank.select("question_uuid", "stem")
    return (
        pairs.join(stems, left_on="first_uuid", right_on="question_uuid")
        .rename({"stem": "first_stem"})
        .join(stems, left_on="second_uuid", right_on="question_uuid")
        .rename({"stem": "second_stem"})
        .sort("cosine", descending=True)
    )


def _encode(settings: Settings, encoder: str, texts: Sequence[str]) -> NDArray[np.float32]:
    from tasks.gscore import load_embedder

    with closing(load_embedder(encoder, cache=settings.home / "dedupe" / "embeddings.sqlite")) as embedder:
        return embedder.stack_vectors(texts)


def list_similar_pairs(vectors: NDArray[np.float32], threshold: float) -> Iterator[tuple[int, int, float]]:
    """Pairs of places (lower first) whose embeddings have a cosine of at least `threshold`."""
    count = len(vectors)
    if count < 2:
        return
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    for start in range(0, count, BLOCK):
        cosines = unit[start : start + BLOCK] @ unit[start:].T
        for row, column in zip(*np.nonzero(cosines >= threshold), strict=True):
            first, second = start + int(row), start + int(column)
            if second > first:
                yield first, second, min(1.0, float(cosines[row, column]))
