from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schemas.errors import ContractError, UsageError
from tasks.statistics.items.graded_model import (
    GradedRows,
    compute_bend,
    compute_curves,
    compute_information,
    compute_log_chances,
)
from tasks.statistics.items.graded_response import fit_graded_response
from tasks.statistics.items.question_fit import compute_question_fit
from tests.tasks.statistics.simulated import Season, draw_seasons

# LSAT section 6: 1,000 persons, five items, how often each pattern of right answers 00000 ... 11111 came (Bock and Lieberman
# 1970). Two-parameter estimates as published with the R packages ltm and mirt: log likelihood -2466.653.
LSAT = (
    3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15, 10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298,
)  # fmt: skip
LSAT_DIFFICULTY = (-3.3597, -1.3696, -0.2799, -1.8659, -3.1236)
LSAT_DISCRIMINATION = (0.8254, 0.7229, 0.8905, 0.6886, 0.6575)


def make_lsat() -> GradedRows:
    patterns = np.array([[int(digit) for digit in f"{number:05b}"] for number in range(32)])
    stars = np.repeat(patterns, LSAT, axis=0)
    person, item = np.indices(stars.shape)
    return GradedRows(
        entry=person.ravel(),
        question=item.ravel(),
        stars=stars.ravel(),
        weight=np.ones(stars.size),
        entry_edition=np.zeros(len(stars), dtype=np.int64),
        question_season=np.zeros(5, dtype=np.int64),
        question_lineage=np.arange(5),
        most_stars=1,
    )


def draw_three_seasons(seed: int, candidates: int = 40, questions: int = 60) -> Season:
    generator = np.random.default_rng(seed)
    ability = np.repeat(generator.normal(1.2, 1.0, candidates)[:, None], 3, axis=1)
    return draw_seasons(generator, ability, questions=questions, harder=0.3)


@pytest.fixture(scope="module")
def drawn() -> Season:
    return draw_three_seasons(4)


def test_the_published_estimates_of_the_lsat_are_found() -> None:
    fit = fit_graded_response(make_lsat(), has_priors=False, tolerance=1e-5)

    found = fit.parameters
    assert fit.is_converged
    assert fit.log_likelihood == pytest.approx(-2466.653, abs=2e-3)
    assert fit.discrimination * found.ability_sd == pytest.approx(LSAT_DISCRIMINATION, abs=2e-3)
    difficulty = (found.difficulty - found.edition_mean[0]) / found.ability_sd
    assert difficulty == pytest.approx(LSAT_DIFFICULTY, abs=6e-3)


@pytest.mark.parametrize("thresholds", [np.array([-1.0, 0.2, 0.8]), np.array([0.0])])
def test_the_derivatives_are_those_of_the_chances(thresholds: np.ndarray) -> None:
    generator = np.random.default_rng(1)
    ability, b = generator.normal(0, 2, 30), generator.normal(0, 2, 30)
    a = np.exp(generator.normal(0, 0.4, 30))
    found = compute_curves(ability, a, b, thresholds)
    step = 1e-5

    def chances(by: float = 0.0, steeper: float = 0.0) -> np.ndarray:
        return compute_log_chances(ability + by, a * np.exp(steeper), b, thresholds)

    assert found.chance == pytest.approx(np.exp(chances()))
    assert found.chance.sum(axis=1) == pytest.approx(1.0)
    assert found.slope == pytest.approx((chances(step) - chances(-step)) / (2 * step), abs=1e-6)
    assert found.stretch == pytest.approx((chances(0, step) - chances(0, -step)) / (2 * step), abs=1e-6)
    wide = 1e-3
    bend = (np.exp(chances(wide)) - 2 * np.exp(chances()) + np.exp(chances(-wide))) / wide**2
    assert compute_bend(found, a) == pytest.approx(bend, abs=1e-5)
    assert compute_information(found)[0] == pytest.approx((found.chance * found.slope**2).sum(axis=1))


def test_abilities_far_beyond_a_question_overflow_nowhere() -> None:
    far = np.array([900.0, -900.0])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        found = compute_curves(far, np.ones(2) * 3, np.zeros(2), np.array([-1.0, 0.0, 1.0]))
        log_chances = compute_log_chances(far, np.ones(2) * 3, np.zeros(2), np.array([-1.0, 0.0, 1.0]))

    assert found.chance.tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]
    assert np.isfinite(log_chances).all()


def test_drawn_parameters_are_found_again_and_seasons_are_linked() -> None:
    drawn = draw_three_seasons(4, candidates=80, questions=100)
    fit = fit_graded_response(drawn.rows)

    first = drawn.rows.question_season == 0
    truth = drawn.difficulty - drawn.difficulty[first].mean()
    assert fit.is_converged
    assert np.corrcoef(fit.parameters.difficulty, truth)[0, 1] > 0.97
    assert np.corrcoef(np.log(fit.discrimination), np.log(drawn.discrimination))[0, 1] > 0.6
    assert fit.parameters.thresholds == pytest.approx([-0.9, 0.0, 0.9], abs=0.12)
    # Twice .3 logits harder, and by what was drawn: the link holds to a quarter of a logit.
    last = drawn.rows.question_season == 2
    assert fit.parameters.difficulty[last].mean() == pytest.approx(truth[last].mean(), abs=0.25)
    z = (fit.parameters.difficulty - truth)[first] / fit.difficulty_se[first]
    assert 0.7 < z.std() < 1.4


def test_the_scale_is_that_of_the_first_season(drawn: Season) -> None:
    found = fit_graded_response(drawn.rows).parameters

    first = drawn.rows.question_season == 0
    assert found.difficulty[first].mean() == pytest.approx(0, abs=1e-9)
    assert found.log_discrimination[first].mean() == pytest.approx(0, abs=1e-9)
    assert found.thresholds.sum() == pytest.approx(0, abs=1e-9)


