"""From answers in the ledger to rows of `gscores` in the lake.

The cost of the calls is landed with them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.gscore.cgeval.answering import (
    DEFAULT_RUN,
    AnswerReport,
    answer_questions,
    name_session,
    read_answers,
)
from tasks.gscore.cgeval.item_scores import NO_SIMILARITY_MODEL, Several, score_answers
from tasks.gscore.cgeval.question_set import read_questions, read_references
from tasks.gscore.metrics.pairs import NO_MODEL_NOTE
from tasks.gscore.metrics.profiles import parse_profile
from tasks.gscore.metrics.similarity import Embedder, EmbeddingModelError, load_embedder
from tasks.gscore.people import check_answers
from tasks.models import SharedClient, read_call_frames
from tasks.models.registry import read_registry
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.money.calls import read_first_start

Count = Callable[[int, int], None]


@dataclass(frozen=True)
class ScoreSummary:
    """What scoring one model came to.

    Attributes:
        model: the candidate.
        unit: what the rows were landed as.
        item_count: rows landed: questions that have a reference.
        scored_count: those with BLEU-4, ROUGE-2 and chrF, or with an accuracy.
        gscore_count: those with a Gscore.
        unanswered_count: those that the candidate has not answered yet.
        without_reference_count: imported questions without a reference; they have no row.
        refused_count: rows that broke a rule of the table and lie in the quarantine.
        profile: how the surface metrics were computed.
        similarity_model: identity of the embedding model, or `none`.
        message: why there are no similarities; null when there are.
        is_unchanged: whether the same rows were there already.
    """

    model: str
    unit: str
    item_count: int
    scored_count: int
    gscore_count: int
    unanswered_count: int
    without_reference_count: int
    refused_count: int
    profile: str
    similarity_model: str
    message: str | None
    is_unchanged: bool


@dataclass(frozen=True)
class Scoring:
    """How answers are scored.

    Attributes:
        profile: how BLEU-4, ROUGE-2 and chrF are computed.
        embedding: embedding model, a name or a folder; empty for the one of the settings, `none` for none.
        several: `best` or `mean` of several references.
        run_id: the run that they were given in.
    """

    profile: str = "cgeval-paper"
    embedding: str = ""
    several: Several = "best"
    run_id: str = DEFAULT_RUN


async def answer_and_land(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    model_name: str,
    run_id: str = DEFAULT_RUN,
    progress: Count | None = None,
) -> AnswerReport:
    """Ask a registered model what it has not answered yet, and land what the calls cost.

    The cost is also landed when the asking was stopped.
    """
    questions = read_questions(settings)
    model = read_registry(settings.registry_path).get(model_name)
    unit = name_session(run_id, model.name)
    try:
        async with SharedClient(ledger, settings, run_id, settings.budget_usd) as client:
            return await answer_questions(ledger, settings, client, model, questions, run_id, progress)
    finally:
        _land_calls(ledger, lake, unit)


def score_and_land(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    model_name: str,
    references_path: Path,
    scoring: Scoring | None = None,
    *,
    progress: Count | None = None,
) -> ScoreSummary:
    """Score what a model has answered against the references and land the rows.

    No model is called.

    Without an embedding model similarity and the Gscore of texts are null (`message` says why). The same again replaces the same rows. Raises
    UsageError when nothing is answered, when people scored other answers, or for a file that holds no references of these questions.
    """
    scoring = scoring or Scoring()
    several, run_id = scoring.several, scoring.run_id
    chosen = parse_profile(scoring.profile)
    if several not in ("best", "mean"):
        raise UsageError(f"There is no way {several!r} to join several references. Use best or mean.")
    questions = read_questions(settings)
    model = read_registry(settings.registry_path).get(model_name)
    answers = read_answers(ledger, model, questions, run_id)
    if answers["response"].null_count() == answers.height:
        raise UsageError(
            f"{model.name} has answered none of the questions in run {run_id!r} as it is registered now. "
            f"Run `proctor cgeval answer --model {model.name}` first."
        )
    check_answers(settings, answers)
    references = read_references(references_path, questions)
    similarity, message = _load_similarity(settings, scoring.embedding)
    with nullcontext() if similarity is None else closing(similarity):
        scored = score_answers(
            answers,
            references,
            scoring.profile,
            similarity,
            several,
            missing_similarity_note=message or NO_MODEL_NOTE,
            progress=progress,
        )
    rows = scored.with_columns(is_simulated=pl.lit(model.is_simulated))
    identity = NO_SIMILARITY_MODEL if similarity is None else similarity.identity
    unit = f"{name_session(run_id, model.name)}/{chosen.name}/{_shorten(identity)}"
    landing = lake.land("gscores", unit, rows)
    return ScoreSummary(
        model=model.name,
        unit=unit,
        item_count=landing.row_count,
        scored_count=rows.height - rows.select(pl.coalesce("chrf", "accuracy")).to_series().null_count(),
        gscore_count=rows.height - rows["gscore"].null_count(),
        unanswered_count=rows["response"].null_count(),
        without_reference_count=questions.height - references.height,
        refused_count=landing.rejected_count,
        profile=chosen.name,
        similarity_model=identity,
        message=message,
        is_unchanged=landing.is_unchanged,
    )


def _load_similarity(settings: Settings, embedding: str) -> tuple[Embedder | None, str | None]:
    if embedding == NO_SIMILARITY_MODEL:
        return None, NO_MODEL_NOTE
    try:
        cache = settings.home / "cgeval" / "embeddings.sqlite"
        return load_embedder(embedding or settings.similarity_model, cache=cache), None
    except EmbeddingModelError as error:
        return None, str(error)


def _shorten(identity: str) -> str:
    if identity == NO_SIMILARITY_MODEL:
        return identity
    return hashlib.sha256(identity.encode()).hexdigest()[:8]


def _land_calls(ledger: Ledger, lake: Lake, unit: str) -> None:
    """Land what the calls of a unit cost and how they went.

    They are landed under the month in which the first call was made.
    """
    with ledger.read() as connection:
        first = read_first_start(connection, unit)
    if first is None:
        return
    frames = read_call_frames(ledger, {unit: first[:7]})
    lake.land_together([Batch("llm_calls", name, frame) for name, frame in frames.items()], stage="gscore")
