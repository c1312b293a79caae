"""The rooms of ingest import each other one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

INGEST = Path(__file__).resolve().parents[3] / "tasks" / "ingest"
# Each room may use those before it.
ORDER = ("words", "readers", "layout", "content", "tables", "contracts")


def list_rooms_used(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tasks.ingest."):
            names.add(node.module.split(".")[2])
    return names


@pytest.mark.parametrize("room", ORDER)
def test_a_room_uses_only_the_rooms_below_it(room: str) -> None:
    allowed = set(ORDER[: ORDER.index(room) + 1])
    wrong = {path.name: list_rooms_used(path) - allowed for path in (INGEST / room).glob("*.py")}
    assert {name: rooms for name, rooms in wrong.items() if rooms} == {}


def test_no_module_of_a_room_imports_another_in_a_circle() -> None:
    """Circles hide behind imports inside functions: those count too."""
    uses: dict[str, set[str]] = {}
    for path in INGEST.rglob("*.py"):
        name = ".".join(path.relative_to(INGEST).with_suffix("").parts)
        uses[name] = {
            node.module.removeprefix("tasks.ingest.")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tasks.ingest.")
        }
    left = dict(uses)
    while free := [name for name, used in left.items() if not used & set(left)]:
        for name in free:
            del left[name]
    assert left == {}
