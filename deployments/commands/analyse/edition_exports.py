"""What was published, for others: `export inspect|lm-eval|leaderboard|citation`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import is_json, print_document, print_result
from schemas.errors import UsageError, suggest
from schemas.settings import load_settings
from tasks.exchange.editions import (
    Sitting,
    iter_sittings,
    note_export,
    read_edition,
    render_citation,
    render_leaderboard,
    write_harness,
    write_inspect,
)
from tasks.models.registry import open_team_lake
from tasks.running import Progress
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

export_app = typer.Typer(no_args_is_help=True)

Edition = Annotated[str, typer.Argument(help="An edition or a run. Empty: that of the last month.")]
Folder = Annotated[Path, typer.Option("--output", "-o", help="Folder of the files.")]
AsUser = Annotated[
    str, typer.Option("--as", help="Your user: questions and answers leave for an admin or examiner only.")
]
WithAnswers = Annotated[
    bool, typer.Option("--with-answers", help="With reference answers, and with reasons, which quote them.")
]


@export_app.command("inspect")
def export_inspect(
    edition: Edition = "",
    output: Folder = Path("inspect-logs"),
    user_id: AsUser = "",
    with_answers: WithAnswers = False,
) -> None:
    """Write an edition as logs of Inspect, one for each candidate and prompt style.

    `inspect view --log-dir FOLDER` opens them.

    They hold the questions that were put: keep them as you keep the bank.

    Example: proctor export inspect 2026-11/1 --output logs --as examiner-1
    """
    _export(write_inspect, edition, output, user_id, with_answers=with_answers)


@export_app.command("lm-eval")
def export_harness(
    edition: Edition = "",
    output: Folder = Path("lm-eval-samples"),
    user_id: AsUser = "",
    with_answers: WithAnswers = False,
) -> None:
    """Write an edition as samples of lm-evaluation-harness (`--log_samples`).

    Each candidate has a folder.

    They hold the questions that were put: keep them as you keep the bank.

    Example: proctor export lm-eval 2026-11/1 --output samples --as examiner-1
    """
    _export(write_harness, edition, output, user_id, with_answers=with_answers)


@export_app.command("leaderboard")
def export_leaderboard(
    edition: Edition = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file. Default: print it.")] = None,
    team: Annotated[
        str, typer.Option("--team", help="The rows of this team's models alone, as its members see them.")
    ] = "",
) -> None:
    """Print a published leaderboard as JSON.

    It has scores, intervals, ranks and disciplines, as frozen; no question, no answer.

    docs/leaderboard.schema.json is its JSON Schema.

    Example: proctor export leaderboard 2026-11/1 --output leaderboard.json
    """
    settings = load_settings()
    with open_team_lake(settings, team) if team else open_lake(settings, read_only=True) as lake:
        board = render_leaderboard(lake, read_edition(lake, edition))
    if output is None:
        print_document(board)
        return
    _write_text(output, json.dumps(board, ensure_ascii=False, indent=1) + "\n")
    print_result({"path": str(output), "edition": board["edition"]["edition_id"]})


@export_app.command("citation")
def export_citation(
    edition: Edition = "",
    form: Annotated[str, typer.Option("--format", help="text, bibtex or cff.")] = "text",
    title: Annotated[str, typer.Option("--title", help="Name of the exam.")] = "Proctor exam",
    publisher: Annotated[str, typer.Option("--publisher", help="Who publishes it.")] = "Proctor",
) -> None:
    """Print the citation of an edition: what it rests on, and its hash.

    Example: proctor export citation 2026-11/1 --format bibtex --publisher "Exam Board"
    """
    with open_lake(load_settings(), read_only=True) as lake:
        cited = render_citation(read_edition(lake, edition), title=title, publisher=publisher)
    if form not in cited:
        raise UsageError(
            f"There is no form {form!r} of a citation.{suggest(form, cited)} There are {', '.join(sorted(cited))}."
        )
    print_result(cited if is_json() else {}, lines=[cited[form].rstrip("\n")])


def _export(
    write: Callable[[Iterable[Sitting], Path], list[Path]],
    name: str,
    folder: Path,
    user_id: str,
    *,
    with_answers: bool,
) -> None:
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        edition = read_edition(lake, name)
        note_export(ledger, user_id, str(edition["edition_id"]), with_answers=with_answers)
        with Progress("export") as progress:

            def watch() -> Iterator[Sitting]:
                for sitting in iter_sittings(lake, edition, with_answers=with_answers):
                    yield sitting
                    progress.advance()

            files = write(watch(), folder)
    print_result(
        {
            "edition": edition["edition_id"],
            "folder": str(folder),
            "files": len(files),
            "with_answers": with_answers,
        }
    )


def _write_text(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}). Choose another place.") from None
