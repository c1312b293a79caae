"""How far two markers of the same responses agree, and two judges differ, with the errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from schemas.lazy import np
from tasks.statistics.agreement.raters import Weighting

_CONFIDENCE = 0.95
_ALIKE = 1e-12
_REACH = NormalDist().inv_cdf(1 - (1 - _CONFIDENCE) / 2)


@dataclass(frozen=True)
class MaybeBounded:
    """An estimate with its 95% interval, whose ends are null where its error is not known."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Bounded(MaybeBounded):
    """An estimate with its 95% interval."""

    low: float
    high: float


def name_bounds(name: str, found: MaybeBounded | None) -> dict[str, float | None]:
    """An estimate as columns `NAME`, `NAME_low` and `NAME_high`, all null for none."""
    values = (None, None, None) if found is None else (found.value, found.low, found.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), values, strict=True))


@dataclass(frozen=True)
class AgreementDifference:
    """How much more often one judge agrees with people than another, on the same responses.

    Attributes:
        difference: share of the first less share of the second, -1 to 1, with its 95% interval.
        p_value: McNemar's exact test that both agree equally often.
    """

    difference: Bounded
    p_value: float


def compute_share(count: float, total: float) -> Bounded:
    """A share with Wilson's interval (Wilson 1927), 0 to 1; `total` is at least 1.

    Neither is whole where answers that err together are counted as fewer.
    """
    share, square = count / total, _REACH**2
    centre = (share + square / (2 * total)) / (1 + square / total)
    reach = _REACH / (1 + square / total) * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    return Bounded(share, max(0.0, centre - reach), min(1.0, centre + reach))


def compute_mean(values: Sequence[float], most: float) -> Bounded | None:
    """A mean of differences of at most `most` with its interval by Student's t; null below two.

    Where all are alike their spread is 0 and says nothing: the interval then reaches as far as a share of the largest could have
    stayed unseen.
    """
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    found = np.asarray(values, dtype=float)
    mean = float(found.mean())
    if float(np.ptp(found)) < _ALIKE:
        unseen = _find_unseen(len(found))
        return Bounded(mean, mean - unseen * (mean + most), mean + unseen * (most - mean))
    se = float(found.std(ddof=1) / math.sqrt(len(found)))
    reach = float(stdtrit(len(found) - 1, 1 - (1 - _CONFIDENCE) / 2)) * se
    return Bounded(mean, max(-most, mean - reach), min(most, mean + reach))


def _find_unseen(count: int) -> float:
    """The largest share q of others that so many may leave unseen, (1 - q)^n = 2.5%."""
    return float(1.0 - ((1 - _CONFIDENCE) / 2) ** (1.0 / count))


def compute_kappa_interval(
    first: Sequence[int], second: Sequence[int], category_count: int, weighting: Weighting = "none"
) -> MaybeBounded | None:
    """Cohen's kappa with its large-sample interval (Fleiss and others 1969); null if undefined.

    Ratings are categories from 0. Where all agree that error is 0 and says nothing: the interval then reaches as far as a
    share of disagreements could have stayed unseen. It is 0 also where a rater gave one category only, whatever the other gave, and where
    two categories were always given the other way round: then no error is known, and there is no interval (as in R's irr: z is NaN).
    """
    count = len(first)
    if count == 0:
        return None
    share = np.zeros((category_count, category_count))
    np.add.at(share, (np.asarray(first), np.asarray(second)), 1.0 / count)
    distance = np.abs(np.subtract.outer(np.arange(category_count), np.arange(category_count))).astype(float)
    cost = {"none": (distance > 0).astype(float), "linear": distance, "quadratic": distance**2}[weighting]
    weight = 1.0 - cost / cost.max()
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    observed, chance = float((share * weight).sum()), float((np.outer(rows, columns) * weight).sum())
    if chance >= 1.0 - 1e-12:
        return None
    kappa = (observed - chance) / (1.0 - chance)
    if observed >= 1.0 - 1e-12:
        return Bounded(1.0, max(-1.0, 1.0 - _find_unseen(count) / (1.0 - chance)), 1.0)
    margin = (weight @ columns)[:, None] + (rows @ weight)[None, :]
    inner = (weight * (1.0 - chance) - margin * (1.0 - observed)) ** 2
    spread = float((share * inner).sum()) - (observed * chance - 2.0 * chance + observed) ** 2
    if spread < _ALIKE:
        return MaybeBounded(kappa, None, None)
    reach = _REACH * math.sqrt(spread / count) / (1.0 - chance) ** 2
    return Bounded(kappa, max(-1.0, kappa - reach), min(1.0, kappa + reach))


def compute_agreement_difference(only_first: int, only_second: int, total: int) -> AgreementDifference:
    """Two judges on the same responses: the difference of their agreement with people.

    On `only_first` of `total` responses the first alone agrees with people, on `only_second` the other.
    The interval is Wald's with half a response added to each of the four cells (Agresti and Min 2005).
    """
    from scipy.stats import binomtest

    one, other, size = only_first + 0.5, only_second + 0.5, total + 2.0
    centre = (one - other) / size
    reach = _REACH * math.sqrt(one + other - (one - other) ** 2 / size) / size
    discordant = only_first + only_second
    p_value = 1.0 if discordant == 0 else float(binomtest(only_first, discordant).pvalue)
    return AgreementDifference(
        Bounded((only_first - only_second) / total, max(-1.0, centre - reach), min(1.0, centre + reach)),
        p_value,
    )
