"""The data dictionary: every table and column of the lake as Markdown.

It is made from the same contract as the lake itself.
"""

from __future__ import annotations

from schemas.table import DUCKDB_TYPES, Column, Table
from schemas.tables import TABLES

_HEADER = """# Data dictionary

Generated from `schemas/` by `make docs`; do not edit. The same sentences are comments on the lake's tables and columns.

Read a table with `proctor sql "select * from bank limit 5"`, or in plain DuckDB after
the lines that `proctor attach` prints.

- Every row carries `landing_unit`, the unit of work it was landed with; `landings` counts rows by unit, and `quarantine`
  holds the rows that broke a rule.
- Times are in UTC. Money is in US dollars. A null is never a zero.
- A key is unique within a landing; where work is repeated under a new unit, the marts say which row is current.
"""


def render_dictionary() -> str:
    """The whole dictionary: a list of tables by stage, then one section per table.

    This function writes nothing.
    """
    parts = [_HEADER, "\n## Tables\n\n| table | stage | one row is | landed by |\n|---|---|---|---|\n"]
    for table in TABLES.values():
        parts.append(
            f"| [`{table.name}`](#{table.name}) | {table.stage} | {_cell(table.grain.removeprefix('One row per ').rstrip('.'))} | {table.unit} |\n"
        )
    parts += [_render_table(table) for table in TABLES.values()]
    return "".join(parts)


def _render_table(table: Table) -> str:
    key = ", ".join(f"`{name}`" for name in table.key)
    parts = [f"\n## {table.name}\n\n{table.grain} Key: {key}. Landed by {table.unit}, stage {table.stage}."]
    if table.partition_by is not None:
        parts.append(f" Files are split by `{table.partition_by}`.")
    parts.append("\n\n| column | type | meaning | rules |\n|---|---|---|---|\n")
    for column in table.columns:
        parts.append(
            f"| `{column.name}` | {DUCKDB_TYPES[column.type]} | {_cell(column.about)} | {_cell(_render_rules(column))} |\n"
        )
    return "".join(parts)


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
        rules.append(f"like `{column.pattern}`")
    return "; ".join(rules)


def _cell(text: str) -> str:
    """A bar would end the table's cell."""
    return text.replace("|", "\\|")
