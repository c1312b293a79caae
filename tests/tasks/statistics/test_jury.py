"""Juries: the published example, the likelihood by terms, closed forms, planted truths."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tasks.statistics.cells import Floats
from tasks.statistics.judges.jury import Confusions, Votes, fit_confusions, hear_jury
from tests.benchmarks.validity_judges import JURIES, draw_votes, measure_jury

# Dawid and Skene (1979), Table 1: 45 patients, three gradings by the first anaesthetist and one by each of four others.
PATIENTS = """
    1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 1211111
    1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121
    1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""


def ask(
    stars: NDArray[Any], judge: list[int], known: Floats | None = None, discipline: NDArray[Any] | None = None
) -> Votes:
    count = len(stars)
    return Votes(
        stars=np.asarray(stars, dtype=np.int64),
        judge=np.array(judge),
        candidate=np.zeros(count, dtype=np.int64),
        discipline=np.zeros(count, dtype=np.int64)
        if discipline is None
        else np.asarray(discipline, dtype=np.int64),
        known=np.full((count, 4), np.nan) if known is None else known,
        cluster=np.arange(count),
    )


def fit_as_published(votes: Votes, judges: int) -> Confusions:
    return fit_confusions(
        votes,
        np.ones(len(votes.candidate)),
        deserved_before=np.zeros((1, 4)),
        given_before=np.zeros((judges, 1, 4, 4)),
    )


def climb_by_hand(
    stars: Floats, judge: list[int], steps: int
) -> tuple[list[float], list[list[list[float]]], list[list[float]]]:
    """The algorithm of the paper, equations 2.3 to 2.5, patient by patient."""
    classes = range(4)
    chances = [[list(row).count(k) / len(row) for k in classes] for row in stars]
    share: list[float] = []
    rates: list[list[list[float]]] = []
    for _ in range(steps):
        share = [sum(one[k] for one in chances) / len(chances) for k in classes]
        rates = []
        for who in sorted(set(judge)):
            counts = [[0.0] * 4 for _ in classes]
            for one, row in zip(chances, stars, strict=True):
                for column, given in enumerate(row):
                    if judge[column] == who:
                        for k in classes:
                            counts[k][int(given)] += one[k]
            rates.append([[value / max(sum(line), 1e-300) for value in line] for line in counts])
        chances = []
        for row in stars:
            weights = list(share)
            for column, given in enumerate(row):
                weights = [weight * rates[judge[column]][k][int(given)] for k, weight in enumerate(weights)]
            chances.append([weight / sum(weights) for weight in weights])
    return share, rates, chances


def test_the_anaesthetists_are_as_published() -> None:
    stars = np.array([[int(one) - 1 for one in row] for row in PATIENTS.split()])
    judge = [0, 0, 0, 1, 2, 3, 4]
    fit = fit_as_published(ask(stars, judge), 5)

    # Table 2 prints two digits.
    assert np.round(fit.deserved[0], 2).tolist() == [0.40, 0.42, 0.11, 0.07]
    assert np.round(fit.given[0, 0], 2).tolist() == [
        [0.89, 0.11, 0.00, 0.00],
        [0.07, 0.88, 0.05, 0.00],
        [0.00, 0.34, 0.66, 0.00],
        [0.00, 0.00, 0.56, 0.44],
    ]
    share, rates, chances = climb_by_hand(stars, judge, 400)
    assert fit.deserved[0] == pytest.approx(share, abs=2e-4)
    assert fit.given[:, 0] == pytest.approx(np.array(rates), abs=2e-3)
    assert fit.chances == pytest.approx(np.array(chances), abs=2e-3)


