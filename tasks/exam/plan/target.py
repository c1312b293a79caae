"""The sizes of sets that give S a wished error, and what each size costs.

A size is a share of each discipline (Neyman's, from how far its answers lay apart in the last edition), an error that is to be
expected of S, calls, money, and months that the bank lasts. Sealed draws and the rule that nobody meets a question again stay as
they are: shares are all that a plan takes from it (the setting `set_shares`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from schemas.errors import GateError
from schemas.lazy import pl
from tasks.exam.plan.forecast import forecast_runs
from tasks.exam.plan.shares import compute_shares
from tasks.statistics.scores import AnswerSums, Stratum, compute_expected_se, find_spreads, grow_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tasks.exam.plan.allotment import Allotment
    from tasks.exam.plan.request import LedgerState, PlanRequest
    from tasks.exam.plan.run_plan import RunPlan
    from tasks.exam.plan.shares import ShareRule

# Sizes that are shown beside the one that is proposed, as shares of it.
_BESIDE: Final = (0.25, 0.5, 0.75, 1.5, 2.0)


@dataclass(frozen=True)
class SetSize:
    """A size that sets could have.

    Attributes:
        question_count: questions of a set.
        shares: those of each discipline.
        expected_se: standard error of S to be expected of a typical candidate, in points of 100; null where it lacks a discipline.
        cost_usd: what they are expected to cost; models without a price count as 0.
        months_left: months that the discipline which ends first lasts for the organisation that it ends for first; null where
            nothing is due.
        is_proposed: whether it is the smallest with the wished error.
        is_set: whether it is what the settings have.
    """

    question_count: int
    shares: Mapping[str, int]
    expected_se: float | None
    call_count: int
    cost_usd: float
    months_left: int | None
    is_proposed: bool = False
    is_set: bool = False


@dataclass(frozen=True)
class SizeForecast:
    """What an error of S takes.

    Attributes:
        sizes: sizes with their errors, the smallest first; one of them is proposed.
        equal_count: questions that equal shares would take; null where they cannot.
        spreads: discipline → points that its answers lie apart.
        assumed: disciplines of which nothing is known, so that their spread is assumed: that of the others or, where all are,
            what simulated exams had.
        likeness: correlation of two questions about one text.
        is_likeness_assumed: whether it is assumed, and the sets that are proposed would ask about a text twice.
        edition_id: whose answers it rests on; null where all is assumed.
        narrowest_se, widest_se: errors of the candidates with the smallest and the largest one at the size that is proposed.
    """

    target_se: float
    sizes: Sequence[SetSize]
    equal_count: int | None
    spreads: Mapping[str, float]
    assumed: Sequence[str]
    likeness: float
    is_likeness_assumed: bool
    edition_id: str | None
    narrowest_se: float
    widest_se: float

    @property
    def proposed(self) -> SetSize:
        """The smallest size with the wished error."""
        return next(size for size in self.sizes if size.is_proposed)


def forecast_sizes(
    request: PlanRequest,
    state: LedgerState,
    answers: pl.DataFrame,
    target_se: float,
    *,
    least_share: int,
    make_rule: Callable[[Mapping[str, int]], ShareRule],
    plan_with: Callable[[ShareRule], tuple[RunPlan, Allotment]],
) -> tuple[RunPlan, SizeForecast]:
    """The plan with the smallest sets that give S a wished error, and the sizes about it.

    `answers` are rows of the query `answer_spreads`; `make_rule` makes the rule of other shares, and `plan_with` plans the run by
    it. Raises GateError where all that the run's organisations may still meet gives a larger error.
    """
    names = list(request.rule.planned)
    weights = np.full(len(names), 1.0 / len(names))
    spreads = find_spreads(_arrange_sums(answers, names), weights, request.settings.repeats)
    free = _find_free(request, state)
    if gone := [name for name, left in free.items() if not len(left)]:
        raise GateError(
            f"Bank version {request.index.bank_version} has no question of {', '.join(gone)} that an organisation of the run may still "
            "meet, so that no set gives its candidates an S. Bank more questions, or plan without them: --candidates."
        )
    strata = [
        Stratum(
            weight=float(weights[code]),
            variance=float(spreads.variance[code]),
            likeness=spreads.likeness,
            least=min(least_share, len(free[name])),
            most=len(free[name]),
            clusters=_count_clusters(free[name]),
        )
        for code, name in enumerate(names)
    ]
    grown = grow_sets(strata, least_se=target_se * _BESIDE[-1] ** -0.5)
    proposed = grown.find_size(target_se)
    if proposed is None:
        raise GateError(
            f"Bank version {request.index.bank_version} cannot give S a standard error of {target_se:g}: with all "
            f"{grown.largest} questions that every organisation of the run may still meet it is {grown.get_error(grown.largest):.2f}. "
            "Wish for a larger error, or bank more questions."
        )
    sizes = {proposed, *(round(proposed * share) for share in _BESIDE)}
    shares = {
        size: dict(zip(names, grown.get_shares(size).tolist(), strict=True))
        for size in sorted(sizes)
        if grown.smallest <= size <= grown.largest
    }
    plan, allotment = plan_with(make_rule(shares[proposed]))
    costs = _Costs(request, plan, allotment, make_rule)
    listed = [
        costs.describe(one, compute_expected_se(strata, list(one.values())), is_proposed=size == proposed)
        for size, one in shares.items()
    ]
    now = dict(request.rule.planned)
    listed.append(costs.describe(now, compute_expected_se(strata, list(now.values())), is_set=True))
    expected = grown.get_error(proposed)
    return plan, SizeForecast(
        target_se=target_se,
        sizes=sorted(listed, key=lambda size: (size.question_count, size.is_set)),
        equal_count=_find_equal(strata, target_se),
        spreads={
            name: round(float(np.sqrt(variance)), 1)
            for name, variance in zip(names, spreads.variance, strict=True)
        },
        assumed=[name for name, is_assumed in zip(names, spreads.is_assumed, strict=True) if is_assumed],
        likeness=round(spreads.likeness, 2),
        is_likeness_assumed=spreads.is_likeness_assumed
        and any(
            stratum.count_siblings(share) > 0
            for stratum, share in zip(strata, shares[proposed].values(), strict=True)
        ),
        edition_id=None if answers.is_empty() else str(answers["edition_id"][0]),
        narrowest_se=round(expected * spreads.narrowest, 3),
        widest_se=round(expected * spreads.widest, 3),
    )


def _arrange_sums(answers: pl.DataFrame, names: Sequence[str]) -> AnswerSums | None:
    if answers.is_empty():
        return None
    coded = answers.with_columns(
        sitting=pl.struct("model", "prompt_style").rank("dense").cast(pl.Int64) - 1,
        discipline=pl.col("discipline").replace_strict(
            {name: code for code, name in enumerate(names)}, return_dtype=pl.Int64
        ),
    )
    columns = ("question_count", "squares", "cluster_squares", "cluster_deviations", "inverse_repeats")
    return AnswerSums(
        sitting=coded["sitting"].to_numpy(),
        discipline=coded["discipline"].to_numpy(),
        repeat_variance=coded["repeat_variance"].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
        **{name: coded[name].cast(pl.Float64).to_numpy() for name in columns},
    )


def _find_free(request: PlanRequest, state: LedgerState) -> dict[str, NDArray[np.int32]]:
    """The passage (-1 for none) of each lineage, by discipline, that is left to who has least."""
    owners = {sitter.organisation for sitter in request.candidates} or set(state.met)
    passages = request.index.passages
    return {
        name: min((passages[first:end][~state.met[owner][first:end]] for owner in sorted(owners)), key=len)
        for name, (first, end) in request.index.spans.items()
    }


def _count_clusters(passages: NDArray[np.int32]) -> tuple[tuple[int, int], ...]:
    """How many questions a cluster has → how many such clusters there are."""
    _, sizes = np.unique(passages[passages >= 0], return_counts=True)
    counts = Counter(sizes.tolist())
    counts[1] += int((passages < 0).sum())
    return tuple(sorted(counts.items()))


def _find_equal(strata: Sequence[Stratum], target_se: float) -> int | None:
    """Questions of the smallest set of equal shares with an error as small as that."""
    codes = [str(code) for code in range(len(strata))]
    low, high = len(strata), len(strata) * min(stratum.most for stratum in strata)

    def expect(size: int) -> float:
        return compute_expected_se(strata, list(compute_shares(size, codes).values()))

    if high < low or expect(high) > target_se:
        return None
    while low < high:
        middle = (low + high) // 2
        if expect(middle) <= target_se:
            high = middle
        else:
            low = middle + 1
    return low


class _Costs:
    """What sets of other sizes would cost the run and the bank."""

    def __init__(
        self,
        request: PlanRequest,
        plan: RunPlan,
        allotment: Allotment,
        make_rule: Callable[[Mapping[str, int]], ShareRule],
    ) -> None:
        self._request, self._plan, self._make_rule = request, plan, make_rule
        self._unmet = {owner: request.index.count_unmet(met) for owner, met in allotment.state.met.items()}
        self._met_sets = Counter(owner for owner, _ in (*allotment.claims, *allotment.reference_claims))
        self._put = sum(session.question_count for session in plan.sessions) / max(len(plan.sessions), 1)

    def describe(
        self,
        shares: Mapping[str, int],
        expected_se: float,
        *,
        is_proposed: bool = False,
        is_set: bool = False,
    ) -> SetSize:
        """A size with its costs."""
        size = sum(shares.values())
        rule = self._make_rule(shares)
        left = {
            owner: {
                name: max(0, count - shares[name] * self._met_sets[owner]) for name, count in unmet.items()
            }
            for owner, unmet in self._unmet.items()
        }
        months = [
            count
            for one in forecast_runs(self._request, rule, left, self._plan.candidates)
            for count in one.months_left.values()
            if count is not None
        ]
        scale = size / self._put if self._put else 0.0
        return SetSize(
            question_count=size,
            shares=dict(shares),
            expected_se=round(expected_se, 3) if math.isfinite(expected_se) else None,
            call_count=round(self._plan.call_count * scale),
            cost_usd=round(self._plan.cost_usd * scale, 4),
            months_left=min(months, default=None),
            is_proposed=is_proposed,
            is_set=is_set,
        )
