from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from schemas.errors import ContractError, UsageError
from tasks.statistics.cells import StarRows
from tasks.statistics.scores.comparisons import compute_changes, compute_pairs
from tasks.statistics.scores.intervals import (
    Estimate,
    compute_score_interval,
    compute_scores,
    divide_intervals,
)

# Extra hours of sleep under two drugs, the ten patients of Student (1908), Biometrika 6. R's `t.test(paired = TRUE)` gives
# t = -4.0621 with 9 degrees, p = 0.002833, -1.58 [-2.4598858, -0.7001142]; Welch's test of the two as separate groups
# t = -1.8608 with 17.776 degrees, p = 0.07939, [-3.3654832, 0.2054832].
SLEEP_FIRST = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_SECOND = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
HOURS_PER_POINT = 8.0 / 100.0  # -2 to 6 hours become 0 to 3 stars, which are 0 to 100 points


def make_rows(
    stars: Mapping[tuple[int, int, int], float | list[float]], *, lineage: dict[int, int] | None = None
) -> StarRows:
    """(candidate, discipline, question) → stars, or the stars of its repeats."""
    listed = [
        (candidate, discipline, question, (lineage or {}).get(question, question), value, repeat)
        for (candidate, discipline, question), given in stars.items()
        for repeat, value in enumerate(given if isinstance(given, list) else [given])
    ]
    candidate, discipline, question, line, value, repeat = (
        np.array(column) for column in zip(*listed, strict=True)
    )
    return StarRows(candidate, discipline, question, line, value.astype(float), repeat)


def put_hours(hours: np.ndarray) -> np.ndarray:
    return (hours + 2.0) * 3.0 / 8.0


def make_exam(seed: int, candidates: int = 4, per_discipline: tuple[int, ...] = (40, 25, 10)) -> StarRows:
    generator = np.random.default_rng(seed)
    rows: dict[tuple[int, int, int], float | list[float]] = {}
    for candidate in range(candidates):
        for discipline, count in enumerate(per_discipline):
            for number in range(count):
                chance = np.clip(0.5 + 0.1 * candidate + 0.3 * np.sin(number), 0.05, 0.95)
                rows[candidate, discipline, 1000 * discipline + number] = generator.binomial(
                    3, chance, 2
                ).tolist()
    return make_rows(rows)


def test_the_paired_difference_of_the_sleep_data_is_the_published_one() -> None:
    rows = make_rows(
        {
            (candidate, 0, patient): float(value)
            for candidate, hours in enumerate((SLEEP_FIRST, SLEEP_SECOND))
            for patient, value in enumerate(put_hours(hours))
        }
    )

    pairs = compute_pairs(rows, [1.0], candidate_count=2)

    found = pairs.differences
    assert pairs.is_paired.tolist() == [True]
    assert pairs.common_count.tolist() == [10]
    hours = np.array([found.difference[0], found.low[0], found.high[0]]) * HOURS_PER_POINT
    assert hours == pytest.approx([-1.58, -2.4598858, -0.7001142], abs=1e-7)
    assert found.difference[0] / found.se[0] == pytest.approx(-4.0621, abs=5e-5)
    assert found.degrees[0] == pytest.approx(9)
    assert found.p_value[0] == pytest.approx(0.002833, abs=5e-7)


def test_the_unpaired_difference_of_the_sleep_data_is_welchs() -> None:
    rows = make_rows(
        {
            (candidate, 0, 100 * candidate + patient): float(value)
            for candidate, hours in enumerate((SLEEP_FIRST, SLEEP_SECOND))
            for patient, value in enumerate(put_hours(hours))
        }
    )

    pairs = compute_pairs(rows, [1.0], candidate_count=2)

    found = pairs.differences
    assert pairs.is_paired.tolist() == [False]
    assert pairs.common_count.tolist() == [0]
    hours = np.array([found.low[0], found.high[0]]) * HOURS_PER_POINT
    assert hours == pytest.approx([-3.3654832, 0.2054832], abs=1e-7)
    assert found.degrees[0] == pytest.approx(17.776, abs=5e-4)
    assert found.p_value[0] == pytest.approx(0.07939, abs=5e-6)


