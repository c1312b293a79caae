"""The rest of the demo: what fills every analysis that simulated data can fill.

It continues the home of the demo with a further month and its judges' calibration, a fresh draw with judges that are hard to read,
and all that stands beside the exam. Doing it again changes nothing.
"""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl
import yaml

from deployments.demo.beside_the_exam import (
    LEAGUE,
    label_failures,
    rate_round,
    report_demo_league,
    score_texts,
    write_writing_tasks,
)
from deployments.demo.run import MONTHS
from deployments.demo.simulation import PROFILE, serving_models
from deployments.flow_runs import run_flow
from deployments.model_server import draw_uniform
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.editions import GATES, StabilityRequest, write_stability
from tasks.exam.month import read_current_bank
from tasks.judging import draw_failures, prelabel_failures
from tasks.judging.calibration import draw_anchors
from tasks.judging.calibration.ratings import DrawRequest, draw_calibration
from tasks.models.registry import read_registry
from warehouse.lake import open_lake
from warehouse.lake.reading import queries
from warehouse.ledger.engine.opening import open_ledger

HERE: Final = Path(__file__).parent / "further"
FURTHER_MONTH: Final = "2026-12"
DRAW_SIZE: Final = 20
GAMING: Final = "sim-cirrus-eager"
WRITERS: Final = ("sim-aurora-2", "sim-basalt-1", "sim-dune-4")
FIRST_JUDGE: Final = "sim-judge-north"
RATERS: Final = ("demo-annotator-1", "demo-annotator-2", "demo-annotator-3")
# A fifth of the work of whoever has read nothing yet is of questions that were decided; so few ratings are enough here.
SETTINGS: Final = {"PROCTOR_REVIEW_GOLD_SHARE": "0.2", "PROCTOR_JUDGE_RATINGS_GATE": "100"}
# Analyses that stay without a row, since simulated runs take nothing from the bank, or since nothing of the kind has happened;
# `proctor sql NAME` states the reason of each.
WITHOUT_ROWS: Final = (
    "exposure_by_lineage",
    "exposure_left",
    "items_to_review",
    "picture_series",
    "pooling_forecast",
    "pooling_risk",
    "quarantine_by_rule",
)
_RATED = 120
_ANCHORS = 60

Measured = Callable[[str], AbstractContextManager[None]]


@dataclass
class Filled:
    """What the analyses of the lake have, with their parameters as they are by default.

    Attributes:
        row_counts: rows of each.
        without_rows: those that have none, with the reason.
    """

    row_counts: dict[str, int] = field(default_factory=dict)
    without_rows: dict[str, str] = field(default_factory=dict)


def run_everything(
    settings: Settings, first_runs: Sequence[str], review: Callable[[Settings], object], measured: Measured
) -> list[str]:
    """Run all that is missing in the home of the demo; returns the runs that it published."""
    folder = settings.home / "demo"
    with measured("a further paper, with gold questions"):
        _add_models(settings)
        run_flow("ingest", paths=[str(HERE / "science-quiz-2026.txt")])
        review(settings)
        run_flow("review_gate")
    with measured("variants by a model"):
        with serving_models(settings):
            run_flow("augment", generator="sim-writer", methods=["paraphrase"], budget_usd=1.0)
        # They are held until a sample of them is read; the models that are served next know them.
        review(settings)
        run_flow("review_gate")
    with serving_models(settings):
        with measured("judges watched"):
            with open_lake(settings) as lake:
                draw_anchors(lake, first_runs[0], f"anchors-{first_runs[0]}", size=_ANCHORS)
            # Every month that the demo has examined: continuing it looks at the judges in that month, too.
            for month in MONTHS:
                run_flow("drift", month=month)
        with measured("judges held to people"):
            _calibrate(settings, first_runs[-1])
        with measured(f"monthly {FURTHER_MONTH}"):
            candidates = [model.name for model in read_registry(settings.registry_path).candidates()]
            further = run_flow("monthly", month=FURTHER_MONTH, candidates=candidates)["run_id"]
        with measured("errors labelled"):
            _label_errors(settings, further)
        with measured("questions replayed"):
            sources = ["bank", str(HERE / "public-set.jsonl")]
            run_flow(
                "contamination",
                replay_id="demo",
                models=["sim-basalt-2", "sim-dune-4"],
                sources=sources,
                size=10,
            )
        with measured("league judged without references"):
            sent = run_flow("league", league_id=LEAGUE, run_type="without_reference")["calls"].get("sent", 0)
            report_demo_league(settings, is_new=sent > 0)
        with measured("writing tasks scored"):
            _score_writing(settings, folder)
    with measured("fresh draw, judges hard to read"), serving_models(settings, _write_hard_profile(folder)):
        drawn = run_flow("evaluate", month=FURTHER_MONTH, draw=DRAW_SIZE, candidates=candidates)["run_id"]
        run_flow("judge", run_id=drawn)
        reason = "simulated judges that are hard to read"
        run_flow("publish", run_id=drawn, overridden=list(GATES), reason=reason)
    with measured("other samples of its questions"), open_lake(settings) as lake:
        write_stability(lake, further, StabilityRequest(sample_sizes=(30, 30, 30, 60), samples=10))
    with measured("scores from elsewhere"):
        _import_scores(settings, folder)
    with measured("report"):
        run_flow("report")
    return [further, drawn]