def test_the_likelihood_is_the_sum_over_all_that_responses_may_deserve() -> None:
    generator = np.random.default_rng(3)
    stars = generator.integers(0, 4, (5, 3))
    stars[1, 2] = -1
    known = np.full((5, 4), np.nan)
    known[4] = [0, 0, 1, 0]
    fit = fit_as_published(ask(stars, [0, 0, 1], known), 2)

    total = 0.0
    for deserved in product(range(4), repeat=5):
        if deserved[4] != 2:
            continue
        chance = 1.0
        for row, star in zip(stars, deserved, strict=True):
            chance *= fit.deserved[0, star]
            for column, given in enumerate(row):
                if given >= 0:
                    chance *= fit.given[[0, 0, 1][column], 0, star, given]
        total += chance
    assert fit.likelihood == pytest.approx(np.log(total), abs=1e-6)


def test_no_model_nearby_is_likelier_with_what_is_believed_beforehand() -> None:
    generator = np.random.default_rng(5)
    deserved = generator.integers(0, 4, 60)
    stars = np.clip(deserved[:, None] + generator.choice([-1, 0, 0, 0, 1], (60, 2)), 0, 3)
    votes = ask(stars, [0, 1])
    before = np.tile(np.eye(4) * 2 + 0.5, (2, 1, 1, 1))
    fit = fit_confusions(votes, np.ones(60), deserved_before=np.ones((1, 4)), given_before=before)

    def measure(share: Floats, given: Floats) -> float:
        joint = np.log(share) + np.log(given[0, :, stars[:, 0]]) + np.log(given[1, :, stars[:, 1]])
        return float(
            np.log(np.exp(joint).sum(axis=1)).sum()
            + np.log(share).sum()
            + (before[:, 0] * np.log(given)).sum()
        )

    share, given = fit.deserved[0], fit.given[:, 0]
    best = measure(share, given)
    assert best == pytest.approx(fit.likelihood, abs=1e-6)
    for _ in range(200):
        near_share = share * np.exp(generator.normal(0, 0.05, 4))
        near = given * np.exp(generator.normal(0, 0.05, given.shape))
        assert measure(near_share / near_share.sum(), near / near.sum(axis=2, keepdims=True)) < best + 1e-4


def test_what_people_know_counts_as_it_was_seen() -> None:
    # Of four responses that deserve 2 the judge gave 2, 2, 3 and 1; half of the raters gave one of them 1.
    stars = np.array([[2], [2], [3], [1]])
    known = np.tile([0.0, 0.0, 1.0, 0.0], (4, 1))
    known[3] = [0.0, 0.5, 0.5, 0.0]
    fit = fit_as_published(ask(stars, [0], known), 1)
    assert fit.deserved[0].tolist() == pytest.approx([0, 0.125, 0.875, 0])
    assert fit.given[0, 0, 2].tolist() == pytest.approx([0, 0.5 / 3.5, 2 / 3.5, 1 / 3.5])
    assert fit.given[0, 0, 1].tolist() == pytest.approx([0, 1, 0, 0])
    assert fit.chances == pytest.approx(known)


def test_raters_may_be_judges_of_their_own_who_gave_stars_twice() -> None:
    generator = np.random.default_rng(8)
    deserved = generator.integers(0, 4, 400)

    def give(error: float) -> NDArray[Any]:
        return np.asarray(
            np.clip(deserved + (generator.random(400) < error) * generator.choice([-1, 1], 400), 0, 3)
        )

    # Two ratings by people, and two judges that err more.
    stars = np.stack([give(0.1), give(0.1), give(0.3), give(0.3)], axis=1)
    jury = hear_jury(ask(stars, [0, 0, 1, 2]), np.ones(1), candidate_count=1)
    people, first, second = jury.information[:, -1]
    assert people > max(first, second)
    assert np.mean(jury.chances.argmax(axis=1) == deserved) > np.mean(stars[:, 0] == deserved) + 0.03


