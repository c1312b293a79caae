"""Effects of form on a judge: least squares, planted effects, intervals that hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tasks.statistics.judges.style import StyledRows, compute_style_effects, control_scores
from tests.benchmarks.validity_judges import draw_styled, measure_style


def test_effects_are_those_of_least_squares_beside_peoples_stars_and_candidates() -> None:
    rows = draw_styled(1, responses=80, candidates=3)
    found = compute_style_effects(replace(rows, cluster=np.arange(80)))
    dummies = [(rows.candidate == one).astype(float) for one in (1, 2)]
    levels = [(rows.people == star).astype(float) for star in range(4)]
    design = np.column_stack([*levels, *dummies, rows.features])
    solved, *_ = np.linalg.lstsq(design, rows.judge - rows.people, rcond=None)
    assert found.effect.tolist() == pytest.approx(solved[-2:].tolist())

    # With clusters of one the errors are HC3, times (n - 1)/n in the variance.
    inverse = np.linalg.inv(design.T @ design)
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    left = (rows.judge - rows.people - design @ solved) / (1 - leverage)
    variance = inverse @ (design.T * left**2) @ design @ inverse * 79 / 80
    assert found.se.tolist() == pytest.approx(np.sqrt(np.diag(variance))[-2:].tolist())
    assert found.cluster_count == 80


def test_a_candidate_that_writes_long_and_deserves_more_is_no_effect_of_length() -> None:
    found = [compute_style_effects(draw_styled(seed, effects=(0.0, 0.0))) for seed in range(30)]
    assert np.mean([one.effect[0] for one in found]) == pytest.approx(0.0, abs=0.02)
    assert np.mean([(one.p_holm <= 0.05).any() for one in found]) <= 0.15


def test_a_planted_effect_is_found_and_its_interval_holds_it() -> None:
    found = measure_style(60, responses=300)
    assert found["coverage"] >= 0.9
    assert found["found"] >= 0.6
    assert found["found wrongly"] <= 0.12
    assert found["mean effect"] == pytest.approx(0.1, abs=0.015)


def test_a_feature_that_does_not_vary_or_only_with_another_has_no_effect() -> None:
    rows = draw_styled(2)
    features = np.column_stack([rows.features, np.ones(300), rows.features[:, 0] * 2])
    found = compute_style_effects(replace(rows, features=features))
    plain = compute_style_effects(rows)
    assert found.effect[:2].tolist() == pytest.approx(plain.effect.tolist())
    assert np.isnan(found.effect[2:]).all() and np.isnan(found.p_holm[2:]).all()
    assert found.p_holm[:2].tolist() == pytest.approx(plain.p_holm.tolist())


def test_too_few_ratings_tell_no_effect() -> None:
    rows = StyledRows(
        np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([[5.0], [6.0]]), np.zeros(2, int), np.arange(2)
    )
    found = compute_style_effects(rows)
    assert np.isnan(found.effect).all()
    assert found.covariance.tolist() == [[0.0]]


def test_what_form_gains_over_the_mean_candidate_is_taken_off() -> None:
    effects = compute_style_effects(draw_styled(3, responses=600))
    features = np.array([[9.0, 1.0], [7.0, 1.0], [8.0, 1.0]])
    found = control_scores(np.array([2.0, 2.0, 2.0]), np.full(3, 0.05), features, effects)
    gain = effects.effect[0]
    assert found.stars.tolist() == pytest.approx([2.0 - gain, 2.0 + gain, 2.0])
    assert found.se[0] == pytest.approx(np.hypot(0.05, effects.se[0]))
    assert found.se[2] == pytest.approx(0.05)
    assert (found.low < found.stars).all() and (found.stars < found.high).all()
