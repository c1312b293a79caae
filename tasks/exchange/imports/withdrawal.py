"""Take an import back: its rows leave the lake, and the same file may come in again."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.errors import UsageError
from schemas.imports import IMPORTED_MARKS
from warehouse.lake import Lake


@dataclass(frozen=True)
class Withdrawal:
    """What was taken back."""

    import_id: str
    benchmark: str
    file_name: str
    row_count: int


def withdraw_import(lake: Lake, name: str) -> Withdrawal:
    """Empty the import of that file name, or whose id begins with `name`.

    `landings` keeps that it was there and was emptied.

    Raises UsageError when none or several are meant.
    """
    found = lake.read("imported_files", {"name": name}).to_dicts()
    if not found:
        raise UsageError(f"There is no import {name!r}; `proctor import list` shows their ids and files.")
    if len(found) > 1:
        several = ", ".join(f"{row['import_id']} ({row['file_name']})" for row in found[:8])
        raise UsageError(f"{name!r} fits {len(found)} imports: {several}. Give the id of one.")
    (row,) = found
    lake.land("imported_marks", row["import_id"], IMPORTED_MARKS.frame([]), stage="import")
    return Withdrawal(row["import_id"], row["benchmark"], row["file_name"], row["row_count"])


def list_namesakes(lake: Lake, import_id: str, file_name: str, benchmark: str) -> list[str]:
    """Ids of other imports of a file of this name for this benchmark.

    Their rows count beside those of this import.
    """
    rows = lake.read("imported_files", {"name": file_name}).to_dicts()
    return [
        row["import_id"] for row in rows if row["benchmark"] == benchmark and row["import_id"] != import_id
    ]
