"""Rows written to a file: CSV, JSON, Parquet, or an Excel workbook.

A file is whole, or as it was before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from deployments.command_line.printing.output import flatten_lists, render_json, to_number
from schemas.errors import UsageError
from tasks.texts import write_safe_csv
from warehouse.stores.whole_files import writing_whole

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake.reading import Rows

# What a sheet holds (ECMA-376; Excel's specifications and limits).
_MOST_ROWS: Final = 1_048_576
_MOST_COLUMNS: Final = 16_384
_LONGEST_TEXT: Final = 32_767
_WIDEST: Final = 60


def write_rows(rows: Rows, path: Path) -> None:
    """Write rows that were read without Polars as JSON."""
    with _written(path) as file:
        file.write(render_json(rows.as_records()).encode() + b"\n")


def write_frame(frame: pl.DataFrame, path: Path, *, format: str) -> None:
    """Write a frame as `csv`, `json`, `parquet` or `xlsx`.

    Raises UsageError where the file cannot be written, or a workbook cannot hold the rows: nothing is left out silently.
    """
    if format == "xlsx":
        _check_size(frame)
    with _written(path) as file:
        if format == "csv":
            file.write(write_safe_csv(flatten_lists(frame)).encode())
        elif format == "parquet":
            frame.write_parquet(file)
        elif format == "xlsx":
            _write_workbook(frame, file)
        else:
            file.write(render_json(frame.to_dicts()).encode() + b"\n")


def _check_size(frame: pl.DataFrame) -> None:
    if frame.height >= _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise UsageError(
            f"A workbook holds {_MOST_ROWS - 1:,} rows of {_MOST_COLUMNS:,} columns; these are {frame.height:,} of {frame.width:,}. "
            "Ask for fewer, or write CSV or Parquet."
        )


def _write_workbook(frame: pl.DataFrame, file: IO[bytes]) -> None:
    """Write one sheet with a filter and a header that stays.

    A text is text, whatever it begins with: it is no formula and no link.
    """
    import xlsxwriter

    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "remove_timezone": True,
    }
    book = xlsxwriter.Workbook(file, options)
    bold = book.add_format({"bold": True})
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    sheet = book.add_worksheet("rows")
    for place, name in enumerate(frame.columns):
        sheet.set_column(place, place, _find_width(frame[name]))
    sheet.freeze_panes(1, 0)
    sheet.write_row(0, 0, frame.columns, bold)
    for number, row in enumerate(flatten_lists(frame).iter_rows(), start=1):
        for place, value in enumerate(row):
            if value is None:
                continue
            if isinstance(value, bool):
                sheet.write_boolean(number, place, value)
            elif isinstance(value, datetime):
                sheet.write_datetime(number, place, value, moment)
            elif isinstance(value, date):
                sheet.write_datetime(number, place, value, day)
            elif isinstance(value, int | float | Decimal):
                _write_number(sheet, number, place, to_number(value) if isinstance(value, Decimal) else value)
            else:
                _write_text(sheet, number, place, str(value), frame.columns[place])
    if frame.height and frame.width:
        sheet.autofilter(0, 0, frame.height, frame.width - 1)
    book.close()


def _write_number(sheet: Any, number: int, place: int, value: float) -> None:
    """Write a number, or its text where a workbook cannot hold it exactly.

    A workbook has no infinite numbers, and rounds whole ones beyond 15 digits: those are text.
    """
    is_exact = (
        abs(value) < 10**15 if isinstance(value, int) else value == value and abs(value) != float("inf")
    )
    if is_exact:
        sheet.write_number(number, place, value)
    else:
        sheet.write_string(number, place, str(value))


def _write_text(sheet: Any, number: int, place: int, text: str, column: str) -> None:
    if len(text) > _LONGEST_TEXT:
        raise UsageError(
            f"A cell of a workbook holds {_LONGEST_TEXT:,} characters; row {number}, column {column} has {len(text):,}. "
            "Leave that column out, or write CSV or Parquet."
        )
    sheet.write_string(number, place, text)


def _find_width(column: pl.Series) -> int:
    longest = max((len(str(value)) for value in column.head(200).to_list()), default=0)
    return min(max(longest, len(column.name)) + 2, _WIDEST)


@contextmanager
def _written(path: Path) -> Iterator[IO[bytes]]:
    """A file beside the one that is meant, which takes its place when all is written."""
    try:
        with writing_whole(path) as draft, draft.open("wb") as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}). Choose another place.") from None
