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
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Run a named analysis or any SELECT over the lake, read-only, while flows may write.

    Example: proctor sql leaderboard --param month=2026-11

    Example: proctor sql leaderboard --describe

    Example: proctor sql "select discipline, count(*) from bank group by all" --format csv
    """
    import polars as pl

    from deployments.output import print_frame
    from schemas.errors import UsageError
    from schemas.settings import load_settings
    from warehouse.lake import queries
    from warehouse.lake.columns import describe_relation
    from warehouse.lake.reading import run_statement
    from warehouse.lake.store import open_lake

    if format not in ("table", "csv", "json", "parquet"):
        raise UsageError(f"--format {format!r} is not known: use table, csv, json or parquet.")
    format = "json" if as_json else format
    if not query:
        rows = [
            {"name": q.name, "about": q.about, "parameters": ", ".join(p.name for p in q.parameters)}
            for q in queries.list_queries()
        ]
        print_frame(pl.DataFrame(rows), format=format)
        return
    if describe:
        columns = [
            {"column": c.name, "type": c.type, "meaning": c.about} for c in describe_relation(query.strip())
        ]
        print_frame(pl.DataFrame(columns), format=format)
        return
    with open_lake(load_settings(), read_only=True) as lake:
        if any(character.isspace() for character in query.strip()):
            if parameters:
                raise UsageError(
                    "--param goes with a named analysis; write the value into the statement instead."
                )
            frame = run_statement(lake, query)
        else:
            frame = lake.run_named(query, _read_parameters(parameters or []))
    print_frame(frame, format=format)


def shell() -> None:
    """Open DuckDB's own prompt on the lake, read-only; tables need no prefix.

    Example: proctor shell
    """
    from deployments.lake_shell import run_shell
    from schemas.settings import load_settings

    run_shell(load_settings())


def _read_parameters(pairs: list[str]) -> dict[str, object]:
    from schemas.errors import UsageError

    values: dict[str, object] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise UsageError(f"--param {pair!r} is not name=value; write for example --param month=2026-11.")
        values[name] = value
    return values
