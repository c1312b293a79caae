from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from schemas.errors import ContractError, UsageError
from tasks.statistics.items.chain import Chain
from tasks.statistics.items.graded_model import (
    GradedRows,
    KnownQuestions,
    Scale,
    compute_at_least,
    compute_chances,
    flatten,
    from_steps,
    to_steps,
)
from tasks.statistics.items.graded_response import GradedFit, fit_graded_response
from tasks.statistics.items.question_fit import compute_question_fit

# LSAT section 6: 1,000 persons, five items, how often each pattern of right answers 00000 ... 11111 came (Bock and Lieberman
# 1970). Two-parameter estimates as published with the R packages ltm and mirt: log likelihood -2466.653.
LSAT = (
    3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15, 10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298,
)  # fmt: skip
# Section 7 of the same test and the printed estimates of mirt (LSAT7, intercepts and slopes): -2658.805 with two parameters,
# -2658.055 with three. One parameter for section 6: -2466.938 (Thissen 1982; Rizopoulos 2006, section 3.1).
LSAT7 = (
    12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18, 136, 32, 308,
)  # fmt: skip
LSAT7_SLOPE = (0.988, 1.081, 1.706, 0.765, 0.736)
LSAT7_INTERCEPT = (1.856, 0.808, 1.804, 0.486, 1.855)
RASCH_DIFFICULTY = (-3.6153, -1.3224, -0.3176, -1.7301, -2.7802)
LSAT_DIFFICULTY = (-3.3597, -1.3696, -0.2799, -1.8659, -3.1236)
LSAT_DISCRIMINATION = (0.8254, 0.7229, 0.8905, 0.6886, 0.6575)
PLACES, SHARES = np.polynomial.hermite_e.hermegauss(61)
SHARES = SHARES / SHARES.sum()
PATTERNS = np.array([[int(digit) for digit in f"{number:05b}"] for number in range(32)])


def make_lsat(counts: Sequence[int] = LSAT) -> GradedRows:
    stars = np.repeat(PATTERNS, counts, axis=0)
    person, item = np.indices(stars.shape)
    return GradedRows(
        entry=person.ravel(),
        question=item.ravel(),
        stars=stars.ravel(),
        weight=np.ones(stars.size),
        entry_edition=np.zeros(len(stars), dtype=np.int64),
        question_discipline=np.zeros(5, dtype=np.int64),
        question_home=np.zeros(5, dtype=np.int64),
        question_cluster=np.arange(5),
        question_format=np.zeros(5, dtype=np.int64),
        format_chance=np.zeros(1),
        most_stars=1,
    )


