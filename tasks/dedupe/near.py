"""Near-duplicates: MinHash LSH proposes pairs, the true Jaccard of character 3-grams decides (LLMEval-Fair, A.2.2).

Two questions are near-duplicates when stem and material are at least `threshold` similar, their options too, their
numbers are the same, and so is what makes the answer: an opposite statement, another number or other options under an
equal stem make another question, however alike the letters are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tasks.dedupe.exact import NormalForm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GRAM = 3
# 21 bands of 6 rows propose a pair of Jaccard 0.8 with probability 0.998, one of 0.5 with 0.28.
BANDS = 21
ROWS = 6
SEED = 20_260_101
# Types whose answer is short and closed: a different one means a different question. A reference answer may be reworded.
CLOSED_TYPES = ("multiple_choice", "true_false", "fill_in_the_blank", "calculation")

NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Text:
    """A question as the comparison sees it; all parts normalised."""

    question_type: str
    stem: str
    options: tuple[str, ...]
    answers: tuple[str, ...]

    @cached_property
    def grams(self) -> frozenset[str]:
        """Character 3-grams of stem and material."""
        return compute_grams(self.stem)

    @cached_property
    def option_grams(self) -> frozenset[str]:
        """Character 3-grams of the options, whatever their order."""
        return frozenset().union(*(compute_grams(option) for option in self.options))

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Every number of stem and material, in order."""
        return tuple(NUMBER.findall(self.stem))


def build_text(form: NormalForm) -> Text:
    """The comparable form of a question."""
    return Text(form.question_type, form.whole, form.options, form.answers)


def compute_grams(text: str) -> frozenset[str]:
    """The set of character 3-grams; a shorter text is its own only gram, an empty one has none."""
    if len(text) < GRAM:
        return frozenset({text} if text else ())
    return frozenset(text[start : start + GRAM] for start in range(len(text) - GRAM + 1))


def compute_jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Size of the intersection over the size of the union; two empty sets are equal."""
    if not left and not right:
        return 1.0
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared)


def compute_similarity(left: Text, right: Text, threshold: float) -> float | None:
    """Jaccard of stem and material when the two are near-duplicates; null when they are not."""
    small, large = sorted((len(left.grams), len(right.grams)))
    if small < threshold * large or not asks_the_same(left, right, threshold):
        return None
    similarity = compute_jaccard(left.grams, right.grams)
    return similarity if similarity >= threshold else None


def asks_the_same(left: Text, right: Text, threshold: float) -> bool:
    """Whether type, numbers, polarity, options and (where it is closed) the answer agree, however the stems read."""
    return (
        left.question_type == right.question_type
        and left.numbers == right.numbers
        and (left.question_type not in CLOSED_TYPES or _is_same_answer(left, right, threshold))
        and _has_same_options(left, right, threshold)
        and _is_same_polarity(left.stem, right.stem)
    )


def list_candidate_pairs(
    texts: Sequence[Text], is_new: Sequence[bool] | None = None
) -> Iterator[tuple[int, int]]:
    """Pairs of places (lower first) that MinHash LSH proposes; with `is_new`, at least one of each pair is new."""
    import numpy as np

    if len(texts) < 2:
        return
    signatures = compute_signatures(texts)
    bands = np.ascontiguousarray(signatures[:, : BANDS * ROWS]).reshape(len(texts), BANDS, ROWS)
    seen: set[int] = set()
    for band in range(BANDS):
        for group in _group_equal_rows(bands[:, band, :]):
            members = group.tolist()
            if is_new is not None and not any(is_new[place] for place in members):
                continue
            for first, second in _pair_up(members, texts):
                if is_new is not None and not (is_new[first] or is_new[second]):
                    continue
                pair = first * len(texts) + second
                if pair not in seen:
                    seen.add(pair)
                    yield first, second


def compute_signatures(texts: Sequence[Text]) -> NDArray[np.uint32]:
    """MinHash signatures of stem and material, one row of `BANDS × ROWS` values per text."""
    import numpy as np
    from rensa import RMinHash

    # In slices: the gram sets of a whole bank at once would not fit with everything else.
    slices = []
    for start in range(0, len(texts), 5_000):
        grams = [sorted(compute_grams(text.stem)) for text in texts[start : start + 5_000]]
        matrix = RMinHash.digest_matrix_from_token_sets(grams, BANDS * ROWS, SEED)
        slices.append(np.asarray(matrix.to_rows(), dtype=np.uint32))
    return np.concatenate(slices)


# The largest group that is compared all with all; a larger one is cut by type and numbers, which must agree anyway.
_MOST_IN_GROUP = 200


def _group_equal_rows(rows: NDArray[np.uint32]) -> Iterator[NDArray[np.intp]]:
    """Places of rows that are equal to another one, group by group."""
    import numpy as np

    order = np.lexsort(rows.T)
    ordered = rows[order]
    is_start = np.empty(len(order), dtype=bool)
    is_start[0] = True
    is_start[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    starts = np.flatnonzero(is_start)
    ends = np.append(starts[1:], len(order))
    for start, end in zip(starts, ends, strict=True):
        if end - start > 1:
            yield np.sort(order[start:end])


def _pair_up(members: Sequence[int], texts: Sequence[Text]) -> Iterator[tuple[int, int]]:
    groups: dict[object, list[int]] = {}
    for place in members:
        text = texts[place]
        closed = (
            text.answers if len(members) > _MOST_IN_GROUP and text.question_type in CLOSED_TYPES else None
        )
        groups.setdefault((text.question_type, text.numbers, closed), []).append(place)
    for group in groups.values():
        for place, first in enumerate(group):
            for second in group[place + 1 :]:
                yield first, second


def _has_same_options(left: Text, right: Text, threshold: float) -> bool:
    if left.options == right.options:
        return True
    if len(left.options) != len(right.options) or _list_numbers(left.options) != _list_numbers(right.options):
        return False
    return compute_jaccard(left.option_grams, right.option_grams) >= threshold


def _list_numbers(texts: Sequence[str]) -> list[str]:
    return sorted(NUMBER.findall(" ".join(texts)))


def _is_same_answer(left: Text, right: Text, threshold: float) -> bool:
    """An answer that one of the two sources does not give contradicts nothing."""
    if not left.answers or not right.answers:
        return True
    if left.question_type == "true_false" or len(left.answers) != len(right.answers):
        return left.answers == right.answers
    return all(
        first == second or compute_jaccard(compute_grams(first), compute_grams(second)) >= threshold
        for first, second in zip(left.answers, right.answers, strict=True)
    )


_NEGATIONS = re.compile(r"不|非|未|无|没|否|错误|\b(?:not|no|never|except|incorrect|false|least)\b|n't\b")


def _is_same_polarity(left: str, right: str) -> bool:
    """“Which is correct” and “which is incorrect” differ by two letters and ask for opposite things."""
    return sorted(_NEGATIONS.findall(left)) == sorted(_NEGATIONS.findall(right))
