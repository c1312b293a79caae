from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schemas.errors import ContractError, UsageError
from tasks.statistics.items.equating import (
    EquatedDiscipline,
    combine_disciplines,
    compute_abilities,
    compute_equated,
    compute_own_part,
)
from tasks.statistics.items.graded_model import compute_bend, compute_curves, compute_log_chances
from tasks.statistics.items.graded_response import GradedFit, fit_graded_response
from tasks.statistics.spearman import compute_spearman
from tests.benchmarks.validity_equating import measure_seasons, resample_lineages
from tests.tasks.statistics.simulated import Season, draw_seasons

CANDIDATES, SEASONS = 30, 3


@pytest.fixture(scope="module")
def drawn() -> Season:
    generator = np.random.default_rng(4)
    ability = np.repeat(generator.normal(1.2, 1.0, CANDIDATES + 1)[:, None], SEASONS, axis=1)
    return draw_seasons(generator, ability, questions=60, harder=0.4)


@pytest.fixture(scope="module")
def fit(drawn: Season) -> GradedFit:
    return fit_graded_response(drawn.rows)


def make_discipline(
    score: float, own: float, *, se: float = 0.1, own_se: float = 0.1, covariance: float = 0.0
) -> EquatedDiscipline:
    column = np.array([score])
    return EquatedDiscipline(
        np.array([0]), column, column, column, np.array([se]), np.array([own]), np.array([own_se]),
        np.array([covariance]), np.array([1_000_001]),
    )  # fmt: skip


def test_seasons_that_get_harder_are_put_on_the_first_seasons_scale() -> None:
    found = measure_seasons(3, candidates=30, seasons=4, questions=200, harder=0.25, disciplines=2)

    equated, raw = found.found.score - found.form, found.found.own_score - found.form
    assert np.sqrt(np.mean(equated**2)) < 0.5 * np.sqrt(np.mean(raw**2))
    assert np.sqrt(np.mean(equated**2)) < 3.0
    last = found.season == 3
    assert raw[last].mean() < -5
    assert abs(equated[last].mean()) < 2.5
    rho = compute_spearman(found.found.score, found.truth).rho
    assert rho is not None
    assert rho > 0.97
    held = (found.found.low <= found.truth) & (found.truth <= found.found.high)
    assert held.mean() > 0.8
    assert found.found.is_disagreeing[last].mean() > 0.5
    assert found.found.is_disagreeing[found.season == 0].mean() < 0.3


def test_in_the_first_season_the_equated_score_is_nearly_s(drawn: Season, fit: GradedFit) -> None:
    first = np.arange(CANDIDATES) * SEASONS

    found = compute_equated(drawn.rows, fit, first)

    assert found.score == pytest.approx(found.own_score, abs=0.45)
    assert found.score_se == pytest.approx(found.own_se, rel=0.25)
    assert (found.covariance / found.score_se / found.own_se > 0.8).all()


def test_some_entries_get_what_all_together_get(drawn: Season, fit: GradedFit) -> None:
    every = compute_equated(drawn.rows, fit)
    some = compute_equated(drawn.rows, fit, np.array([7, 3]))

    for name in ("entry", "ability", "ability_se", "score", "score_se", "own_score", "own_se", "covariance"):
        assert getattr(some, name) == pytest.approx(getattr(every, name)[[7, 3]], rel=1e-9)


@pytest.mark.slow
def test_the_jackknife_agrees_with_a_bootstrap_over_lineages(drawn: Season, fit: GradedFit) -> None:
    generator = np.random.default_rng(1)
    entries = np.arange(CANDIDATES * SEASONS)
    expected = compute_equated(drawn.rows, fit, entries).score_se

    scores = []
    for _ in range(16):
        again = resample_lineages(drawn.rows, generator)
        scores.append(compute_equated(again, fit_graded_response(again, start=fit.parameters), entries).score)

    bootstrap = np.std(scores, axis=0, ddof=1)
    assert expected.mean() == pytest.approx(bootstrap.mean(), rel=0.25)


def test_full_and_empty_marks_have_finite_abilities_at_the_ends(drawn: Season, fit: GradedFit) -> None:
    rows = drawn.rows
    stars = rows.stars.copy()
    stars[rows.entry == 0], stars[rows.entry == 3] = 3, 0

    found = compute_equated(replace(rows, stars=stars), fit, np.array([0, 3, 6]))

    assert np.isfinite(found.ability).all()
    assert found.ability[0] > 4
    assert found.ability[1] < -4
    assert found.score[0] > 9.7
    assert found.score[1] < 0.3


def test_abilities_solve_the_weighted_likelihood(drawn: Season, fit: GradedFit) -> None:
    rows = drawn.rows
    entry = 5
    own = np.flatnonzero(rows.entry == entry)
    a, b = fit.discrimination[rows.question[own]], fit.parameters.difficulty[rows.question[own]]
    grid = np.linspace(-3, 6, 9_001)
    likelihood = np.zeros(len(grid))
    information, bias = np.zeros(len(grid)), np.zeros(len(grid))
    for row, one, other in zip(own, a, b, strict=True):
        at = np.full(len(grid), one), np.full(len(grid), other), fit.parameters.thresholds
        likelihood += compute_log_chances(grid, *at)[:, rows.stars[row]]
        curves = compute_curves(grid, *at)
        information += (curves.chance * curves.slope**2).sum(axis=1)
        bias += (compute_bend(curves, at[0]) * curves.slope).sum(axis=1)
    # Warm's equation: the slope of the likelihood and J / (2 I) cancel.
    slope = np.gradient(likelihood, grid) + 0.5 * bias / information
    root = grid[np.flatnonzero(np.diff(np.sign(slope)) < 0)[0]]

    assert compute_abilities(rows, fit)[entry] == pytest.approx(root, abs=2e-3)


