"""Two other ways to find near-duplicates, on the same made questions.

They are rensa and the method of text-dedup.

Both see the stems alone, in our normal form, whose cost is told apart: they have none of their own.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import polars as pl

from tasks.bank.dedupe import fold_traditional_codes
from tasks.bank.dedupe.near import compute_grams
from tasks.questions.identity import normalise_column
from tests.tasks.bank.kit import compute_jaccard

THRESHOLD = 0.8
_CHECKED = 5_000


def run_rensa(paths: dict[str, str]) -> dict[str, Any]:
    """128 values, 16 bands, a pair accepted by its estimate, as rensa's own example does."""
    from rensa import RMinHash, RMinHashLSH

    started = time.process_time()
    texts = _read_texts(paths)
    normalised = time.process_time()
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16)
    hashes: list[Any] = []
    pairs: set[tuple[int, int]] = set()
    for place, text in enumerate(texts):
        minhash = RMinHash(num_perm=128, seed=42)
        minhash.update([text[start : start + 3] for start in range(max(1, len(text) - 2))])
        pairs |= {
            (other, place) for other in index.query(minhash) if minhash.jaccard(hashes[other]) >= THRESHOLD
        }
        index.insert(place, minhash)
        hashes.append(minhash)
    ended = time.process_time()
    planted = _list_planted(texts, paths)
    sample = sorted(pairs)
    checked = random.Random(3).sample(sample, min(_CHECKED, len(sample)))
    right = sum(_compare(texts, pair) >= THRESHOLD for pair in checked)
    return {
        "CPU s: keys and normal forms": normalised - started,
        "CPU s: signatures, pairs, decision": ended - normalised,
        "CPU s: together": ended - started,
        "recall of planted edits, .8 <= J < 1": sum(pair in pairs for pair in planted) / max(1, len(planted)),
        "precision of 5,000 pairs, verified": right / max(1, len(checked)),
        "pairs found": len(pairs),
    }


def run_text_dedup(paths: dict[str, str]) -> dict[str, Any]:
    """MinHash of word 3-grams, with 32 bands of 4.

    Everything that shares a band is united, without a check.
    """
    import numpy as np

    started = time.process_time()
    texts = _read_texts(paths)
    normalised = time.process_time()
    draw = np.random.default_rng(42)
    factors = draw.integers(1, 1 << 61, 128, dtype=np.uint64)
    shifts = draw.integers(0, 1 << 61, 128, dtype=np.uint64)
    parent = list(range(len(texts)))

    def find(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[int, bytes], int] = {}
    for place, text in enumerate(texts):
        words = [word for word in re.split(r"\W+", text) if word]
        grams = {" ".join(words[start : start + 3]) for start in range(max(1, len(words) - 2))}
        hashes = np.array([crc32(gram.encode()) for gram in grams], dtype=np.uint64)
        values = ((hashes[:, None] * factors + shifts) & np.uint64(0xFFFFFFFF)).min(axis=0)
        for band in range(32):
            other = first.setdefault((band, values[band * 4 : band * 4 + 4].tobytes()), place)
            parent[find(place)] = find(other)
    merged = [(find(place), place) for place in range(len(texts)) if find(place) != place]
    ended = time.process_time()
    planted = _list_planted(texts, paths)
    checked = random.Random(3).sample(merged, min(_CHECKED, len(merged)))
    right = sum(_compare(texts, pair) >= THRESHOLD for pair in checked)
    return {
        "CPU s: keys and normal forms": normalised - started,
        "CPU s: signatures, pairs, decision": ended - normalised,
        "CPU s: together": ended - started,
        "recall of planted edits, .8 <= J < 1": sum(find(left) == find(right) for left, right in planted)
        / max(1, len(planted)),
        "precision of 5,000 pairs, verified": right / max(1, len(checked)),
        "questions left out": len(merged),
    }


def _read_texts(paths: dict[str, str]) -> list[str]:
    stems = pl.read_parquet(paths["decisions"], columns=["stem"])["stem"]
    return normalise_column(stems, fold_traditional_codes).to_list()


def _list_planted(texts: Sequence[str], paths: dict[str, str]) -> list[tuple[int, int]]:
    """Planted edits whose stems are near, but not equal, found by brute force.

    The earlier place comes first.
    """
    pairs = [(min(pair), max(pair)) for pair in pl.read_parquet(paths["edits"]).rows()]
    return [pair for pair in pairs if THRESHOLD <= _compare(texts, pair) < 1]


def _compare(texts: Sequence[str], pair: tuple[int, int]) -> float:
    return compute_jaccard(compute_grams(texts[pair[0]]), compute_grams(texts[pair[1]]))
