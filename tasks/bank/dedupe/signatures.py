"""MinHash signatures of many questions at once, folded into bands (LLMEval-Fair, A.2.2).

A question's set holds the character 3-grams of stem and material, and those of its options, marked as such: when both parts
of two questions are at least 0.8 alike, so are the sets. What must be equal anyway (type, numbers, negations, how many
options) is mixed into every band, so that only questions which may be the same ever meet in one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

import polars as pl

from schemas.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

GRAM = 3
# 16 bands of 5 rows propose a pair of Jaccard 0.8 with probability 0.998, one of 0.5 with 0.40.
BANDS = 16
ROWS = 5
SEED = 20_260_101
# As many grams as stay in a core's cache while all hash functions pass over them.
_GRAMS_AT_ONCE = 1 << 16
_OPTION_MARK = 0x5BD1E995
_LAST = 0xFFFFFFFF
_LAST_64 = 0xFFFFFFFFFFFFFFFF
_BAND_STEP = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Sketches:
    """What MinHash leaves of some questions, a row for each.

    Attributes:
        bands: `BANDS` values; two questions that share one in its place may be near-duplicates.
        bytes: the last byte of each of the `BANDS × ROWS` values of the signature: how many are equal estimates the Jaccard.
    """

    bands: NDArray[np.uint32]
    bytes: NDArray[np.uint8]


def compute_sketches(texts: pl.Series, options: pl.Series, alike: pl.Series) -> Sketches:
    """The sketches of questions.

    Args:
        texts: stem and material in normal form.
        options: the options in normal form, a list for each question.
        alike: what must be equal of two questions for them to be compared at all, as one text.
    """
    signatures = _sign(*_hash_grams(texts, np.ones(len(texts), dtype=np.int64)))
    offered = options.list.len().cast(pl.Int64).to_numpy()
    if offered.any():
        items = options.filter(options.list.len() > 0).explode()
        # The smallest value over both parts is the smaller one of theirs.
        np.minimum(signatures, _sign(*_hash_grams(items, offered, mark=_OPTION_MARK)), out=signatures)
    keys = np.fromiter((crc32(text.encode()) for text in alike.to_list()), dtype=np.uint64, count=len(alike))
    bands = np.empty((len(texts), BANDS), dtype=np.uint32)
    for band in range(BANDS):
        mixed = keys + np.uint64((band + 1) * _BAND_STEP & _LAST_64)
        for row in range(band * ROWS, (band + 1) * ROWS):
            mixed = (mixed ^ signatures[row]) * np.uint64(0xFF51AFD7ED558CCD)
            mixed ^= mixed >> np.uint64(32)
        bands[:, band] = mixed.astype(np.uint32)
    return Sketches(bands, np.ascontiguousarray(signatures.astype(np.uint8).T))


def estimate_jaccards(sketches: NDArray[np.uint8], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of equal values of each pair; its standard error is 0.045 at a Jaccard of 0.8."""
    found = [np.empty(0)]
    for start in range(0, len(pairs), 1 << 18):
        some = pairs[start : start + (1 << 18)]
        found.append((sketches[some[:, 0]] == sketches[some[:, 1]]).mean(axis=1))
    return np.concatenate(found)


def _hash_grams(
    texts: pl.Series, parts: NDArray[np.int64], mark: int = 0
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """A 32-bit hash of every 3-gram, question by question, and how many each question has.

    `texts` holds the texts of every question one after the other, `parts` of each. A text shorter than a gram is its own only
    gram; an empty one has none.
    """
    lengths = texts.str.len_chars().cast(pl.Int64).to_numpy()
    joined = str(texts.str.join("\0\0").item() or "") + "\0\0"
    codes = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    starts = np.cumsum(lengths + 2) - (lengths + 2)
    per_text = np.where(lengths > 0, np.maximum(lengths - GRAM + 1, 1), 0)
    before = np.cumsum(per_text) - per_text
    # Every place is hashed, those between texts too: cheaper than to look up each letter of each gram.
    hashed = codes[:-2] * np.uint32(0x9E3779B1)
    hashed += codes[1:-1] * np.uint32(0x85EBCA77)
    hashed += codes[2:] * np.uint32(0xC2B2AE3D)
    places = np.repeat(starts - before, per_text)
    places += np.arange(len(places))
    hashed = hashed[places]
    hashed ^= np.uint32(mark)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashed ^= hashed >> np.uint32(shift)
        hashed *= np.uint32(factor)
    hashed ^= hashed >> np.uint32(16)
    ends = np.cumsum(parts)
    totals = np.concatenate([[0], np.cumsum(per_text)])
    return hashed, totals[ends] - totals[ends - parts]


def _sign(grams: NDArray[np.uint32], counts: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The smallest value of every hash function over each question's grams.

    The result has `BANDS × ROWS` rows, and a column per question. Questions of about the same length are
    taken together, the shorter ones filled up with a gram of their own.
    """
    factors = _draw_factors()
    signatures = np.full((BANDS * ROWS, len(counts)), _LAST, dtype=np.uint32)
    starts = np.cumsum(counts) - counts
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] > 0]
    first = 0
    while first < len(order):
        # The block ends where its longest question would fill it beyond what is taken at once.
        block = order[first : first + max(1, _GRAMS_AT_ONCE // int(counts[order[first]]))]
        longest = int(counts[block[-1]])
        block = block[: max(1, _GRAMS_AT_ONCE // longest)]
        longest = int(counts[block[-1]])
        first += len(block)
        steps = np.arange(longest)[:, None]
        held = grams[starts[block] + np.minimum(steps, counts[block] - 1)]
        if len(block) < 32:
            held = np.ascontiguousarray(held.T)
        axis = 1 if len(block) < 32 else 0
        room = np.empty_like(held)
        for row in range(BANDS * ROWS):
            np.multiply(held, factors[row], out=room)
            signatures[row, block] = room.min(axis=axis)
    return signatures


@cache
def _draw_factors() -> NDArray[np.uint32]:
    """Odd factors of the hash functions: each number is as likely as any to come first."""
    source = np.random.Generator(np.random.PCG64(SEED))
    return source.integers(0, 1 << 31, BANDS * ROWS, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
