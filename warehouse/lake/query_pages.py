"""The page of all analyses, views and checks, as Markdown, from the headers of `warehouse/sql`."""

from __future__ import annotations

from itertools import takewhile

from warehouse.lake.queries import SQL_DIR, Query, is_parameter_line, list_queries, read_queries


def render_query_list() -> str:
    """The page of all analyses, views and checks with question, grain and parameters, as Markdown."""
    parts = [
        "# Named queries\n\n"
        "Generated from the headers of `warehouse/sql` by `make docs`; do not edit.\n\n"
        '`proctor sql NAME --param name=value` runs one; `proctor sql "SELECT * FROM NAME"` reads a view. '
        "`proctor doctor` runs the checks.\n\n"
    ]
    parts += [f"- [{query.name}](#{query.name}): {query.question}\n" for query in list_queries(("analyses",))]
    for kind, title, remark in (
        ("analyses", "Analyses", ""),
        ("marts", "Views", "\nViews take no parameters and promise no order.\n"),
        ("checks", "Checks", "\nA check passes when it returns no row.\n"),
    ):
        parts.append(f"\n## {title}\n{remark}")
        parts += [_render_query(query) for query in read_queries(kind).values()]
    return "".join(parts)


def _render_query(query: Query) -> str:
    given = [
        f"`${p.name}`" + (f" (default `{p.default}`)" if p.default is not None else " (required)")
        for p in query.parameters
    ]
    parts = [f"### `{query.name}`", query.question, _lay_out_about(query)]
    if given:
        parts.append(f"Parameters: {', '.join(given)}.")
    return "".join(f"\n{part}\n" for part in parts if part)


def _lay_out_about(query: Query) -> str:
    """The header below the question in its own lines; an indented line (`name  what it is`) is an entry of a list."""
    text = (SQL_DIR / query.kind / f"{query.name}.sql").read_text("utf-8")
    lines: list[str] = []
    was_entry = False
    for line in takewhile(lambda line: line.startswith("--"), text.strip().splitlines()[1:]):
        content = line.removeprefix("--")
        if not content.strip() or is_parameter_line(content):
            continue
        name, gap, about = content.strip().partition("  ")
        is_entry = content.startswith("   ") and bool(gap)
        if is_entry != was_entry and lines:
            lines.append("")
        lines.append(f"- `{name}`: {about.strip()}" if is_entry else content.strip())
        was_entry = is_entry
    return "\n".join(lines)
