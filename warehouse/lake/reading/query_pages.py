"""The page of all analyses, views and checks, as Markdown.

It is made from the headers of `warehouse/sql`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from warehouse.lake.reading.columns import DescribedColumn, describe_relations
from warehouse.lake.reading.queries import Query, is_parameter_line, list_queries, read_queries, split_entry

_VIEWS = ("marts", "staging")


def render_query_list() -> str:
    """The page of all analyses, views (with columns) and checks: question, grain, parameters."""
    relations = describe_relations()
    views = [query.name for kind in _VIEWS for query in read_queries(kind).values()]
    shared = find_shared_columns([relations[name] for name in views])
    parts = [
        "# Named queries\n\n"
        "Generated from the headers of `warehouse/sql` by `make docs`; do not edit.\n\n"
        '`proctor sql NAME --param name=value` runs one; `proctor sql "SELECT * FROM NAME"` reads a view. '
        "`proctor doctor` runs the checks. `proctor sql NAME --describe` shows what the columns of a table or view mean: "
        "DuckLake keeps no comments on the columns of views.\n\n"
    ]
    parts += _render_analyses()
    for kind, title, remark in (
        ("analyses", "Analyses", ""),
        ("marts", "Views", f"\nViews take no parameters and promise no order.\n{_render_shared(shared)}"),
        ("staging", "Views of rows as they stand now", ""),
        ("checks", "Checks", "\nA check passes when it returns no row.\n"),
    ):
        parts.append(f"\n## {title}\n{remark}")
        parts += [
            _render_query(query, relations[query.name] if kind in _VIEWS else [], shared)
            for query in read_queries(kind).values()
        ]
    return "".join(parts)


def find_shared_columns(views: Sequence[Sequence[DescribedColumn]]) -> Collection[DescribedColumn]:
    """The columns that several views have alike, by the most frequent of their meanings."""
    counts = Counter(column for columns in views for column in columns)
    found: dict[str, DescribedColumn] = {}
    for column, count in counts.most_common():
        if count > 1:
            found.setdefault(column.name, column)
    return sorted(found.values(), key=lambda column: column.name)


def _render_analyses() -> list[str]:
    """Every analysis with its question and the number of the reason why it has no row."""
    analyses = list_queries(("analyses",))
    reasons = list(dict.fromkeys(query.no_rows for query in analyses))
    parts = ["| analysis | question | no row |\n|---|---|---|\n"]
    parts += [
        f"| [{query.name}](#{query.name}) | {query.question} | {reasons.index(query.no_rows) + 1} |\n"
        for query in analyses
    ]
    parts.append("\nAn analysis has no row as long as\n\n")
    return parts + [f"{number}. {reason}\n" for number, reason in enumerate(reasons, 1)]


def _render_query(
    query: Query, columns: Sequence[DescribedColumn], shared: Collection[DescribedColumn]
) -> str:
    given = [
        f"`${p.name}`" + (f" (default `{p.default}`)" if p.default is not None else " (required)")
        for p in query.parameters
    ]
    parts = [f"### `{query.name}`", query.question, _lay_out_about(query)]
    if given:
        parts.append(f"Parameters: {', '.join(given)}.")
    if above := [f"`{column.name}`" for column in columns if column in shared]:
        parts.append(f"[Shared](#columns-of-several-views): {', '.join(above)}.")
    if own := [column for column in columns if column not in shared]:
        parts.append(_render_columns(own))
    return "".join(f"\n{part}\n" for part in parts if part)


def _lay_out_about(query: Query) -> str:
    """The header below the question in its own lines, an indented one as an entry of a list."""
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


def _render_shared(shared: Collection[DescribedColumn]) -> str:
    return (
        "\n### Columns of several views\n\nThey mean the same in every view that names them as shared.\n\n"
        f"{_render_columns(list(shared))}\n"
    )


def _render_columns(columns: Sequence[DescribedColumn]) -> str:
    rows = [
        f"| `{column.name}` | {column.type} | {column.about.replace('|', chr(92) + '|')} |"
        for column in columns
    ]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])
