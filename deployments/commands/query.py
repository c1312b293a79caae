"""Ask the lake: sql, shell."""

from __future__ import annotations

from typing import Annotated

import typer


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(sql)
    app.command()(shell)


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
    format: Annotated[str, typer.Option("--format", help="table, csv, json or parquet.")] = "table",
    wide: Annotated[bool, typer.Option("--wide", help="Every column in full, also on a terminal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Run a named analysis or any SELECT over the lake, read-only, while flows may write.

    On a terminal a table shows the columns that fit; a pipe gets all of them. PAGER shows what is longer than the screen.

    Example: proctor sql leaderboard --param month=2026-11

    Example: proctor sql leaderboard --describe

    Example: proctor sql "select discipline, count(*) from bank group by all" --format csv
    """
    from deployments.output import print_frame, print_rows
    from schemas.errors import UsageError
    from schemas.settings import load_settings
    from warehouse.lake import queries
    from warehouse.lake.reading import LakeReader, Rows, run_statement

    if format not in ("table", "csv", "json", "parquet"):
        raise UsageError(f"--format {format!r} is not known: use table, csv, json or parquet.")
    format = "json" if as_json else format
    if not query:
        _list_queries(format)
        return
    if describe:
        from warehouse.lake.columns import describe_relation

        found: list[tuple[object, ...]] = [
            (c.name, c.type, c.about) for c in describe_relation(query.strip())
        ]
        print_rows(Rows(("column", "type", "meaning"), found), format=format, is_wide=True)
        return
    is_statement = any(character.isspace() for character in query.strip())
    if is_statement and parameters:
        raise UsageError("--param goes with a named analysis; write the value into the statement instead.")
    given = _read_parameters(parameters or [])
    shown = () if is_statement else queries.find_query(query).shown
    if format in ("csv", "parquet"):
        from warehouse.lake.store import open_lake

        with open_lake(load_settings(), read_only=True) as lake:
            frame = run_statement(lake, query) if is_statement else lake.run_named(query, given)
        print_frame(frame, format=format)
        return
    with LakeReader(load_settings()) as reader:
        rows = run_statement(reader, query) if is_statement else reader.run_named(query, given)
    print_rows(rows, format=format, is_wide=wide, shown=shown, way_to_all="--wide")


def shell() -> None:
    """Open DuckDB's own prompt on the lake, read-only; tables need no prefix.

    Example: proctor shell
    """
    from deployments.lake_shell import run_shell
    from schemas.settings import load_settings

    code = run_shell(load_settings())
    if code:
        raise typer.Exit(code)


def _list_queries(format: str) -> None:
    """The named queries with the question that each answers; one per line for people."""
    from deployments.output import paint, print_frame, print_note, print_records
    from warehouse.lake.queries import list_queries

    found = list_queries()
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
            "parameters": ", ".join(parameter.name for parameter in query.parameters),
        }
        for query in found
    ]
    if format == "json":
        print_records(("name", "question", "about", "parameters"), records, as_json=True)
        return
    import polars as pl

    print_frame(pl.DataFrame(records), format=format)


def _read_parameters(pairs: list[str]) -> dict[str, object]:
    from schemas.errors import UsageError

    values: dict[str, object] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise UsageError(f"--param {pair!r} is not name=value; write for example --param month=2026-11.")
        values[name] = value
    return values
