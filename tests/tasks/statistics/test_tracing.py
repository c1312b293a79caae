"""Whose a leak is, by hand and another computation, and how seldom innocents are accused."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from tasks.statistics.leaks import tracing
from tasks.statistics.leaks.tracing import ACCUSED, PRIOR_NOBODY, PRIOR_SIZES, trace_leak
from tests.benchmarks.leak_tracing import SCENES, Scene, measure_scene


def test_two_organisations_and_two_questions_by_hand() -> None:
    # A met 10 questions of 100, both leaked ones among them; B met 20, the first of them. Noise is a tenth.
    held = np.array([[True, True], [True, False]])
    found = trace_leak(held, np.array([10.0, 20.0]), np.full(2, 0.01), np.full(2, 0.1))
    alone_a = (0.9 * 10 + 0.1) ** 2
    alone_b = (0.9 * 5 + 0.1) * 0.1
    both = (0.9 * 7.5 + 0.1) * (0.9 * 5 + 0.1)
    weights = [0.92, 0.03 * alone_a, 0.03 * alone_b, 0.015 * both]
    assert found.nobody == pytest.approx(weights[0] / sum(weights))
    assert found.members == pytest.approx(
        [(weights[1] + weights[3]) / sum(weights), (weights[2] + weights[3]) / sum(weights)]
    )
    assert [members for members, _ in found.coalitions] == [(0,), (0, 1), (1,)]
    assert found.left_out == 0


def test_every_coalition_is_weighed_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "SHOWN", 100)
    generator = np.random.default_rng(3)
    held = generator.random((7, 9)) < 0.4
    sizes, background, noise = (
        generator.integers(50, 90, 7).astype(float),
        generator.random(9) / 50,
        generator.random(9) / 4,
    )
    weights: dict[tuple[int, ...], float] = {(): PRIOR_NOBODY}
    for size, prior in enumerate(PRIOR_SIZES, start=1):
        for members in combinations(range(7), size):
            chance = sum(held[member] / sizes[member] for member in members) / size
            weights[members] = (
                prior / comb(7, size) * float(np.prod((1 - noise) * chance / background + noise))
            )
    total = sum(weights.values())
    found = trace_leak(held, sizes, background, noise)
    assert dict(found.coalitions) == pytest.approx(
        {members: weight / total for members, weight in weights.items() if members}
    )
    assert found.nobody == pytest.approx(weights[()] / total)
    for member in range(7):
        share = sum(weight for members, weight in weights.items() if member in members) / total
        assert found.members[member] == pytest.approx(share)


def test_a_text_without_a_question_of_the_bank_leaves_the_prior() -> None:
    found = trace_leak(np.zeros((3, 0), dtype=bool), np.full(3, 5.0), np.zeros(0), np.zeros(0))
    assert found.nobody == pytest.approx(PRIOR_NOBODY / (PRIOR_NOBODY + sum(PRIOR_SIZES[:2])))
    assert found.left_out == 0


def test_nobody_of_them_is_so_likely_beforehand_that_one_in_a_thousand_innocent_leaks_accuses_at_most() -> (
    None
):
    assert sum(PRIOR_SIZES) == pytest.approx(1 - PRIOR_NOBODY)
    assert (1 - PRIOR_NOBODY) / PRIOR_NOBODY * (1 - ACCUSED) / ACCUSED < 0.001


@pytest.mark.parametrize(
    ("scene", "leaks"),
    [
        ("one organisation, 20 questions word for word", 100),
        ("two organisations, 20 word for word", 40),
        ("one of a group, all lineages marked, 24 variants", 40),
    ],
)
def test_who_leaks_twenty_questions_is_named(scene: str, leaks: int) -> None:
    found = measure_scene(SCENES[scene], leaks)
    assert found.all_named >= 0.95 * leaks
    assert found.wrongly_accused == 0


def test_of_organisations_that_share_their_sets_none_is_accused() -> None:
    found = measure_scene(Scene(is_shared=True), 40)
    assert (found.all_named, found.wrongly_accused) == (0, 0)


def test_two_variants_are_too_few_to_mark_those_who_share_their_lineages() -> None:
    # Three innocent members hold seven eighths of what somebody else leaks from the same lineages: docs/tracing.md says so.
    leaks = 40
    found = measure_scene(SCENES["somebody else with a group's lineages, all marked, 2 variants"], leaks)
    assert found.wrongly_accused > 0.01 * leaks
