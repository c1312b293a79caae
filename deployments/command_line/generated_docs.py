"""Write the generated pages of docs/ (`make docs`); a test fails when one is stale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from deployments.command_line.command_pages import render_command_list
from deployments.command_line.papers_pages import render_papers_tables
from deployments.command_line.room_pages import render_room_list
from deployments.command_line.team_pages import render_team_routes
from schemas.dictionary import render_dictionary
from tasks.ingest import render_problem_codes
from warehouse.lake.reading import render_query_list

DOCS = Path(__file__).resolve().parents[2] / "docs"

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": render_command_list,
    "data-dictionary.md": render_dictionary,
    "papers-tables.md": render_papers_tables,
    "queries.md": render_query_list,
    "rooms.md": render_room_list,
    "problem-codes.md": render_problem_codes,
    "team-sight.md": render_team_routes,
}


def write_pages(folder: Path = DOCS) -> list[Path]:
    """Write every generated page; returns those that changed."""
    changed = []
    for name, render in PAGES.items():
        path, text = folder / name, render()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    for page in write_pages():
        print(f"wrote {page.name}")