def count_rows(settings: Settings) -> Filled:
    """Run every analysis of ours and count its rows."""
    found = Filled()
    with open_lake(settings, read_only=True) as lake:
        for query in queries.list_queries(("analyses",)):
            found.row_counts[query.name] = lake.run_named(query.name).height
            if not found.row_counts[query.name]:
                found.without_rows[query.name] = query.no_rows
    return found


def _add_models(settings: Settings) -> None:
    """Add the candidates of the rest to the registry of the demo."""
    if GAMING in read_registry(settings.registry_path).models:
        return
    path = settings.registry_path
    if path.read_text("utf-8") != (Path(__file__).parent / "models.yaml").read_text("utf-8"):
        raise UsageError(
            f"{path} was changed since the demo wrote it. Add the model of {HERE / 'models.yaml'} to it, or run the demo in an "
            "empty PROCTOR_HOME."
        )
    with path.open("a", encoding="utf-8") as file:
        file.write((HERE / "models.yaml").read_text("utf-8"))


def _calibrate(settings: Settings, run_id: str) -> None:
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        bank = read_current_bank(lake)
        for number in (1, 2):
            draw_calibration(ledger, lake, DrawRequest(run_id, "first", number, _RATED, RATERS))
            rate_round(ledger, lake, bank, f"first/{number}", RATERS)
    run_flow("calibrate")


def _label_errors(settings: Settings, run_id: str) -> None:
    labeller = read_registry(settings.registry_path).get(FIRST_JUDGE)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        draw_failures(lake, run_id, per_model=8)
        asyncio.run(prelabel_failures(ledger, lake, settings, labeller, run_id))
        label_failures(ledger, lake, run_id, RATERS[0])


def _score_writing(settings: Settings, folder: Path) -> None:
    from tasks.gscore.cgeval import (
        DEFAULT_RUN,
        import_questions,
        list_answering_models,
        read_questions,
        read_references,
    )
    from tasks.gscore.people import draw_sample, write_sample

    questions, references = write_writing_tasks(folder)
    import_questions(settings, questions)
    run_flow("gscore", models=list(WRITERS), references=str(references), embedding="none")
    known = read_questions(settings)
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        answers = list_answering_models(ledger, settings, known, DEFAULT_RUN, WRITERS)
        sample = draw_sample(answers, read_references(references, known), seed=1, size=20)
        write_sample(settings, "demo", sample)
        for rater in RATERS[:2]:
            score_texts(lake, sample, "demo", rater, folder / f"writing-{rater}.xlsx")


def _import_scores(settings: Settings, folder: Path) -> None:
    """Take in two invented benchmarks: one by day, one by category."""
    from tasks.exchange.imports import import_external, import_table

    with open_lake(settings) as lake:
        board = lake.run_named("leaderboard").filter(~pl.col("is_repetition")).select("model", "score").rows()
        by_day = [
            (
                model,
                f"2026-{month:02}-15",
                round(1000 + 5 * score + 30 * draw_uniform("arena", model, month), 1),
            )
            for model, score in board
            # Before the demo's last months: a day that is yet to come is refused.
            for month in (8, 9, 10)
        ]
        by_item = [
            (
                model,
                f"{category}-{item}",
                category,
                int(draw_uniform("quiz", model, category, item) * 100 < score),
            )
            for model, score in board
            for category in ("reading", "arithmetic", "facts")
            for item in range(1, 9)
        ]
        arena = _write_table(folder / "simulated-arena.csv", ("model", "scored_on", "score"), by_day)
        import_external(lake, arena, "simulated-arena", "invented for the demo", {})
        quiz = _write_table(folder / "simulated-quiz.csv", ("model", "item_id", "category", "mark"), by_item)
        import_table(lake, quiz, "scores", "simulated-quiz", {})


def _write_table(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def _write_hard_profile(folder: Path) -> Path:
    """The demo's models with judges of whose replies many have no readable stars."""
    content: dict[str, Any] = yaml.safe_load(PROFILE.read_text("utf-8"))
    content["models"][FIRST_JUDGE] |= {"unparsed": 0.6, "agreement": 0.75}
    content["models"]["sim-judge-south"] |= {"unparsed": 0.6}
    path = folder / "hard-to-read.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path
