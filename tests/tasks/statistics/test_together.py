from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tasks.statistics.cells import StarRows
from tasks.statistics.scores.comparisons import (
    Improvements,
    Pairs,
    compute_discipline_pairs,
    compute_improvements,
    compute_pairs,
)
from tasks.statistics.scores.ranks import compute_ranks


def sit(stars: np.ndarray, cluster_size: int = 1) -> StarRows:
    """Stars as candidates × questions of one discipline."""
    candidate, question = (codes.ravel() for codes in np.indices(stars.shape))
    return StarRows(
        candidate=candidate,
        discipline=np.zeros_like(candidate),
        question=question,
        lineage=question,
        stars=stars.ravel().astype(float),
        cluster=question // cluster_size,
    )


def tell(stars: np.ndarray, cluster_size: int = 1) -> Pairs:
    return compute_pairs(sit(stars, cluster_size), [1.0], candidate_count=len(stars))


@pytest.mark.parametrize(("candidates", "studentised_range"), [(3, 3.314), (12, 4.622)])
def test_for_independent_equals_the_critical_value_is_tukeys(
    candidates: int, studentised_range: float
) -> None:
    # Upper 5% points of the studentised range with endless degrees (Pearson and Hartley 1966, table 29), over the root of 2; ours
    # is two standard errors of its draws on the safe side.
    stars = np.random.default_rng(4).integers(0, 4, (candidates, 2_000))

    pairs = tell(stars)

    together, alone = pairs.together, pairs.differences
    reach = (together.high - together.low) / 2 / alone.se
    assert np.median(reach) == pytest.approx(studentised_range / np.sqrt(2), rel=0.035)


def test_a_single_pair_told_together_is_that_pair() -> None:
    pairs = tell(np.random.default_rng(2).random((2, 60)) * 3)

    assert pairs.together.p_value.tolist() == pairs.differences.p_value.tolist()
    assert pairs.together.low == pytest.approx(pairs.differences.low)


def test_a_constant_difference_has_the_p_value_of_the_sign_test() -> None:
    # The third answers as the first, so that there is one more thing to be wrong about, and its statistics are the same.
    stars = np.array([[0, 1, 2, 0, 1, 2, 0, 1], [1, 2, 3, 1, 2, 3, 1, 2], [0, 1, 2, 0, 1, 2, 0, 1]])

    together = tell(stars).together

    assert together.p_value == pytest.approx([2 / 2**8, 1.0, 2 / 2**8], abs=0.006)
    assert (together.high[0], together.low[2]) == (0.0, 0.0)


def test_what_moves_with_the_others_needs_less_than_holm_asks() -> None:
    # Ten candidates that answer as one but for a few questions: 45 pairs, hardly more than ten things to be wrong about.
    generator = np.random.default_rng(9)
    shared = generator.integers(0, 4, 300)
    stars = np.where(generator.random((10, 300)) < 0.15, generator.integers(0, 4, (10, 300)), shared)

    pairs = tell(stars)
    smallest = int(np.argmin(pairs.differences.p_value))

    assert pairs.together.p_value[smallest] < 45 * pairs.differences.p_value[smallest]
    assert (pairs.together.p_value >= pairs.differences.p_value).all()


def test_an_interval_holds_nought_exactly_where_a_pair_is_not_told_apart() -> None:
    generator = np.random.default_rng(7)
    ability = np.linspace(0.0, 1.2, 8)[:, None]
    stars = (generator.normal(size=(8, 240)) + ability + generator.normal(size=240) > 0.5) * 3

    pairs = tell(stars, cluster_size=4)
    together = pairs.together

    is_apart = together.p_value <= 0.05
    assert 0 < is_apart.sum() < len(is_apart)
    assert ((together.low < 0) & (together.high > 0))[~is_apart].all()
    assert ((together.low >= 0) | (together.high <= 0))[is_apart].all()
    assert (together.low <= pairs.differences.low)[~is_apart].all()
    ranks = compute_ranks(
        stars.mean(axis=1), pairs.first, pairs.second, pairs.differences.difference, together.p_value
    )
    assert int(ranks.is_distinct.sum()) == 2 * int(is_apart.sum())


def test_the_same_answers_give_the_same_words() -> None:
    stars = np.random.default_rng(1).integers(0, 4, (5, 40))

    first, second = tell(stars).together, tell(stars).together

    assert first.p_value.tolist() == second.p_value.tolist()
    assert first.low.tolist() == second.low.tolist()


