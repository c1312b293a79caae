"""Tables and lines for people: columns fit, wide characters count, no Python in the text."""

from __future__ import annotations

import sys

import pytest

from deployments.command_line.printing import output, paint, print_result, printing_json, render_entries
from deployments.command_line.printing.output import draw_table

COLUMNS = ("rank", "model", "score", "organisation", "stem")
ROWS = [
    (1, "sim-summit-1", 91.234, "Summit", "秦统一六国是在公元前哪一年" * 4),
    (2, "sim-dune-4", 5.0, None, "short"),
]


def test_without_a_width_every_column_is_whole() -> None:
    lines = draw_table(COLUMNS, ROWS)
    assert "秦统一六国是在公元前哪一年" * 4 in lines[2]
    assert len(lines) == 4
    assert [line.count("│") for line in lines if "┼" not in line] == [4, 4, 4]


def test_on_a_terminal_only_the_columns_that_fit_are_shown_and_none_is_folded() -> None:
    from rich.cells import cell_len

    lines = draw_table(COLUMNS, ROWS, width=44, way_to_all="--wide")
    assert lines[0].split(" │ ") == ["rank", "model       ", "score", "organisation"]
    assert lines[-1] == "… 1 column not shown; --wide shows all"
    assert all(cell_len(line) <= 44 for line in lines)
    assert len(lines) == 5


def test_the_columns_that_a_query_names_come_first() -> None:
    lines = draw_table(COLUMNS, ROWS, width=25, shown=("score", "model", "unknown"))
    assert lines[0].split(" │ ") == ["score", "model"]
    assert lines[-1].startswith("… 3 columns not shown")


def test_chinese_takes_two_columns_and_a_long_text_is_cut() -> None:
    from rich.cells import cell_len

    lines = draw_table(("stem", "n"), [(ROWS[0][4], 1), ("short", 2)], width=80)
    assert lines[2].split(" │ ")[0].rstrip().endswith("…")
    places = {cell_len(line.split("│")[0]) for line in lines if "│" in line}
    assert len(places) == 1


def test_a_cell_cannot_break_the_line_or_send_an_escape_sequence() -> None:
    (line,) = draw_table(("text",), [("one\ntwo\x1b[31m",)])[2:]
    assert line == "one two [31m"


def test_values_are_written_as_people_write_them() -> None:
    numbers = [(1e-15,), (-0.00123,), (12.345,), (0.0,)]
    drawn = [line.strip() for line in draw_table(("p_value",), numbers)[2:]]
    assert drawn == ["1e-15", "-0.0012", "12.35", "0.00"]
    # Elsewhere it is what a subtraction of equals leaves.
    drawn = [line.strip() for line in draw_table(("change",), [*numbers, (-3.6e-15,)])[2:]]
    assert drawn == ["0.00", "-0.0012", "12.35", "0.00", "0.00"]
    assert render_entries({"reserved_usd": 3.6e-15, "p_value": 3.6e-15}) == [
        "reserved usd: 0",
        "p value: 3.6e-15",
    ]
    result = {
        "calls": {"sent": 3, "replayed": 2},
        "landed_rows": {},
        "batch_id": None,
        "judges": ["north", "south"],
        "is_new": True,
        "open": [{"model": "m", "reason": "closed"}],
    }
    assert render_entries(result) == [
        "calls: sent 3, replayed 2",
        "landed rows: none",
        "batch id: –",
        "judges: north, south",
        "is new: yes",
        "open: 1",
        "  model m, reason closed",
    ]


def test_the_next_step_is_for_people_only(capsys: pytest.CaptureFixture[str]) -> None:
    print_result({"n": 1}, then="proctor bank")
    assert capsys.readouterr() == ("n: 1\n", "Next: proctor bank\n")
    with printing_json(True):
        print_result({"n": 1}, then="proctor bank")
    assert capsys.readouterr() == ('{\n  "n": 1\n}\n', "")


def test_colour_is_for_terminals_and_no_color_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert paint("x", "bold") == "x"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert paint("x", "bold") == "\033[1mx\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("x", "bold") == "x"


def test_a_table_longer_than_the_screen_goes_through_the_pager(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("LINES", "10")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PAGER", "sed s/^/paged:/")
    lines = [f"line {number}" for number in range(30)]
    output._print_lines(lines, is_wide=False)
    assert capfd.readouterr().out.splitlines() == [f"paged:{line}" for line in lines]
    output._print_lines(lines[:5], is_wide=False)
    assert "paged" not in capfd.readouterr().out
