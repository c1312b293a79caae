"""Whether intervals and ranks hold at the ends of the scale, in passages, for few questions.

    python -m tests.benchmarks.validity_edges [--exams 120] [--questions 30 90 200 1000] [--case ordinary "guessing .25" …]

The exams are drawn from a generator that no estimator of ours assumes: answers are right by a normal curve with guessing,
stars follow from being right and from giving reasons, questions of a passage share its difficulty and each candidate's own
luck with it, and sittings lose repeats. Truth is the mean over the whole bank. For each case and number of questions: the
share of 95% intervals that hold the truth (S, R, disciplines, differences), and of exams in which 12 equal candidates are
told apart or a rank range is wrong. Last, how near to 95% any interval can come where so few outcomes are possible.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tasks.statistics import StarRows
from tasks.statistics.scores import compute_pairs, compute_ranks, compute_scores

Floats = NDArray[np.float64]

DISCIPLINES = 10
_BANK = 5_000
_EXAMS_OF_A_BANK = 10
_EQUALS = 12
_LEAST = 0.94  # coverage that an interval is to have whatever the truth is


@dataclass(frozen=True)
class Case:
    """How an exam is made.

    Attributes:
        ability: logits of the candidates; the last is the reference.
        guessing: chance of being right without knowing.
        is_graded: 0 to 3 stars; else all or none.
        passage_size: questions of a passage, or of a document; 1 for none.
        drawn: `whole` passages; each `once`, by one of its questions; or questions `alone`, whatever they share, as of documents.
        passage_spread: logits by which passages differ in difficulty, and candidates in their luck with each.
        taste: logits by which a candidate's disciplines differ.
        repeats: sittings.
        missing: share of the further repeats that are lost, question by question.
    """

    ability: Floats
    guessing: float = 0.0
    is_graded: bool = True
    passage_size: int = 1
    drawn: str = "whole"
    passage_spread: tuple[float, float] = (1.0, 0.8)
    taste: float = 0.5
    repeats: int = 1
    missing: float = 0.0


_SPREAD = np.linspace(-2.0, 2.5, 12)
CASES: Mapping[str, Case] = {
    "ordinary": Case(_SPREAD),
    "guessing .25": Case(_SPREAD, guessing=0.25),
    "0 or 3 stars": Case(_SPREAD, is_graded=False),
    "theta +4.5": Case(np.append(np.full(11, 4.5), 2.0)),
    "theta -4.5": Case(np.append(np.full(11, -4.5), 2.0)),
    "theta +4.5, 0 or 3": Case(np.append(np.full(11, 4.5), 2.0), is_graded=False),
    "theta -4.5, 0 or 3": Case(np.append(np.full(11, -4.5), 2.0), is_graded=False),
    "theta +4.5, passages of 5": Case(np.append(np.full(11, 4.5), 2.0), passage_size=5),
    "theta -4.5, passages of 5": Case(np.append(np.full(11, -4.5), 2.0), passage_size=5),
    "passages of 5": Case(_SPREAD, passage_size=5),
    "passages of 5, each once": Case(_SPREAD, passage_size=5, drawn="once"),
    "documents of 100": Case(_SPREAD, passage_size=100, drawn="alone"),
    "passages, 0 or 3, guessing": Case(_SPREAD, passage_size=5, is_graded=False, guessing=0.25),
    "3 repeats, 40% missing": Case(_SPREAD, repeats=3, missing=0.4),
}


@dataclass(frozen=True)
class Bank:
    """A bank by discipline: what each candidate's chances are, and its truth in stars.

    Attributes:
        right: chance of a right answer, discipline × candidate × question.
        reasons: chance that a right answer comes with its reasons.
        truth: mean stars, candidate × discipline.
    """

    right: Floats
    reasons: Floats
    truth: Floats


def draw_bank(generator: np.random.Generator, case: Case) -> Bank:
    """Questions of mixed difficulty and steepness, passages one after the other."""
    count = len(case.ability)
    passages = _BANK // case.passage_size
    shape = (DISCIPLINES, count, _BANK)
    shared = own = np.zeros(1)
    if case.passage_size > 1:
        level, luck = case.passage_spread
        shared = np.repeat(generator.normal(0, level, (DISCIPLINES, 1, passages)), case.passage_size, axis=2)
        own = np.repeat(generator.normal(0, luck, (DISCIPLINES, count, passages)), case.passage_size, axis=2)
    hard = generator.normal(0.0, 1.4, (DISCIPLINES, 1, _BANK)) + shared
    steep = np.exp(generator.normal(-0.3, 0.35, (DISCIPLINES, 1, _BANK)))
    ability = case.ability[None, :, None] + generator.normal(0, case.taste, (DISCIPLINES, count, 1))
    knows = ndtr(steep * (ability + own - hard))
    right = case.guessing + (1 - case.guessing) * knows
    reasons = np.broadcast_to(ndtr(0.6 * ability + 0.8), shape) if case.is_graded else np.ones(shape)
    # A wrong answer with something in it earns one star, a right one without reasons two.
    stars = right * (2 + reasons) + (1 - right) * 0.25 * knows if case.is_graded else 3 * right
    return Bank(right, np.asarray(reasons), stars.mean(axis=2).T)


def draw_exam(generator: np.random.Generator, case: Case, bank: Bank, questions: int) -> StarRows:
    """All candidates sit the same questions, as many of each discipline."""
    share = questions // DISCIPLINES
    size = min(case.passage_size, share) if case.drawn == "whole" else 1
    columns: dict[str, list[NDArray[np.int64] | Floats]] = defaultdict(list)
    count = len(case.ability)
    for discipline in range(DISCIPLINES):
        if case.drawn == "alone":
            place = generator.permutation(_BANK)[:share]
        else:
            passages = generator.permutation(_BANK // case.passage_size)[: -(-share // size)]
            first = 0 if case.drawn == "whole" else generator.integers(0, case.passage_size, len(passages))
            place = (passages * case.passage_size + first)[:, None] + np.arange(size)
            place = place.ravel()[:share]
        right = bank.right[discipline][:, place]
        reasons = bank.reasons[discipline][:, place]
        for repeat in range(case.repeats):
            is_right = generator.random((count, share)) < right
            if case.is_graded:
                has_more = generator.random((count, share)) < reasons
                knows = (right - case.guessing) / (1 - case.guessing)
                has_some = generator.random((count, share)) < 0.25 * knows
                stars = np.where(is_right, 2 + has_more, has_some)
            else:
                stars = 3 * is_right
            kept = np.ones((count, share), dtype=bool) if not repeat else None
            if kept is None:
                kept = generator.random((count, share)) >= case.missing
            candidate, at = np.nonzero(kept)
            columns["candidate"].append(candidate)
            columns["discipline"].append(np.full(len(at), discipline))
            columns["question"].append(discipline * _BANK + place[at])
            columns["lineage"].append(discipline * _BANK + place[at])
            # Of a document no question is asked for the others' sake: they are drawn one by one.
            shared = 1 if case.drawn == "alone" else case.passage_size
            columns["cluster"].append(discipline * _BANK + place[at] // shared)
            columns["stars"].append(stars[kept].astype(float))
            columns["repeat"].append(np.full(len(at), repeat))
    return StarRows(**{name: np.concatenate(parts) for name, parts in columns.items()})  # type: ignore[arg-type]


def measure_coverage(case: Case, questions: int, exams: int, seed: int) -> dict[str, Floats]:
    """Kind of interval → by exam the share of intervals that hold the truth, and their width."""
    held: dict[str, list[tuple[float, float]]] = defaultdict(list)
    weights = np.full(DISCIPLINES, 1 / DISCIPLINES)
    count = len(case.ability)
    generator = np.random.default_rng([seed, questions])

    def add(name: str, low: Floats, high: Floats, truth: Floats) -> None:
        known = ~np.isnan(low)
        if known.any():
            # Sums of chances may miss an end of the scale by their last bits.
            is_held = (low - 1e-9 <= truth) & (truth <= high + 1e-9)
            held[name].append((float(is_held[known].mean()), float((high - low)[known].mean())))
        held[f"{name} missing"].append((float((~known).mean()), 0.0))

    for exam in range(exams):
        if exam % _EXAMS_OF_A_BANK == 0:
            bank = draw_bank(generator, case)
            truth = bank.truth @ weights / 3 * 100
        rows = draw_exam(generator, case, bank, questions)
        found = compute_scores(rows, weights, candidate_count=count, reference=count - 1)
        assert found.relative is not None
        add("S", found.score.low[:-1], found.score.high[:-1], truth[:-1])
        relative = found.relative.relative
        add("R", relative.low[:-1], relative.high[:-1], (truth / truth[-1] * 100)[:-1])
        add(
            "discipline",
            found.discipline_low[:-1],
            found.discipline_high[:-1],
            bank.truth[:-1] / 3 * 10,
        )
        pairs = compute_pairs(rows, weights, candidate_count=count)
        difference = truth[pairs.first] - truth[pairs.second]
        add("difference", pairs.differences.low, pairs.differences.high, difference)
    return {name: np.array(found) for name, found in held.items()}


def measure_family_error(
    case: Case, levels: Sequence[float], questions: int, exams: int, seed: int
) -> dict[str, float]:
    """Shares of exams with equals told apart or a wrong rank range, and of wrong ranges.

    Where there are levels, also that of differences found. As many candidates as `_EQUALS` in all; those of one level are equal.
    """
    weights = np.full(DISCIPLINES, 1 / DISCIPLINES)
    ability = np.repeat(levels, _EQUALS // len(levels))
    # Equal candidates differ in nothing but their own answers: luck with a passage is theirs, and has one mean.
    equal = replace(case, ability=ability, taste=0.0)
    generator = np.random.default_rng([seed, questions, 1])
    is_equal = ability[:, None] == ability[None, :]
    better = (ability[None, :] > ability[:, None]).sum(axis=1)
    worse = (ability[None, :] < ability[:, None]).sum(axis=1)
    wrong = {"told apart": 0.0, "rank range": 0.0, "of ranges": 0.0}
    found_share = []
    for exam in range(exams):
        if exam % _EXAMS_OF_A_BANK == 0:
            bank = draw_bank(generator, equal)
        rows = draw_exam(generator, equal, bank, questions)
        pairs = compute_pairs(rows, weights, candidate_count=_EQUALS)
        score = compute_scores(rows, weights, candidate_count=_EQUALS).score.value
        ranks = compute_ranks(
            score, pairs.first, pairs.second, pairs.differences.difference, pairs.together.p_value
        )
        wrong["told apart"] += bool((ranks.is_distinct & is_equal).any())
        is_wrong = (ranks.lowest > 1 + better) | (ranks.highest < _EQUALS - worse)
        wrong["rank range"] += bool(is_wrong.any())
        wrong["of ranges"] += float(is_wrong.mean())
        if not is_equal.all():
            found_share.append(float(ranks.is_distinct[~is_equal].mean()))
    shares = {name: number / exams for name, number in wrong.items()}
    return shares | ({"power": float(np.mean(found_share))} if found_share else {})


def compute_least_coverage(questions: int) -> float:
    """Mean coverage of the narrowest interval that holds each truth in `_LEAST` of sittings.

    Answers are all or nothing. Which outcomes hold a truth can only be chosen whole, a run of neighbours for each: what that run
    holds beyond the bar is more than anybody asked for. No interval that keeps to the bar has less.
    """
    from scipy.stats import binom

    accuracy = np.linspace(0.02, 0.98, 97)
    chance = binom.pmf(np.arange(questions + 1), questions, accuracy[:, None])
    before = np.concatenate([np.zeros((len(accuracy), 1)), chance.cumsum(axis=1)], axis=1)
    runs = before[:, None, :] - before[:, :, None]
    return float(np.where(runs >= _LEAST - 1e-12, runs, 2.0).min(axis=(1, 2)).mean())


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exams", type=int, default=120)
    parser.add_argument("--family-exams", type=int, default=200)
    parser.add_argument("--questions", type=int, nargs="+", default=[30, 90, 200, 1000])
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    kinds = ("S", "R", "discipline", "difference")
    print(
        f"\n## Share of 95% intervals that hold the truth (mean width), {chosen.exams} exams of 12 candidates\n"
    )
    print(f"{'case':<28}{'N':>6}" + "".join(f"{kind:>18}" for kind in kinds))
    for name in chosen.case:
        for questions in chosen.questions:
            found = measure_coverage(CASES[name], questions, chosen.exams, chosen.seed)
            cells = []
            for kind in kinds:
                rows = found.get(kind, np.full((1, 2), np.nan))
                missing = found[f"{kind} missing"][:, 0].mean()
                mark = f"*{missing:.2f}" if missing else ""
                cells.append(f"{rows[:, 0].mean():.4f} ({rows[:, 1].mean():.2f}){mark}")
            print(f"{name:<28}{questions:>6}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    print(f"\n## Share of {chosen.family_exams} exams of {_EQUALS} candidates with a wrong word\n")
    for name in chosen.case:
        case = CASES[name]
        base = float(np.median(case.ability[:-1]))
        for questions in chosen.questions:
            equals = measure_family_error(case, [base], questions, chosen.family_exams, chosen.seed)
            levels = measure_family_error(
                case, [base, base + 0.5, base + 1.0], questions, chosen.family_exams, chosen.seed
            )
            print(
                f"{name:<28}{questions:>6}  12 equal: "
                + "  ".join(f"{word} {share:.3f}" for word, share in equals.items())
                + "   3 levels of 4: "
                + "  ".join(f"{word} {share:.3f}" for word, share in levels.items()),
                flush=True,
            )
    print(f"\n## Least mean coverage of an interval that never covers less than {_LEAST}, all or nothing\n")
    for count in sorted({questions // DISCIPLINES for questions in chosen.questions} | {*chosen.questions}):
        print(f"{count:>6} questions {compute_least_coverage(count):.3f}", flush=True)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
