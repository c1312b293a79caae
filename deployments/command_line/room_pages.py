"""The page of rooms: what each room of the house shows to the others, read from its face."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LAYERS = ("tasks", "warehouse", "deployments")
_HEAD = """# Rooms

What each room shows to the others: the names on its face (`__init__.pyi`). Everything else in a room is its own, and nobody outside imports it
(`tests/test_walls.py`). `schemas/` has no face: all of it is the contract. Why: [decision 0010](decisions/0010-rooms-have-faces.md).
"""


def render_room_list() -> str:
    """The page, in Markdown: a section for each room, a line for each name."""
    faces = [path for layer in _LAYERS for path in sorted((ROOT / layer).rglob("__init__.pyi"))]
    return "\n".join([_HEAD, *(line for path in faces for line in _render_room(path))])


def _render_room(path: Path) -> Iterator[str]:
    room = path.parent.relative_to(ROOT).as_posix()
    yield f"## `{room}/`\n"
    yield f"{ast.get_docstring(ast.parse(path.with_suffix('.py').read_text(encoding='utf-8')))}\n"
    yield "| name | file | what it is |\n|---|---|---|"
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.ImportFrom):
            name = node.names[0].name
            file = f"{(node.module or name).replace('.', '/')}.py"
            sentence = lines[node.lineno - 2].removeprefix("# ").replace("|", "\\|")
            yield f"| `{name}` | `{file}` | {sentence} |"
    yield ""
