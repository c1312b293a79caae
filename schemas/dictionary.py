"""The data dictionary in Markdown, from the contract that the lake is made of."""

from __future__ import annotations

from collections import Counter

from schemas.table import DUCKDB_TYPES, MONTH_PATTERN, UUID_PATTERN, Column, Table
from schemas.tables import TABLES

_HEADER = """# Data dictionary

Generated from `schemas/` by `make docs`; do not edit. The same sentences are comments on the lake's tables and columns.

Read a table with `proctor sql "select * from bank limit 5"`, or in plain DuckDB after the lines that `proctor attach` prints;
`proctor sql bank --describe` lists all columns of one.

- `landings` counts rows by `landing_unit`; `quarantine` holds the rows that broke a rule.
- Times are in UTC. Money is in US dollars. A null is never a zero.
- A key is unique within a landing; where work is repeated under a new unit, the marts say which row is current.
"""
_SHARED = """
## Columns of several tables

They mean the same, and keep the same rules, in every table that names them below. `landing_unit` is in every table.

"""
_HEAD = "| column | type | meaning | rules |\n|---|---|---|---|\n"
_PATTERNS = {UUID_PATTERN: "a UUID", MONTH_PATTERN: "YYYY-MM"}
_EVERYWHERE = "landing_unit"


def render_dictionary() -> str:
    """The whole dictionary: tables by stage, shared columns, a section per table."""
    tables = TABLES.values()
    shared = find_shared_columns()
    parts = [_HEADER, "\n## Tables\n\n"]
    stages: dict[str, list[str]] = {}
    for table in tables:
        stages.setdefault(table.stage, []).append(f"[`{table.name}`](#{table.name})")
    parts += [f"- **{stage}**: {', '.join(names)}\n" for stage, names in stages.items()]
    parts += [_SHARED, _HEAD, *(_render_column(column) for column in shared)]
    parts += [_render_table(table, frozenset(shared)) for table in tables]
    return "".join(parts)


def find_shared_columns() -> list[Column]:
    """The columns that several tables have alike; of several meanings the most frequent."""
    counts = Counter(column for table in TABLES.values() for column in table.columns)
    found: dict[str, Column] = {}
    for column, count in counts.most_common():
        if count > 1:
            found.setdefault(column.name, column)
    return sorted(found.values(), key=lambda column: column.name)


def _render_table(table: Table, shared: frozenset[Column]) -> str:
    key = ", ".join(f"`{name}`" for name in table.key)
    parts = [f"\n## {table.name}\n\n{table.grain} Key: {key}. Landed by {table.unit}."]
    if table.partition_by is not None:
        parts.append(f" Files are split by `{table.partition_by}`.")
    above = [f"`{one.name}`" for one in table.columns if one in shared and one.name != _EVERYWHERE]
    if above:
        parts.append(f" [Shared](#columns-of-several-tables): {', '.join(above)}.")
    parts.append("\n")
    if own := [column for column in table.columns if column not in shared]:
        parts += ["\n", _HEAD, *(_render_column(column) for column in own)]
    return "".join(parts)


def _render_column(column: Column) -> str:
    return f"| `{column.name}` | {DUCKDB_TYPES[column.type]} | {_cell(column.about)} | {_cell(_render_rules(column))} |\n"


def _render_rules(column: Column) -> str:
    rules = ["required"] if column.required else []
    if column.allowed is not None:
        rules.append("one of " + ", ".join(f"`{value}`" for value in column.allowed))
    if column.low is not None and column.high is not None:
        rules.append(f"{column.low:g} to {column.high:g}")
    elif column.low is not None:
        rules.append(f"at least {column.low:g}")
    elif column.high is not None:
        rules.append(f"at most {column.high:g}")
    if column.pattern is not None:
        rules.append(_PATTERNS.get(column.pattern, f"like `{column.pattern}`"))
    return "; ".join(rules)


def _cell(text: str) -> str:
    """A bar would end the table's cell."""
    return text.replace("|", "\\|")