def test_candidates_of_other_sets_are_told_together_with_them() -> None:
    generator = np.random.default_rng(3)
    stars = generator.integers(0, 4, (4, 200))
    rows = sit(stars)
    moved = rows.question + np.where(rows.candidate >= 2, 1_000, 0)
    apart = StarRows(rows.candidate, rows.discipline, moved, moved, rows.stars)

    pairs = compute_pairs(apart, [1.0], candidate_count=4)

    assert pairs.is_paired.tolist() == [True, False, False, False, False, True]
    assert (pairs.together.low < pairs.differences.low).all()
    assert (pairs.differences.high < pairs.together.high).all()


def test_who_has_nothing_to_be_compared_is_not_counted() -> None:
    rows = sit(np.random.default_rng(5).integers(0, 4, (3, 50)))
    kept = rows.candidate < 2
    fewer = StarRows(
        rows.candidate[kept], rows.discipline[kept], rows.question[kept], rows.lineage[kept], rows.stars[kept]
    )

    pairs = compute_pairs(fewer, [1.0], candidate_count=3)

    assert np.isnan(pairs.together.p_value).tolist() == [False, True, True]
    assert np.isnan(pairs.together.low).tolist() == [False, True, True]


def sit_disciplines(stars: np.ndarray) -> StarRows:
    """Stars as candidates × disciplines × questions."""
    candidate, discipline, place = (codes.ravel() for codes in np.indices(stars.shape))
    question = discipline * stars.shape[2] + place
    return StarRows(candidate, discipline, question, question, stars.ravel().astype(float))


def tell_disciplines(stars: np.ndarray) -> list[Pairs]:
    return compute_discipline_pairs(
        sit_disciplines(stars), candidate_count=stars.shape[0], discipline_count=stars.shape[1]
    )


def test_each_pair_has_its_own_family_of_disciplines() -> None:
    stars = np.random.default_rng(1).integers(0, 4, (4, 5, 30))

    all_pairs, of_two = tell_disciplines(stars), tell_disciplines(stars[:2])

    # The first pair of four is the pair of two: who else sat is none of its family.
    for one, other in zip(all_pairs, of_two, strict=True):
        assert one.differences.difference[0] == pytest.approx(other.differences.difference[0])
        assert one.together.p_value[0] == pytest.approx(other.together.p_value[0])
        assert one.together.p_value[0] >= one.differences.p_value[0]


def test_disciplines_are_corrected_step_by_step_as_independent_ones() -> None:
    found = tell_disciplines(np.random.default_rng(5).integers(0, 4, (6, 4, 25)))
    alone = np.array([one.differences.p_value for one in found])
    told = np.array([one.together.p_value for one in found])
    for pair in range(alone.shape[1]):
        largest = 0.0
        for step, at in enumerate(np.argsort(alone[:, pair])):
            largest = max(largest, 1 - (1 - alone[at, pair]) ** (4 - step))
            assert told[at, pair] == pytest.approx(largest)
    apart = told <= 0.05
    low, high = (np.array([getattr(one.together, end) for one in found]) for end in ("low", "high"))
    assert (apart == ~((low < 0) & (high > 0)))[~np.isnan(told)].all()


def test_equals_are_told_apart_in_some_discipline_in_5_of_100_exams() -> None:
    # One in ten would pass in 7 of 100 draws of 300 exams.
    generator = np.random.default_rng(6)
    told = [
        min(one.together.p_value[0] for one in tell_disciplines(generator.binomial(3, chance, (2, 10, 30))))
        <= 0.05
        for chance in generator.uniform(0.2, 0.8, 300)
    ]
    assert 0.025 <= np.mean(told) <= 0.075


def test_the_family_of_a_single_discipline_is_the_difference_itself() -> None:
    (pairs,) = tell_disciplines(np.random.default_rng(2).integers(0, 4, (2, 1, 40)))

    assert pairs.together.p_value.tolist() == pairs.differences.p_value.tolist()
    assert pairs.together.low == pytest.approx(pairs.differences.low)


def test_three_questions_in_each_discipline_tell_nothing_and_nine_that_go_one_way_do() -> None:
    # 2 of 8 signs put three differences on one side, 2 of 512 nine: ten disciplines, and the chance that one of them does.
    few, enough = np.zeros((2, 10, 3)), np.zeros((2, 10, 9))
    generator = np.random.default_rng(3)
    for stars in (few, enough):
        stars[:] = generator.integers(1, 3, stars.shape)
        stars[0, 0] = 3 - generator.integers(0, 2, stars.shape[2])
        stars[1, 0] = generator.integers(0, 2, stars.shape[2])

    assert min(float(pairs.together.p_value[0]) for pairs in tell_disciplines(few)) > 0.5
    assert tell_disciplines(enough)[0].together.p_value[0] <= 0.05


