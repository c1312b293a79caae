"""Questions that leave: `bank export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from schemas.errors import UsageError, suggest
from schemas.settings import load_settings


@dataclass(frozen=True)
class SliceOptions:
    """Which questions leave."""

    discipline: Annotated[str, typer.Option("--discipline", help="Only this discipline.")] = ""
    question_type: Annotated[str, typer.Option("--type", help="Only this type.")] = ""
    language: Annotated[str, typer.Option("--language", help="Only zh or en.")] = ""
    size: Annotated[int, typer.Option("--size", min=0, help="At most so many, drawn. Default: all.")] = 0
    seed: Annotated[str, typer.Option("--seed", help="Fixes the draw.")] = "slice"


_SUFFIXES = {"parquet": (".parquet",), "jsonl": (".jsonl", ".ndjson"), "record": (".jsonl", ".ndjson")}


def export_bank(
    out: Annotated[
        Path, typer.Argument(help="The file; for inspect and lm-eval a folder, which names the task.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="parquet, jsonl, inspect, lm-eval or record. Default: jsonl for a .jsonl file, else parquet.",
        ),
    ] = "",
    *,
    which: SliceOptions,
    with_answers: Annotated[
        bool, typer.Option("--with-answers", help="With keys and explanations; needs --as.")
    ] = False,
    user_id: Annotated[
        str, typer.Option("--as", help="Who asks: answers leave for an admin or examiner only.")
    ] = "",
    run_id: Annotated[
        str,
        typer.Option("--run", help="With --format record: what this run's candidates answered; needs --as."),
    ] = "",
) -> None:
    """Write questions of the latest bank version, without answers unless you may see them.

    `inspect` writes a dataset and a task for Inspect, `lm-eval` a task for lm-evaluation-harness, `record` the records of figure 8
    (LLMEval-Fair), which never hold the reference answer.
    A question has lists and pictures, which CSV cannot hold.

    Example: proctor bank export law_slice --format inspect --discipline Law --size 200
    """
    # Polars, which `proctor bank` does not need.
    from tasks.bank.exchange import (
        FORMATS,
        Slice,
        check_may_see_answers,
        export_run_records,
        read_slice,
        write_slice,
    )
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    form = form or ("jsonl" if out.suffix.lower() in _SUFFIXES["jsonl"] else "parquet")
    if form not in FORMATS:
        raise UsageError(
            f"There is no format {form!r}.{suggest(form, FORMATS)} There are {', '.join(FORMATS)}."
        )
    if out.suffix and out.suffix.lower() not in _SUFFIXES.get(form, (out.suffix.lower(),)):
        raise UsageError(
            f"{out.name} would hold {form}, which its name does not say. Name a {_SUFFIXES[form][0]} file, or another --format: "
            f"{', '.join(FORMATS)}."
        )
    if run_id and form != "record":
        raise UsageError("--run goes with --format record: other forms hold no responses.")
    wanted = Slice(which.discipline, which.question_type, which.language, which.size, which.seed)
    wanted.check()
    settings = load_settings()
    if with_answers or run_id:
        with open_ledger(settings.ledger_address) as ledger:
            check_may_see_answers(ledger, user_id)
    with open_lake(settings, read_only=True) as lake:
        questions = read_slice(lake, wanted, with_answers=with_answers)
        count = (
            export_run_records(lake, questions, run_id, out)
            if run_id
            else write_slice(questions, form, out, settings.archive_dir)
        )
    print_result(
        {
            "path": str(out),
            "format": form,
            "rows": count,
            "bank_version": questions["bank_version"][0],
            "with_answers": with_answers,
        }
    )
