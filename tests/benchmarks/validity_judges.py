"""Whether what is stated about judges holds, on planted truths.

It is about corrected scores, drift, and the choice between two judges.

    python -m tests.benchmarks.validity_judges [--exams 200] [--juries 60] [--styles 600] [--histories 1000] [--choices 4000]

Corrected scores: a judge that errs and favours its own family; 95% intervals should hold the truth in 94 to 96.5% of cases,
where the judge alone does in about half; with 120 ratings in all, and near the ends of the scale, in at least 94%. Drift of .06 stars should be found in a median of at most five months, with at
most 5% false alarms in 36 months. Of two judges that agree with people on 92% and 88%, the better one should be chosen at
least 95% of the time on the least number of rated responses that a judge needs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from schemas.settings import Settings
from tasks.judging.calibration.agreement import choose_primary_judge, compute_calibration
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
_TWELVE = {"candidates": 12}
_SURE = {"errs": 0.02, "favour": 0.02}
# The same for juries.
JURIES: dict[str, dict[str, Any]] = {
    "two judges, 120 ratings in all": {},
    "the same, 60% of their errors together": {"alike": 0.6},
    "the same, 360 ratings": {"alike": 0.6, "ratings": 360},
    "two judges, 360 ratings, 400 questions": {"ratings": 360, "questions": 400},
    "the same near 100": {"level": 3.0, "ratings": 360, "questions": 400},
    "three judges, 120 ratings": {"judges": 3},
    "three judges, no ratings": {"judges": 3, "ratings": 0},
}
# What is planted, by what it is called. 120 ratings are 6 for each of 20 candidates, or 20 for each of 6.
WORLDS: dict[str, dict[str, Any]] = {
    "a star more for its own family in 15%": {},
    "in 60%": {"favour": 0.6},
    "no favour": {"favour": 0.0},
    "a taste for and against other families, too": {"taste": 0.1},
    "the same, 30 ratings for a candidate": {"taste": 0.1, "ratings": 30},
    "120 ratings in all, 20 candidates": {"ratings": 6, "is_explained": True},
    "120 ratings in all, 12 candidates": {"candidates": 12, "ratings": 10},
    "120 ratings in all, 12 candidates, right and explained": {
        "candidates": 12,
        "ratings": 10,
        "is_explained": True,
    },
    "120 ratings in all, 6 candidates": {"ratings": 20, "is_explained": True} | _SIX,
    "the same, a judge that errs in 2%": {"ratings": 20, "is_explained": True, **_SURE} | _SIX,
    "120 ratings in all, 6 candidates near 100": {"ratings": 20, "is_explained": True, "level": 4.0} | _SIX,
    "120 ratings in all, 6 candidates near 0": {"ratings": 20, "level": -8.0} | _SIX,
    "120 ratings each, 12 candidates": {"ratings": 120, "is_explained": True} | _TWELVE,
    "120 ratings each, near 100": {"ratings": 120, "level": 6.0} | _TWELVE,
    "120 ratings each, near 100, a judge that errs in 2%": {
        "ratings": 120,
        "level": 4.0,
        "is_explained": True,
    }
    | _TWELVE
    | _SURE,
    "120 ratings each, near 0": {"ratings": 120, "level": -8.0} | _TWELVE,
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


def measure_choice(choices: int, ratings: int, *, candidates: int = 6, seed: int = 0) -> float:
    """How often the better of two judges is chosen, on so many rated responses.

    It agrees with people on 92%, the other one on 88%.
    """
    generator = np.random.default_rng(seed)
    right = 0
    for _ in range(choices):
        people = generator.choice(4, ratings, p=_CHANCES)
        frames = []
        for judge, agreement in (("z-better", 0.92), ("a-worse", 0.88)):
            errs = generator.random(ratings) >= agreement
            step = np.where(generator.random(ratings) < 0.5, 1, -1)
            shifted = people + step
            shifted = np.where((shifted < 0) | (shifted > 3), people - step, shifted)
            frames.append(
                pl.DataFrame(
                    {
                        "judge": judge,
                        "prompt_version": "1",
                        "model": [f"m{number % candidates}" for number in range(ratings)],
                        "round": 1,
                        "session_id": [f"s{number}" for number in range(ratings)],
                        "seq": 1,
                        "agreed_stars": people,
                        "judged_stars": np.where(errs, shifted, people),
                    }
                )
            )
        right += choose_primary_judge(compute_calibration(pl.concat(frames)), 0) == "z-better"
    return right / choices


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exams", type=int, default=200)
    parser.add_argument("--histories", type=int, default=600)
    parser.add_argument("--choices", type=int, default=1_000)
    parser.add_argument("--juries", type=int, default=60)
    parser.add_argument("--styles", type=int, default=600)
    chosen = parser.parse_args(arguments)
    for title, world in WORLDS.items():
        print(f"\n{title}\n{'estimator':<24}{'coverage':>10}{'RMSE':>8}{'bias':>8}")
        for name, (coverage, error, bias) in measure_correction(chosen.exams, **world).items():
            print(f"{name:<24}{coverage:>10.4f}{error:>8.2f}{bias:>+8.2f}", flush=True)
    for title, world in JURIES.items():
        print(f"\n{title}\n{'estimator':<24}{'coverage':>10}{'RMSE':>8}{'bias':>8}")
        for name, (coverage, error, bias) in measure_jury(chosen.juries, **world).items():
            print(f"{name:<24}{coverage:>10.4f}{error:>8.2f}{bias:>+8.2f}", flush=True)
    print()
    for responses in (120, 300, 600):
        found = measure_style(chosen.styles, responses=responses)
        print(
            f"style, {responses} ratings: "
            + ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        )
    print()
    print(
        f"{'judge errs in':<16}{'false alarms in 36 months':>28}{'.06 from month 1':>20}{'from month 13':>16}"
    )
    for noise in (0.02, 0.10, 0.15):
        false, _ = measure_drift(chosen.histories, drift=0.0, noise=noise)
        waits = [
            measure_drift(chosen.histories // 3, drift=0.06, begins=begins, noise=noise)[1]
            for begins in (1, 13)
        ]
        print(f"{noise:<16.0%}{false:>28.3f}{waits[0]:>13.0f} months{waits[1]:>9.0f} months")
    least = Settings.model_fields["judge_ratings_gate"].default
    for ratings in (72, least):
        print(f"better judge chosen on {ratings} ratings: {measure_choice(chosen.choices, ratings):.3f}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
