"""What sizes of sets come to: the best shares of each size, and errors as they come about."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tasks.statistics import StarRows
from tasks.statistics.items.expected_error import ANSWER_SPREAD, QUESTION_SPREAD
from tasks.statistics.scores import (
    AnswerSums,
    Stratum,
    compute_expected_se,
    compute_scores,
    find_spreads,
    grow_sets,
)
from tasks.statistics.scores.sizes import ASSUMED_SPREAD
from tests.benchmarks.validity_edges import CASES, DISCIPLINES, Bank, Case, draw_bank, draw_exam

WEIGHTS = np.full(DISCIPLINES, 1 / DISCIPLINES)


def make_stratum(
    spread: float,
    *,
    weight: float = 1 / 3,
    least: int = 2,
    most: int = 1_000,
    likeness: float = 0.0,
    clusters: tuple[tuple[int, int], ...] = (),
) -> Stratum:
    return Stratum(weight, spread**2, likeness, least, most, clusters or ((1, most),))


def sum_answers(rows: StarRows) -> AnswerSums:
    """The sums of `answer_spreads`, cell by cell and question by question."""
    listed = []
    for sitting, discipline in sorted(
        set(zip(rows.candidate.tolist(), rows.discipline.tolist(), strict=True))
    ):
        cell = (rows.candidate == sitting) & (rows.discipline == discipline)
        stars: dict[int, list[float]] = {}
        clusters: dict[int, int] = {}
        for question, cluster, value in zip(
            rows.question[cell].tolist(), rows.clusters[cell].tolist(), rows.stars[cell].tolist(), strict=True
        ):
            stars.setdefault(question, []).append(value * 100 / 3)
            clusters[question] = cluster
        means = {question: float(np.mean(values)) for question, values in stars.items()}
        centre = float(np.mean(list(means.values())))
        groups: dict[int, list[float]] = {}
        for question, mean in means.items():
            groups.setdefault(clusters[question], []).append(mean - centre)
        repeated = [float(np.var(values, ddof=1)) for values in stars.values() if len(values) > 1]
        listed.append(
            (
                sitting,
                discipline,
                len(means),
                sum((mean - centre) ** 2 for mean in means.values()),
                sum(len(group) ** 2 for group in groups.values()),
                sum(sum(group) ** 2 for group in groups.values()),
                float(np.mean([1 / len(values) for values in stars.values()])),
                float(np.mean(repeated)) if repeated else math.nan,
            )
        )
    sitting, discipline, *columns = (np.array(column) for column in zip(*listed, strict=True))
    return AnswerSums(sitting, discipline, *(column.astype(float) for column in columns))


def test_shares_go_with_spreads_and_every_size_is_the_best_of_its_number() -> None:
    strata = [make_stratum(spread, most=9, least=1) for spread in (20.0, 30.0, 48.0)]

    grown = grow_sets(strata, least_se=0.0)

    assert (grown.smallest, grown.largest) == (3, 27)
    for size in range(3, 28):
        best = min(
            compute_expected_se(strata, shares)
            for shares in itertools.product(range(1, 10), repeat=3)
            if sum(shares) == size
        )
        shares = grown.get_shares(size)
        assert int(shares.sum()) == size
        assert compute_expected_se(strata, shares.tolist()) == pytest.approx(best)
        assert grown.get_error(size) == pytest.approx(best)


def test_neymans_shares_and_their_error_are_the_textbooks() -> None:
    spreads, weights = np.array([20.0, 40.0, 60.0]), np.array([0.5, 0.3, 0.2])
    strata = [
        make_stratum(spread, weight=weight, most=10_000)
        for spread, weight in zip(spreads, weights, strict=True)
    ]

    grown = grow_sets(strata, least_se=1.0)

    # Cochran (1977), equations 5.25 and 5.27: n_d = n · W_d S_d / Σ W S, and V = (Σ W S)² / n.
    total = float(weights @ spreads)
    assert grown.find_size(1.0) == pytest.approx(total**2, abs=2)
    assert grown.get_shares(1_000).tolist() == pytest.approx(1_000 * weights * spreads / total, abs=1)
    assert grown.find_size(0.5) is None


def test_the_least_and_the_most_of_a_discipline_are_kept() -> None:
    strata = [make_stratum(1.0, least=10), make_stratum(45.0, most=30), make_stratum(45.0)]

    grown = grow_sets(strata, least_se=2.0)

    # 10 would do with 2, and the second would have as many as the third.
    assert grown.get_shares(50).tolist() == [10, 20, 20]
    assert grown.get_shares(100).tolist() == [10, 30, 60]
    assert compute_expected_se(strata, [10, 0, 5]) == math.inf


def test_a_text_comes_once_as_long_as_there_are_others_and_then_its_questions_go_together() -> None:
    # 20 questions alone, 10 texts of five and 5 of two.
    clusters = ((1, 20), (2, 5), (5, 10))
    stratum = make_stratum(40.0, likeness=0.5, most=80, clusters=clusters)
    generator = np.random.default_rng(3)
    owner = np.repeat(np.arange(35), np.repeat([size for size, _ in clusters], [n for _, n in clusters]))

    assert stratum.count_siblings(35) == 0
    assert stratum.compute_variance(35) == pytest.approx(40.0**2 / 35)
    assert stratum.count_siblings(80) == pytest.approx(5 * 2 + 10 * 20)
    drawn = []
    for _ in range(400):
        first = np.array([generator.choice(np.flatnonzero(owner == cluster)) for cluster in range(35)])
        rest = np.setdiff1d(np.arange(80), first)
        sizes = np.bincount(owner[np.concatenate([first, generator.permutation(rest)[:20]])])
        drawn.append(float((sizes**2).sum()) - 55)
    assert stratum.count_siblings(55) == pytest.approx(np.mean(drawn), rel=0.03)


def test_without_answers_all_is_assumed_as_simulated_exams_had_it() -> None:
    found = find_spreads(None, np.full(4, 0.25), 3)

    assert found.variance.tolist() == [ASSUMED_SPREAD**2] * 4
    assert found.is_assumed.all()
    assert found.is_likeness_assumed
    assert pytest.approx(math.hypot(ANSWER_SPREAD, QUESTION_SPREAD), abs=0.1) == ASSUMED_SPREAD


def measure(case: Case, bank: Bank, shares: int, seed: int) -> tuple[StarRows, np.ndarray, np.ndarray]:
    """An exam with its scores and their errors."""
    rows = draw_exam(np.random.default_rng(seed), case, bank, shares * DISCIPLINES)
    found = compute_scores(rows, WEIGHTS, candidate_count=len(case.ability)).score
    return rows, found.value, found.se


@pytest.mark.parametrize(
    ("name", "size", "later"),
    [("ordinary", 20, 60), ("passages of 5", 20, 60), ("3 repeats, 40% missing", 20, 60)],
)
def test_the_error_that_is_foreseen_is_the_one_that_comes(name: str, size: int, later: int) -> None:
    case = CASES[name]
    bank = draw_bank(np.random.default_rng(1), case)
    rows, _, _ = measure(case, bank, size, 2)
    spreads = find_spreads(sum_answers(rows), WEIGHTS, case.repeats)
    strata = [
        make_stratum(
            math.sqrt(variance),
            weight=0.1,
            likeness=spreads.likeness,
            # Passages come whole in this generator: as if there were no others.
            clusters=((case.passage_size, later // case.passage_size),),
        )
        for variance in spreads.variance
    ]

    foreseen = compute_expected_se(strata, [later] * DISCIPLINES)

    exams = [measure(case, bank, later, seed) for seed in range(30, 55)]
    # Repeats that are missing make those that are planned a few percent better than those that come.
    said = np.sqrt(np.mean([se**2 for _, _, se in exams]))
    came = np.sqrt(np.mean(np.var([value for _, value, _ in exams], axis=0, ddof=1)))
    assert foreseen == pytest.approx(said, rel=0.1)
    assert foreseen == pytest.approx(came, rel=0.2)
    typical = foreseen * math.sqrt(later / size)
    assert spreads.narrowest * typical < typical < spreads.widest * typical


def test_repeats_take_off_only_what_repeats_differ_by() -> None:
    case = CASES["3 repeats, 40% missing"]
    bank = draw_bank(np.random.default_rng(4), case)
    rows, _, _ = measure(case, bank, 60, 5)
    sums = sum_answers(rows)

    once, thrice, endless = (find_spreads(sums, WEIGHTS, repeats).variance for repeats in (1, 3, 10**9))

    assert (endless < thrice).all()
    assert (thrice < once).all()
    assert (once - endless).mean() == pytest.approx(
        np.average(sums.repeat_variance, weights=sums.question_count), rel=0.05
    )


def test_a_discipline_that_nobody_answered_has_the_spread_of_the_others() -> None:
    case = CASES["ordinary"]
    rows, _, _ = measure(case, draw_bank(np.random.default_rng(6), case), 30, 7)
    sums = sum_answers(rows)
    kept = sums.discipline != 3
    fewer = AnswerSums(*(getattr(sums, name)[kept] for name in AnswerSums.__dataclass_fields__))

    found = find_spreads(fewer, WEIGHTS, 1)

    assert np.flatnonzero(found.is_assumed).tolist() == [3]
    assert found.variance[3] == pytest.approx(np.delete(found.variance, 3).mean(), rel=0.05)
