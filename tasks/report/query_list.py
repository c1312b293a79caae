"""The list of named queries in docs/, made from the headers of the SQL files.

`python -m tasks.report.query_list docs/queries.md` writes it anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from warehouse.lake.queries import SQL_DIR, Query, read_queries

_OPENING = """\
# Named queries

`proctor sql NAME --param name=value` runs an analysis; `proctor sql "SELECT * FROM NAME"` reads a view.
This page is made from the headers of `warehouse/sql/`; write it anew with
`python -m tasks.report.query_list docs/queries.md`.
"""


def render_query_list() -> str:
    """Markdown: every analysis with its question, grain and parameters, then every view."""
    sections = [
        _OPENING,
        *[_render_index_line(query) for query in read_queries("analyses").values()],
        "\n## Analyses\n",
        *[_render_query(query) for query in read_queries("analyses").values()],
        "## Views\n",
        "Views take no parameters and promise no order.\n",
        *[_render_query(query) for query in read_queries("marts").values()],
    ]
    return "\n".join(sections)


def _render_index_line(query: Query) -> str:
    return f"- [{query.name}](#{query.name}): {query.question}"


def _render_query(query: Query) -> str:
    parameters = ", ".join(
        f"`{parameter.name}`"
        + (" (required)" if parameter.default is None else f" (default {parameter.default})")
        for parameter in query.parameters
    )
    lines = [f"### {query.name}\n", f"{_read_header(query)}\n"]
    if parameters:
        lines.append(f"Parameters: {parameters}.\n")
    return "\n".join(lines)


def _read_header(query: Query) -> str:
    """The header as it is laid out in the file, without the line of parameters; aligned lists become lists."""
    lines: list[str] = []
    was_entry = False
    for line in (SQL_DIR / query.kind / f"{query.name}.sql").read_text("utf-8").splitlines():
        if not line.startswith("--"):
            break
        text = line.removeprefix("--")
        if text.strip().startswith(("Parameters:", "$")):
            continue
        # An indented line is an entry: `name  what it is`.
        name, gap, about = text.strip().partition("  ")
        is_entry = text.startswith("   ") and bool(gap)
        if is_entry != was_entry:
            lines.append("")
        lines.append(f"- `{name}`: {about.strip()}" if is_entry else text.strip())
        was_entry = is_entry
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render_query_list(), encoding="utf-8")
