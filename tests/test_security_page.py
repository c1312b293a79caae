"""Every attack of docs/attacks.csv has an answer, and a test that exists."""

from __future__ import annotations

import ast
import csv
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "attacks.csv"
COLUMNS = ["section", "attempt", "answer", "test"]


def list_rows(lines: list[str]) -> list[list[str]]:
    """The cells of every row, without the head."""
    head, *rows = csv.reader(lines)
    assert head == COLUMNS
    return rows


@lru_cache
def list_tests(path: str) -> frozenset[str]:
    """The tests of a file as it is written, and those that it takes from others by name."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    # A state machine: `TestX = Machine.TestCase`.
    for node in tree.body:
        is_machine = isinstance(node, ast.Assign) and ast.unparse(node.value).endswith(".TestCase")
        if is_machine and isinstance(node, ast.Assign):
            found |= {f"{name.id}::runTest" for name in node.targets if isinstance(name, ast.Name)}
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(name for name in found if "test" in name.lower())


def find_faults(lines: list[str]) -> list[str]:
    """What is wrong with the rows of a table, one sentence each."""
    faults = []
    for row in list_rows(lines):
        if len(row) != len(COLUMNS) or not all(row):
            faults.append(f"{row[0]!r} has not section, attempt, answer and test")
            continue
        path, _, name = row[3].partition("::")
        # The case of a test in brackets is held to the code where the cases are.
        name = name.partition("[")[0]
        if name not in list_tests(path):
            faults.append(f"{row[3]} does not exist")
    return faults


def test_every_attack_has_an_answer_and_a_test_that_exists() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert find_faults(lines) == []
    assert len(list_rows(lines)) >= 250


@pytest.mark.parametrize(
    "row",
    [
        "Tokens,an attack,an answer,tests/test_security_page.py::test_that_nobody_wrote",
        "Tokens,an attack,an answer,tests/no_such_file.py::test_every_attack",
        "Tokens,an attack,an answer",
        "Tokens,an attack,,tests/test_security_page.py::test_a_row_without_a_test_is_found",
        "Tokens,an attack,an answer,see above",
    ],
)
def test_a_row_without_a_test_is_found(row: str) -> None:
    assert len(find_faults([",".join(COLUMNS), row])) == 1
