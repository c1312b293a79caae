"""The rooms of the lake: modules import each other one way, at the top of the file."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "warehouse" / "lake").rglob("*.py"))
    if path.stem != "__init__"
}


FACES = {
    ".".join(path.relative_to(ROOT).parent.parts): {
        alias.name: node.module
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for path in (ROOT / "warehouse" / "lake").rglob("__init__.pyi")
}


def list_imports(node: ast.AST) -> set[str]:
    """Modules of the lake that the node imports, for types and by a face as well."""
    found = set()
    for one in ast.walk(node):
        if isinstance(one, ast.ImportFrom) and one.module is not None:
            face = FACES.get(one.module, {})
            found |= {f"{one.module}.{face.get(alias.name) or alias.name}" for alias in one.names}
            found.add(one.module)
        elif isinstance(one, ast.Import):
            found |= {alias.name for alias in one.names}
    return found & set(MODULES)


def test_the_modules_of_the_lake_import_each_other_in_no_circle() -> None:
    order = list(
        TopologicalSorter({name: list_imports(tree) for name, tree in MODULES.items()}).static_order()
    )
    assert set(order) == set(MODULES)


def test_they_do_so_at_the_top_of_the_file() -> None:
    late = {
        name: list_imports(function)
        for name, tree in MODULES.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.ClassDef)
    }
    assert {name: found for name, found in late.items() if found} == {}


def test_only_the_suite_and_its_pages_import_great_expectations() -> None:
    importing = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and "great_expectations" in ast.unparse(node)
    }
    assert importing == {"warehouse.lake.suite.suite", "warehouse.lake.suite.data_docs"}
