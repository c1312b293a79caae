"""Exams, juries, styles and drifts with planted truths, for what is stated about judges.

A judge that errs and favours its own family; judges that lean, each in its own way; a judge that pays for form, and one that
drifts. At full size they were measured once (docs/decisions/0020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.judges import (
    Corrected,
    JudgedScores,
    RatedRows,
    StyledRows,
    Votes,
    compute_drift,
    compute_judge_weight,
    compute_style_effects,
    correct_by_families,
    correct_by_ratings,
    hear_jury,
)

BASELINE_REPEATS = 3
Floats = NDArray[np.float64]
_SCALE = 100.0 / 3.0
_CHANCES = np.array([0.18, 0.10, 0.27, 0.45])
# Difficulties of questions and their shares, for the truth of an exam.
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()
_SIX = {"candidates": 6, "families": 3}
# What is planted, by what it is called: of juries, and of one judge. 120 ratings are 6 for each of 20 candidates, or 20 for
# each of 6.
JURIES: dict[str, dict[str, Any]] = {
    "two judges, 120 ratings in all": {},
    "three judges, no ratings": {"judges": 3, "ratings": 0},
}
WORLDS: dict[str, dict[str, Any]] = {
    "120 ratings in all, 20 candidates": {"ratings": 6, "is_explained": True},
    "120 ratings in all, 6 candidates": {"ratings": 20, "is_explained": True, **_SIX},
    "120 ratings in all, 6 candidates near 100": {"ratings": 20, "is_explained": True, "level": 4.0, **_SIX},
    "120 ratings each, near 0": {"candidates": 12, "ratings": 120, "level": -8.0},
}


@dataclass(frozen=True)
class Exam:
    """One simulated exam, with its truth (0 to 100).

    It has what the judge gave, and what people gave a sample.
    """

    judged: JudgedScores
    rated: RatedRows
    truth: Floats


def draw_exam(
    seed: int,
    *,
    candidates: int = 20,
    families: int = 5,
    questions: int = 1_000,
    ratings: int = 100,
    favour: float = 0.15,
    taste: float = 0.0,
    errs: float = 0.15,
    level: float = 0.0,
    is_explained: bool = False,
) -> Exam:
    """Candidates of several families, judged by a judge of the first one.

    The judge gives its own family a star more.

    `favour` is how often it does; `taste` is how often (standard deviation over the other families) it gives one of those a
    star more, or less; `errs` how often it errs by a star; `level` shifts all abilities. With `is_explained` stars come from two
    steps: right or not, with guessing, on questions of unequal difficulty, then how well it is explained.
    People's stars are the truth with errors of their own, averaged over two raters; their errors cancel out on average.
    """
    generator = np.random.default_rng(seed)
    family = np.arange(candidates) % families
    ability = generator.normal(0, 0.8, candidates)
    tastes = np.random.default_rng([seed, 1]).normal(0, taste, families)
    stars, judge = np.zeros((candidates, questions)), np.zeros((candidates, questions))
    truth = np.zeros(candidates)
    for candidate in range(candidates):
        if is_explained:
            chances = _explain(ability[candidate] + level, generator.normal(0, 1, questions))
            stars[candidate] = (generator.random(questions)[:, None] > chances.cumsum(axis=1)[:, :3]).sum(
                axis=1
            )
            truth[candidate] = _explain(ability[candidate] + level, _NODES).T @ _NODE_WEIGHTS @ np.arange(4)
        else:
            weights = _CHANCES * np.exp((ability[candidate] + level) * np.arange(4) / 2)
            chance = weights / weights.sum()
            truth[candidate] = chance @ np.arange(4)
            stars[candidate] = generator.choice(4, questions, p=chance)
        is_wrong = generator.random(questions) < errs
        step = np.where(generator.random(questions) < 0.85, 1, -1)
        given = np.clip(stars[candidate] + is_wrong * step, 0, 3)
        if family[candidate] == 0:
            given = np.minimum(3, given + (generator.random(questions) < favour))
        elif taste:
            lean = tastes[family[candidate]]
            given = np.clip(given + np.sign(lean) * (generator.random(questions) < abs(lean)), 0, 3)
        judge[candidate] = given
    owner, people, machine = [], [], []
    for candidate in range(candidates):
        chosen = generator.choice(questions, ratings, replace=False)
        own = stars[candidate, chosen]
        marks = [own + _draw_slips(generator, own) for _ in range(2)]
        owner.append(np.full(ratings, candidate))
        people.append(np.mean(marks, axis=0))
        machine.append(judge[candidate, chosen])
    rated = RatedRows(
        np.concatenate(owner).astype(np.int64),
        np.concatenate(people),
        np.concatenate(machine),
        np.ones(candidates * ratings),
    )
    judged = JudgedScores(
        stars=judge.mean(axis=1),
        se=judge.std(axis=1, ddof=1) / np.sqrt(questions),
        answer_count=np.full(candidates, float(questions)),
        rateable_share=np.ones(candidates),
        family=family.astype(np.int64),
        is_own_family=family == 0,
    )
    return Exam(judged, rated, truth * _SCALE)


def _explain(ability: float, difficulty: Floats) -> Floats:
    """Chances of 0 to 3 stars, questions × stars.

    A fifth is guessed, and who knows explains better.
    """
    right = 0.2 + 0.8 / (1.0 + np.exp(-1.4 * (ability + 0.5 - difficulty)))
    well = 1.0 / (1.0 + np.exp(-(ability + 0.8)))
    return np.stack(
        [(1 - right) * (1 - well / 2), (1 - right) * well / 2, right * (1 - well), right * well], axis=1
    )


def _draw_slips(generator: np.random.Generator, stars: Floats) -> Floats:
    """A rater's errors: one star too many as often as too few, where both can be."""
    can_err = (stars > 0) & (stars < 3)
    return np.where(
        can_err & (generator.random(len(stars)) < 0.15),
        np.where(generator.random(len(stars)) < 0.5, 1, -1),
        0,
    ).astype(float)


