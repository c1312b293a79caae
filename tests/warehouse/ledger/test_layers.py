"""No module of the ledger imports one that imports it; its rooms go one way."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LEDGER = ROOT / "warehouse" / "ledger"

# Room → the rooms that it uses, each with its reason. All stand on the engine, which uses none.
ROOMS: Mapping[str, Mapping[str, str]] = {
    "engine": {},
    "exam": {},
    "review": {},
    "money": {"exam": "what calls have cost that left the ledger is kept with what left"},
    "trust": {
        "exam": "the check of the log reads the sets of a run, and who loses an account loses its tokens"
    },
}


def name_module(path: Path, root: Path) -> str:
    """The module that a file is, as it is imported."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_imports(folder: Path, root: Path) -> dict[str, set[str]]:
    """Module below `folder` → the modules there that it imports, anywhere and for types."""
    files = {name_module(path, root): path for path in folder.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        names: set[str] = set()
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
                source = ".".join([*above, *([node.module] if node.module else [])])
                names |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
        found[module] = (names & files.keys()) - {module}
    return found


def find_circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Modules that reach themselves, those of one circle together."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for used in imports[waiting.pop()] - seen:
                seen.add(used)
                waiting.append(used)
        return seen

    reached = {module: reach(module) for module in imports}
    circles = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in imports
        if module in reached[module]
    }
    return [list(circle) for circle in sorted(circles)]


def test_no_module_imports_one_that_imports_it() -> None:
    assert find_circles(read_imports(LEDGER, ROOT)) == []


def test_rooms_use_one_another_as_the_table_says_and_no_room_is_unused() -> None:
    folders = {path.name for path in LEDGER.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert folders == ROOMS.keys()
    assert [path.name for path in LEDGER.glob("*.py")] == ["__init__.py"]
    used: dict[str, set[str]] = {room: set() for room in ROOMS}
    for module, others in read_imports(LEDGER, ROOT).items():
        if module != "warehouse.ledger":
            used[module.split(".")[2]] |= {other.split(".")[2] for other in others if other.count(".") >= 2}
    foundation = {room: {"engine"} for room in ROOMS if room != "engine"}
    assert {room: others - {room} for room, others in used.items()} == {
        room: {*ROOMS[room], *foundation.get(room, ())} for room in ROOMS
    }


@pytest.mark.parametrize(
    "back",
    [
        "from ring.one import it\n",
        "import ring.one\n",
        "from ring import one\n",
        "from . import one\n",
        "from .one import it\n",
        "def later() -> None:\n    from ring.one import it\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ring.one import It\n",
    ],
)
def test_a_circle_is_found_however_it_is_closed(tmp_path: Path, back: str) -> None:
    folder = tmp_path / "ring"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text("from ring import two\n")
    (folder / "two.py").write_text("from ring.three import it\n")
    (folder / "three.py").write_text(back)
    (folder / "four.py").write_text("from ring import one\n")
    circle = ["ring.one", "ring.three", "ring.two"]
    assert find_circles(read_imports(folder, tmp_path)) == [circle]
