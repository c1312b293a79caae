"""Raw scores of a league that was made elsewhere: `import league`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from schemas.errors import UsageError
from schemas.settings import load_settings
from tasks.league.statistics import ImportRequest, import_scores
from warehouse.lake import open_lake


@dataclass(frozen=True)
class ImportOptions:
    """What the files do not say of their scores."""

    league_id: Annotated[
        str, typer.Option("--league", help="Name of the league that they become, or are added to.")
    ]
    domain: Annotated[
        str, typer.Option("--domain", help="Domain of scores whose file has no column for it.")
    ] = ""
    run_type: Annotated[
        str, typer.Option("--run-type", help="full, or without_reference: judged without reference answers.")
    ] = "full"
    scale: Annotated[
        str,
        typer.Option("--scale", help="borda (0 to n - 2) or points (0 to 100). Default: borda with ranks."),
    ] = ""
    family: Annotated[
        list[str] | None,
        typer.Option("--family", help="Candidates of one family, as NAME=MODEL,MODEL; may be repeated."),
    ] = None
    rename: Annotated[
        list[str] | None,
        typer.Option(
            "--rename", help="A candidate's name in the files and in the league, as OLD=NEW; may be repeated."
        ),
    ] = None

    def read(self) -> ImportRequest:
        """The request; raises UsageError for a name that is given twice or in another form."""
        families, names = _read_families(self.family or []), _read_names(self.rename or [])
        return ImportRequest(self.league_id, self.domain, self.run_type, self.scale, families, names)


def import_league(
    files: Annotated[list[Path], typer.Argument(help="Workbooks (.xlsx), CSV or Parquet files of scores.")],
    asked: ImportOptions,
) -> None:
    """Read the raw scores of a league that was made elsewhere.

    Then `proctor league report` gives its statistics.

    A CSV or Parquet file has one row per score: answerer and score (or rank), and as many of league_run, round, asker, judge, domain
    and run_type as are known. What a file does not say stays null, and statistics that need it are left out. A file of the same
    name replaces what it gave before.

    Example: proctor import league scores.csv --league summer --domain mathematics

    Example: proctor import league score.xlsx --league lol --domain programming --family "OpenAI=gpt-4.1,o1,o3-mini"
    """
    request = asked.read()
    with open_lake(load_settings()) as lake:
        found = import_scores(lake, files, request)
    print_result(
        {
            "league_id": found.league_id,
            "is_new": found.is_new,
            "candidates": list(found.candidates),
            "scores": dict(found.score_counts),
            "overlaps": dict(found.overlap_counts),
            "sheets_left": {name: list(sheets) for name, sheets in found.sheets_left.items()},
        },
        then=f"proctor league report {found.league_id}",
    )


def _read_names(given: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for text in given:
        old, separator, new = (part.strip() for part in text.partition("="))
        if not separator or not old or not new or old in names:
            raise UsageError(
                f"--rename {text!r} is not OLD=NEW, once for each name; write for example gpt-4.1-2025=gpt-4.1."
            )
        names[old] = new
    return names


def _read_families(given: list[str]) -> dict[str, str]:
    families: dict[str, str] = {}
    for text in given:
        name, separator, models = text.partition("=")
        members = [model.strip() for model in models.split(",") if model.strip()]
        if not separator or not name.strip() or not members:
            raise UsageError(
                f"--family {text!r} is not NAME=MODEL,MODEL; write for example OpenAI=gpt-4.1,o1."
            )
        for model in members:
            if model in families:
                raise UsageError(f"--family: {model} is named twice. A candidate has one family.")
            families[model] = name.strip()
    return families
