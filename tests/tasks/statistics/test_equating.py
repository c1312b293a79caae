from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schemas.errors import UsageError
from tasks.statistics.items import GradedRows, compute_equated, fit_graded_response
from tasks.statistics.items.equating import compute_bounds
from tests.benchmarks.guessed_seasons import Answers, Rules, draw_answers
from tests.benchmarks.validity_equating import Scales, arrange_season, equate_seasons, list_form

RULES = Rules(candidates=24, seasons=3, questions=240, disciplines=3, harder=0.4)


def rows_of(drawn: Answers) -> GradedRows:
    """The first season's."""
    return arrange_season(drawn, RULES, 0)[0]


@pytest.fixture(scope="module")
def drawn() -> Answers:
    return draw_answers(3, RULES)


@pytest.fixture(scope="module")
def found(drawn: Answers) -> Scales:
    return equate_seasons(drawn, RULES)


def test_seasons_that_get_harder_are_put_on_the_first_ones_scale(drawn: Answers, found: Scales) -> None:
    equated, raw = found.score - drawn.score, found.own_score - drawn.score

    assert raw[:, 2].mean() < -6
    assert abs(equated[:, 2].mean()) < 4
    assert np.sqrt(np.mean(equated**2)) < 0.65 * np.sqrt(np.mean(raw**2))
    held = (found.low <= drawn.score) & (drawn.score <= found.high)
    assert held.mean() > 0.85
    assert np.corrcoef(found.score.ravel(), drawn.score.ravel())[0, 1] > 0.97
    assert found.is_disagreeing[:, 2].mean() > 0.5
    assert not found.is_disagreeing[:, 0].any()


def test_in_the_first_season_the_equated_score_is_s(found: Scales) -> None:
    assert found.score[:, 0] == pytest.approx(found.own_score[:, 0], abs=0.05)


def test_on_the_published_questions_scores_are_those_of_the_draws_that_they_were_published_of(
    drawn: Answers,
) -> None:
    # A question at its best numbers is another one: its scores were .1 to .3 points higher.
    rows = rows_of(drawn)
    fit = fit_graded_response(rows)
    weights = np.full(rows.discipline_count, 1.0 / rows.discipline_count)

    on_form = compute_equated(rows, fit, weights, form=list_form(rows, fit))

    assert on_form.score == pytest.approx(compute_equated(rows, fit, weights).score, abs=0.1)


def test_errors_grow_with_every_link(found: Scales) -> None:
    se = found.se.mean(axis=0)

    assert se[0] < se[1] < se[2] * 1.02


def test_few_candidates_whose_sets_come_from_one_bank_lean_on_that_rather_than_on_few_answers() -> None:
    rules = Rules(candidates=8, seasons=2, questions=240, disciplines=3, harder=0.0, groups=2)
    drawn = draw_answers(2, rules)
    alone = equate_seasons(drawn, rules)
    together = equate_seasons(drawn, rules, is_same_bank=True)

    def measure(scores: np.ndarray) -> float:
        return float(np.sqrt(np.mean((scores[:, 1] - drawn.score[:, 1]) ** 2)))

    # 4.4 points, 2.2, and 2.3 of S, which takes the sets for equally hard.
    assert measure(together.score) < 0.6 * measure(alone.score)
    assert measure(together.score) < 1.05 * measure(together.own_score)
    assert (together.se[:, 1] < alone.se[:, 1]).all()
    # The first season has nothing to lean on.
    assert together.score[:, 0] == pytest.approx(alone.score[:, 0])


def test_disciplines_add_up_to_the_whole(drawn: Answers) -> None:
    rows = rows_of(drawn)
    equated = compute_equated(rows, fit_graded_response(rows, draws=20), np.array([0.5, 0.3, 0.2]))

    assert equated.discipline_score @ np.array([0.5, 0.3, 0.2]) == pytest.approx(equated.score, abs=0.01)
    # A discipline that leans on the others is surer than its own questions alone would make it.
    assert (equated.discipline_se > equated.se[:, None]).all()


def test_who_refuses_everything_has_nothing_whatever_is_guessed(drawn: Answers) -> None:
    rows = rows_of(drawn)
    stars = np.where(rows.entry == 0, 0, np.where(rows.entry == 1, 3, rows.stars))
    equated = compute_equated(
        replace(rows, stars=stars),
        fit_graded_response(replace(rows, stars=stars), draws=20),
        np.full(3, 1 / 3),
    )

    assert equated.score[0] == pytest.approx(0.0, abs=0.5)
    assert equated.score[1] == pytest.approx(100.0, abs=0.5)
    assert (equated.low >= 0).all()
    assert (equated.high <= 100).all()


def test_weights_are_those_of_the_disciplines(drawn: Answers) -> None:
    rows = rows_of(drawn)
    fit = fit_graded_response(rows, draws=4)

    with pytest.raises(UsageError, match="3 disciplines and 2 weights"):
        compute_equated(rows, fit, np.array([0.5, 0.5]))


def test_bounds_stay_on_the_scale_and_are_wider_towards_its_middle() -> None:
    low, high = compute_bounds(
        np.array([50.0, 98.0, np.nan]), np.array([2.0, 1.5, 1.0]), np.full(3, 1e6), most=100.0
    )

    assert (low[0], high[0]) == pytest.approx((46.09, 53.91), abs=0.05)
    assert high[1] < 100
    assert 98.0 - low[1] > high[1] - 98.0
    assert np.isnan(low[2])
