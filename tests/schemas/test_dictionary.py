from __future__ import annotations

from pathlib import Path

from schemas.dictionary import render_dictionary
from schemas.table import DUCKDB_TYPES
from schemas.tables import TABLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-dictionary.md"


def test_the_dictionary_in_docs_is_the_one_that_schemas_render() -> None:
    assert PAGE.read_text("utf-8") == render_dictionary(), "docs/data-dictionary.md is stale: run `make docs`"


def test_the_dictionary_says_every_table_and_column() -> None:
    page = render_dictionary()
    for table in TABLES.values():
        section = page.split(f"\n## {table.name}\n")[1].split("\n## ")[0]
        assert table.grain in section
        for column in table.columns:
            assert f"| `{column.name}` | {DUCKDB_TYPES[column.type]} | {column.about} |" in section
