"""How near to the truth an equated score can come at all, beside `validity_equating`.

Exams as `guessed_seasons` draws them. No estimate without bias errs by less than the information in the answers allows (Cramér
1946, Rao 1945); what is known here is the generator itself, so that nothing that has to learn it comes nearer. Four bounds, each
with more left open:

- the answers alone: every number of every question is known;
- the answers with questions chosen for the candidate, the most telling fifth of a bank of which all numbers are known;
- the answers, and the truth is of a bank of which nothing but the first season's questions is known;
- everything is open: abilities, questions (their spread is known) and by how much each season's bank is harder, so that the
  seasons hang together by anchors alone. Nothing is assumed of how candidates change.

    python -m tests.benchmarks.validity_bound [--exams 4] [--questions 500 1000] [--candidates 20] [--seasons 4] [--anchors 0.2]
                                              [--harder 0.15] [--guess 0.25]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.guessed_seasons import Rules, compute_chances, draw_bank

Floats = NDArray[np.float64]

_TRUTH = 2_000  # questions by which the truth changes with a candidate
_CHOICE = 5  # questions to choose one of
_STEP = 1e-3
_OF_QUESTION = (1.2, 0.3, 0.7)  # deviations of difficulty, log discrimination and explanation in a bank
_POINTS = 100.0 / 3.0


@dataclass(frozen=True)
class Bounds:
    """Least variances of a score, in points squared; means over candidates, by season.

    Attributes:
        known: from the answers alone.
        chosen: from the answers to chosen questions.
        drawn: from the answers and the drawing of the first questions.
        open: with everything open.
        common: the part of `open` that all candidates share.
        change: of the difference to the first season, with everything open; 0 for the first.
    """

    known: Floats
    chosen: Floats
    drawn: Floats
    open: Floats
    common: Floats
    change: Floats


def compute_information(ability: Floats, skill: Floats, bank: Floats, rules: Rules) -> Floats:
    """Information of each candidate's answer to each question, (…, 5, 5).

    It is about ability, skill, difficulty, log discrimination and explanation.
    """
    at = np.broadcast_arrays(ability, skill, bank[0], np.log(bank[1]), bank[2])

    def chances(values: Sequence[Floats]) -> Floats:
        questions = np.stack([values[2], np.exp(values[3]), values[4]])
        return compute_chances(values[0], values[1], questions, rules)

    slopes = []
    for number in range(len(at)):
        up, down = ([*at[:number], at[number] + step, *at[number + 1 :]] for step in (_STEP, -_STEP))
        slopes.append((chances(up) - chances(down)) / (2.0 * _STEP))
    slope = np.stack(slopes, axis=-2)
    return np.asarray((slope / np.maximum(chances(at), 1e-12)[..., None, :]) @ np.swapaxes(slope, -1, -2))


def compute_bounds(seed: int, rules: Rules) -> Bounds:
    """The bounds for one exam's candidates and questions, the same for the same seed and rules."""
    random = np.random.default_rng(seed)
    count, seasons, disciplines = rules.candidates, rules.seasons, rules.disciplines
    share = rules.questions // disciplines
    own = random.normal(rules.ability_mean, rules.ability_sd, count)
    pace = np.abs(random.normal(0.06, 0.06, count))
    taste = random.normal(0.0, rules.taste, (count, disciplines))
    skill = 0.7 * (own - rules.ability_mean) + random.normal(0.4, 0.4, count)
    # A person is a candidate in one season: an ability in each discipline, and a skill.
    persons, width = seasons * count, disciplines + 1
    size = persons * width + seasons - 1
    everything, gradient = np.zeros((size, size)), np.zeros((persons, size))
    alone, chosen = np.zeros((2, persons, width, width))
    drawn = np.zeros(persons)
    for discipline in range(disciplines):
        whole = draw_bank(random, _TRUTH, 0.0, rules)
        bank, home = np.zeros((3, 0)), np.zeros(0, dtype=np.int64)
        asked = []
        for season in range(seasons):
            anchors = round(share * rules.anchors) if season else 0
            old = (
                random.choice(bank.shape[1], anchors, replace=False)
                if anchors
                else np.zeros(0, dtype=np.int64)
            )
            new = np.arange(bank.shape[1], bank.shape[1] + share - anchors)
            bank = np.concatenate([bank, draw_bank(random, len(new), rules.harder * season, rules)], axis=1)
            home = np.append(home, np.full(len(new), season))
            asked.append(np.append(new, old))
        of_question = np.tile(np.diag(np.array(_OF_QUESTION) ** -2), (len(home), 1, 1))
        both = np.zeros((len(home), 3, size))
        for season in range(1, seasons):
            # By how much its bank is harder nobody knows.
            level = persons * width + season - 1
            both[home == season, 0, level] = -(_OF_QUESTION[0] ** -2)
            everything[level, level] += (home == season).sum() * _OF_QUESTION[0] ** -2
        for season in range(seasons):
            at = season * count + np.arange(count)
            place = np.stack([at * width + discipline, at * width + disciplines], axis=1)
            ability = (own + pace * season + taste[:, discipline])[:, None]
            found = compute_information(ability, skill[:, None], bank[:, None, asked[season]], rules)
            pair = np.array([discipline, disciplines])
            alone[np.ix_(at, pair, pair)] += found[..., :2, :2].sum(axis=1)
            many = draw_bank(random, _CHOICE * share, rules.harder * season, rules)
            of_many = compute_information(ability, skill[:, None], many[:, None], rules)[..., :2, :2]
            best = np.argsort(-of_many[..., 0, 0], axis=1)[:, :share, None, None]
            chosen[np.ix_(at, pair, pair)] += np.take_along_axis(of_many, best, axis=1).sum(axis=1)
            for number, question in enumerate(asked[season]):
                of_question[question] += found[:, number, 2:, 2:].sum(axis=0)
                for part in range(2):
                    both[question][:, place[:, part]] += found[:, number, 2:, part].T
            up, down = (_expect(ability + step, skill[:, None], whole, rules) for step in (_STEP, -_STEP))
            gradient[at, place[:, 0]] += (up - down).mean(axis=1) / (2.0 * _STEP) / disciplines
            up, down = (_expect(ability, skill[:, None] + step, whole, rules) for step in (_STEP, -_STEP))
            gradient[at, place[:, 1]] += (up - down).mean(axis=1) / (2.0 * _STEP) / disciplines
            drawn[at] += _expect(ability, skill[:, None], whole, rules).var(axis=1) / share / disciplines**2
        for own_part, shared in zip(of_question, both, strict=True):
            some = np.flatnonzero(np.abs(shared).sum(axis=0))
            linked = shared[:, some]
            everything[np.ix_(some, some)] -= linked.T @ np.linalg.solve(own_part, linked)
    # How far the disciplines of a candidate lie apart is known, too; where they lie is not.
    tastes = np.zeros((width, width))
    tastes[:disciplines, :disciplines] = (np.eye(disciplines) - 1.0 / disciplines) / rules.taste**2
    for person in range(persons):
        mine = slice(person * width, (person + 1) * width)
        everything[mine, mine] += tastes + alone[person]
    covariance = gradient @ np.linalg.solve(everything, gradient.T)
    total = np.diag(covariance).reshape(seasons, count)
    blocks = covariance.reshape(seasons, count, seasons, count)
    first = np.stack([np.diag(blocks[season, :, 0, :]) for season in range(seasons)])
    slopes = np.stack([row[number * width : (number + 1) * width] for number, row in enumerate(gradient)])

    def invert(information: Floats) -> Floats:
        found = np.linalg.solve(information + tastes, slopes[..., None])[..., 0]
        return np.asarray((found * slopes).sum(axis=1).reshape(seasons, count).mean(axis=1))

    known = invert(alone)
    return Bounds(
        known=known,
        chosen=invert(chosen),
        drawn=known + drawn.reshape(seasons, count).mean(axis=1),
        open=total.mean(axis=1),
        common=np.array([blocks[season, :, season, :].mean() for season in range(seasons)]),
        change=(total + total[0] - 2.0 * first).mean(axis=1),
    )


