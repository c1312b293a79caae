"""The sources of the house, each parsed once for all tests that look at their shape.

Who reads them is marked `READS_SOURCES`, so that one worker does it for all.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("schemas", "warehouse", "tasks", "flows", "deployments")
READS_SOURCES = pytest.mark.xdist_group("sources")

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Import(NamedTuple):
    """An import statement.

    `module` is empty for `import a, b` and for `from . import a`; `level` counts dots; `is_for_types`: below `TYPE_CHECKING`.
    """

    module: str
    names: tuple[str, ...]
    level: int
    is_from: bool
    is_for_types: bool


class Source(NamedTuple):
    """What tests ask of a module: imports, classes and functions at its top, docs, strings.

    Of docstrings the first lines are kept; of a formatted string its fixed parts. Strings of tests are left out.
    """

    imports: tuple[Import, ...]
    definitions: tuple[str, ...]
    first_lines: tuple[str, ...]
    strings: tuple[str, ...]


@cache
def list_files(layer: str, root: Path = ROOT) -> tuple[Path, ...]:
    """The modules of a layer."""
    return tuple(sorted((root / layer).rglob("*.py")))


@cache
def read_source(path: Path) -> Source:
    """Parse a module, and keep what is asked for of it."""
    # A tree is thousands of objects without a circle: nothing is won by looking for garbage among them.
    gc.disable()
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = list(_list_statements(tree.body, False))
        documented = [tree, *(node for node, _ in found if isinstance(node, _DOCUMENTED))]
        docstrings = [
            node.body[0].value
            for node in documented
            if node.body
            and isinstance(node.body[0], ast.Expr)
            and isinstance(node.body[0].value, ast.Constant)
        ]
        return Source(
            tuple(one for node, for_types in found for one in _read_import(node, for_types)),
            tuple(
                node.name
                for node in tree.body
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            ),
            tuple(one.value.strip().partition("\n")[0] for one in docstrings if isinstance(one.value, str)),
            () if path.is_relative_to(ROOT / "tests") else tuple(_list_strings(tree, {*map(id, docstrings)})),
        )
    finally:
        gc.enable()


def _read_import(node: ast.stmt, is_for_types: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = tuple(alias.name for alias in node.names)
        if isinstance(node, ast.Import):
            yield Import("", names, 0, False, is_for_types)
        else:
            yield Import(node.module or "", names, node.level, True, is_for_types)


def _list_statements(body: Sequence[ast.stmt], is_for_types: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement, however deep, and whether it stands below `if TYPE_CHECKING`."""
    for node in body:
        yield node, is_for_types
        below = is_for_types or (
            isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        )
        for field in ("body", "orelse", "finalbody"):
            yield from _list_statements(getattr(node, field, ()), below)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _list_statements(part.body, below)


def _list_strings(tree: ast.Module, docstrings: set[int]) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in docstrings:
                yield node.value
            continue
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [one for one in value if isinstance(one, ast.AST)]