def test_a_warm_start_takes_fewer_rounds_and_gives_the_same(drawn: Season) -> None:
    cold = fit_graded_response(drawn.rows)
    start = replace(cold.parameters, difficulty=cold.parameters.difficulty.copy())
    start.difficulty[::7] = np.nan

    warm = fit_graded_response(drawn.rows, start=start)

    assert warm.is_converged
    assert warm.round_count < cold.round_count
    assert warm.ability == pytest.approx(cold.ability, abs=0.01)


def test_the_same_rows_give_the_same_numbers(drawn: Season) -> None:
    first, second = fit_graded_response(drawn.rows), fit_graded_response(drawn.rows)

    assert first.parameters.difficulty.tolist() == second.parameters.difficulty.tolist()
    assert first.log_likelihood == second.log_likelihood


def test_three_repeats_of_a_third_each_are_one_answer(drawn: Season) -> None:
    rows = drawn.rows
    thrice = replace(
        rows,
        entry=np.tile(rows.entry, 3),
        question=np.tile(rows.question, 3),
        stars=np.tile(rows.stars, 3),
        weight=np.tile(rows.weight / 3, 3),
    )

    once, repeated = fit_graded_response(rows), fit_graded_response(thrice)

    assert repeated.parameters.difficulty == pytest.approx(once.parameters.difficulty, abs=1e-6)
    assert repeated.answer_weight == pytest.approx(once.answer_weight)


def test_a_question_that_all_answered_alike_has_a_finite_difficulty(drawn: Season) -> None:
    rows = drawn.rows
    stars = rows.stars.copy()
    stars[rows.question == 3], stars[rows.question == 4] = 3, 0

    fit = fit_graded_response(replace(rows, stars=stars))

    assert fit.is_converged
    difficulty = fit.parameters.difficulty
    assert np.isfinite(difficulty).all()
    assert np.isfinite(fit.difficulty_se).all()
    assert difficulty[3] < -2
    assert difficulty[4] > 3
    assert fit.difficulty_se[3] > 2 * np.median(fit.difficulty_se)


def test_what_nobody_answered_stands_at_the_mean_and_disturbs_nobody(drawn: Season) -> None:
    rows = drawn.rows
    wider = replace(
        rows,
        entry_edition=np.append(rows.entry_edition, 3),
        question_season=np.append(rows.question_season, [1, 3]),
        question_lineage=np.append(rows.question_lineage, [9_000, 9_001]),
    )

    plain, fit = fit_graded_response(rows), fit_graded_response(wider)

    assert fit.is_converged
    assert fit.parameters.difficulty[:-2] == pytest.approx(plain.parameters.difficulty, abs=2e-3)
    assert fit.parameters.difficulty[-2] == pytest.approx(fit.parameters.season_mean[1])
    assert fit.answer_weight[-2:].tolist() == [0.0, 0.0]


def test_a_fit_that_was_cut_short_says_so(drawn: Season) -> None:
    fit = fit_graded_response(drawn.rows, most_rounds=2)

    assert not fit.is_converged
    assert fit.round_count == 2
    assert fit.last_change > 0


def test_a_wrong_key_goes_to_review_and_few_others_do(drawn: Season) -> None:
    rows = drawn.rows
    stars = rows.stars.copy()
    chosen = int(np.argmin(np.abs(drawn.difficulty - 1.2)))
    stars[rows.question == chosen] = 3 - stars[rows.question == chosen]
    wrong = replace(rows, stars=stars)

    found = compute_question_fit(wrong, fit_graded_response(wrong))

    assert found.needs_review[chosen]
    assert found.is_flat[chosen]
    assert found.needs_review.sum() <= 5
    assert found.slope[found.slope_se < 0.5].min() == found.slope[chosen]
    assert np.median(found.slope) == pytest.approx(1.0, abs=0.15)
    others = np.arange(rows.question_count) != chosen
    # A question fits its own forty answers better than chance would have it, by two parameters of forty.
    assert 0.85 < found.infit[others].mean() < 1.02
    assert 0.8 < found.outfit[others].mean() < 1.1


def test_a_question_with_few_answers_is_never_sent_to_review(drawn: Season) -> None:
    rows = drawn.rows
    kept = (rows.question != 5) | (np.arange(len(rows.stars)) < 2_000)
    kept &= (rows.question != 5) | (np.cumsum(rows.question == 5) <= 6)
    few = replace(
        rows, **{name: getattr(rows, name)[kept] for name in ("entry", "question", "stars", "weight")}
    )

    found = compute_question_fit(few, fit_graded_response(few))

    assert not found.needs_review[5]


def test_rows_that_are_none_are_refused(drawn: Season) -> None:
    rows = drawn.rows
    with pytest.raises(ContractError, match="whole numbers from 0 to 3"):
        replace(rows, stars=rows.stars + 2)
    with pytest.raises(ContractError, match="whole numbers from 0 to 3"):
        replace(rows, stars=rows.stars.astype(float))
    with pytest.raises(ContractError, match="weight above 0"):
        replace(rows, weight=rows.weight * 0)
    with pytest.raises(ContractError, match="name one entry"):
        replace(rows, entry=rows.entry + 10_000)
    none = {name: getattr(rows, name)[:0] for name in ("entry", "question", "stars", "weight")}
    with pytest.raises(UsageError, match="no answers to fit"):
        fit_graded_response(replace(rows, **none))
    start = fit_graded_response(rows, most_rounds=1).parameters
    with pytest.raises(UsageError, match="Put NaN"):
        fit_graded_response(rows, start=replace(start, difficulty=start.difficulty[1:]))
