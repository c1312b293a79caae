"""Review in Label Studio: review label-studio export|import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.review.handed_in import Batch, Language, StartsNext, print_import, read_language
from deployments.flow_runs import record_and_continue
from schemas.errors import UsageError
from schemas.settings import load_settings
from warehouse.ledger.engine.opening import open_ledger

# Imported within a function: what brings lxml. Not every command here needs it.

label_studio_app = typer.Typer(
    no_args_is_help=True, help="Review in Label Studio: tasks and configuration out, annotations back in."
)


@label_studio_app.command("export")
def export_tasks(
    folder: Annotated[Path, typer.Argument(help="Folder for the tasks and the labelling configuration.")],
    batch_id: Batch = "",
    language: Language = "",
    together: Annotated[
        bool,
        typer.Option("--together", help="One file per batch, for a project in which all annotators work."),
    ] = False,
) -> None:
    """Write the tasks of each annotator as JSON, and their labelling configuration as XML.

    The labelling configuration is in the annotator's language.

    Example: proctor review label-studio export label-studio
    """
    from tasks.review.channels import export_label_studio

    chosen = read_language(language)
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        paths = export_label_studio(
            ledger, folder, batch_id or None, language=chosen, together=together, archive=settings.archive_dir
        )
    lines = [
        *map(str, paths),
        "Next: in Label Studio make a project from the .xml (Labeling Interface > Code) and import a .json into it; when it is "
        "annotated, export it as JSON or JSON-MIN and: proctor review label-studio import EXPORT.json",
    ]
    if not paths:
        lines = ["No batch is open: nothing to export.", "Next: proctor review assign"]
    print_result({"files": [str(path) for path in paths]}, lines=lines)


@label_studio_app.command("import")
def import_annotations(
    paths: Annotated[list[Path], typer.Argument(help="Exports of Label Studio, JSON or JSON-MIN.")],
    person: Annotated[
        list[str] | None,
        typer.Option(
            "--person",
            help="ACCOUNT=ANNOTATOR, the account's number or e-mail address; for files of --together.",
        ),
    ] = None,
    starts_next: StartsNext = True,
    all_or_nothing: Annotated[
        bool, typer.Option("--all-or-nothing", help="Refuse a file with a bad annotation whole.")
    ] = False,
) -> None:
    """Record the annotations of exported projects; bad ones are named by task, field and value.

    A file of another batch, or one whose tasks were altered, is refused whole. Importing again changes nothing.

    Example: proctor review label-studio import project-1.json
    """
    from tasks.review.channels import read_label_studio

    if wrong := [one for one in person or [] if "=" not in one]:
        raise UsageError(f"--person {wrong[0]!r} is not ACCOUNT=ANNOTATOR.")
    people = dict(one.rsplit("=", 1) for one in person or [])
    done = record_and_continue(
        lambda ledger: read_label_studio(ledger, paths, people=people, all_or_nothing=all_or_nothing),
        starts_next=starts_next,
    )
    print_import(done)