def test_s_is_the_stratified_mean_with_its_textbook_error() -> None:
    rows = make_rows(
        {(0, 0, 1): 3, (0, 0, 2): 1, (0, 0, 3): 2, (0, 1, 4): 0, (0, 1, 5): 1, (0, 1, 6): 1, (0, 1, 7): 2}
    )

    found = compute_scores(rows, [0.25, 0.75], candidate_count=1)

    # Means 2 and 1, variances 1 and 2/3 over 3 and 4 questions.
    assert found.score.value[0] == pytest.approx((0.25 * 2 + 0.75 * 1) / 3 * 100)
    assert found.score.se[0] == pytest.approx(np.sqrt(0.0625 / 3 + 0.5625 * (2 / 3) / 4) / 3 * 100)
    assert found.discipline_score[0] == pytest.approx([20 / 3, 10 / 3])
    assert found.discipline_se[0] == pytest.approx(np.sqrt([1 / 3, 1 / 6]) * 10 / 3)
    assert found.discipline_count.tolist() == [[3, 4]]


@pytest.mark.parametrize("disciplines", [5, 10, 11])
def test_a_full_score_is_100_whatever_shares_add_up_to(disciplines: int) -> None:
    rows = make_rows({(0, discipline, discipline): 3 for discipline in range(disciplines)})
    found = compute_scores(rows, [1 / disciplines] * disciplines, candidate_count=1)
    assert found.score.value[0] == pytest.approx(100, abs=1e-9)
    assert found.score.value[0] <= 100
    assert found.discipline_score.max() <= 10


