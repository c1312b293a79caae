"""Which proposed pairs are near-duplicates: `compute_similarity` for many pairs at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from typing import TYPE_CHECKING

import polars as pl

from schemas.lazy import np
from tasks.bank.dedupe.index import read_texts
from tasks.bank.dedupe.near import CLOSED_TYPES, asks_the_same, describe_alike
from tasks.bank.dedupe.signatures import GRAM

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Pairs whose texts are held at once.
_PAIRS_AT_ONCE = 8_000
_KEY_BITS = 63
_COLUMNS = ("question_type", "normal_text", "normal_options", "normal_answers")


def verify_pairs(
    pairs: NDArray[np.int64], left: pl.DataFrame, right: pl.DataFrame, threshold: float
) -> Iterator[tuple[int, int, float]]:
    """The pairs of places that are near-duplicates, with the exact Jaccard of their 3-grams.

    Both frames have the columns question_type, normal_text, normal_options, normal_answers.
    """
    # Looked up once: the frames are in many chunks, and few of their questions are in any pair.
    lefts, rights = np.unique(pairs[:, 0]), np.unique(pairs[:, 1])
    left, right = left.select(_COLUMNS)[lefts], right.select(_COLUMNS)[rights]

    def gather(some: NDArray[np.int64]) -> tuple[pl.DataFrame, NDArray[np.int64], float]:
        # Each question once, those of the left before those of the right, however many pairs it is in.
        one, place_of_one = np.unique(some[:, 0], return_inverse=True)
        other, place_of_other = np.unique(some[:, 1], return_inverse=True)
        forms = pl.concat(
            [left[np.searchsorted(lefts, one)], right[np.searchsorted(rights, other)]], rechunk=True
        )
        return forms, np.stack([place_of_one, place_of_other + len(one)], axis=1), threshold

    parts = [pairs[start : start + _PAIRS_AT_ONCE] for start in range(0, len(pairs), _PAIRS_AT_ONCE)]
    for some, (found, similarity) in zip(parts, starmap(_verify_some, map(gather, parts)), strict=True):
        yield from zip(some[found, 0].tolist(), some[found, 1].tolist(), similarity.tolist(), strict=True)


def _verify_some(
    forms: pl.DataFrame, places: NDArray[np.int64], threshold: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Which of these pairs of places in `forms` are near-duplicates, and how alike they are."""
    similarity = compute_jaccards(forms["normal_text"], places)
    found = np.flatnonzero(similarity >= threshold)
    found = found[_ask_the_same(forms, places[found], threshold)]
    return found, similarity[found]


def compute_jaccards(texts: pl.Series, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The Jaccard of the 3-gram sets of each pair of places, as `compute_jaccard` gives it."""
    lengths = texts.str.len_chars().cast(pl.Int64).to_numpy()
    joined = str(texts.str.join("\0\0").item() or "") + "\0\0"
    codes = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
    letters = np.zeros(0x110000, dtype=bool)
    letters[codes] = True
    number_of = np.cumsum(letters, dtype=np.int64)
    bits = GRAM * int(number_of[-1]).bit_length()
    grams, sizes = _list_grams(number_of[codes], lengths, bits // GRAM)
    starts = np.cumsum(sizes) - sizes
    # The number of a pair and a gram make one integer, so that nothing rests on a hash.
    at_once = 1 << (_KEY_BITS - bits)
    found = [np.empty(0)]
    for first in range(0, len(pairs), at_once):
        some = pairs[first : first + at_once]
        counts = sizes[some]
        flat = counts.ravel()
        places = np.repeat(starts[some].ravel() - (np.cumsum(flat) - flat), flat)
        places += np.arange(len(places))
        keys = np.repeat(np.arange(len(some)) << bits, counts.sum(axis=1))
        keys |= grams[places]
        keys.sort()
        shared = np.bincount(keys[1:][keys[1:] == keys[:-1]] >> bits, minlength=len(some))
        union = counts.sum(axis=1) - shared
        found.append(np.where(union > 0, shared / np.maximum(union, 1), 1.0))
    return np.concatenate(found)


def _list_grams(
    numbers: NDArray[np.int64], lengths: NDArray[np.int64], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The grams of each text, each once, and how many each text has.

    Each gram is one integer of `GRAM` letters.

    `numbers` has the letters of all texts one after the other, two places free after each. A text shorter than a gram is its
    own only gram.
    """
    starts = np.cumsum(lengths + 2) - (lengths + 2)
    per_text = np.where(lengths > 0, np.maximum(lengths - GRAM + 1, 1), 0)
    hashed = numbers[:-2] << (2 * bits)
    hashed |= numbers[1:-1] << bits
    hashed |= numbers[2:]
    places = np.repeat(starts - (np.cumsum(per_text) - per_text), per_text)
    places += np.arange(len(places))
    grams = hashed[places]
    ends = np.cumsum(per_text)
    # Texts are sorted by themselves, some at once: their number stands before the gram.
    at_once = 1 << (_KEY_BITS - GRAM * bits)
    found, sizes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for first in range(0, len(lengths), at_once):
        counts = per_text[first : first + at_once]
        end = int(ends[min(first + at_once, len(ends)) - 1])
        keys = np.repeat(np.arange(len(counts)) << (GRAM * bits), counts)
        keys |= grams[end - len(keys) : end]
        keys.sort()
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
        sizes.append(np.bincount(keys >> (GRAM * bits), minlength=len(counts)))
        found.append(keys & ((1 << (GRAM * bits)) - 1))
    return np.concatenate(found), np.concatenate(sizes)


def _ask_the_same(forms: pl.DataFrame, pairs: NDArray[np.int64], threshold: float) -> NDArray[np.bool_]:
    """What `asks_the_same` says of each pair; called only where options or answers differ."""
    needed, places = np.unique(pairs, return_inverse=True)
    if not len(needed):
        return np.empty(0, dtype=bool)
    places = places.reshape(-1, 2)
    some = forms[needed]
    parts = some.select(
        describe_alike(some).rank("dense").alias("alike"),
        pl.col("normal_options").list.join("\x1f").rank("dense").alias("options"),
        pl.col("normal_answers").list.join("\x1f").rank("dense").alias("answers"),
        pl.col("question_type").is_in(CLOSED_TYPES).not_().alias("is_open"),
        (pl.col("normal_answers").list.len().fill_null(0) == 0).alias("is_unanswered"),
    )
    is_equal = {
        name: values[places[:, 0]] == values[places[:, 1]]
        for name in ("alike", "options", "answers")
        for values in [parts[name].to_numpy()]
    }
    is_either = {
        name: values[places[:, 0]] | values[places[:, 1]]
        for name in ("is_open", "is_unanswered")
        for values in [parts[name].to_numpy()]
    }
    is_same_answer = is_equal["answers"] | is_either["is_open"] | is_either["is_unanswered"]
    found: NDArray[np.bool_] = is_equal["alike"] & is_equal["options"] & is_same_answer
    doubtful = np.flatnonzero(is_equal["alike"] & ~found)
    told, places_told = np.unique(places[doubtful], return_inverse=True)
    texts = list(read_texts(some[told]))
    for place, (one, other) in zip(doubtful.tolist(), places_told.reshape(-1, 2).tolist(), strict=True):
        found[place] = asks_the_same(texts[one], texts[other], threshold)
    return found
