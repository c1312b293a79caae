"""Whose leak a text is: `exam trace`."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from schemas.errors import DocumentError, UsageError
from schemas.settings import Settings, load_settings
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.opening import open_ledger

# Imported within the function: what brings SciPy. Neither the help nor a wrong option waits for it.


def trace(
    source: Annotated[
        str, typer.Argument(metavar="TEXT|FILE", help="The leaked text, or a file that holds it (UTF-8).")
    ] = "",
    picture: Annotated[
        list[Path] | None,
        typer.Option(
            "--picture", help="A picture that leaked, as PNG, JPEG or the like; more than once for several."
        ),
    ] = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Look at simulated runs, not at those that count.")
    ] = False,
) -> None:
    """Find the questions of the bank in a leak, its text and pictures, and the likely source.

    It shows who met the questions and when, and how likely each organisation is the source.

    Questions are named by their UUIDs, never by text. Coalitions of two and three are looked at, and that it was nobody of them. The look
    is noted in the audit log. Exit code 3 when an organisation is accused: with a probability of at least 99%.

    Example: proctor exam trace leaked.txt
    """
    from tasks.contamination import describe_trace, trace_text

    text = _read(source)
    shown = {path: _read_picture(path) for path in picture or ()}
    settings = load_settings()
    # Who learns what was met by whom is in the audit log before they learn it.
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        digest = hashlib.sha256(b"".join([text.encode(), *shown.values()])).hexdigest()
        add_entry(connection, Entry("trace", target="leaked text", digest=digest, is_by_caller=True))
    with open_lake(settings, read_only=True) as lake:
        alike = _find_alike(settings, lake, shown)
        report = trace_text(lake, text, pictures=alike, is_simulated=simulated)
    print_result(report, lines=describe_trace(report))
    if report["accused"]:
        raise typer.Exit(3)


def _read_picture(path: Path) -> bytes:
    """Its bytes; of a file that is too large no more than show that it is."""
    from tasks.ingest.originals import LARGEST_FILE

    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _find_alike(settings: Settings, lake: Lake, shown: Mapping[Path, bytes]) -> list[list[str]]:
    """For each picture those of the bank that show the same; nothing of it is kept."""
    if not shown:
        return []
    from tasks.bank.dedupe import find_alike
    from tasks.ingest.originals import take_picture
    from tasks.questions.pictures import read_picture

    found = []
    with tempfile.TemporaryDirectory() as folder:
        aside = settings.model_copy(update={"archive": Path(folder)})
        for path, data in shown.items():
            try:
                made = take_picture(aside, data)
            except DocumentError as error:
                raise UsageError(f"{path}: {error}") from error
            normal = read_picture(aside.archive_dir, made.sha256)
            found.append(find_alike(lake, settings.archive_dir, normal, made.row["perceptual_hash"]))
    return found


def _read(source: str) -> str:
    """The text itself, or what a file of this name holds."""
    try:
        is_file = Path(source).is_file()
    except (OSError, ValueError):
        # A text is longer than any name of a file, or holds what no name does.
        is_file = False
    if not is_file:
        if re.fullmatch(r"\S{1,200}\.[A-Za-z][A-Za-z0-9]{0,4}", source):
            # A name that was mistyped would be a text without a question, and clear everybody.
            raise UsageError(f"There is no file {source}. Put a space into it where it is the text itself.")
        return source
    try:
        return Path(source).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{source} cannot be read as UTF-8 text: {error}.") from error
