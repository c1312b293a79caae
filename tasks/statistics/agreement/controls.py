"""Whether a judge can judge: its stars for answers whose worth is known or a key decides."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tasks.statistics.agreement.bounds import Bounded, compute_share

# The kind that deserves stars; every other one deserves none, or a star for its explanation.
REFERENCE: Final = "reference"
# From so many stars on an answer counts as correct (LLMEval-Fair, figure 11), and so many are all that there are.
PASS_STARS: Final = 2
FULL_STARS: Final = 3
# The error rate of each test that the references stand above a kind. A judge must pass all of them, so that one that judges at random
# passes far more rarely (docs/decisions/0023).
ORDER_ERROR: Final = 0.05


@dataclass(frozen=True)
class ControlKind:
    """What a judge gave the control answers of one kind.

    Attributes:
        count: how many it was asked for.
        unread_count: of these, replies that could not be read.
        mean_stars: over those that could; null where none could.
        p_value: that the references' stars exceed these by luck alone; null for the references.
    """

    kind: str
    count: int
    unread_count: int
    mean_stars: float | None
    p_value: float | None


@dataclass(frozen=True)
class ControlVerdict:
    """What control answers say of a judge.

    Attributes:
        count: control answers that it was asked for.
        wrong_count: references below the pass mark, others with all stars, and replies that could not be read.
        wrong: their share with its 95% interval; null where nothing was asked.
        gap: mean stars of the references less the highest mean of another kind; null where one is missing.
        unordered: kinds that the references do not stand above with certainty; all of them where there are no references.
        is_fit: whether the references stand above every kind, and no more is wrong than may be.
    """

    kinds: tuple[ControlKind, ...]
    count: int
    wrong_count: int
    wrong: Bounded | None
    gap: float | None
    unordered: tuple[str, ...]
    is_fit: bool


def compute_controls(stars: Mapping[str, Sequence[int | None]], most_wrong: float) -> ControlVerdict:
    """What a judge's stars by kind of control answer say of it; None could not be read.

    It is fit where for every kind an exact permutation test rejects that the references have no more stars (each at 5%), and the
    lower end of the interval of the share that is wrong is not above `most_wrong`. Each control answer counts as one draw: those of
    a kind are of different questions.
    """
    references = _keep_read(stars.get(REFERENCE, ()))
    kinds: list[ControlKind] = []
    for kind in sorted(stars, key=lambda name: (name != REFERENCE, name)):
        read = _keep_read(stars[kind])
        kinds.append(
            ControlKind(
                kind=kind,
                count=len(stars[kind]),
                unread_count=len(stars[kind]) - len(read),
                mean_stars=sum(read) / len(read) if read else None,
                p_value=None if kind == REFERENCE else compute_order_p(references, read),
            )
        )
    count = sum(one.count for one in kinds)
    wrong_count = sum(_is_wrong(kind, given) for kind, all_given in stars.items() for given in all_given)
    wrong = compute_share(wrong_count, count) if count else None
    others = [one for one in kinds if one.kind != REFERENCE]
    unordered = tuple(one.kind for one in others if one.p_value is None or one.p_value > ORDER_ERROR)
    means = [one.mean_stars for one in others if one.mean_stars is not None]
    gap = sum(references) / len(references) - max(means) if references and means else None
    is_fit = bool(references and others and not unordered and wrong is not None and wrong.low <= most_wrong)
    return ControlVerdict(tuple(kinds), count, wrong_count, wrong, gap, unordered, is_fit)


def describe_faults(verdict: ControlVerdict, most_wrong: float) -> str:
    """Why a judge is not fit, in words that follow its name; empty where it is."""
    means = {one.kind: "–" if one.mean_stars is None else f"{one.mean_stars:.2f}" for one in verdict.kinds}
    faults: list[str] = []
    if verdict.unordered:
        named = ", ".join(f"{kind} {means[kind]}" for kind in verdict.unordered)
        faults.append(
            f"gives reference answers {means.get(REFERENCE, '–')} stars on average, not more with certainty than: {named}"
        )
    if verdict.wrong is not None and verdict.wrong.low > most_wrong:
        faults.append(
            f"judges {verdict.wrong_count} of {verdict.count} control answers wrong ({verdict.wrong.value:.1%}, at least "
            f"{verdict.wrong.low:.1%}; {most_wrong:.1%} may be)"
        )
    if not faults and not verdict.is_fit:
        faults.append(f"was asked for too few control answers ({verdict.count}) to show that it can judge")
    return ", and ".join(faults)


def compute_order_p(upper: Sequence[int], lower: Sequence[int]) -> float | None:
    """The exact chance that a random division gives `upper` so many stars; null if one is empty."""
    if not upper or not lower:
        return None
    # ways[size][total]: how many choices of `size` stars add up to `total`.
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter[int]() for _ in upper)]
    for given in (*upper, *lower):
        for size in range(len(upper), 0, -1):
            for total, number in ways[size - 1].items():
                ways[size][total + given] += number
    chosen, found = ways[len(upper)], sum(upper)
    as_far = sum(number for total, number in chosen.items() if total >= found)
    return as_far / math.comb(len(upper) + len(lower), len(upper))


def compute_clustered_share(counts: Sequence[tuple[int, int]]) -> Bounded | None:
    """A share over clusters of (how many, of how many), with Wilson's interval.

    It is that of as many answers as these are worth: answers to one question, or to questions on one text, err together. Where none or all do, they are worth one
    for each cluster. Null without an answer.
    """
    whole = [(count, total) for count, total in counts if total]
    total = sum(of for _, of in whole)
    if not total:
        return None
    share = sum(count for count, _ in whole) / total
    size = float(len(whole))
    if 0.0 < share < 1.0 and len(whole) > 1:
        spread = sum((count - share * of) ** 2 for count, of in whole) * len(whole) / (len(whole) - 1)
        size = min(float(total), share * (1 - share) * total**2 / spread) if spread else float(total)
    return compute_share(share * size, size)


def _keep_read(stars: Sequence[int | None]) -> list[int]:
    return [given for given in stars if given is not None]


def _is_wrong(kind: str, stars: int | None) -> bool:
    if stars is None:
        return True
    return stars < PASS_STARS if kind == REFERENCE else stars >= FULL_STARS
