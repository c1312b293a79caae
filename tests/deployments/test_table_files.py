"""Rows in files: what was written comes back, and a workbook makes no formula of a text."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest
from openpyxl import load_workbook

from deployments.command_line.printing import write_frame
from schemas.errors import UsageError
from tasks.texts import read_table

FRAME = pl.DataFrame(
    {
        "model": ["=1+1", "西湖-2", None],
        "score": [71.5, None, 3.0],
        "rank": [1, 2**60, 3],
        "is_open": [True, False, None],
        "on": [date(2025, 6, 1), None, date(2025, 7, 1)],
        "at": [datetime(2025, 6, 1, 12, tzinfo=UTC), None, None],
        "answer": [["A", "B"], [], None],
    }
)


def test_a_workbook_holds_the_rows_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.xlsx"
    write_frame(FRAME, path, format="xlsx")
    sheet = load_workbook(path).active
    assert sheet is not None
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0] == FRAME.columns
    assert rows[1][:6] == ["=1+1", 71.5, 1, True, datetime(2025, 6, 1), datetime(2025, 6, 1, 12)]
    assert sheet["A2"].data_type == "s", "a text, whatever it begins with"
    # Beyond 15 digits a workbook would round.
    assert rows[2][:4] == ["西湖-2", None, str(2**60), False]
    assert json.loads(str(rows[1][6])) == ["A", "B"]
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == "A1:G4"


def test_the_other_formats_hold_them_too(tmp_path: Path) -> None:
    write_frame(FRAME, tmp_path / "rows.parquet", format="parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(FRAME)
    write_frame(FRAME, tmp_path / "rows.csv", format="csv")
    assert (
        (tmp_path / "rows.csv").read_text("utf-8").splitlines()[2].startswith("西湖-2,,1152921504606846976")
    )
    assert (tmp_path / "rows.csv").read_text("utf-8").splitlines()[1].startswith("'=1+1,71.5,1")
    write_frame(FRAME, tmp_path / "rows.json", format="json")
    assert json.loads((tmp_path / "rows.json").read_text("utf-8"))[0]["answer"] == ["A", "B"]


def test_sums_and_decimal_fractions_are_numbers_in_every_format(tmp_path: Path) -> None:
    """DuckDB gives a sum of whole numbers, and 0.5 as it is written, as decimal numbers."""
    frame = duckdb.sql("select sum(x) as total, 0.5 as half from range(4) as t (x)").pl()
    write_frame(frame, tmp_path / "rows.xlsx", format="xlsx")
    sheet = load_workbook(tmp_path / "rows.xlsx").active
    assert sheet is not None
    assert [cell.value for cell in sheet[2]] == [6, 0.5]
    write_frame(frame, tmp_path / "rows.json", format="json")
    assert json.loads((tmp_path / "rows.json").read_text("utf-8")) == [{"total": 6, "half": 0.5}]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_is_read_by_whatever_parts_its_names(tmp_path: Path, separator: str) -> None:
    rows = [["model", "mark"], ["西湖-2, a;b", "2.5"]]
    with (tmp_path / "marks.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    assert read_table(tmp_path / "marks.csv").to_dicts() == [{"model": "西湖-2, a;b", "mark": 2.5}]


def test_a_table_in_gbk_is_named_as_that_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "marks.csv").write_bytes("model,mark\na,1\n西湖,2\n".encode("gbk"))
    with pytest.raises(UsageError, match=r"marks\.csv is not UTF-8 from line 3 on \(most likely GBK"):
        read_table(tmp_path / "marks.csv")


def test_what_a_workbook_cannot_hold_is_refused_and_the_file_of_before_stays(tmp_path: Path) -> None:
    path = tmp_path / "rows.xlsx"
    path.write_text("before")
    with pytest.raises(UsageError, match=r"row 2, column text has 32,768"):
        write_frame(pl.DataFrame({"text": ["short", "x" * 32_768]}), path, format="xlsx")
    with pytest.raises(UsageError, match="1,048,575 rows"):
        write_frame(pl.DataFrame({"n": pl.Series(range(1_048_576))}), path, format="xlsx")
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["rows.xlsx"]


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        write_frame(FRAME, tmp_path / "nowhere" / "rows.csv", format="csv")