def measure_correction(
    exams: int, *, seed: int = 0, **options: int | float
) -> dict[str, tuple[float, float, float]]:
    """Estimator → coverage of its 95% interval, root mean squared error and mean error.

    The errors are in points of S.
    """
    held: dict[str, list[float]] = {}
    errors: dict[str, list[Floats]] = {}
    for exam in range(exams):
        drawn = draw_exam(seed + exam, **options)  # type: ignore[arg-type]
        slope = compute_judge_weight(drawn.rated)
        judged = drawn.judged
        alone = Corrected(
            judged.stars, judged.se, judged.stars - 1.96 * judged.se, judged.stars + 1.96 * judged.se
        )
        found = {
            "judge alone": alone,
            "prediction-powered": correct_by_ratings(judged, drawn.rated, slope),
            "family effects": correct_by_families(judged, drawn.rated, slope),
            "people alone": correct_by_ratings(judged, drawn.rated, 0.0),
        }
        for name, one in found.items():
            inside = (one.low * _SCALE <= drawn.truth) & (drawn.truth <= one.high * _SCALE)
            held.setdefault(name, []).append(float(inside.mean()))
            errors.setdefault(name, []).append(one.stars * _SCALE - drawn.truth)
    return {
        name: (
            float(np.mean(held[name])),
            float(np.sqrt(np.mean(np.square(errors[name])))),
            float(np.mean(errors[name])),
        )
        for name in held
    }


# Chance that each judge gives a star too few, and too many.
_LEANINGS = np.array([[0.0, 0.15], [0.04, 0.12], [0.02, 0.25]])