def test_disciplines_have_intervals_that_hold_nought_exactly_where_nothing_is_told() -> None:
    generator = np.random.default_rng(11)
    ability = np.linspace(0.0, 2.0, 6)[:, None, None] * np.linspace(0.0, 1.0, 5)[None, :, None]
    stars = (generator.normal(size=(6, 5, 40)) + ability > 0.7) * 3

    for pairs in tell_disciplines(stars):
        is_apart = pairs.together.p_value <= 0.05
        low, high = pairs.together.low, pairs.together.high
        assert ((low > 0) | (high < 0) | (np.minimum(abs(low), abs(high)) == 0))[is_apart].all()
        assert ((low <= 0) & (high >= 0))[~is_apart].all()


def sit_twice(before: np.ndarray, after: np.ndarray, shared: int = 0) -> Improvements:
    """Stars of two editions, candidates × questions, `shared` questions in both."""
    parts = []
    for side, stars in enumerate((before, after)):
        candidate, place = (codes.ravel() for codes in np.indices(stars.shape))
        question = place + side * (before.shape[1] - shared)
        parts.append((2 * candidate + side, np.zeros_like(candidate), question, question, stars.ravel()))
    rows = StarRows(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return compute_improvements(rows, [1.0], candidate_count=len(before))


def test_who_moved_is_told_and_who_did_not_is_noise() -> None:
    generator = np.random.default_rng(5)
    ability = np.linspace(-1.0, 1.0, 8)[:, None]
    difficulty = generator.normal(size=(2, 200))
    moved = np.zeros((8, 1))
    moved[3], moved[6] = 1.6, -1.6
    before = (generator.logistic(size=(8, 200)) < ability - difficulty[0]) * 3
    after = (generator.logistic(size=(8, 200)) < ability + moved - difficulty[1]) * 3

    found = sit_twice(before, after)

    assert np.flatnonzero(found.together.p_value <= 0.05).tolist() == [3, 6]
    assert found.together.low[3] > 0 and found.together.high[6] < 0
    assert found.differences.difference == pytest.approx((after.mean(axis=1) - before.mean(axis=1)) / 3 * 100)
    assert (found.together.p_value >= found.differences.p_value).all()


def test_a_question_met_in_both_editions_counts_once_in_the_error() -> None:
    generator = np.random.default_rng(6)
    before = generator.integers(0, 4, (3, 60))
    same = sit_twice(before, before, shared=60)

    # The same questions with the same answers: no change, and no error of it.
    assert same.differences.difference == pytest.approx(0)
    assert same.differences.se == pytest.approx(0)
    other = sit_twice(before, generator.integers(0, 4, (3, 60)))
    assert (other.differences.se > 3).all()


def test_a_single_candidate_is_told_as_it_stands() -> None:
    generator = np.random.default_rng(8)
    found = sit_twice(generator.integers(0, 4, (1, 50)), generator.integers(0, 4, (1, 50)))

    assert found.together.p_value == pytest.approx(found.differences.p_value)
    assert found.together.low == pytest.approx(found.differences.low)


def test_two_questions_that_each_has_alone_have_an_error_of_the_whole_scale_and_no_more() -> None:
    for seed in range(30):
        weights = np.random.default_rng(seed).random(2)
        stars = np.array([[3.0, 0.0], [0.0, 3.0]])[:, np.argsort(weights)]
        (pairs,) = compute_discipline_pairs(
            sit(np.tile(stars, (3, 1))), candidate_count=6, discipline_count=1
        )
        assert (pairs.differences.se <= 100).all()
        assert (abs(pairs.differences.difference) <= 100).all()


def test_who_has_the_same_disciplines_in_another_order_is_told_apart_by_no_rounding() -> None:
    """Without spread the last bit of a sum would be a difference without an error."""
    stars = np.repeat(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), 5, axis=1)
    rows = replace(sit(stars), discipline=np.tile(np.repeat(np.arange(3), 5), 2))
    found = compute_pairs(rows, [1 / 3] * 3, candidate_count=2)
    assert (found.differences.difference.tolist(), found.together.p_value.tolist()) == ([0.0], [1.0])
