"""Near-duplicates (LLMEval-Fair, A.2.2): proposed by MinHash LSH, decided by true Jaccard.

Two questions are near-duplicates when stem and material are at least `threshold` similar, their options too, their
numbers are the same, and so is what makes the answer: an opposite statement, another number or other options under an
equal stem make another question, however alike the letters are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from schemas import patterns as re
from schemas.lazy import np
from tasks.bank.dedupe.signatures import GRAM

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Types whose answer is short and closed: a different one means a different question. A reference answer may be reworded.
CLOSED_TYPES = ("multiple_choice", "true_false", "fill_in_the_blank", "calculation")

# In figures and in words: the first world war is not the second one.
NUMBER = re.compile(
    r"\d+(?:\.\d+)?|(?:第?[二三四五六七八九十百千]|第一)[一二三四五六七八九十百千零〇]*|(?a:\b(?:two|three|four|five|six|seven|eight|nine|"
    r"ten|eleven|twelve|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|(?:thir|four|fif|six|"
    r"seven|eigh|nine)teen(?:th)?|(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y|ieth)|hundred(?:th)?|thousand(?:th)?)\b)"
)
# What turns a question round: negations, and of two opposites the one that is rarer.
NEGATION = re.compile(
    r"[不非未无没否减降劣]|错误|缺点|最[小低少]|之后|后者|出口|(?a:\b(?:not|no|never|except|incorrect|false|least|less|fewer|fewest|"
    r"decreas(?:e|es|ed|ing)|disadvantages?|falls?|falling|minimum|minimi[sz](?:e|es|ed|ing)|smallest|lowest|lower|after|latter|"
    r"exports?|negative)\b|n't\b)"
)
# The same in the words of Polars: a boundary of Latin words is ten times as fast to find as one of any script.
_NUMBER_IN_POLARS, _NEGATION_IN_POLARS = (
    told.pattern.replace("(?a:", "(?:").replace("\\b", "(?-u:\\b)") for told in (NUMBER, NEGATION)
)


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


def compute_grams(text: str) -> frozenset[str]:
    """The set of character 3-grams; a shorter text is its own only gram, an empty one has none."""
    if len(text) < GRAM:
        return frozenset({text} if text else ())
    return frozenset([text[start : start + GRAM] for start in range(len(text) - GRAM + 1)])


def compute_jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Size of the intersection over the size of the union; two empty sets are equal."""
    if not left and not right:
        return 1.0
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared)


def compute_similarity(left: Text, right: Text, threshold: float) -> float | None:
    """Jaccard of stem and material when the two are near-duplicates; null when they are not."""
    small, large = sorted((len(left.grams), len(right.grams)))
    # The division that the Jaccard of a part of a text comes to, so that both agree to the last digit.
    if (large and small / large < threshold) or not asks_the_same(left, right, threshold):
        return None
    similarity = compute_jaccard(left.grams, right.grams)
    return similarity if similarity >= threshold else None


def asks_the_same(left: Text, right: Text, threshold: float) -> bool:
    """Whether type, numbers, polarity, options and closed answers of two questions agree."""
    return (
        left.question_type == right.question_type
        and left.numbers == right.numbers
        and (left.question_type not in CLOSED_TYPES or _is_same_answer(left, right, threshold))
        and _has_same_options(left, right, threshold)
        and _is_same_polarity(left.stem, right.stem)
    )


def describe_alike(forms: pl.DataFrame) -> pl.Series:
    """What two questions must have in common to be compared at all.

    That is their type, numbers, negations, and how many options they have. Of rows with question_type,
    normal_text and normal_options; what `asks_the_same` asks for, as one text.
    """
    offered = pl.col("normal_options").list.join(" ").str.extract_all(_NUMBER_IN_POLARS).list.sort()
    return forms.select(
        pl.concat_str(
            "question_type",
            pl.col("normal_text").str.extract_all(_NUMBER_IN_POLARS).list.join(" "),
            pl.col("normal_text").str.extract_all(_NEGATION_IN_POLARS).list.sort().list.join(" "),
            pl.col("normal_options").list.len().cast(pl.String),
            offered.list.join(" "),
            separator="|",
        )
    ).to_series()


def list_candidate_pairs(bands: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Pairs of places (lower first) whose questions share a value in a band, a row each."""
    count = len(bands)
    pairs = np.empty(0, dtype=np.int64)
    for values in bands.T:
        found = [pairs]
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if count else order
        sizes = np.diff(np.append(starts, count))
        for size in np.unique(sizes[sizes > 1]).tolist():
            members = order[starts[sizes == size][:, None] + np.arange(size)]
            lower, upper = np.triu_indices(size, 1)
            # Places are in order within a group, because the sort is stable.
            found.append((members[:, lower] * count + members[:, upper]).ravel())
        # Most pairs share several bands: they are held once, not once for each. Sorting finds them sooner than a hash does.
        pairs = np.sort(np.concatenate(found))
        pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])] if len(pairs) else pairs
    return np.stack([pairs // max(1, count), pairs % max(1, count)], axis=1)


def list_pairs_with_known(new: NDArray[np.uint32], known: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Pairs of a place in `new` and one in `known` that share a value in a band, a row each."""
    found = [np.empty(0, dtype=np.int64)]
    for mine, theirs in zip(new.T, known.T, strict=True):
        # Most of the known share nothing with the few new ones: a small table of marks says so at once.
        marks = np.zeros(1 << 20, dtype=bool)
        marks[mine & 0xFFFFF] = True
        hits = np.flatnonzero(marks[theirs & 0xFFFFF])
        order = np.argsort(mine, kind="stable")
        ordered, values = mine[order], theirs[hits]
        lows, highs = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
        repeats = highs - lows
        steps = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        places = order[np.repeat(lows, repeats) + steps]
        found.append(places * max(1, len(known)) + np.repeat(hits, repeats))
    pairs = np.unique(np.concatenate(found))
    return np.stack([pairs // max(1, len(known)), pairs % max(1, len(known))], axis=1)


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


def _is_same_polarity(left: str, right: str) -> bool:
    """Whether two texts ask the same way: “which is incorrect” is the opposite of “correct”."""
    return sorted(NEGATION.findall(left)) == sorted(NEGATION.findall(right))