def draw_votes(
    seed: int,
    *,
    candidates: int = 12,
    questions: int = 200,
    ratings: int = 120,
    judges: int = 2,
    alike: float = 0.0,
    level: float = 0.0,
    disciplines: int = 10,
) -> tuple[Votes, Floats]:
    """Votes of judges that lean each in its own way, by discipline, and the truth (stars).

    People rate `ratings` responses in all, two of them each. In a share `alike` of responses the judges err together.
    """
    generator = np.random.default_rng([seed, 7])
    ability = generator.normal(0, 0.8, candidates) + level
    discipline = np.repeat(np.arange(disciplines), questions // disciplines)
    difficulty = generator.normal(0, 1, questions)
    skill = np.exp(generator.normal(0, 0.4, (judges, disciplines)))
    shape = (candidates, questions)
    stars, known = np.zeros((*shape, judges), dtype=np.int64), np.full((*shape, 4), np.nan)
    truth = np.zeros(candidates)
    for candidate in range(candidates):
        chances = _explain(ability[candidate], difficulty)
        deserved = (generator.random(questions)[:, None] > chances.cumsum(axis=1)[:, :3]).sum(axis=1)
        truth[candidate] = _explain(ability[candidate], _NODES).T @ _NODE_WEIGHTS @ np.arange(4)
        shared = generator.random(questions)
        for judge in range(judges):
            luck = np.where(generator.random(questions) < alike, shared, generator.random(questions))
            few, many = _LEANINGS[judge][:, None] * skill[judge][discipline]
            stars[candidate, :, judge] = np.clip(deserved + (luck > 1 - many) - (luck < few), 0, 3)
        chosen = generator.choice(questions, ratings // candidates, replace=False)
        known[candidate, chosen] = 0.0
        for _ in range(2):
            marks = (deserved[chosen] + _draw_slips(generator, deserved[chosen])).astype(int)
            known[candidate, chosen, marks] += 0.5
    votes = Votes(
        stars=stars.reshape(-1, judges),
        judge=np.arange(judges),
        candidate=np.repeat(np.arange(candidates), questions),
        discipline=np.tile(discipline, candidates),
        known=known.reshape(-1, 4),
        cluster=np.tile(np.arange(questions), candidates),
    )
    return votes, truth


def measure_jury(exams: int, *, seed: int = 0, **options: float) -> dict[str, tuple[float, float, float]]:
    """Estimator → coverage of its 95% interval, root mean squared error and mean error.

    The first judge alone, corrected by people, the jury, and the jury corrected by people.
    """
    held: dict[str, list[NDArray[np.bool_]]] = {}
    errors: dict[str, list[Floats]] = {}
    for exam in range(exams):
        votes, truth = draw_votes(seed + exam, **options)  # type: ignore[arg-type]
        count, fields = len(truth), int(votes.discipline.max()) + 1
        jury = hear_jury(votes, np.full(fields, 1.0 / fields), candidate_count=count)
        of_first = votes.stars[:, 0].reshape(count, -1).astype(float)
        se = of_first.std(axis=1, ddof=1) / np.sqrt(of_first.shape[1])
        alone = of_first.mean(axis=1)
        found = {
            "first judge alone": Corrected(alone, se, alone - 1.96 * se, alone + 1.96 * se),
            "jury": jury.score,
        }
        if not np.isnan(votes.known).all():
            heard = jury.heard_score
            found["first judge, by people"] = _correct(votes, alone, se, of_first.ravel())
            found["jury, by people"] = _correct(votes, heard.stars, heard.se, jury.heard_apart)
        for name, one in found.items():
            held.setdefault(name, []).append((one.low <= truth) & (truth <= one.high))
            errors.setdefault(name, []).append((one.stars - truth) * _SCALE)
    return {
        name: (
            float(np.mean(held[name])),
            float(np.sqrt(np.mean(np.square(errors[name])))),
            float(np.mean(errors[name])),
        )
        for name in held
    }


def _correct(votes: Votes, stars: Floats, se: Floats, given: Floats) -> Corrected:
    count = len(stars)
    judged = JudgedScores(
        stars,
        se,
        np.bincount(votes.candidate).astype(float),
        np.ones(count),
        np.arange(count, dtype=np.int64),
        np.zeros(count, dtype=bool),
    )
    is_rated = ~np.isnan(votes.known[:, 0])
    rated = RatedRows(
        votes.candidate[is_rated],
        votes.known[is_rated] @ np.arange(4.0),
        given[is_rated],
        np.ones(int(is_rated.sum())),
    )
    return correct_by_ratings(judged, rated, compute_judge_weight(rated))


def draw_styled(
    seed: int, *, responses: int = 300, candidates: int = 12, effects: Sequence[float] = (0.1, 0.0)
) -> StyledRows:
    """Rated responses to questions in pairs, of candidates that write at different length.

    The longer a candidate writes the better it is. `effects` are the stars that the judge gives for one more of each feature.
    """
    generator = np.random.default_rng([seed, 11])
    candidate = np.arange(responses) % candidates
    cluster = generator.integers(0, responses // 2, responses)
    wont = generator.normal(0, 1, candidates)
    features = np.stack(
        [generator.normal(8 + wont[candidate], 0.8), generator.poisson(1.0, responses)], axis=1
    )
    people = np.clip(np.round(1.5 + 0.6 * wont[candidate] + generator.normal(0, 1, responses)), 0, 3)
    common = generator.normal(0, 0.2, responses)[cluster]
    gain = (features - features.mean(axis=0)) @ np.asarray(effects) + common
    judge = (
        people + gain + np.where(generator.random(responses) < 0.15, generator.choice([-1, 1], responses), 0)
    )
    return StyledRows(judge, people, features, candidate.astype(np.int64), cluster.astype(np.int64))


def measure_style(samples: int, *, seed: int = 0, responses: int = 300) -> dict[str, float]:
    """How often the intervals of effects hold them, and how often one that is none is found."""
    effects = np.array([0.1, 0.0])
    found = [compute_style_effects(draw_styled(seed + one, responses=responses)) for one in range(samples)]
    held = np.array([(one.low <= effects) & (effects <= one.high) for one in found])
    return {
        "coverage": float(held.mean()),
        "found": float(np.mean([one.p_holm[0] <= 0.05 for one in found])),
        "found wrongly": float(np.mean([one.p_holm[1] <= 0.05 for one in found])),
        "mean effect": float(np.mean([one.effect[0] for one in found])),
    }


def draw_anchors(
    generator: np.random.Generator,
    *,
    months: int,
    drift: float,
    begins: int,
    noise: float,
    responses: int = 200,
) -> tuple[Floats, Floats]:
    """Stars of the first month (three repeats) and of the later ones.

    From month `begins` on the mean rises by `drift`.

    A judge gives each response the same stars but for a share `noise` of judgements, which err by one.
    """
    usual = generator.choice(4, responses, p=_CHANCES)[:, None]

    def judge(occasions: int) -> Floats:
        errs = generator.random((responses, occasions)) < noise
        stars: Floats = np.clip(
            usual + errs * generator.choice([-1, 1], (responses, occasions)), 0, 3
        ).astype(float)
        return stars

    first, later = judge(BASELINE_REPEATS), judge(months)
    since = np.arange(1, months + 1) >= begins
    # A star more where one fits: the share that makes the mean rise by `drift`.
    fits = later < 3
    share = drift / max(float(fits.mean()), 1e-9)
    return first, later + fits * since * (generator.random(later.shape) < share)


def measure_drift(
    histories: int, *, drift: float, begins: int = 1, noise: float = 0.10, months: int = 36, seed: int = 0
) -> tuple[float, float]:
    """Share of histories with an alarm, and the median month of the first alarm.

    The month is counted from where the drift begins.
    """
    generator = np.random.default_rng(seed)
    waits = []
    for _ in range(histories):
        found = compute_drift(
            *draw_anchors(generator, months=months, drift=drift, begins=begins, noise=noise)
        )
        assert found is not None
        alarms = np.flatnonzero(found.evidence > 1.0)
        waits.append(alarms[0] + 2 - begins if len(alarms) else np.inf)
    return float(np.mean(np.isfinite(waits))), float(np.median(waits))
