"""Ask the lake: sql, attach, shell."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from deployments.command_line import run_shell
from deployments.command_line.printing import (
    explain_empty,
    is_json,
    paint,
    print_document,
    print_frame,
    print_note,
    print_result,
    print_rows,
    write_frame,
    write_rows,
)
from schemas.errors import UsageError, suggest
from schemas.lazy import pl
from schemas.settings import load_settings
from warehouse.lake.reading import (
    CLIENTS,
    LakeReader,
    Rows,
    describe_relation,
    find_query,
    list_runnable_queries,
    queries,
    render_lines,
    run_statement,
    shorten,
)

# Imported within a function: what brings Polars. Not every command here needs it.

_FORMATS: Final = ("table", "csv", "json", "parquet", "xlsx")


@dataclass(frozen=True)
class ShownAs:
    """In which form rows are shown, and where."""

    format: Annotated[str, typer.Option("--format", help="table, csv, json, parquet or xlsx.")] = ""
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the rows to this file; its ending says the format."),
    ] = None
    wide: Annotated[bool, typer.Option("--wide", help="Every column in full, also on a terminal.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False


def sql(
    query: Annotated[
        str, typer.Argument(help="Name of an analysis, or a statement in quotes. Empty: list them.")
    ] = "",
    parameters: Annotated[
        list[str] | None, typer.Option("--param", help="Parameter of a named analysis, as name=value.")
    ] = None,
    describe: Annotated[
        bool,
        typer.Option("--describe", help="Show what the columns of a table or view mean, instead of rows."),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show the SQL with its parameters filled in, as any DuckDB client runs it."
        ),
    ] = False,
    team: Annotated[
        str,
        typer.Option(
            "--team",
            help="A named analysis over what the members of this team see: rows of its models alone.",
        ),
    ] = "",
    *,
    shown_as: ShownAs,
) -> None:
    """Run a named analysis or any SELECT over the lake, read-only, while flows may write.

    On a terminal a table shows the columns that fit; a pipe gets all of them. PAGER shows what is longer than the screen. Without
    any row it says on standard error what must happen first; with --json as a document of its own there.

    Example: proctor sql leaderboard --param month=2026-11

    Example: proctor sql leaderboard --describe

    Example: proctor sql improvement_since --param since_month=2026-09 --output improvement.xlsx

    Example: proctor sql cost_by_team --team research --output research.csv

    Example: proctor sql "select discipline, count(*) from bank group by all" --format csv
    """
    output = shown_as.output
    format = _choose_format("json" if shown_as.as_json else shown_as.format, output)
    if not query:
        _list_queries(format, output)
        return
    if describe:
        found: list[tuple[object, ...]] = [
            (c.name, c.type, c.about) for c in describe_relation(query.strip())
        ]
        print_rows(Rows(("column", "type", "meaning"), found), format=format, is_wide=True)
        return
    is_statement = any(character.isspace() for character in query.strip())
    if is_statement and parameters:
        raise UsageError("--param goes with a named analysis; write the value into the statement instead.")
    given = _read_parameters(parameters or [])
    if explain:
        print(query.strip() if is_statement else queries.render_query(find_query(query), given))
        return
    if team:
        if is_statement:
            raise UsageError(
                "--team goes with a named analysis: a statement may name the lake itself, past what the team sees."
            )
        _run_for_team(team, query, given, format=format, output=output)
        return
    asked = queries.parse_query("statement", "reads", query) if is_statement else find_query(query)
    if format in ("csv", "parquet", "xlsx"):
        from warehouse.lake import open_lake

        with open_lake(load_settings(), read_only=True) as lake:
            frame = run_statement(lake, query) if is_statement else lake.run_named(query, given)
        is_empty = frame.is_empty()
        if output is None:
            print_frame(frame, format=format)
        else:
            write_frame(frame, output, format=format)
    else:
        with LakeReader(load_settings()) as reader:
            rows = run_statement(reader, query) if is_statement else reader.run_named(query, given)
        is_empty = not rows.rows
        if output is None:
            print_rows(
                rows,
                format=format,
                title=_write_marks(rows),
                is_wide=shown_as.wide,
                shown=asked.shown,
                way_to_all="--wide",
            )
        else:
            write_rows(rows, output)
    if output is not None:
        print_note(f"Written: {output}")
    if is_empty:
        statement = query if is_statement else queries.render_query(asked, given)
        with LakeReader(load_settings()) as reader:
            why = explain_empty(
                reader, statement, [one.name for one in asked.parameters], because=asked.no_rows
            )
        # Rows are a JSON array, with and without any: why there are none is a document of its own, beside it.
        print_note(
            json.dumps(why.as_dict(), ensure_ascii=False)
            if format == "json" and output is None
            else why.render()
        )


def _run_for_team(
    team: str, query: str, given: dict[str, object], *, format: str, output: Path | None
) -> None:
    from tasks.models.registry import open_team_lake

    with open_team_lake(load_settings(), team) as lake:
        frame = lake.run_named(query, given)
    if output is None:
        print_frame(frame, format=format)
    else:
        write_frame(frame, output, format=format)
        print_note(f"Written: {output}")
    if frame.is_empty():
        print_note(f"None of its rows is of a model of the team {team!r}.")


def _write_marks(rows: Rows) -> str | None:
    """What is to be known of the editions behind the rows, and how they are attested, or null."""
    if not {"marks", "grade"} & set(rows.columns):
        return None
    from tasks.report import describe_grade, describe_marks

    said: Counter[str] = Counter()
    for marks, count in _count_values(rows, "marks").items():
        for _, name, about in describe_marks(marks, "en"):
            said[f"{name}: {about}"] += count
    for grade, count in _count_values(rows, "grade").items():
        said[f"Attested: {describe_grade({'grade': grade}, 'en')}."] += count
    return (
        "\n".join(
            f"{text}{'' if count == len(rows.rows) else f' ({count} of {len(rows.rows)} rows)'}"
            for text, count in said.items()
        )
        or None
    )


def _count_values(rows: Rows, column: str) -> Counter[str]:
    """How many rows have each text in a column; nothing where there is no such column."""
    if column not in rows.columns:
        return Counter()
    place = rows.columns.index(column)
    return Counter(str(row[place]) for row in rows.rows if row[place])


def attach(
    client: Annotated[
        str, typer.Argument(help="python, polars, pandas, jupyter, cli or r. Empty: all of them.")
    ] = "",
) -> None:
    """Print the lines with which other tools read the lake, offline.

    The tools are Python, Polars, pandas, DuckDB's own prompt, R and Jupyter.

    Paste them: they load DuckDB's extensions from this installation and attach the lake read-only, with all its tables and
    views. Any client of the DuckDB version that is named can do it; Proctor need not be installed beside it.

    They hold no password: PostgreSQL's is taken from PGPASSWORD or ~/.pgpass, the keys of an object store from AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY.

    Example: proctor attach python

    Example: proctor attach r --json
    """
    if client and client not in CLIENTS:
        raise UsageError(
            f"There are no lines for {client!r}.{suggest(client, CLIENTS)} Choose one of {', '.join(CLIENTS)}."
        )
    lines = render_lines(load_settings())
    if is_json():
        print_result(lines if not client else {"duckdb": lines["duckdb"], client: lines[client]})
        return
    if client:
        print(lines[client])
    else:
        for name in CLIENTS:
            print(f"{paint(f'# {name}', 'bold')}\n{shorten(name, lines[name])}\n")
    print_note(f"For DuckDB {lines['duckdb']}. Read-only: nothing that is asked can change the lake.")


def shell() -> None:
    """Open DuckDB's own prompt on the lake, read-only; tables need no prefix.

    Example: proctor shell
    """
    code = run_shell(load_settings())
    if code:
        raise typer.Exit(code)


def _choose_format(format: str, output: Path | None) -> str:
    """The format asked for, or that of the file's ending; UsageError for an unknown one."""
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    chosen = format or ending or "table"
    if chosen not in _FORMATS:
        raise UsageError(f"The format {chosen!r} is not known: use {', '.join(_FORMATS)}.")
    if output is not None and chosen == "table":
        raise UsageError(
            f"{output} says no format. Let it end in .csv, .json, .parquet or .xlsx, or give --format."
        )
    if output is not None and ending in _FORMATS and chosen != ending:
        raise UsageError(f"{output} would hold {chosen}: give it that ending, or another --format.")
    if output is None and chosen == "xlsx":
        raise UsageError("A workbook is written to a file: give --output NAME.xlsx.")
    return chosen


def _list_queries(format: str, output: Path | None) -> None:
    """The named queries with the question that each answers; one per line for people."""
    found = list_runnable_queries()
    if format == "table":
        for query in found:
            takes = "".join(f" ${parameter.name}" for parameter in query.parameters)
            print(f"{paint(query.name, 'bold')}{paint(takes, 'dim')}")
            print(f"    {query.question}")
        print_note("Next: proctor sql NAME, with --param name=value for what stands after a $")
        return
    records = [
        {
            "name": query.name,
            "question": query.question,
            "about": query.about,
            "no_rows": query.no_rows,
            "parameters": ", ".join(parameter.name for parameter in query.parameters),
        }
        for query in found
    ]
    if format == "json" and output is None:
        print_document(records)
        return
    if output is None:
        print_frame(pl.DataFrame(records), format=format)
    else:
        write_frame(pl.DataFrame(records), output, format=format)


def _read_parameters(pairs: list[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise UsageError(f"--param {pair!r} is not name=value; write for example --param month=2026-11.")
        values[name] = value
    return values