def _expect(ability: Floats, skill: Floats, bank: Floats, rules: Rules) -> Floats:
    """Expected points of each candidate for each question, 0 to 100."""
    return compute_chances(ability, skill, bank[:, None], rules) @ np.arange(4.0) * _POINTS


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each number of questions: a row for each bound, by season."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exams", type=int, default=4)
    parser.add_argument("--questions", type=int, nargs="+", default=[500, 1000])
    for name, kind in (
        ("candidates", int),
        ("seasons", int),
        ("anchors", float),
        ("harder", float),
        ("guess", float),
    ):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Rules(), name))
    chosen = vars(parser.parse_args(arguments))
    exams, sizes = chosen.pop("exams"), chosen.pop("questions")
    words = {
        "known": "the answers alone",
        "chosen": f"the same, best of {_CHOICE} questions",
        "drawn": "and the first questions were drawn",
        "open": "everything is open",
        "common": "of that, shared by all",
        "change": "change since the first season",
    }
    for questions in sizes:
        rules = replace(Rules(), questions=questions, **chosen)
        found = [compute_bounds(seed, rules) for seed in range(exams)]
        print(f"{rules}: {exams} exams, points")
        print(f"{'season':<36}" + "".join(f"{season + 1:>8}" for season in range(rules.seasons)))
        for name, text in words.items():
            least = np.sqrt(np.mean([getattr(one, name) for one in found], axis=0).clip(0.0))
            print(f"{text:<36}" + "".join(f"{value:>8.2f}" for value in least), flush=True)


if __name__ == "__main__":
    main()
