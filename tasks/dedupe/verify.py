"""Which of the proposed pairs are near-duplicates indeed: what `compute_similarity` finds, for many pairs at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from tasks.dedupe.index import read_texts
from tasks.dedupe.near import CLOSED_TYPES, asks_the_same, describe_alike
from tasks.dedupe.signatures import GRAM

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Pairs whose texts are held at once.
_PAIRS_AT_ONCE = 10_000
_KEY_BITS = 63


def verify_pairs(
    pairs: NDArray[np.int64], left: pl.DataFrame, right: pl.DataFrame, threshold: float
) -> Iterator[tuple[int, int, float]]:
    """The pairs of places (in `left` and in `right`) that are near-duplicates, with the exact Jaccard of their 3-grams.

    Both frames have the columns question_type, normal_text, normal_options, normal_answers.
    """
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        some = pairs[start : start + _PAIRS_AT_ONCE]
        similarity = compute_jaccards(left["normal_text"], right["normal_text"], some)
        alike = similarity >= threshold
        some, similarity = some[alike], similarity[alike]
        same = _ask_the_same(left[some[:, 0]], right[some[:, 1]], threshold)
        yield from zip(some[same, 0].tolist(), some[same, 1].tolist(), similarity[same].tolist(), strict=True)


def compute_jaccards(left: pl.Series, right: pl.Series, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """The Jaccard of the 3-gram sets of the texts at each pair of places: what `compute_jaccard` gives."""
    import numpy as np

    if not len(pairs):
        return np.empty(0)
    texts = [left.gather(pairs[:, 0]), right.gather(pairs[:, 1])]
    codes = [_number_letters(side) for side in texts]
    letters = np.zeros(0x110000, dtype=bool)
    for side, _ in codes:
        letters[side] = True
    number_of = np.cumsum(letters, dtype=np.uint64)
    bits = int(number_of[-1]).bit_length()
    # A gram and the number of its pair make one integer, so that nothing rests on a hash.
    at_once = 1 << (_KEY_BITS - GRAM * bits)
    found = [np.empty(0)]
    for start in range(0, len(pairs), at_once):
        some = slice(start, start + at_once)
        sides = [_list_keys(number_of[side], lengths, some, np.uint64(bits)) for side, lengths in codes]
        count = len(pairs[some])
        sizes = [_count(side, count, bits) for side in sides]
        both = np.sort(np.concatenate(sides))
        shared = _count(both[1:][both[1:] == both[:-1]], count, bits)
        union = sizes[0] + sizes[1] - shared
        found.append(np.where(union > 0, shared / np.maximum(union, 1), 1.0))
    return np.concatenate(found)


def _number_letters(texts: pl.Series) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The code points of all texts one after the other, two places free after each, and the length of each text."""
    import numpy as np

    lengths = texts.str.len_chars().cast(pl.Int64).to_numpy()
    joined = str(texts.str.join("\0\0").item() or "") + "\0\0"
    return np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32), lengths


def _list_keys(
    numbers: NDArray[np.uint64], lengths: NDArray[np.int64], some: slice, bits: np.uint64
) -> NDArray[np.uint64]:
    """Pair and gram as one integer, sorted, each once; a text shorter than a gram is its own only gram."""
    import numpy as np

    starts = (np.cumsum(lengths + 2) - (lengths + 2))[some]
    lengths = lengths[some]
    per_text = np.where(lengths > 0, np.maximum(lengths - GRAM + 1, 1), 0)
    before = np.cumsum(per_text) - per_text
    places = np.repeat(starts - before, per_text)
    places += np.arange(len(places))
    keys = np.repeat(np.arange(len(lengths), dtype=np.uint64), per_text)
    for step in range(GRAM):
        keys <<= bits
        keys |= numbers[places + step]
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _count(keys: NDArray[np.uint64], count: int, bits: int) -> NDArray[np.int64]:
    """How many of the keys each pair has."""
    import numpy as np

    return np.bincount((keys >> np.uint64(GRAM * bits)).astype(np.int64), minlength=count)


def _ask_the_same(left: pl.DataFrame, right: pl.DataFrame, threshold: float) -> NDArray[np.bool_]:
    """What `asks_the_same` says of the rows side by side; it is asked where options or closed answers differ at all."""
    answers = pl.col("normal_answers")
    sides = pl.concat(
        [
            frame.select(
                describe_alike(frame).alias(f"alike_{side}"),
                pl.col("question_type").alias(f"type_{side}"),
                pl.col("normal_options").alias(f"options_{side}"),
                answers.alias(f"answers_{side}"),
            )
            for side, frame in (("left", left), ("right", right))
        ],
        how="horizontal",
    )
    is_answer_equal = (
        pl.col("type_left").is_in(CLOSED_TYPES).not_()
        | (pl.col("answers_left") == pl.col("answers_right"))
        | (pl.col("answers_left").list.len().fill_null(0) == 0)
        | (pl.col("answers_right").list.len().fill_null(0) == 0)
    )
    told = sides.select(
        (pl.col("alike_left") == pl.col("alike_right")).fill_null(value=False).alias("is_alike"),
        (is_answer_equal & (pl.col("options_left") == pl.col("options_right")))
        .fill_null(value=False)
        .alias("is_sure"),
    )
    found = (told["is_alike"] & told["is_sure"]).to_numpy().copy()
    doubtful = (told["is_alike"] & ~told["is_sure"]).arg_true()
    for place, one, other in zip(
        doubtful.to_list(), read_texts(left[doubtful]), read_texts(right[doubtful]), strict=True
    ):
        found[place] = asks_the_same(one, other, threshold)
    return found