def test_what_answers_draw_through_their_questions_is_taken_off(drawn: Season, fit: GradedFit) -> None:
    rows, thresholds = drawn.rows, fit.parameters.thresholds
    entry = 5
    own = np.flatnonzero(rows.entry == entry)
    grid, step = fit.ability[entry], 1e-3
    information = np.zeros((rows.question_count, 2, 2))
    information[:, 0, 0] = fit.parameters.difficulty_sd**-2
    information[:, 1, 1] = fit.parameters.discrimination_sd**-2

    def read(by_ability: float, by_b: float, by_a: float, question: int) -> np.ndarray:
        at = (
            np.array([fit.discrimination[question] * np.exp(by_a)]),
            np.array([fit.parameters.difficulty[question] + by_b]),
        )
        return np.asarray(compute_log_chances(np.array([grid + by_ability]), *at, thresholds)[0])

    everybody = np.flatnonzero(np.isin(rows.question, rows.question[own]))
    for row in everybody:
        question, ability = rows.question[row], np.array([fit.ability[rows.entry[row]]])
        at = np.array([fit.discrimination[question]]), np.array([fit.parameters.difficulty[question]])
        curves = compute_curves(ability, *at, thresholds)
        gradient = np.stack([-curves.slope[0], curves.stretch[0]])
        information[question] += (gradient * curves.chance[0]) @ gradient.T
    expected = 0.0
    for question in rows.question[own]:
        chance = np.exp(read(0, 0, 0, question))
        first, mixed = [], []
        for b, a in ((step, 0.0), (0.0, step)):
            first.append(read(0, b, a, question) - read(0, -b, -a, question))
            mixed.append(
                read(step, b, a, question)
                - read(-step, b, a, question)
                - read(step, -b, -a, question)
                + read(-step, -b, -a, question)
            )
        moved = np.linalg.solve(information[question], np.stack(first) / (2 * step))
        expected += float((chance * np.stack(mixed) / (4 * step**2) * moved).sum())

    assert compute_own_part(rows, fit)[entry] == pytest.approx(expected, rel=1e-3)


def test_an_entry_without_answers_has_no_score(drawn: Season, fit: GradedFit) -> None:
    # The reference is one entry: its places in later seasons are empty.
    empty = CANDIDATES * SEASONS + 1

    found = compute_equated(drawn.rows, fit, np.array([0, empty]))
    combined = combine_disciplines([found], [1.0])

    assert np.isnan(found.score).tolist() == [False, True]
    assert np.isnan(found.ability_se).tolist() == [False, True]
    assert np.isnan(combined.score).tolist() == [False, True]
    assert combined.is_disagreeing.tolist()[1] is False


def test_disciplines_are_combined_with_their_fixed_weights() -> None:
    found = combine_disciplines(
        [make_discipline(8.0, 7.0, se=0.2, covariance=0.01), make_discipline(6.0, 6.0, se=0.1)], [0.25, 0.75]
    )

    assert found.score == pytest.approx([65.0])
    assert found.own_score == pytest.approx([62.5])
    assert found.se == pytest.approx(10 * np.sqrt([0.05**2 + 0.075**2]))
    reach = 1.96 * found.se[0] / (0.65 * 0.35) / 100
    odds = 0.65 / 0.35 * np.exp([-reach, reach])
    assert [found.low[0], found.high[0]] == pytest.approx(100 * odds / (1 + odds), abs=1e-3)
    assert found.difference == pytest.approx([2.5])
    own = (0.25 * 0.1) ** 2 + (0.75 * 0.1) ** 2
    assert found.difference_se == pytest.approx(
        10 * np.sqrt([0.05**2 + 0.075**2 + own - 2 * 0.25**2 * 0.01]), rel=1e-9
    )
    assert found.is_disagreeing.tolist() == [bool(1.96 * found.difference_se[0] < 2.5)]


def test_a_discipline_that_is_missing_makes_the_equated_score_null() -> None:
    found = combine_disciplines([make_discipline(8.0, 8.0), make_discipline(np.nan, np.nan)], [0.5, 0.5])

    assert np.isnan([found.score[0], found.low[0], found.own_score[0]]).all()


def test_what_does_not_fit_together_is_refused(drawn: Season, fit: GradedFit) -> None:
    one = make_discipline(8.0, 8.0)
    with pytest.raises(UsageError, match="1 disciplines and 2 weights"):
        combine_disciplines([one], [0.5, 0.5])
    with pytest.raises(ContractError, match="same entries"):
        combine_disciplines([one, replace(one, entry=np.array([1]))], [0.5, 0.5])
    with pytest.raises(UsageError, match="Entries must be codes"):
        compute_equated(drawn.rows, fit, np.array([100_000]))
    with pytest.raises(UsageError, match="no scale"):
        later = drawn.rows.question_season[drawn.rows.question] > 0
        kept = {name: getattr(drawn.rows, name)[later] for name in ("entry", "question", "stars", "weight")}
        rows = replace(drawn.rows, **kept)
        compute_equated(rows, fit_graded_response(rows))
