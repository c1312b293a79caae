"""The page of rooms: every package, and what it shows to the others, read from its face."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LAYERS = ("tasks", "warehouse", "deployments")
_HEAD = """# Rooms

Every package, and the names on its face (`__init__.pyi`) by the file that defines them. Nobody outside a room imports anything else of it
(`tests/test_walls.py`). `schemas/` has no face: all of it is the contract. Why: [decision 0010](decisions/0010-rooms-have-faces.md).
"""


def render_room_list() -> str:
    """The page, in Markdown: a section for each package, a line for each name on its face."""
    packages = [
        path
        for layer in _LAYERS
        for path in sorted((ROOT / layer).rglob("__init__.py"))
        if path.stat().st_size
    ]
    return "\n".join([_HEAD, *(line for path in packages for line in _render_room(path))])


def _render_room(path: Path) -> Iterator[str]:
    room = path.parent.relative_to(ROOT).as_posix()
    yield f"## `{room}/`\n"
    yield f"{ast.get_docstring(ast.parse(path.read_text(encoding='utf-8')))}\n"
    face = path.with_suffix(".pyi")
    lines = face.read_text(encoding="utf-8").splitlines() if face.exists() else []
    shown: dict[str, list[str]] = {}
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.ImportFrom):
            name = node.names[0].name
            file = f"{(node.module or name).replace('.', '/')}.py"
            shown.setdefault(file, []).append(f"- `{name}`: {lines[node.lineno - 2].removeprefix('# ')}")
    for file, names in shown.items():
        yield f"`{file}`\n"
        yield from (*names, "")
