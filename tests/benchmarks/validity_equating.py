"""How near equated scores come to the truth while the bank gets harder.

They stand beside raw S, in simulated seasons.

    python -m tests.benchmarks.validity_equating [--exams 200] [--candidates 60] [--seasons 6] [--questions 1000]
                                                 [--anchors 0.2] [--harder 0.15] [--first-sets 1] [--workers 1]
                                                 [--cache .bench] [--refits 100] [--editions 36]

Every exam is fitted discipline by discipline through the estimators of an edition. Truth is the expected score on the whole
bank of the first season; some lines take the questions drawn from it instead, as the score is defined. What the error is made
of stands below: the draw of the first season's questions from their bank, which nothing can take back; a candidate's own
answers, were all questions' parameters known; and the calibration with its links. --first-sets draws more questions in the
first season: each candidate sits one of its sets, the reference all.

Finished exams are kept in the cache under a name that changes with the code and the options, so that a run that was stopped
continues where it was. Also: the jackknife's errors beside those of a bootstrap over lineages (refits), and the CPU seconds of
one discipline at full size, from nothing and warm (--editions).
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tasks.statistics import compute_spearman
from tasks.statistics.items import (
    GradedFit,
    GradedRows,
    combine_disciplines,
    compute_equated,
    fit_graded_response,
)
from tasks.statistics.items.equating import EquatedScores, compute_abilities
from tests.tasks.statistics.simulated import THRESHOLDS, Season, draw_chances, draw_seasons

DISCIPLINES = 10
# Exams whose errors are taken apart: that takes a sixth of the time again.
TAKEN_APART = 24
_REST_ON = (
    "tasks.statistics.items.equating",
    "tasks.statistics.items.graded_model",
    "tasks.statistics.items.graded_response",
    "tasks.statistics.items.graded_start",
    "tasks.statistics.items.graded_steps",
    "tasks.statistics.scores.intervals",
    "tests.tasks.statistics.simulated",
    "tests.benchmarks.validity_equating",
)


@dataclass(frozen=True)
class Seasons:
    """One simulated exam: the equated scores of all entries, and the truth (0 to 100).

    The reference's entries are left out.

    `truth` is the expected score on the whole bank of the first season, `form` on the questions that were drawn from it;
    `with_known_questions` is what would be found on those, were the parameters of all questions known (None: not asked for).
    `discipline_z` (disciplines × entries) is the error of a discipline's score in its own standard errors: disciplines are
    drawn independently, so they say ten times as much about the errors as the exams do.
    """

    found: EquatedScores
    truth: NDArray[np.float64]
    form: NDArray[np.float64]
    own_bank: NDArray[np.float64]
    season: NDArray[np.int64]
    discipline_z: NDArray[np.float64]
    with_known_questions: NDArray[np.float64] | None


def draw_abilities(generator: np.random.Generator, candidates: int, seasons: int) -> NDArray[np.float64]:
    """General abilities, candidates × seasons.

    Each candidate improves at its own pace; the last one is the reference.
    """
    first = generator.normal(1.4, 0.9, candidates)
    pace = np.abs(generator.normal(0.06, 0.06, candidates))
    ability = first[:, None] + pace[:, None] * np.arange(seasons)
    ability[-1] = first.max()
    return ability


def measure_seasons(
    seed: int,
    *,
    candidates: int = 60,
    seasons: int = 6,
    questions: int = 1000,
    anchor_share: float = 0.2,
    harder: float = 0.15,
    disciplines: int = DISCIPLINES,
    first_sets: int = 1,
    is_taken_apart: bool = False,
) -> Seasons:
    """Draw, fit and equate one exam of all disciplines."""
    generator = np.random.default_rng(seed)
    general = draw_abilities(generator, candidates + 1, seasons)
    wanted = np.arange(candidates * seasons)
    equated, z = [], []
    truth, form, own_bank, known = (np.zeros(len(wanted)) for _ in range(4))
    for _ in range(disciplines):
        ability = general + generator.normal(0, 0.4, (candidates + 1, 1))
        drawn = draw_seasons(
            generator,
            ability,
            questions=questions // disciplines,
            anchor_share=anchor_share,
            harder=harder,
            first_sets=first_sets,
        )
        fit = fit_graded_response(drawn.rows)
        assert fit.is_converged
        equated.append(compute_equated(drawn.rows, fit, wanted))
        z.append((equated[-1].score - drawn.score[wanted]) / equated[-1].score_se)
        truth += drawn.score[wanted] / disciplines * 10
        form += drawn.form_score[wanted] / disciplines * 10
        own_bank += drawn.own_bank[wanted] / disciplines * 10
        if is_taken_apart:
            known += _score_by_known_questions(drawn, fit)[wanted] / disciplines * 10
    found = combine_disciplines(equated, np.full(disciplines, 1 / disciplines))
    return Seasons(
        found, truth, form, own_bank, wanted % seasons, np.array(z), known if is_taken_apart else None
    )


def _score_by_known_questions(drawn: Season, fit: GradedFit) -> NDArray[np.float64]:
    """Every entry's score (0 to 10) on the first season's questions.

    It rests on the entry's own answers and the true parameters.
    """
    true = replace(fit.parameters, difficulty=drawn.difficulty, thresholds=THRESHOLDS)
    ability = compute_abilities(
        drawn.rows, replace(fit, parameters=true, discrimination=drawn.discrimination)
    )
    is_first = drawn.rows.question_season == 0
    chances = draw_chances(np.nan_to_num(ability), drawn.discrimination[is_first], drawn.difficulty[is_first])
    return np.asarray(chances.mean(axis=1) @ np.arange(4.0) / 3 * 10)


def summarise_exam(exam: int, options: dict[str, int | float]) -> dict[str, list[float]]:
    """Name → value of one exam (coverage by season has one for each season)."""
    drawn = measure_seasons(exam, is_taken_apart=exam < TAKEN_APART, **options)  # type: ignore[arg-type]
    found, truth = drawn.found, drawn.truth
    held = (found.low <= truth) & (truth <= found.high)
    own_low, own_high = found.own_score - 1.96 * found.own_se, found.own_score + 1.96 * found.own_se

    def miss(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
        return float(np.sqrt(np.mean((one - other) ** 2)))

    by_season = np.bincount(drawn.season, weights=held) / np.bincount(drawn.season)
    columns = {
        "raw S: RMSE": miss(found.own_score, truth),
        "raw S: bias": np.mean(found.own_score - truth),
        "raw S: rank correlation": compute_spearman(found.own_score, truth).rho,
        "raw S: coverage on its own season's bank": np.mean(
            (own_low <= drawn.own_bank) & (drawn.own_bank <= own_high)
        ),
        "equated: RMSE": miss(found.score, truth),
        "equated: RMSE on the first season's own questions": miss(found.score, drawn.form),
        "equated: bias": np.mean(found.score - truth),
        "equated: rank correlation": compute_spearman(found.score, truth).rho,
        "equated: coverage of the 95% interval": np.mean(held),
        "a discipline: coverage of ± 1.98 standard errors": np.mean(np.abs(drawn.discipline_z) < 1.98),
        "a discipline: mean square error in standard errors": np.mean(drawn.discipline_z**2),
        "equated: mean standard error": np.mean(found.se),
        "disagree, first season": np.mean(found.is_disagreeing[drawn.season == 0]),
        "disagree, last season": np.mean(found.is_disagreeing[drawn.season == drawn.season.max()]),
        "of the error: the draw of the first season's questions": miss(drawn.form, truth),
    }
    if drawn.with_known_questions is not None:
        columns["of the error: own answers, all questions known"] = miss(
            drawn.with_known_questions, drawn.form
        )
        columns["of the error: calibration and links"] = miss(found.score, drawn.with_known_questions)
    return {
        **{name: [float(np.nan if value is None else value)] for name, value in columns.items()},
        "coverage by season": [float(value) for value in by_season],
    }


def measure_exams(
    exams: int, folder: Path, workers: int, **options: int | float
) -> list[dict[str, list[float]]]:
    """The summaries of so many exams.

    Finished ones are read from a file of the folder, and each new one is added to it.
    """
    code = b"".join(Path(str(importlib.import_module(name).__file__)).read_bytes() for name in _REST_ON)
    key = hashlib.sha256(code + json.dumps(options, sort_keys=True).encode()).hexdigest()[:16]
    path = folder / f"validity_equating-{key}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    done: dict[int, dict[str, list[float]]] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        number, summary = json.loads(line)
        done[number] = summary
    missing = [exam for exam in range(exams) if exam not in done]
    if len(missing) < exams:
        print(f"{exams - len(missing)} exams are read from {path}", file=sys.stderr, flush=True)
    begun = time.perf_counter()
    with path.open("a") as file:
        for count, (exam, summary) in enumerate(_run_exams(missing, workers, options), start=1):
            done[exam] = summary
            file.write(json.dumps([exam, summary]) + "\n")
            file.flush()
            if count % 10 == 0 or count == len(missing):
                left = (time.perf_counter() - begun) / count * (len(missing) - count)
                print(f"{count} of {len(missing)} exams, {left:.0f} s left", file=sys.stderr, flush=True)
    return [done[exam] for exam in range(exams)]


def _run_exams(
    exams: Sequence[int], workers: int, options: dict[str, int | float]
) -> Iterator[tuple[int, dict[str, list[float]]]]:
    summarise = partial(summarise_exam, options=options)
    if workers <= 1:
        yield from ((exam, summarise(exam)) for exam in exams)
        return
    with ProcessPoolExecutor(workers) as pool:
        waiting = {pool.submit(summarise, exam): exam for exam in exams}
        for finished in as_completed(waiting):
            yield waiting[finished], finished.result()


def resample_lineages(rows: GradedRows, generator: np.random.Generator) -> GradedRows:
    """The rows of as many lineages, drawn with replacement.

    A lineage that is drawn twice becomes two questions with two lineages.
    """
    of_row = np.argsort(rows.question, kind="stable")
    counts = np.bincount(rows.question, minlength=rows.question_count)
    starts = np.concatenate([[0], np.cumsum(counts)])
    drawn = generator.integers(0, rows.question_count, rows.question_count)
    kept = np.concatenate([of_row[starts[one] : starts[one + 1]] for one in drawn])
    question = np.repeat(np.arange(len(drawn)), counts[drawn])
    return replace(
        rows,
        entry=rows.entry[kept],
        question=question,
        stars=rows.stars[kept],
        weight=rows.weight[kept],
        question_season=rows.question_season[drawn],
        question_lineage=np.arange(len(drawn)),
    )


def measure_bootstrap(
    refits: int, *, candidates: int = 60, seasons: int = 6, questions: int = 100
) -> tuple[float, float]:
    """Mean standard error of a discipline's equated score (0 to 10), by two methods.

    They are the jackknife and a bootstrap over lineages.
    """
    generator = np.random.default_rng(5)
    ability = draw_abilities(generator, candidates + 1, seasons)
    drawn = draw_seasons(generator, ability, questions=questions)
    fit = fit_graded_response(drawn.rows)
    wanted = np.arange(candidates * seasons)
    jackknife = compute_equated(drawn.rows, fit, wanted).score_se
    scores = []
    for _ in range(refits):
        again = resample_lineages(drawn.rows, generator)
        scores.append(compute_equated(again, fit_graded_response(again), wanted).score)
    return float(jackknife.mean()), float(np.std(scores, axis=0, ddof=1).mean())


def measure_full_size(editions: int) -> None:
    """CPU seconds of one discipline: all editions from nothing, and with one more edition, warm."""
    generator = np.random.default_rng(3)
    ability = draw_abilities(generator, 61, editions + 1)
    ability += 0.3 - 0.06 * np.arange(editions + 1)
    drawn = draw_seasons(generator, ability, harder=0.03)
    rows = drawn.rows
    is_old = rows.entry_edition[rows.entry] < editions
    is_old &= rows.question_season[rows.question] < editions
    old = replace(
        rows, **{name: getattr(rows, name)[is_old] for name in ("entry", "question", "stars", "weight")}
    )
    begun = time.process_time()
    first = fit_graded_response(old)
    fitted = time.process_time()
    newest = np.flatnonzero(rows.entry_edition == editions - 1)
    compute_equated(old, first, newest[newest < 60 * (editions + 1)])
    equated = time.process_time()
    compute_equated(old, first)
    every = time.process_time()
    answered = first.answer_weight > 0
    start = replace(
        first.parameters,
        difficulty=np.where(answered, first.parameters.difficulty, np.nan),
        log_discrimination=np.where(answered, first.parameters.log_discrimination, np.nan),
        edition_mean=np.append(first.parameters.edition_mean[:-1], np.nan),
        season_mean=np.append(first.parameters.season_mean[:-1], np.nan),
    )
    again = time.process_time()
    warm = fit_graded_response(rows, start=start)
    done = time.process_time()
    cold = fit_graded_response(rows)
    apart = np.abs(warm.parameters.difficulty - cold.parameters.difficulty).max()
    print(
        f"{len(old.stars):,} rows, {60 * editions:,} entries, {int(answered.sum()):,} questions: "
        f"fit from nothing {fitted - begun:.1f} CPU s ({first.round_count} rounds), errors of the newest edition "
        f"{equated - fitted:.1f}, of all entries {every - equated:.1f}; one more edition, warm: {done - again:.1f} "
        f"({warm.round_count} rounds; from nothing {time.process_time() - done:.1f}, {cold.round_count} rounds; "
        f"largest difference of a difficulty {apart:.4f} logits)"
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exams", type=int, default=200)
    parser.add_argument("--candidates", type=int, default=60)
    parser.add_argument("--seasons", type=int, default=6)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--anchors", type=float, default=0.2)
    parser.add_argument("--harder", type=float, default=0.15)
    parser.add_argument("--first-sets", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cache", default=".bench")
    parser.add_argument("--refits", type=int, default=100)
    parser.add_argument("--editions", type=int, default=36)
    chosen = parser.parse_args(arguments)
    print(
        f"\n## Equating: {chosen.exams} exams of {chosen.seasons} seasons, {chosen.candidates} candidates and the "
        f"reference, {chosen.questions} questions a season ({chosen.first_sets} sets in the first), {chosen.anchors:.0%} "
        f"anchors, harder by {chosen.harder} logits a season\n"
    )
    summaries = measure_exams(
        chosen.exams,
        Path(chosen.cache),
        chosen.workers,
        candidates=chosen.candidates,
        seasons=chosen.seasons,
        questions=chosen.questions,
        anchor_share=chosen.anchors,
        harder=chosen.harder,
        first_sets=chosen.first_sets,
    )
    for name in summaries[0] if summaries else ():
        values = np.array([one[name] for one in summaries if name in one])
        if values.shape[1] == 1:
            error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
            print(f"{name:<56}{np.mean(values):>9.4f} ± {error:.4f}")
        else:
            print(f"{name}: " + " ".join(f"{value:.3f}" for value in values.mean(axis=0)), flush=True)
    if chosen.refits:
        jackknife, bootstrap = measure_bootstrap(chosen.refits)
        print(
            f"\nStandard error of a discipline (0 to 10): jackknife {jackknife:.4f}, bootstrap of {chosen.refits} refits "
            f"{bootstrap:.4f}, ratio {jackknife / bootstrap:.3f}",
            flush=True,
        )
    if chosen.editions:
        measure_full_size(chosen.editions)


if __name__ == "__main__":
    main(sys.argv[1:])
