"""What commands print: tables for people, one JSON document for machines, never both."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def print_result(result: Mapping[str, Any], *, as_json: bool, lines: list[str] | None = None) -> None:
    """Print a result: as JSON, or as the given lines (default: one `name: value` line per entry)."""
    if as_json:
        print(json.dumps(result, ensure_ascii=False, default=_plain, indent=2))
        return
    for line in lines if lines is not None else [f"{name}: {value}" for name, value in result.items()]:
        print(line)


def print_frame(frame: pl.DataFrame, *, format: str = "table", title: str | None = None) -> None:
    """Print a frame as `table`, `csv`, `json` or `parquet` (bytes, for a pipe or a file)."""
    if format == "json":
        print(json.dumps(frame.to_dicts(), ensure_ascii=False, default=_plain, indent=2))
    elif format == "csv":
        sys.stdout.write(_flatten(frame).write_csv())
    elif format == "parquet":
        frame.write_parquet(sys.stdout.buffer)
    else:
        _print_table(frame, title)


def print_note(text: str) -> None:
    """Say something to the person, beside the result: on standard error, so that pipes stay clean."""
    print(text, file=sys.stderr, flush=True)


def _print_table(frame: pl.DataFrame, title: str | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", header_style="bold")
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        table.add_column(name, justify="right" if kind.is_numeric() else "left", overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*[_cell(value) for value in row])
    # Piped output gets its full width: a table cut at 80 columns would lose data silently.
    width = None if sys.stdout.isatty() else max(80, 40 * max(1, len(frame.columns)))
    Console(width=width, soft_wrap=False).print(table)
    if frame.is_empty():
        print("(no rows)")


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    return str(value)


def _flatten(frame: pl.DataFrame) -> pl.DataFrame:
    """CSV has no lists: they go out as JSON text."""
    import polars as pl

    return frame.with_columns(
        pl.col(name).map_elements(
            lambda value: json.dumps(
                value.to_list() if isinstance(value, pl.Series) else value, ensure_ascii=False, default=_plain
            ),
            return_dtype=pl.String,
        )
        for name, kind in zip(frame.columns, frame.dtypes, strict=True)
        if kind.is_nested()
    )


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)
