"""Do judges score answers of their own family higher: Welch's test in four units.

`score` pools single scores, as League of LLMs says it did (appendix E); `cell` takes the mean of each judge on each answerer,
which its printed p-values fit. Both also answer yes for a family whose answers are simply better. `excess` takes that away:
from each score the mean that judges outside both families gave to the same answer, then the mean of each cell. A family of two
judges has two such cells and hardly any power: `answer_excess` takes the mean of each answer instead. It finds more, and counts as
chance what is a judge's lasting taste for one answerer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ContractError
from tasks.statistics.cells import Codes, Floats
from tasks.statistics.league.group_tests import Welch, compute_welch

UNITS = ("score", "cell", "excess", "answer_excess")


@dataclass(frozen=True)
class FamilyBias:
    """The judges of one family: answers of their own family against answers of others.

    Attributes:
        unit: one of `UNITS`: what is counted as one observation.
        welch: in-family against out-of-family.
    """

    family: int
    unit: str
    welch: Welch


def compute_family_bias(
    score: Floats,
    answer: Codes,
    judge: Codes,
    answerer: Codes,
    family: Codes,
    *,
    ranked_question: Codes | None = None,
) -> list[FamilyBias]:
    """The four tests for each family that has two members or more; rows are single scores.

    `answer` numbers the answers that were scored, `judge` and `answerer` the candidates, `family` says each candidate's family
    (-1: none). A judge's own answers must not be among the rows. Raises ContractError when they are. `ranked_question` numbers
    the questions where the scores are points of ranks. A judge's list lacks its own answer, so that in the lists of strong
    judges everybody stands higher: the excess then compares two judges on the answers that both ranked.
    """
    if bool((judge == answerer).any()):
        raise ContractError("A judge scored its own answer; nobody judges itself.")
    if ranked_question is None:
        excess = _subtract_outside(score, answer, family[judge], family[answerer])
    else:
        excess = _compare_ranks(score, ranked_question, judge, answerer, family)
    families = [
        int(one) for one, members in zip(*np.unique(family, return_counts=True), strict=True) if members > 1
    ]
    found = []
    for one in families:
        if one < 0:
            continue
        own = family[judge] == one
        is_in = family[answerer[own]] == one
        cell = judge[own] * len(family) + answerer[own]
        in_cells, out_cells = _average_groups(score[own], cell, is_in)
        in_excess, out_excess = _average_groups(excess[own], cell, is_in)
        in_answers, out_answers = _average_groups(excess[own], answer[own], is_in)
        found += [
            FamilyBias(one, "score", compute_welch(score[own][is_in], score[own][~is_in])),
            FamilyBias(one, "cell", compute_welch(in_cells, out_cells)),
            FamilyBias(one, "excess", compute_welch(in_excess, out_excess)),
            FamilyBias(one, "answer_excess", compute_welch(in_answers, out_answers)),
        ]
    return found


def _subtract_outside(score: Floats, answer: Codes, of_judge: Codes, of_answerer: Codes) -> Floats:
    """Each score less the mean of judges of neither family on the same answer; NaN without any."""
    _, code = np.unique(answer, return_inverse=True)
    count = int(code.max(initial=-1)) + 1
    family_count = int(max(of_judge.max(initial=0), of_answerer.max(initial=0))) + 2
    # A judge without a family is of none of them: it gets a place of its own that nobody else's equals.
    place = np.where(of_judge < 0, family_count - 1, of_judge)
    total = np.bincount(code * family_count + place, weights=score, minlength=count * family_count)
    times = np.bincount(code * family_count + place, minlength=count * family_count)
    total, times = total.reshape(count, family_count), times.reshape(count, family_count)
    rows = np.arange(len(score))
    taken = np.zeros((len(score), family_count), dtype=bool)
    taken[rows[of_judge >= 0], of_judge[of_judge >= 0]] = True
    taken[rows[of_answerer >= 0], of_answerer[of_answerer >= 0]] = True
    outside_times = np.where(taken, 0, times[code]).sum(axis=1).astype(float)
    outside_total = np.where(taken, 0.0, total[code]).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(outside_times > 0, score - outside_total / outside_times, np.nan))


def _compare_ranks(score: Floats, question: Codes, judge: Codes, answerer: Codes, family: Codes) -> Floats:
    """How many more answers the judge puts below this one than judges of neither family do."""
    count = len(family)
    excess = np.full(len(score), np.nan)
    for number in np.unique(question):
        rows = np.flatnonzero(question == number)
        lists = np.full((count, count), np.nan)
        lists[judge[rows], answerer[rows]] = score[rows]
        # above[j, x, y]: judge j puts x above y; half for equal ones, nothing where it ranked only one of them.
        above = (lists[:, :, None] > lists[:, None, :]) + 0.5 * (lists[:, :, None] == lists[:, None, :])
        above[:, np.arange(count), np.arange(count)] = 0.0
        points = above.sum(axis=2)
        for row in rows:
            own, answer = judge[row], answerer[row]
            taken = {int(family[own]), int(family[answer])} - {-1}
            others = np.flatnonzero(~np.isnan(lists[:, answer]))
            others = np.array(
                [one for one in others if one != own and int(family[one]) not in taken], dtype=int
            )
            if len(others):
                ours = points[own, answer] - above[own, answer, others]
                theirs = points[others, answer] - above[others, answer, own]
                excess[row] = float((ours - theirs).mean())
    return excess


def _average_groups(value: Floats, group: Codes, is_in: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mean of each group (cell or answer), in-family and out-of-family; missing values left out."""
    known = ~np.isnan(value)
    sides = []
    for side in (is_in & known, ~is_in & known):
        _, code = np.unique(group[side], return_inverse=True)
        sides.append(np.bincount(code, weights=value[side]) / np.maximum(np.bincount(code), 1))
    return sides[0], sides[1]
