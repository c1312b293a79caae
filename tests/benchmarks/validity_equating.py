"""How near equated scores come to the truth, and how often intervals hold it.

Exams are drawn by `guessed_seasons`, whose answers are none of the fitted model, and equated season by season as editions are: what
is published of a question is known to the next season, with its error. Truth is the expected S on the whole bank of the first season.

    python -m tests.benchmarks.validity_equating [--exams 20] [--candidates 20] [--seasons 4] [--questions 1000]
                                                 [--harder 0.15] [--guess 0.25] [--passage 1] [--together 0] [--moved 0] [--groups 1]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.items import (
    EquatedScores,
    GradedFit,
    GradedRows,
    KnownQuestions,
    SameBank,
    ScaleForm,
    compute_equated,
    fit_graded_response,
)
from tests.benchmarks.guessed_seasons import Answers, Rules, draw_answers


@dataclass(frozen=True)
class Scales:
    """What all seasons of an exam gave, candidates × seasons (× disciplines); 0 to 100."""

    score: NDArray[np.float64]
    se: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    own_score: NDArray[np.float64]
    is_disagreeing: NDArray[np.bool_]
    discipline_score: NDArray[np.float64]
    discipline_low: NDArray[np.float64]
    discipline_high: NDArray[np.float64]
    moved_count: int
    is_settled: bool


class _Published:
    """What editions published of an exam's questions."""

    def __init__(self, questions: int, disciplines: int) -> None:
        self.edition = np.full(questions, -1)
        self.numbers = {name: np.ones(questions) for name in ("b", "b_se", "a", "a_se")}
        self.numbers["both"] = np.zeros(questions)
        self.shared = np.zeros((disciplines, 0, 0))
        self.first: SameBank | None = None

    def know(self, questions: NDArray[np.int64], *, is_same_bank: bool) -> KnownQuestions:
        found = {name: values[questions] for name, values in self.numbers.items()}
        return KnownQuestions(
            is_known=self.edition[questions] >= 0,
            difficulty=found["b"],
            difficulty_se=found["b_se"],
            log_discrimination=np.log(found["a"]),
            log_discrimination_se=found["a_se"] / found["a"],
            correlation=found["both"],
            edition=np.maximum(self.edition[questions], 0),
            shared=self.shared,
            same_bank=self.first if is_same_bank else None,
        )

    def publish(self, questions: NDArray[np.int64], fit: GradedFit, disciplines: NDArray[np.int64]) -> None:
        if self.first is None:
            by_discipline = [fit.difficulty[disciplines == code] for code in range(len(self.shared))]
            self.first = SameBank(
                0,
                np.array([one.mean() for one in by_discipline]),
                fit.draws.difficulty_sd**2 / np.array([len(one) for one in by_discipline]),
                float(np.log(fit.discrimination).mean()),
                fit.draws.discrimination_sd**2 / len(disciplines),
            )
        new = ~fit.is_known
        self.edition[questions[new]] = self.shared.shape[1]
        found = (
            fit.difficulty,
            fit.difficulty_se,
            fit.discrimination,
            fit.discrimination_se,
            fit.correlation,
        )
        for values, one in zip(self.numbers.values(), found, strict=True):
            values[questions[new]] = one[new]
        count = self.shared.shape[1]
        shared = np.zeros((len(self.shared), count + 1, count + 1))
        shared[:, :count, :count] = self.shared
        shared[:, count, :] = shared[:, :, count] = fit.shared
        self.shared = shared


def arrange_season(drawn: Answers, rules: Rules, season: int) -> tuple[GradedRows, NDArray[np.int64]]:
    """The answers of a season as the model takes them, and which questions its codes are."""
    mine = drawn.season == season
    questions, code = np.unique(drawn.question[mine], return_inverse=True)
    rows = GradedRows(
        entry=drawn.candidate[mine],
        question=code,
        stars=drawn.stars[mine],
        weight=np.ones(int(mine.sum())),
        entry_edition=np.zeros(rules.candidates, dtype=np.int64),
        question_discipline=drawn.discipline[questions],
        question_home=np.zeros(len(questions), dtype=np.int64),
        question_cluster=drawn.passage[questions],
        question_format=np.zeros(len(questions), dtype=np.int64),
        format_chance=np.array([rules.guess]),
    )
    return rows, questions


