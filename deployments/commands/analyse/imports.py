"""Other people's results: `import inspect|lm-eval|scores|responses|ratings|records|…`"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import is_json, print_frame, print_note, print_result
from deployments.commands.league.imports import import_league
from deployments.commands.options import split_names
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.exchange.imports import (
    MARK_FIELDS,
    SCORE_FIELDS,
    ImportedFile,
    correlate_benchmarks,
    import_external,
    import_harness,
    import_inspect,
    import_question_records,
    import_table,
    list_namesakes,
    parse_mapping,
    withdraw_import,
)
from warehouse.lake import Lake, open_lake

import_app = typer.Typer(no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The file.")]


def _check_name(name: str) -> str:
    if not name.strip():
        raise typer.BadParameter("it is empty; name the benchmark.")
    return name


Benchmark = Annotated[str, typer.Option("--benchmark", help="Name of the benchmark.", callback=_check_name)]
Map = Annotated[
    list[str] | None,
    typer.Option("--map", help="Our field and the file's column, field=column; may be repeated."),
]
Metrics = Annotated[
    str,
    typer.Option(
        "--metrics", help="Columns that hold a mark each, comma separated, in place of metric and mark."
    ),
]


@import_app.command("inspect")
def inspect_(
    file: File, benchmark: Annotated[str, typer.Option("--benchmark", help="Default: the log's task.")] = ""
) -> None:
    """Take in a log of Inspect, `.eval` or JSON.

    It takes every sample, epoch, scorer and value, and the record as it stood.

    Example: proctor import inspect logs/2026-11-01_gsm8k.eval
    """
    _check_file(file)
    with open_lake(load_settings()) as lake:
        _print_marks(lake, file, import_inspect(lake, file, benchmark or None))


@import_app.command("lm-eval")
def lm_eval(
    file: File,
    model: Annotated[str, typer.Option("--model", help="The model; the samples do not name it.")],
    benchmark: Annotated[str, typer.Option("--benchmark", help="Default: the task in the file's name.")] = "",
) -> None:
    """Take in samples of lm-evaluation-harness (`--log_samples`).

    It takes every metric of every document, and the line as it stood.

    Example: proctor import lm-eval samples_arc_easy_2026-11-01T10-00-00.jsonl --model qwen-7b
    """
    _check_file(file)
    with open_lake(load_settings()) as lake:
        _print_marks(lake, file, import_harness(lake, file, model, benchmark or None))


@import_app.command()
def scores(file: File, benchmark: Benchmark, columns: Map = None, metrics: Metrics = "") -> None:
    """Take in a table of marks by model and question: CSV, TSV, JSONL or Parquet.

    Fields are model, item_id, metric, mark, category, task, repeat, rater, answer, response and scored_on; the first two and
    mark are needed. `proctor sql imported_leaderboard` then ranks the models.

    Example: proctor import scores marks.csv --benchmark llmeval-1 --map model=llm_name --map item_id=question_uuid --map mark=score
    """
    _import_table(file, "scores", benchmark, columns, metrics)


@import_app.command()
def responses(file: File, benchmark: Benchmark, columns: Map = None) -> None:
    """Take in a table of responses without marks: model, item_id and response are needed.

    Example: proctor import responses answers.jsonl --benchmark our-pilot --map response=text
    """
    _import_table(file, "responses", benchmark, columns, "")


@import_app.command()
def ratings(file: File, benchmark: Benchmark, columns: Map = None, metrics: Metrics = "") -> None:
    """Take in a table of people's marks: model, item_id, rater and mark are needed.

    Example: proctor import ratings rated.csv --benchmark our-pilot --map rater=annotator --map mark=stars
    """
    _import_table(file, "ratings", benchmark, columns, metrics)


@import_app.command()
def records(
    file: File,
    benchmark: Benchmark,
    model: Annotated[str, typer.Option("--model", help="Who answered; the records do not name it.")],
) -> None:
    """Take in records of questions (LLMEval-Fair, figure 8).

    It takes each response, with the stars and the text of its judge.

    The published key names (gpt4res, gpt4judge) are read as well. A file with a faulty line is refused as a whole.

    Example: proctor import records answers.jsonl --benchmark our-pilot --model qwen-7b
    """
    _check_file(file)
    with open_lake(load_settings()) as lake:
        _print_marks(lake, file, import_question_records(lake, file, benchmark, model))


@import_app.command()
def external(
    file: File,
    benchmark: Benchmark,
    source: Annotated[str, typer.Option("--source", help="Where the scores were published.")],
    columns: Map = None,
) -> None:
    """Take in a benchmark's published scores by model and day.

    They replace those of an earlier file of that benchmark.

    Fields are model, scored_on and score. `proctor sql external_history` ranks them by day, `proctor sql external_correlation`
    sets them beside ours.

    Example: proctor import external arena.csv --benchmark arena --source lmarena.ai --map scored_on=date --map score=rating
    """
    _check_file(file)
    mapping = parse_mapping(columns or [], SCORE_FIELDS)
    with open_lake(load_settings()) as lake:
        _print(import_external(lake, file, benchmark, source, mapping), "proctor sql external_history")


@import_app.command("list")
def list_imports() -> None:
    """The files of marks and responses that were taken in, the oldest first.

    Example: proctor import list
    """
    with open_lake(load_settings(), read_only=True) as lake:
        print_frame(lake.read("imported_files"))


@import_app.command()
def remove(
    name: Annotated[
        str, typer.Argument(help="Id of the import or its first characters, or the file's name.")
    ],
) -> None:
    """Take an import back, such as a file that was corrected since; its rows no longer count.

    `landings` keeps that it was there. The same file may be imported again.

    Example: proctor import remove marks.csv
    """
    with open_lake(load_settings()) as lake:
        removed = withdraw_import(lake, name)
    print_result(asdict(removed), then="proctor import list")


@import_app.command()
def correlation(
    of: Annotated[
        str, typer.Option("--of", help="An imported benchmark to compare the others with. Default: our S.")
    ] = "",
    month: Annotated[
        str, typer.Option("--month", help="The month of our S. Default: the last published one.")
    ] = "",
) -> None:
    """Spearman's rho of each benchmark with published scores, and ours.

    It comes with its p-value and the number of models in common.

    Example: proctor import correlation --of agieval
    """
    with open_lake(load_settings(), read_only=True) as lake:
        found = correlate_benchmarks(lake, of or None, month or None)
    lines = [
        f"{row['benchmark']}: rho {_show(row['spearman_rho'])}, p {_show(row['p_value'])}, "
        f"{row['candidate_count']} models in common" + (" (simulated)" if row["is_simulated"] else "")
        for row in found
    ]
    print_result({"correlations": found}, lines=lines, then="proctor sql external_history")


def _show(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "unknown"


def _import_table(file: Path, kind: str, benchmark: str, columns: list[str] | None, metrics: str) -> None:
    _check_file(file)
    mapping = parse_mapping(columns or [], MARK_FIELDS)
    with open_lake(load_settings()) as lake:
        found = import_table(lake, file, kind, benchmark, mapping, split_names(metrics) or ())
        _print_marks(lake, file, found)


def _check_file(file: Path) -> None:
    if not file.is_file():
        raise UsageError(f"The file {file} does not exist.")


def _print_marks(lake: Lake, file: Path, found: ImportedFile) -> None:
    _print(found)
    if not is_json() and (others := list_namesakes(lake, found.import_id, file.name, found.benchmark)):
        print_note(
            f"Another import of {file.name}, for {found.benchmark}, is there, and both count. If this one "
            f"corrects it: proctor import remove {others[-1]}"
        )


def _print(found: ImportedFile, then: str = "proctor sql imported_leaderboard") -> None:
    print_result(asdict(found), then=then)


import_app.command("league")(import_league)