def test_a_discipline_of_which_little_is_known_has_what_the_judge_does_in_all() -> None:
    generator = np.random.default_rng(2)
    deserved = generator.integers(0, 4, 605)
    discipline = np.r_[np.zeros(300), np.ones(300), np.full(5, 2)].astype(int)
    # The judge gives a star too many in half of the first discipline.
    lean = np.where(discipline == 0, 0.5, 0.1)
    stars = np.minimum(3, deserved + (generator.random(605) < lean))
    known = np.eye(4)[deserved]
    votes = ask(np.stack([stars, deserved], axis=1), [0, 1], known, discipline)
    jury = hear_jury(votes, np.full(3, 1 / 3), candidate_count=1)
    kept = jury.given[0, :, 1, 1]
    assert kept[0] == pytest.approx(0.5, abs=0.1)
    assert kept[1] == pytest.approx(0.87, abs=0.06)
    assert abs(kept[2] - kept[3]) < 0.1
    # It tells less where it errs, and the other judge tells all.
    assert jury.information[0, 0] < jury.information[0, 1] < jury.information[1, 1]
    assert jury.bias[0, 0] == pytest.approx(0.375, abs=0.1)


def test_what_nobody_judged_earns_nothing_and_ratings_alone_have_the_error_of_their_mean() -> None:
    known = np.eye(4)[[0, 1, 2, 3, 3, 2, 1, 3]]
    votes = ask(np.zeros((8, 2)), [0, 1], known)
    jury = hear_jury(votes, np.ones(1), candidate_count=1)
    stars = np.array([0, 1, 2, 3, 3, 2, 1, 3])
    assert jury.score.stars[0] == pytest.approx(stars.mean())
    assert jury.score.se[0] == pytest.approx(stars.std(ddof=1) / np.sqrt(8))

    is_silent = np.arange(8)[:, None] == 7
    silent = replace(
        votes,
        stars=np.where(is_silent, -1, np.zeros((8, 2), dtype=int)),
        known=np.where(is_silent, np.nan, known),
    )
    quiet = hear_jury(silent, np.ones(1), candidate_count=1)
    assert quiet.score.stars[0] == pytest.approx(stars[:7].sum() / 8)
    assert quiet.chances[7].tolist() == [0, 0, 0, 0]


def test_a_candidate_without_a_discipline_that_has_weight_has_no_score() -> None:
    votes, _ = draw_votes(1, candidates=3, questions=40)
    lacking = replace(
        votes, discipline=np.where(votes.candidate == 1, np.minimum(votes.discipline, 8), votes.discipline)
    )
    jury = hear_jury(lacking, np.full(10, 0.1), candidate_count=3)
    assert np.isnan(jury.score.stars).tolist() == [False, True, False]


def test_fits_that_leave_out_a_response_do_not_know_its_rating() -> None:
    votes, _ = draw_votes(4, candidates=4, questions=60, ratings=40)
    jury = hear_jury(votes, np.full(10, 0.1), candidate_count=4)
    is_rated = ~np.isnan(votes.known[:, 0])
    people = votes.known[is_rated] @ np.arange(4)
    assert (jury.chances[is_rated] @ np.arange(4)).tolist() == pytest.approx(people.tolist())
    row = int(np.flatnonzero(is_rated)[0])
    other = votes.known.copy()
    other[row] = np.roll(other[row], 1)
    again = hear_jury(replace(votes, known=other), np.full(10, 0.1), candidate_count=4)
    assert again.heard_apart[row] == pytest.approx(jury.heard_apart[row], abs=1e-3)
    assert again.heard[row] != pytest.approx(jury.heard[row], abs=1e-9)


@pytest.mark.parametrize(
    "world",
    ["two judges, 120 ratings in all", pytest.param("three judges, no ratings", marks=pytest.mark.long)],
)
def test_a_jury_is_nearer_to_the_truth_than_its_first_judge_and_its_interval_holds_it(world: str) -> None:
    found = measure_jury(8, **JURIES[world])
    assert found["jury"][0] >= 0.88
    assert found["jury"][1] < found["first judge alone"][1] * 0.8
    assert found["first judge alone"][0] < 0.8
