"""What the page of the papers' tables names exists, and its differences are computed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from deployments.command_line.generated_docs import read_papers_tables, render_papers_tables
from deployments.demo import WITHOUT_ROWS, read_row_counts
from tests.benchmarks.papers_tables import SHARED, list_differences
from tests.deployments.test_cli import list_commands
from warehouse.lake.reading import find_query, queries

ROOT = Path(__file__).resolve().parents[3]
CONTENT = read_papers_tables()
ITEMS: list[dict[str, Any]] = [item for paper in CONTENT["papers"] for item in paper["items"]]


def test_every_table_names_commands_queries_and_tests_that_exist() -> None:
    known = {" ".join(("proctor", *path)) for path in list_commands()}
    for item in ITEMS:
        assert item["make"], item["item"]
        for command in item["make"]:
            if command.startswith("proctor sql "):
                assert find_query(command.removeprefix("proctor sql ")).kind == "analyses"
            else:
                assert command in known, (item["item"], command)
        for named in (item.get("held_by"), item.get("page") and f"docs/{item['page']}"):
            assert named is None or (ROOT / named).is_file(), named


def test_each_paper_has_its_tables_and_figures_once() -> None:
    found = {
        paper["paper"]: sorted(
            number
            for item in paper["items"]
            for kind, numbers in re.findall(r"(Table|Figure)s? ([\d, toand]+)", item["item"].split(" [")[0])
            for number in spread(kind, numbers)
        )
        for paper in CONTENT["papers"]
    }
    for name, tables, figures in (
        ("LLMEval-Fair and LLMEval-3", 10, 11),
        ("League of LLMs", 7, 16),
        ("CG-Eval", 10, 2),
    ):
        expected = [("Figure", at + 1) for at in range(figures)] + [("Table", at + 1) for at in range(tables)]
        assert found[name] == expected, name


def spread(kind: str, numbers: str) -> list[tuple[str, int]]:
    """`1 and 8` as two, `3 to 8` as six."""
    values = [int(one) for one in re.findall(r"\d+", numbers)]
    if " to " in numbers:
        values = list(range(values[0], values[1] + 1))
    return [(kind, value) for value in values]


def test_every_difference_of_the_page_belongs_to_a_table() -> None:
    named = {key for item in ITEMS for key in item.get("compare", ())}
    assert named == {one["key"] for one in CONTENT["differences"]}


def test_every_analysis_has_a_line_with_its_rows_or_its_reason() -> None:
    rows, page = read_row_counts(), render_papers_tables()
    analyses = {query.name: query for query in queries.list_queries(("analyses",))}
    assert set(rows) == set(analyses)
    # What the demo leaves without a row is what it says it does (held by the long test of the demo).
    assert {name for name, (_, last) in rows.items() if not last} == set(WITHOUT_ROWS)
    for name, (first, last) in rows.items():
        reason = "" if last else analyses[name].no_rows
        assert last or reason
        assert f"| `{name}` | {first:,} | {last:,} | {reason} |\n" in page


@pytest.mark.slow
@pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the released tables beside the checkout (or PROCTOR_SHARED_DATA)"
)
def test_the_differences_of_the_page_are_those_that_are_computed() -> None:
    found = [
        {"key": one.key, "what": one.what, "count": one.count, "largest": one.largest}
        for one in list_differences()
    ]
    told = [{name: one[name] for name in found[0]} for one in CONTENT["differences"]]
    assert [one | {"largest": pytest.approx(one["largest"], abs=6e-5)} for one in told] == found