def list_form(rows: GradedRows, fit: GradedFit) -> ScaleForm:
    """The questions of a fit as the form of its scale."""
    return ScaleForm(
        discipline=rows.question_discipline,
        format=rows.question_format,
        cluster=rows.question_cluster,
        difficulty=fit.difficulty,
        difficulty_se=fit.difficulty_se,
        log_discrimination=np.log(fit.discrimination),
        log_discrimination_se=fit.discrimination_se / fit.discrimination,
        correlation=fit.correlation,
    )


def equate_seasons(drawn: Answers, rules: Rules, *, is_same_bank: bool = False) -> Scales:
    """Every season, each linked by what those before it published.

    With `is_same_bank` it is known that all drew from one bank.
    """
    published = _Published(len(drawn.discipline), rules.disciplines)
    weights = np.full(rules.disciplines, 1.0 / rules.disciplines)
    form, scale, found, moved = None, None, [], 0
    for season in range(rules.seasons):
        rows, questions = arrange_season(drawn, rules, season)
        known = published.know(questions, is_same_bank=is_same_bank) if season else None
        fit = fit_graded_response(rows, known=known, scale=scale)
        published.publish(questions, fit, rows.question_discipline)
        found.append(compute_equated(rows, fit, weights, form=form))
        moved += int(fit.is_moved.sum())
        if season == 0:
            scale = fit.scale
            form = list_form(rows, fit)
    names = {field.name for field in fields(EquatedScores)} & {field.name for field in fields(Scales)}
    return Scales(
        **{name: np.stack([getattr(one, name) for one in found], axis=1) for name in names - {"is_settled"}},
        moved_count=moved,
        is_settled=all(one.is_settled for one in found),
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Print one table: a row for each season."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exams", type=int, default=20)
    parser.add_argument(
        "--same-bank", action="store_true", help="every season is known to draw from one bank"
    )
    for name, kind in (
        ("candidates", int), ("seasons", int), ("questions", int), ("disciplines", int), ("passage", int), ("groups", int),
        ("harder", float), ("guess", float), ("together", float), ("moved", float), ("anchors", float),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=getattr(Rules(), name))
    chosen = vars(parser.parse_args(arguments))
    exams, is_same_bank = chosen.pop("exams"), chosen.pop("same_bank")
    rules = Rules(**chosen)
    errors, on_first, raw, held, disciplines, moved, settled = [], [], [], [], [], 0, 0
    cpu = 0.0
    for exam in range(exams):
        drawn = draw_answers(exam, rules)
        begun = time.process_time()
        found = equate_seasons(drawn, rules, is_same_bank=is_same_bank)
        cpu += time.process_time() - begun
        errors.append(found.score - drawn.score)
        on_first.append(found.score - drawn.form_score)
        raw.append(found.own_score - drawn.score)
        held.append((found.low <= drawn.score) & (drawn.score <= found.high))
        truth = drawn.by_discipline
        disciplines.append((found.discipline_low <= truth) & (truth <= found.discipline_high))
        moved, settled = moved + found.moved_count, settled + found.is_settled
    print(
        f"{rules}: {exams} exams, {cpu / exams:.1f} CPU s each, {settled} settled, {moved / exams:.1f} anchors dropped"
    )
    print(
        f"{'season':<8}{'RMSE':>7}{'of all alike':>14}{'on first questions':>20}{'bias (error)':>16}{'coverage (error)':>19}"
        f"{'S: RMSE':>9}{'disciplines':>13}"
    )
    for season in [*range(rules.seasons), None]:
        part = slice(None) if season is None else [season]
        away, first, of_raw, covered, of_disciplines = (
            np.array(one)[:, :, part] for one in (errors, on_first, raw, held, disciplines)
        )
        # What candidates of an exam have in common makes exams the ones to count.
        bias, share = away.mean(axis=(1, 2)), covered.mean(axis=(1, 2))
        alike = np.sqrt((away.mean(axis=1) ** 2).mean())
        of_bias, of_share = (
            one.std(ddof=1) / np.sqrt(exams) if exams > 1 else np.nan for one in (bias, share)
        )
        print(
            f"{'all' if season is None else season + 1:<8}{np.sqrt((away**2).mean()):>7.2f}{alike:>14.2f}"
            f"{np.sqrt((first**2).mean()):>20.2f}{f'{bias.mean():+.2f} ({of_bias:.2f})':>16}"
            f"{f'{share.mean():.3f} ({of_share:.3f})':>19}{np.sqrt((of_raw**2).mean()):>9.2f}{of_disciplines.mean():>13.3f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