def draw_rows(
    seed: int,
    ability: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    *,
    asymptotes: tuple[float, ...] = (0.0, 0.0, 0.0),
    chance: float = 0.0,
    together: float = 0.0,
    passage: int = 1,
) -> GradedRows:
    """Answers by abilities (entries × disciplines) to questions shared out over disciplines."""
    random = np.random.default_rng(seed)
    entries, disciplines = ability.shape
    discipline = np.arange(len(b)) % disciplines
    cluster = discipline + disciplines * (np.arange(len(b)) // disciplines // passage)
    felt = (
        random.normal(0.0, together, (entries, int(cluster.max()) + 1))
        if together
        else np.zeros((entries, len(b)))
    )
    place = ability[:, discipline] + felt[:, cluster] - b
    chances = compute_chances(place, a, np.array([-0.8, 0.0, 0.8]), np.array(asymptotes))
    stars = (random.random((*place.shape, 1)) > chances.cumsum(axis=2)[..., :3]).sum(axis=2)
    entry, question = np.indices(place.shape)
    return GradedRows(
        entry=entry.ravel(),
        question=question.ravel(),
        stars=stars.ravel(),
        weight=np.ones(place.size),
        entry_edition=np.zeros(entries, dtype=np.int64),
        question_discipline=discipline,
        question_home=np.zeros(len(b), dtype=np.int64),
        question_cluster=cluster,
        question_format=np.zeros(len(b), dtype=np.int64),
        format_chance=np.array([chance]),
    )


def draw_questions(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return np.exp(random.normal(0.0, 0.3, count)), random.normal(0.0, 1.2, count)


@pytest.fixture(scope="module")
def truth() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    ability = random.normal(0.8, 0.9, (40, 1)) + random.normal(0.0, 0.3, (40, 3))
    return ability, *draw_questions(4, 180)


@pytest.fixture(scope="module")
def rows(truth: tuple[np.ndarray, np.ndarray, np.ndarray]) -> GradedRows:
    return draw_rows(5, *truth)


@pytest.fixture(scope="module")
def fit(rows: GradedRows) -> GradedFit:
    return fit_graded_response(rows)


def weigh_patterns(a: np.ndarray, b: np.ndarray, floor: np.ndarray | float = 0.0) -> np.ndarray:
    """Chance of each pattern at each ability of a standard normal population, pattern × place."""
    right = np.stack(
        [
            compute_at_least(PLACES - b[item], np.full(len(PLACES), a[item]), np.zeros(1), np.full(1, low))[
                :, 0
            ]
            for item, low in enumerate(np.broadcast_to(floor, len(a)))
        ],
        axis=1,
    )
    return np.asarray(np.where(PATTERNS[:, None, :] == 1, right, 1.0 - right).prod(axis=2) * SHARES)


@pytest.mark.parametrize(
    ("counts", "slope", "difficulty", "published"),
    [
        (LSAT, (0.7551,) * 5, RASCH_DIFFICULTY, -2466.938),
        (LSAT, LSAT_DISCRIMINATION, LSAT_DIFFICULTY, -2466.653),
        (LSAT7, LSAT7_SLOPE, -np.array(LSAT7_INTERCEPT) / LSAT7_SLOPE, -2658.805),
    ],
)
def test_the_curves_give_the_published_likelihoods_of_the_lsat(
    counts: Sequence[int], slope: Sequence[float], difficulty: Sequence[float], published: float
) -> None:
    of_pattern = weigh_patterns(np.array(slope), np.array(difficulty)).sum(axis=1)

    assert np.array(counts) @ np.log(of_pattern) == pytest.approx(published, abs=2e-3)


def test_the_best_curves_with_a_floor_have_the_published_likelihood_of_three_parameters() -> None:
    def lose(values: np.ndarray) -> float:
        a, b, odds = values.reshape(3, 5)
        of_pattern = weigh_patterns(a, b, 1.0 / (1.0 + np.exp(-odds))).sum(axis=1)
        return float(-np.array(LSAT7) @ np.log(of_pattern))

    start = np.concatenate([np.ones(5), -np.array(LSAT7_INTERCEPT), np.full(5, -1.0)])

    from scipy.optimize import minimize

    assert -minimize(lose, start, method="BFGS").fun == pytest.approx(-2658.055, abs=2e-3)


@pytest.mark.parametrize("floor", [pytest.param(0.0, marks=pytest.mark.long), 0.25])
def test_abilities_of_a_known_test_are_those_of_the_likelihood_itself(floor: float) -> None:
    # What five known questions say of a person, and the population they come from, by the chain and by adding up the likelihood.
    a = np.array(LSAT7_SLOPE)
    b = -np.array(LSAT7_INTERCEPT) / a + floor
    weight = weigh_patterns(a, b, floor)
    random = np.random.default_rng(5)
    counts = random.multinomial(1_000, weight.sum(axis=1) / weight.sum())
    rows = replace(make_lsat(counts.tolist()), format_chance=np.full(1, floor))
    known = KnownQuestions(
        is_known=np.ones(5, dtype=bool),
        difficulty=b,
        difficulty_se=np.full(5, 1e-3),
        log_discrimination=np.log(a),
        log_discrimination_se=np.full(5, 1e-3),
        correlation=np.zeros(5),
        edition=np.zeros(5, dtype=np.int64),
        shared=np.zeros((1, 1, 1)),
    )
    scale = Scale(np.zeros((1, 1)), np.full((1, 1), floor), 0.0)

    fit = fit_graded_response(rows, known=known, scale=scale, draws=900)

    # The population's mean and spread are estimated from those 1,000, with errors of some .05.
    variance = fit.ability.var() + np.mean(fit.ability_sd**2)
    assert fit.ability.mean() == pytest.approx(0.0, abs=0.15)
    assert np.sqrt(variance) == pytest.approx(1.0, abs=0.15)
    middle = fit.ability.mean() + np.sqrt(variance) * PLACES
    share = np.stack([_tell(pattern, middle, a, b, floor) for pattern in PATTERNS]) * SHARES
    expected = share @ middle / share.sum(axis=1)
    spread = np.sqrt(share @ middle**2 / share.sum(axis=1) - expected**2)
    of_person = np.repeat(np.arange(32), counts)
    often = np.flatnonzero(counts >= 10)
    assert len(often) >= 15
    for pattern in often:
        mine = of_person == pattern
        assert fit.ability[mine, 0].mean() == pytest.approx(expected[pattern], abs=0.06), pattern
        assert np.sqrt(np.mean(fit.ability_sd[mine, 0] ** 2)) == pytest.approx(spread[pattern], rel=0.06)


def test_a_known_question_that_nobody_answers_is_drawn_as_it_was_published() -> None:
    # A few of the people: what they answer says nothing of a question that none of them was asked.
    rows = make_lsat([count // 20 for count in LSAT7])
    rows = replace(
        rows,
        question_discipline=np.zeros(6, dtype=np.int64),
        question_home=np.zeros(6, dtype=np.int64),
        question_cluster=np.arange(6),
        question_format=np.zeros(6, dtype=np.int64),
    )
    a, b = np.array([*LSAT7_SLOPE, 1.2]), np.array([*(-np.array(LSAT7_INTERCEPT) / LSAT7_SLOPE), 0.5])
    known = KnownQuestions(
        is_known=np.ones(6, dtype=bool),
        difficulty=b,
        difficulty_se=np.array([*np.full(5, 1e-3), 0.4]),
        log_discrimination=np.log(a),
        log_discrimination_se=np.array([*np.full(5, 1e-3), 0.25]),
        correlation=np.array([*np.zeros(5), 0.8]),
        edition=np.zeros(6, dtype=np.int64),
        shared=np.zeros((1, 1, 1)),
    )

    found = fit_graded_response(
        rows, known=known, scale=Scale(np.zeros((1, 1)), np.zeros((1, 1)), 0.0), draws=400
    )

    drawn_b, drawn_a = found.draws.difficulty[:, 5], found.draws.log_discrimination[:, 5]
    assert (drawn_b.mean(), drawn_b.std()) == pytest.approx((0.5, 0.4), abs=0.08)
    assert (drawn_a.mean(), drawn_a.std()) == pytest.approx((np.log(1.2), 0.25), abs=0.05)
    assert np.corrcoef(drawn_b, drawn_a)[0, 1] == pytest.approx(0.8, abs=0.08)


def test_errors_of_one_question_go_together_as_in_the_draws(fit: GradedFit) -> None:
    for question in (0, 70, 170):
        both = np.corrcoef(fit.draws.difficulty[:, question], fit.draws.log_discrimination[:, question])[0, 1]
        assert fit.correlation[question] == pytest.approx(both, abs=1e-6)


def _tell(pattern: np.ndarray, ability: np.ndarray, a: np.ndarray, b: np.ndarray, floor: float) -> np.ndarray:
    """The likelihood of a pattern by ability, written out."""
    right = floor + (1.0 - floor) / (1.0 + np.exp(-a * (ability[:, None] - b)))
    return np.asarray(np.where(pattern == 1, right, 1.0 - right).prod(axis=1))


def test_the_published_estimates_of_the_lsat_are_found_within_their_errors() -> None:
    fit = fit_graded_response(make_lsat())

    # Ours are on the scale of the questions; theirs on that of the persons.
    sd = float(
        fit.ability.std()
        / np.sqrt(1.0 - np.mean(fit.ability_sd**2) / (fit.ability.var() + np.mean(fit.ability_sd**2)))
    )
    difficulty = (fit.difficulty - fit.ability.mean()) / sd
    assert np.corrcoef(difficulty, LSAT_DIFFICULTY)[0, 1] > 0.995
    assert fit.discrimination * sd == pytest.approx(LSAT_DISCRIMINATION, abs=0.25)


def test_the_likelihood_of_a_chain_is_that_of_the_model_written_out(
    truth: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    rows = draw_rows(8, *truth, asymptotes=(0.25, 0.1, 0.02), chance=0.25, together=0.5, passage=4)
    chain = Chain(rows, seed=3)
    chain.run(60, 1, 1)
    now, layout = chain._state, chain._layout

    total = 0.0
    for row in range(len(layout.stars)):
        question, person = layout.question[row], layout.person[row]
        discipline = rows.question_discipline[question]
        felt = now.ability[person]
        if layout.passage[row] < layout.passage_count:
            felt += now.passage[layout.passage[row]]
        at_least = [1.0]
        for star in range(3):
            z = np.exp(now.log_discrimination[question]) * (
                felt - now.difficulty[question] - now.thresholds[discipline, star]
            )
            floor, top = now.asymptotes[0, star], now.ceilings[layout.person_entry[person], star]
            at_least.append(floor + (top - floor) / (1.0 + np.exp(-z)))
        at_least.append(0.0)
        total += np.log(max(at_least[layout.stars[row]] - at_least[layout.stars[row] + 1], 1e-9))
    assert chain._log.sum() == pytest.approx(total, rel=1e-4)


def test_drawn_parameters_are_found_again_with_their_errors(
    truth: tuple[np.ndarray, np.ndarray, np.ndarray], fit: GradedFit, rows: GradedRows
) -> None:
    _, a, b = truth
    for discipline in range(3):
        mine = rows.question_discipline == discipline
        assert fit.difficulty[mine].mean() == pytest.approx(0.0, abs=1e-9)
        assert np.log(fit.discrimination[mine]).mean() == pytest.approx(0.0, abs=0.05)
    centred = b - np.bincount(rows.question_discipline, weights=b)[rows.question_discipline] / 60
    z = (fit.difficulty - centred) / fit.difficulty_se
    # Deviations of 1.2 with errors of .4: correlated .95 at most.
    assert np.corrcoef(fit.difficulty, centred)[0, 1] > 0.92
    assert np.corrcoef(np.log(fit.discrimination), np.log(a))[0, 1] > 0.5
    assert 0.7 < z.std() < 1.4
    assert fit.scale.asymptotes.tolist() == [[0.0, 0.0, 0.0]]


def test_the_same_rows_give_the_same_numbers() -> None:
    rows = make_lsat([count // 20 for count in LSAT])
    first, again = (fit_graded_response(rows, draws=4) for _ in range(2))

    assert again.difficulty.tolist() == first.difficulty.tolist()
    assert again.ability.tolist() == first.ability.tolist()


def test_what_is_guessed_is_found_and_shared_by_a_format() -> None:
    random = np.random.default_rng(5)
    ability = np.repeat(random.normal(-0.5, 1.2, (60, 1)), 3, axis=1)
    a, b = draw_questions(6, 240)
    rows = draw_rows(7, ability, a, b, asymptotes=(0.25, 0.08, 0.02), chance=0.25)
    found = fit_graded_response(rows, draws=25)

    assert found.scale.asymptotes[0] == pytest.approx([0.25, 0.08, 0.02], abs=0.06)


def test_what_passages_have_in_common_is_found() -> None:
    random = np.random.default_rng(5)
    ability = np.repeat(random.normal(0.5, 0.9, (40, 1)), 3, axis=1)
    a, b = draw_questions(6, 150)
    passages, without = (
        fit_graded_response(draw_rows(7, ability, a, b, together=together, passage=5), draws=25)
        for together in (0.9, 0.0)
    )

    assert passages.scale.passage_sd == pytest.approx(0.9, abs=0.2)
    assert without.scale.passage_sd < 0.35


def know(fit: GradedFit, places: np.ndarray) -> KnownQuestions:
    """Questions of a fit as a later one knows them; -1 for one that is new."""
    old = np.maximum(places, 0)
    return KnownQuestions(
        is_known=places >= 0,
        difficulty=fit.difficulty[old],
        difficulty_se=fit.difficulty_se[old],
        log_discrimination=np.log(fit.discrimination[old]),
        log_discrimination_se=(fit.discrimination_se / fit.discrimination)[old],
        correlation=fit.correlation[old],
        edition=np.zeros(len(places), dtype=np.int64),
        shared=np.zeros((3, 1, 1)),
    )


@pytest.fixture(scope="module")
def later(truth: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[GradedRows, np.ndarray, np.ndarray]:
    """A harder season of the same candidates; of its first 60 questions three became known."""
    ability, a, b = truth
    new_a, new_b = draw_questions(9, 120)
    places = np.concatenate([np.arange(60), np.full(120, -1)])
    difficulty = np.concatenate([b[:60], new_b + 0.6])
    known = difficulty - 3.0 * np.isin(np.arange(180), find_hardest(b))
    return draw_rows(11, ability, np.concatenate([a[:60], new_a]), known), places, difficulty


def find_hardest(b: np.ndarray) -> list[int]:
    """The hardest of each discipline among the questions that are put again."""
    return [int(np.arange(discipline, 60, 3)[b[discipline:60:3].argmax()]) for discipline in range(3)]


def test_a_later_season_is_linked_and_what_was_published_stays(
    later: tuple[GradedRows, np.ndarray, np.ndarray],
    fit: GradedFit,
    truth: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    rows, places, difficulty = later
    found = fit_graded_response(rows, known=know(fit, places), scale=fit.scale)

    moved = find_hardest(truth[2])
    assert set(np.flatnonzero(found.is_moved)) >= set(moved)
    assert found.is_moved.sum() <= 6
    kept = found.is_known
    assert found.difficulty[kept].tolist() == fit.difficulty[places[kept]].tolist()
    assert found.difficulty[moved] == pytest.approx(difficulty[moved] - 3.0, abs=1.2)
    assert found.scale.thresholds.tolist() == fit.scale.thresholds.tolist()
    new = places < 0
    shift = np.bincount(rows.question_discipline[new], weights=(found.difficulty - difficulty)[new]) / 40
    origin = np.bincount(np.arange(180) % 3, weights=truth[2]) / 60
    error = np.sqrt(found.shared[:, -1])
    assert (np.abs(shift + origin) < 4 * error + 0.05).all()
    assert (error > 0.03).all()
    # An ability knows no less of its error than a fit of both seasons would say.
    assert (found.ability_sd > 0.1).all()


def test_a_season_without_a_link_says_so(rows: GradedRows, fit: GradedFit) -> None:
    with pytest.raises(UsageError, match="3 disciplines have no question that was published before"):
        fit_graded_response(rows, known=know(fit, np.full(180, -1)), scale=fit.scale)
    with pytest.raises(UsageError, match="must be given together"):
        fit_graded_response(rows, scale=fit.scale)


def test_three_repeats_of_a_third_each_are_one_answer(rows: GradedRows, fit: GradedFit) -> None:
    thrice = replace(
        rows,
        entry=np.tile(rows.entry, 3),
        question=np.tile(rows.question, 3),
        stars=np.tile(rows.stars, 3),
        weight=np.tile(rows.weight / 3, 3),
    )

    found = fit_graded_response(thrice, draws=50)

    assert found.answer_weight == pytest.approx(fit.answer_weight)
    assert np.abs(found.difficulty - fit.difficulty).mean() < 0.1
    assert found.ability_sd.mean() == pytest.approx(fit.ability_sd.mean(), rel=0.1)


def test_discriminations_stay_within_bounds(
    truth: tuple[np.ndarray, np.ndarray, np.ndarray], rows: GradedRows
) -> None:
    # A question that all answer alike, and one whose key is wrong.
    stars = rows.stars.copy()
    stars[rows.question == 0] = 3
    stars[rows.question == 1] = 3 - stars[rows.question == 1]
    found = fit_graded_response(replace(rows, stars=stars), draws=25)

    assert (found.discrimination > 0.25).all()
    assert (found.discrimination < 4.0).all()
    assert np.isfinite(found.difficulty).all()
    fitted = compute_question_fit(replace(rows, stars=stars), found)
    assert fitted.slope[1] < 0.3
    assert np.nanmean(fitted.infit) == pytest.approx(1.0, abs=0.1)


def test_chances_sum_to_one_between_floor_and_ceiling() -> None:
    chances = compute_chances(
        np.linspace(-9, 9, 7),
        np.ones(7),
        np.array([-0.8, 0.0, 0.8]),
        np.array([0.25, 0.1, 0.02]),
        np.array([1.0, 0.8, 0.5]),
    )

    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert chances[0] == pytest.approx([0.75, 0.15, 0.08, 0.02], abs=1e-3)
    assert chances[-1] == pytest.approx([0.0, 0.2, 0.3, 0.5], abs=1e-3)
    falling = np.array([[0.25, 0.1, 0.02], [0.9, 0.5, 0.1]])
    assert from_steps(to_steps(falling)) == pytest.approx(falling)


def test_an_error_of_the_place_flattens_a_curve_as_much_as_its_mean_over_that_error() -> None:
    places, shares = np.polynomial.hermite_e.hermegauss(61)
    for lag in (-2.0, 0.3, 1.5):
        averaged = (1.0 / (1.0 + np.exp(-1.4 * (lag + 0.7 * places)))) @ shares / shares.sum()
        flat = float(flatten(np.array(1.4), 0.7**2))
        assert 1.0 / (1.0 + np.exp(-flat * lag)) == pytest.approx(averaged, abs=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stars": np.array([4])}, "whole numbers from 0 to 3"),
        ({"weight": np.array([0.0])}, "weight above 0"),
        ({"entry": np.array([1])}, "one entry each"),
        ({"question_cluster": np.zeros(2, dtype=np.int64)}, "one cluster"),
        ({"question_format": np.array([1])}, "chance of a right guess"),
    ],
)
def test_rows_that_do_not_fit_are_refused(change: dict[str, np.ndarray], message: str) -> None:
    zero, one = np.zeros(1, dtype=np.int64), np.ones(1)
    whole = {
        "entry": zero, "question": zero, "stars": zero, "weight": one, "entry_edition": zero, "question_discipline": zero,
        "question_home": zero, "question_cluster": zero, "question_format": zero, "format_chance": one,
    }  # fmt: skip
    with pytest.raises(ContractError, match=message):
        GradedRows(**{**whole, **change})  # type: ignore[arg-type]


def test_no_answers_are_named(rows: GradedRows) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    with pytest.raises(UsageError, match="no answers"):
        fit_graded_response(replace(rows, entry=nothing, question=nothing, stars=nothing, weight=np.zeros(0)))