def test_repeats_are_averaged_before_the_error_and_their_spread_is_another_number() -> None:
    single = make_rows({(0, 0, 1): 2.0, (0, 0, 2): 1.0, (0, 0, 3): 0.5})
    repeated = make_rows({(0, 0, 1): [3, 1], (0, 0, 2): [2, 0], (0, 0, 3): [1, 0]})

    one = compute_scores(single, [1.0], candidate_count=1)
    two = compute_scores(repeated, [1.0], candidate_count=1)

    assert two.score.value == pytest.approx(one.score.value)
    assert two.score.se == pytest.approx(one.score.se)
    assert (one.question_count.tolist(), one.answer_count.tolist()) == ([3], [3])
    assert (two.question_count.tolist(), two.answer_count.tolist()) == ([3], [6])
    # S of the repeats: 6/9 and 1/9.
    assert two.repeat_sd[0] == pytest.approx((600 / 9 - 100 / 9) / np.sqrt(2))
    assert two.repeat_count.tolist() == [2]
    assert np.isnan(one.repeat_sd[0])
    # A reference sits each set of a run: how far its sets lie apart is no randomness of its own.
    apart = compute_scores(replace(repeated, sat=repeated.repeat), [1.0], candidate_count=1)
    assert (np.isnan(apart.repeat_sd[0]), apart.repeat_count.tolist()) == (True, [2])
    thrice = make_rows({(0, 0, 1): [3, 1, 0], (0, 0, 2): [2, 0, 0], (0, 0, 3): [1, 0, 0]})
    pooled = compute_scores(replace(thrice, sat=np.asarray(thrice.repeat) // 2), [1.0], candidate_count=1)
    assert pooled.repeat_sd == pytest.approx(two.repeat_sd)


def test_a_discipline_that_is_missing_makes_s_null_and_never_a_mean_over_the_others() -> None:
    rows = make_rows({(0, 0, 1): 3, (0, 0, 2): 2, (1, 0, 1): 3, (1, 0, 2): 2, (1, 1, 3): 1, (1, 1, 4): 0})

    found = compute_scores(rows, [0.5, 0.5], candidate_count=3, reference=1)

    assert np.isnan(found.score.value).tolist() == [True, False, True]
    assert np.isnan(found.score.low).tolist() == [True, False, True]
    assert found.discipline_score[0, 0] == pytest.approx(25 / 3)
    assert found.relative is not None
    assert np.isnan(found.relative.relative.value).tolist() == [True, False, True]
    pairs = compute_pairs(rows, [0.5, 0.5], candidate_count=3)
    assert np.isnan(pairs.differences.difference).all()
    assert np.isnan(pairs.differences.p_value).all()


def test_a_discipline_without_weight_is_shown_but_does_not_count() -> None:
    rows = make_rows({(0, 0, 1): 3, (0, 0, 2): 2, (0, 1, 3): 0, (0, 1, 4): 0})

    found = compute_scores(rows, [1.0, 0.0, 0.0], candidate_count=1)

    assert found.score.value[0] == pytest.approx(250 / 3)
    assert found.discipline_score[0, :2] == pytest.approx([25 / 3, 0.0])


def test_a_single_question_borrows_the_spread_of_the_other_disciplines_and_says_so() -> None:
    rows = make_rows({(0, 0, 1): 3, (0, 0, 2): 1, (0, 1, 3): 2, (0, 1, 4): 2, (0, 1, 5): 2, (0, 2, 6): 1})

    found = compute_scores(rows, [0.4, 0.4, 0.2], candidate_count=1)

    assert found.is_pooled.tolist() == [[False, False, True]]
    # Variances 2 (1 degree) and 0 (2 degrees): pooled 2/3.
    assert found.discipline_se[0] == pytest.approx(np.sqrt([1.0, 0.0, 2 / 3]) * 10 / 3)
    lonely = compute_scores(make_rows({(0, 0, 1): 3}), [1.0], candidate_count=1)
    assert lonely.score.value.tolist() == [100.0]
    assert np.isnan([lonely.score.se[0], lonely.score.low[0], lonely.score.high[0]]).all()


def test_questions_of_one_lineage_count_as_one() -> None:
    stars = {(0, 0, number): float(number // 2 % 4) for number in range(12)}
    twins = make_rows(stars, lineage={number: number // 2 for number in range(12)})
    halves = make_rows({(0, 0, 2 * number): float(number % 4) for number in range(6)})

    found = compute_scores(twins, [1.0], candidate_count=1)
    expected = compute_scores(halves, [1.0], candidate_count=1)

    assert found.score.value == pytest.approx(expected.score.value)
    assert found.score.se == pytest.approx(expected.score.se)
    assert found.score.degrees == pytest.approx(expected.score.degrees)
    naive = compute_scores(make_rows(stars), [1.0], candidate_count=1)
    assert found.score.se[0] > 1.3 * naive.score.se[0]


def test_a_full_score_has_the_exact_binomial_bound() -> None:
    rows = make_rows({(0, 0, number): 3 for number in range(20)})

    found = compute_scores(rows, [1.0], candidate_count=1)

    assert found.score.se.tolist() == [0.0]
    # Clopper and Pearson: 0.025^(1/20).
    assert found.score.low[0] == pytest.approx(83.1566, abs=1e-3)
    assert found.score.high.tolist() == [100.0]


def test_intervals_stay_on_the_scale() -> None:
    rows = make_rows({(0, 0, 1): 3, (0, 0, 2): 3, (0, 0, 3): 0, (1, 0, 1): 0, (1, 0, 2): 0, (1, 0, 3): 1})

    found = compute_scores(rows, [1.0], candidate_count=2).score

    # Who earned a star is not at the end where there are none, who missed one not at the other.
    assert ((found.low > 0.0) & (found.low < found.value)).all()
    assert ((found.value < found.high) & (found.high < 100.0)).all()


@pytest.mark.parametrize(
    ("right", "asked", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 29, 0.0061, 0.1718)],
)
def test_all_or_nothing_has_the_printed_score_interval(
    right: int, asked: int, low: float, high: float
) -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857-872, table I: Wilson's interval, which knows the spread and so has
    # endless degrees of freedom.
    share = right / asked
    se = np.sqrt(share * (1 - share) / (asked - 1))

    found = compute_score_interval(
        np.array([share * 100]), np.array([se * 100]), np.array([np.inf]), np.array([float(asked)])
    )

    assert np.concatenate(found) == pytest.approx([low * 100, high * 100], abs=0.005)


def test_a_ratio_of_two_symmetric_intervals_has_fiellers() -> None:
    # Donner and Zou (2012): with estimate ± 1.96 se on both sides the interval of the ratio is Fieller's (1954).
    first, second = np.array([50.0]), np.array([80.0])
    spread = 16.0, 9.0
    covariance = np.array([5.0])
    own, base = (
        Estimate(
            value,
            np.sqrt([variance]),
            np.array([np.inf]),
            value - 1.96 * variance**0.5,
            value + 1.96 * variance**0.5,
        )
        for value, variance in zip((first, second), spread, strict=True)
    )

    low, high = divide_intervals(own, base, covariance)

    a = 80.0**2 - 1.96**2 * spread[1]
    b = -2 * (50.0 * 80.0 - 1.96**2 * 5.0)
    c = 50.0**2 - 1.96**2 * spread[0]
    assert [low[0], high[0]] == pytest.approx(sorted(np.roots([a, b, c]).tolist()))


def test_questions_of_one_passage_count_as_one() -> None:
    stars = {
        (candidate, 0, number): float((number // 5 + candidate) % 4)
        for candidate in (0, 1)
        for number in range(40)
    }
    rows = make_rows(stars)
    passages = replace(rows, cluster=rows.question // 5)

    alone, together = (compute_scores(found, [1.0], candidate_count=2).score for found in (rows, passages))
    pairs = [compute_pairs(found, [1.0], candidate_count=2).differences for found in (rows, passages)]

    assert together.value == pytest.approx(alone.value)
    # Five answers of a passage are one: the variance is 5 · 39 / 35 times as large (8 clusters instead of 40 questions).
    assert together.se**2 == pytest.approx(alone.se**2 * 5 * 39 / 35)
    assert together.degrees == pytest.approx([7.0, 7.0])
    assert pairs[1].se[0] ** 2 == pytest.approx(pairs[0].se[0] ** 2 * 5 * 39 / 35)


def test_a_passage_in_two_disciplines_is_one_cluster() -> None:
    stars = {
        (0, discipline, 100 * discipline + number): float(number % 4)
        for discipline in (0, 1)
        for number in range(12)
    }
    rows = make_rows(stars)

    apart = compute_scores(rows, [0.5, 0.5], candidate_count=1).score
    shared = compute_scores(replace(rows, cluster=rows.question % 100), [0.5, 0.5], candidate_count=1).score

    # The same answers in both: what one cluster errs by in one, it errs by in the other.
    assert shared.se == pytest.approx(apart.se * np.sqrt(2))


def test_where_every_discipline_is_one_passage_disciplines_tell_the_error() -> None:
    means = [0.0, 1.0, 2.0, 2.0, 3.0]
    stars = {
        (0, discipline, 10 * discipline + number): mean
        for discipline, mean in enumerate(means)
        for number in range(4)
    }
    rows = make_rows(stars)

    found = compute_scores(replace(rows, cluster=rows.question // 10), [0.2] * 5, candidate_count=1).score

    # Collapsed strata: five clusters of one stratum.
    assert found.se[0] == pytest.approx(np.std(means, ddof=1) / np.sqrt(5) * 100 / 3)
    assert found.degrees.tolist() == [4.0]


def test_the_error_of_r_is_that_of_a_jackknife_over_questions() -> None:
    rows = make_exam(3)
    weights = np.array([0.5, 0.3, 0.2])

    found = compute_scores(rows, weights, candidate_count=4, reference=3).relative

    assert found is not None
    variance = np.zeros(4)
    for discipline in range(3):
        questions = np.unique(rows.question[rows.discipline == discipline])
        left_out = []
        for question in questions:
            kept = rows.question != question
            fewer = StarRows(
                rows.candidate[kept],
                rows.discipline[kept],
                rows.question[kept],
                rows.lineage[kept],
                rows.stars[kept],
            )
            score = compute_scores(fewer, weights, candidate_count=4).score.value
            left_out.append(score / score[3] * 100)
        count = len(questions)
        spread = np.array(left_out) - np.mean(left_out, axis=0)
        variance += (count - 1) / count * (spread**2).sum(axis=0)
    assert found.relative.se == pytest.approx(np.sqrt(variance), rel=0.03, abs=1e-9)
    score = compute_scores(rows, weights, candidate_count=4).score.value
    assert found.relative.value == pytest.approx(score / score[3] * 100)


def test_the_reference_is_100_without_error_and_r_uses_common_questions_only() -> None:
    stars: dict[tuple[int, int, int], float | list[float]] = {(1, 0, number): 2 for number in range(8)}
    stars |= {(0, 0, number): 1 + number % 2 for number in range(4)}
    stars |= {(0, 0, 100 + number): 3 for number in range(4)}

    found = compute_scores(make_rows(stars), [1.0], candidate_count=2, reference=1).relative

    assert found is not None
    assert found.relative.value == pytest.approx([75.0, 100.0])
    assert found.question_count.tolist() == [4, 8]
    assert (found.relative.se[1], found.relative.low[1], found.relative.high[1]) == (0.0, 100.0, 100.0)
    assert found.discipline_relative[:, 0] == pytest.approx([75.0, 100.0])


def test_a_reference_without_a_star_gives_no_r() -> None:
    rows = make_rows({(0, 0, 1): 1, (0, 0, 2): 2, (1, 0, 1): 0, (1, 0, 2): 0})

    found = compute_scores(rows, [1.0], candidate_count=2, reference=1).relative

    assert found is not None
    assert np.isnan([found.relative.value, found.relative.low, found.relative.high]).all()


def test_pairs_on_the_same_questions_differ_by_what_their_scores_differ() -> None:
    rows = make_exam(5)
    weights = [0.5, 0.3, 0.2]

    score = compute_scores(rows, weights, candidate_count=4).score
    pairs = compute_pairs(rows, weights, candidate_count=4)

    assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    ]  # fmt: skip
    assert pairs.differences.difference == pytest.approx(score.value[pairs.first] - score.value[pairs.second])
    apart = np.sqrt(score.se[pairs.first] ** 2 + score.se[pairs.second] ** 2)
    assert (pairs.differences.se < apart).all()


def test_a_pair_with_few_common_questions_keeps_both_scores_and_takes_their_covariance_off() -> None:
    generator = np.random.default_rng(8)
    hardness = generator.normal(size=100)
    stars: dict[tuple[int, int, int], float | list[float]] = {}
    for candidate, numbers in ((0, range(60)), (1, range(40, 100))):
        for number in numbers:
            stars[candidate, 0, number] = float(np.clip(round(1.5 + hardness[number]), 0, 3))
    rows = make_rows(stars)

    score = compute_scores(rows, [1.0], candidate_count=2).score
    pairs = compute_pairs(rows, [1.0], candidate_count=2)

    common = [
        (stars[0, 0, number] - score.value[0] * 0.03) * (stars[1, 0, number] - score.value[1] * 0.03)
        for number in range(40, 60)
    ]
    covariance = sum(common) * 60 / 59 / 60**2 * (100 / 3) ** 2
    expected = np.sqrt(score.se[0] ** 2 + score.se[1] ** 2 - 2 * covariance)
    assert (pairs.is_paired.tolist(), pairs.common_count.tolist()) == ([False], [20])
    assert pairs.differences.difference[0] == pytest.approx(score.value[0] - score.value[1])
    assert pairs.differences.se[0] == pytest.approx(expected)


def test_equal_answers_are_no_difference_and_a_constant_one_is_a_sign_test() -> None:
    stars: dict[tuple[int, int, int], float | list[float]] = {}
    for number in range(5):
        stars |= {(0, 0, number): number % 3, (1, 0, number): number % 3, (2, 0, number): number % 3 + 1}

    found = compute_pairs(make_rows(stars), [1.0], candidate_count=3).differences

    assert found.difference == pytest.approx([0.0, -100 / 3, -100 / 3])
    assert found.p_value == pytest.approx([1.0, 2 / 2**5, 2 / 2**5])
    assert found.low[0] < 0 < found.high[0]


def test_a_change_between_editions_adds_the_errors_less_what_common_lineages_share() -> None:
    before, after = make_exam(11), make_exam(12)
    moved = StarRows(
        after.candidate, after.discipline, after.question + 5_000, after.lineage + 5_000, after.stars
    )
    weights = [0.5, 0.3, 0.2]

    first, second = (compute_scores(rows, weights, candidate_count=4).score for rows in (before, after))
    apart = compute_changes(before, moved, weights, candidate_count=4)
    together = compute_changes(before, after, weights, candidate_count=4)
    nothing = compute_changes(before, before, weights, candidate_count=4)

    assert apart.common_count.tolist() == [0, 0, 0, 0]
    assert apart.differences.difference == pytest.approx(second.value - first.value)
    assert apart.differences.se == pytest.approx(np.sqrt(first.se**2 + second.se**2))
    assert together.common_count.tolist() == [75, 75, 75, 75]
    assert (together.differences.se < apart.differences.se).all()
    assert nothing.differences.se == pytest.approx(0.0)
    assert nothing.differences.p_value == pytest.approx(1.0)


def test_a_candidate_of_one_edition_only_has_no_change() -> None:
    before = make_rows({(0, 0, 1): 3, (0, 0, 2): 1})
    after = make_rows({(0, 0, 3): 3, (0, 0, 4): 2, (1, 0, 3): 3, (1, 0, 4): 0})

    found = compute_changes(before, after, [1.0], candidate_count=2)

    assert np.isnan(found.differences.difference).tolist() == [False, True]
    assert found.differences.difference[0] == pytest.approx(50 / 3)


def test_the_order_of_rows_changes_nothing() -> None:
    rows = make_exam(6)
    order = np.random.default_rng(1).permutation(len(rows.stars))
    names = ("candidate", "discipline", "question", "lineage", "stars", "repeat")
    shuffled = StarRows(**{name: getattr(rows, name)[order] for name in names})

    first = compute_scores(rows, [0.5, 0.3, 0.2], candidate_count=4, reference=0)
    second = compute_scores(shuffled, [0.5, 0.3, 0.2], candidate_count=4, reference=0)

    assert second.score.value == pytest.approx(first.score.value, rel=1e-14)
    assert second.score.se == pytest.approx(first.score.se, rel=1e-12)
    assert second.repeat_sd == pytest.approx(first.repeat_sd, rel=1e-12)


def test_no_rows_give_no_scores() -> None:
    none = np.zeros(0, dtype=np.int64)

    found = compute_scores(
        StarRows(none, none, none, none, np.zeros(0)), [1.0], candidate_count=2, reference=0
    )

    assert np.isnan(found.score.value).all()
    assert found.question_count.tolist() == [0, 0]


def test_stars_that_are_none_are_refused() -> None:
    code = np.zeros(2, dtype=np.int64)
    for wrong in (np.nan, 4.0, -1.0):
        with pytest.raises(ContractError, match="1 of 2 rows"):
            StarRows(code, code, code, code, np.array([1.0, wrong]))


def test_rows_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ContractError, match="more than one discipline"):
        compute_scores(make_rows({(0, 0, 1): 3, (1, 1, 1): 3}), [0.5, 0.5], candidate_count=2)
    with pytest.raises(ContractError, match="candidate 5"):
        compute_scores(make_rows({(5, 0, 1): 3}), [1.0], candidate_count=2)
    with pytest.raises(ContractError, match="codes of lineage"):
        StarRows(*(np.zeros(2, dtype=np.int64),) * 3, np.zeros(1, dtype=np.int64), np.ones(2))


def test_weights_that_do_not_sum_to_one_and_an_unknown_reference_are_refused() -> None:
    rows = make_rows({(0, 0, 1): 3, (0, 0, 2): 3})
    with pytest.raises(UsageError, match=r"sum to 0\.900000"):
        compute_scores(rows, [0.5, 0.4], candidate_count=1)
    with pytest.raises(UsageError, match="numbers from 0"):
        compute_scores(rows, [1.5, -0.5], candidate_count=1)
    with pytest.raises(UsageError, match="reference is candidate 3"):
        compute_scores(rows, [1.0], candidate_count=1, reference=3)
