"""CG-Eval from questions to agreement with people: the commands `cgeval …`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from deployments.command_line.printing import print_frame, print_note, print_result
from deployments.commands.checks import check_registry
from deployments.commands.gscore.score import Embedding, Profile, Several
from deployments.commands.options import NoServer, split_names
from deployments.flow_runs import run_flow
from schemas.counting import say_count
from schemas.errors import UsageError
from schemas.settings import load_settings
from schemas.vocabulary import LANGUAGES, check_discipline
from tasks.bank.exchange import check_may_see_answers
from tasks.exam.public.bank import read_showable
from tasks.gscore.cgeval import (
    PROMPT_VERSION,
    PUBLISHED_COUNT,
    SCORED_TYPES,
    Scoring,
    answer_and_land,
    export_cgeval_submission,
    import_questions,
    list_answering_models,
    read_answers,
    read_questions,
    read_references,
    score_and_land,
    write_bank_questions,
)
from tasks.gscore.people import (
    compute_sample_agreement,
    draw_sample,
    export_rating_workbook,
    land_ratings,
    read_sample,
    write_sample,
)
from tasks.models.registry import read_registry
from tasks.running import Progress
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

cgeval_app = typer.Typer(no_args_is_help=True)

ratings_app = typer.Typer(no_args_is_help=True, help="People's scores of a sample, as workbooks.")
cgeval_app.add_typer(ratings_app, name="ratings")

Model = Annotated[str, typer.Option("--model", help="A model of the registry.")]

Models = Annotated[str, typer.Option("--models", help="Models of the registry, comma separated.")]

CgevalRun = Annotated[
    str, typer.Option("--run", help="Name of the run: a new name asks and pays for every question again.")
]

References = Annotated[
    Path,
    typer.Option(
        "--references",
        help="CSV, TSV, JSONL or Parquet: cgeval_id (or CG-Eval's own columns) and reference; several rows, "
        "several references.",
    ),
]

Sample = Annotated[str, typer.Option("--sample", help="Name of the sample.")]


@cgeval_app.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(help="CG-Eval's question file, as it is published, or one of `from-bank`.")
    ],
) -> None:
    """Check CG-Eval's question file and keep a copy under PROCTOR_HOME.

    The same file again changes nothing. Another one is kept beside it.

    Example: proctor cgeval import cgeval_questions.csv
    """
    found = import_questions(load_settings(), file)
    if found.question_count != PUBLISHED_COUNT:
        print_note(
            f"The file holds {say_count(found.question_count, 'question')}; the published one holds {PUBLISHED_COUNT}. "
            "Means over it are not CG-Eval's."
        )
    if found.former_path is not None:
        print_note(
            f"The file that was imported before is kept as {found.former_path}. Of its questions {found.left_count:,} are not in "
            "this one: their answers count again once it is imported again."
        )
    print_result(
        {
            "questions": found.question_count,
            "subjects": found.subject_count,
            "categories": found.category_count,
            "sha256": found.content_hash,
            "kept": str(found.path),
            "is_unchanged": found.is_unchanged,
            "former": None if found.former_path is None else str(found.former_path),
        }
    )


@cgeval_app.command("from-bank")
def write_from_bank(
    questions: Annotated[Path, typer.Argument(help="CSV to write: questions with our prompts.")],
    references: Annotated[Path, typer.Argument(help="CSV to write: their references, a secret of yours.")],
    user_id: Annotated[
        str, typer.Option("--as", help="Who asks: answers leave for an admin or examiner only.")
    ] = "",
    discipline: Annotated[str, typer.Option("--discipline", help="Only this discipline.")] = "",
    language: Annotated[str, typer.Option("--language", help="Only zh or en.")] = "",
) -> None:
    """Write questions of our bank, each with a prompt, and their references, for Gscore.

    Term explanations, short answers and calculations that are retired or disclosed; never one that somebody can still be asked.
    `cgeval import` takes the first file, `--references` the second.

    Example: proctor cgeval from-bank bank.csv references.csv --as eve --discipline Law
    """
    if questions.resolve() == references.resolve():
        raise UsageError(f"Questions and references would both be {questions}. Name two files.")
    if discipline:
        check_discipline(discipline)
    if language and language not in LANGUAGES:
        raise UsageError(f"There is no language {language!r}; there are {', '.join(LANGUAGES)}.")
    _check_writable(questions)
    _check_writable(references)
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        check_may_see_answers(ledger, user_id)
        found = read_showable(ledger, lake, settings, SCORED_TYPES, discipline=discipline, language=language)
    if found.questions.is_empty():
        raise UsageError(
            f"No such question may be shown: {found.live_count} can still be asked, {found.sitting_count} are retired, but a session "
            f"that is not closed has them, and {found.unretired_count} left the bank otherwise. `proctor bank retire` takes one out."
        )
    written = write_bank_questions(found.questions, questions, references)
    print_result(
        {
            "questions": sum(written.counts.values()),
            "by_kind": dict(written.counts),
            "prompt_version": PROMPT_VERSION,
            "left_out_live": found.live_count,
            "left_out_in_sessions": found.sitting_count,
            "left_out_not_retired": found.unretired_count,
            "left_out_pictures": written.pictured_count,
            "left_out_without_final_answer": written.unresolved_count,
            "paths": [str(questions), str(references)],
        },
        then=f"proctor cgeval import {questions}",
    )


@cgeval_app.command()
def answer(model: Model, run_id: CgevalRun = "cgeval") -> None:
    """Put every imported question to a model, zero-shot, with its own prompt.

    Interrupted or killed, the same command continues: what was answered is not sent, and not paid for, again.
    PROCTOR_BUDGET_USD stops it before it costs more. Exit code 1 when questions stayed open, 3 when the budget stopped it.

    Example: proctor cgeval answer --model sim-example
    """
    settings = load_settings()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress(f"cgeval {model}: answers") as progress,
    ):
        report = asyncio.run(answer_and_land(ledger, lake, settings, model, run_id, progress.reach))
    print_result(
        {
            "model": report.model,
            "run_id": run_id,
            "questions": report.question_count,
            "answered": report.answered_count,
            "resumed": report.resumed_count,
            "failed_calls": report.failed_count,
            "statuses": report.statuses,
            "calls": dict(report.calls),
            "cost_usd": report.cost_usd,
            "failure": report.failure,
        }
    )
    if not report.is_complete:
        raise typer.Exit(1)


@cgeval_app.command()
def export(
    out: Annotated[Path, typer.Argument(help="CSV to write, in the form that CG-Eval's site takes.")],
    model: Model,
    run_id: CgevalRun = "cgeval",
    partial: Annotated[
        bool, typer.Option("--partial", help="Leave questions without an answer blank instead of refusing.")
    ] = False,
) -> None:
    """Write a model's answers as CG-Eval's submission.

    It has the question file's columns as they were, and 回答.

    Example: proctor cgeval export --model sim-example submission.csv
    """
    settings = load_settings()
    questions = read_questions(settings)
    registered = read_registry(settings.registry_path).get(model)
    with open_ledger(settings.ledger_address) as ledger:
        answers = read_answers(ledger, registered, questions, run_id)
    given = answers.filter(pl.col("response").is_not_null())
    count = export_cgeval_submission(questions, given, _check_writable(out), may_lack=partial)
    print_result({"out": str(out), "questions": questions.height, "answers": count})


@cgeval_app.command()
def score(
    model: Model,
    references: References,
    profile: Profile = "cgeval-paper",
    embedding: Embedding = "",
    several: Several = "best",
    run_id: CgevalRun = "cgeval",
) -> None:
    """Score a model's answers against references and land them in the table gscores.

    Nothing is called.

    Texts by BLEU-4, ROUGE-2, chrF and similarity, calculations by their final answer and steps. Without an embedding model
    the Gscores of texts stay null. Exit code 1 when questions with a reference are not answered yet.

    Example: proctor cgeval score --model sim-example --references references.csv --embedding none
    """
    settings = load_settings()
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings) as lake,
        Progress(f"cgeval {model}: scores") as progress,
    ):
        summary = score_and_land(
            ledger,
            lake,
            settings,
            model,
            references,
            Scoring(
                profile=profile,
                embedding=embedding,
                several=several,  # type: ignore[arg-type]  # checked there
                run_id=run_id,
            ),
            progress=progress.reach,
        )
    if summary.message:
        print_note(summary.message)
    print_result(
        {
            "model": summary.model,
            "run_id": run_id,
            "items": summary.item_count,
            "scored": summary.scored_count,
            "with_gscore": summary.gscore_count,
            "unanswered": summary.unanswered_count,
            "without_reference": summary.without_reference_count,
            "quarantined": summary.refused_count,
            "profile": summary.profile,
            "similarity_model": summary.similarity_model,
            "is_unchanged": summary.is_unchanged,
        }
    )
    if summary.unanswered_count:
        raise typer.Exit(1)


@cgeval_app.command()
def run(
    models: Models,
    references: References,
    profile: Profile = "cgeval-paper",
    embedding: Embedding = "",
    several: Several = "best",
    run_id: CgevalRun = "cgeval",
    *,
    no_server: NoServer = False,
) -> None:
    """Run all of CG-Eval as one flow; it resumes where it stopped.

    Every model answers and is scored, and the report is written.

    Exit code 1 when questions stayed open.

    Example: proctor cgeval run --models sim-example --references references.csv --embedding none
    """
    names = split_names(models)
    if not names:
        raise UsageError("--models names nobody; write for example --models sim-example.")
    check_registry(names)
    if not references.is_file():
        raise UsageError(f"The file {references} of --references does not exist.")
    result = run_flow(
        "gscore",
        without_server=no_server,
        models=names,
        references=str(references.resolve()),
        profile=profile,
        embedding=embedding,
        several=several,
        run_id=run_id,
    )
    print_result(result, then="proctor sql gscore_by_category")
    if any(one["answered"] < one["questions"] for one in result["answered"]):
        raise typer.Exit(1)


@cgeval_app.command()
def sample(
    references: References,
    models: Models = "",
    size: Annotated[int, typer.Option("--size", min=3, help="Answers to draw.")] = 1100,
    seed: Annotated[int, typer.Option("--seed", help="The same seed draws the same sample.")] = 1,
    name: Annotated[str, typer.Option("--name", help="Name to keep it under.")] = "human",
    run_id: CgevalRun = "cgeval",
) -> None:
    """Draw answers for people to score.

    Subjects are drawn in the shares of the pool, with one model at random for each question.

    Example: proctor cgeval sample --references references.csv --size 1100 --name human
    """
    settings = load_settings()
    questions = read_questions(settings)
    with open_ledger(settings.ledger_address) as ledger:
        answers = list_answering_models(ledger, settings, questions, run_id, split_names(models) or [])
    drawn = draw_sample(answers, read_references(references, questions), seed, size)
    is_new = write_sample(settings, name, drawn)
    print_result(
        {
            "sample": name,
            "answers": drawn.height,
            "subjects": drawn["subject"].n_unique(),
            "models": dict(drawn["model"].value_counts().sort("model").rows()),
            "is_new": is_new,
        }
    )


@ratings_app.command("export")
def export_ratings(
    out: Annotated[Path, typer.Argument(help="Workbook (.xlsx) to write.")], sample_name: Sample = "human"
) -> None:
    """Write the workbook in which people score the sample from 0 to 1 in tenths.

    It names no model and no Gscore.

    Example: proctor cgeval ratings export ratings.xlsx --sample human
    """
    drawn = read_sample(load_settings(), sample_name)
    export_rating_workbook(drawn, _check_writable(out))
    print_result({"out": str(out), "sample": sample_name, "answers": drawn.height})


@ratings_app.command("import")
def import_ratings(
    file: Annotated[Path, typer.Argument(help="The filled-in workbook.")],
    rater: Annotated[str, typer.Option("--rater", help="Who rated.")],
    sample_name: Sample = "human",
    rating_round: Annotated[int, typer.Option("--round", min=1, help="Round of rating.")] = 1,
) -> None:
    """Read a filled-in workbook back into the table human_ratings.

    If a cell is faulty, it is named and nothing is landed.

    Example: proctor cgeval ratings import ratings.xlsx --rater li --sample human
    """
    settings = load_settings()
    drawn = read_sample(settings, sample_name)
    with open_lake(settings) as lake:
        result = land_ratings(lake, file, drawn, sample_name, rater, rating_round)
    print_result(result)


@cgeval_app.command()
def agreement(
    sample_name: Sample = "human",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the intervals.")] = 1,
    rating_round: Annotated[int, typer.Option("--round", min=1, help="Round of rating.")] = 1,
) -> None:
    """Kendall's τ and Spearman's ρ of Gscore and each of its parts with people's scores.

    They come with 95% intervals.

    Example: proctor cgeval agreement --sample human
    """
    settings = load_settings()
    with open_lake(settings, read_only=True) as lake:
        found = compute_sample_agreement(lake.run_named, sample_name, seed, rating_round)
    print_frame(found)


def _check_writable(out: Path) -> Path:
    if not out.parent.is_dir():
        raise UsageError(f"The folder {out.parent} does not exist. Make it, or write {out.name} elsewhere.")
    return out
