from __future__ import annotations

from schemas.dictionary import render_dictionary
from schemas.table import DUCKDB_TYPES
from schemas.tables import TABLES


def test_the_dictionary_says_every_table_and_column() -> None:
    page = render_dictionary()
    for table in TABLES.values():
        section = page.split(f"\n## {table.name}\n")[1].split("\n## ")[0]
        assert table.grain in section
        for column in table.columns:
            assert f"| `{column.name}` | {DUCKDB_TYPES[column.type]} | {column.about} |" in section
