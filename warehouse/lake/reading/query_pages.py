"""The page of all analyses, views and checks, as Markdown.

It is made from the headers of `warehouse/sql`.
"""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.lake.reading.columns import DescribedColumn, describe_relations
from warehouse.lake.reading.queries import Query, is_parameter_line, list_queries, read_queries, split_entry


def render_query_list() -> str:
    """The page of all analyses, views and checks.

    Each has its question, grain and parameters, and views have their columns.
    """
    relations = describe_relations()
    parts = [
        "# Named queries\n\n"
        "Generated from the headers of `warehouse/sql` by `make docs`; do not edit.\n\n"
        '`proctor sql NAME --param name=value` runs one; `proctor sql "SELECT * FROM NAME"` reads a view. '
        "`proctor doctor` runs the checks. `proctor sql NAME --describe` shows what the columns of a table or view mean: "
        "DuckLake keeps no comments on the columns of views.\n\n"
    ]
    parts.append("| analysis | question | has no row as long as |\n|---|---|---|\n")
    parts += [
        f"| [{query.name}](#{query.name}) | {query.question} | {query.no_rows} |\n"
        for query in list_queries(("analyses",))
    ]
    for kind, title, remark in (
        ("analyses", "Analyses", ""),
        ("marts", "Views", "\nViews take no parameters and promise no order.\n"),
        ("staging", "Views of rows as they stand now", ""),
        ("checks", "Checks", "\nA check passes when it returns no row.\n"),
    ):
        parts.append(f"\n## {title}\n{remark}")
        is_view = kind in ("marts", "staging")
        parts += [
            _render_query(query, relations[query.name] if is_view else [])
            for query in read_queries(kind).values()
        ]
    return "".join(parts)


def _render_query(query: Query, columns: Sequence[DescribedColumn]) -> str:
    given = [
        f"`${p.name}`" + (f" (default `{p.default}`)" if p.default is not None else " (required)")
        for p in query.parameters
    ]
    parts = [f"### `{query.name}`", query.question, _lay_out_about(query)]
    if given:
        parts.append(f"Parameters: {', '.join(given)}.")
    if columns:
        parts.append(_render_columns(columns))
    return "".join(f"\n{part}\n" for part in parts if part)


def _lay_out_about(query: Query) -> str:
    """The header below the question, in its own lines.

    An indented line (`name what it is`) is an entry of a list.
    """
    lines: list[str] = []
    was_entry = False
    for line in query.header:
        if (
            not line.strip()
            or is_parameter_line(line)
            or line.strip().startswith(("Shown:", "No rows:", "Marks of:"))
        ):
            continue
        entry = split_entry(line)
        if (entry is not None) != was_entry and lines:
            lines.append("")
        lines.append(line.strip() if entry is None else f"- `{entry[0]}`: {entry[1]}")
        was_entry = entry is not None
    return "\n".join(lines)


def _render_columns(columns: Sequence[DescribedColumn]) -> str:
    rows = [
        f"| `{column.name}` | {column.type} | {column.about.replace('|', chr(92) + '|')} |"
        for column in columns
    ]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])
