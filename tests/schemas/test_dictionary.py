from __future__ import annotations

from schemas.dictionary import find_shared_columns, render_dictionary
from schemas.table import DUCKDB_TYPES, Column
from schemas.tables import TABLES


def begin_row(column: Column) -> str:
    return f"| `{column.name}` | {DUCKDB_TYPES[column.type]} | {column.about} |"


def test_the_dictionary_says_every_table_and_column() -> None:
    page = render_dictionary()
    shared = find_shared_columns()
    explained_once = page.split("\n## Columns of several tables\n")[1].split("\n## ")[0]
    for column in shared:
        assert begin_row(column) in explained_once
    for table in TABLES.values():
        section = page.split(f"\n## {table.name}\n")[1].split("\n## ")[0]
        assert table.grain in section
        for column in table.columns:
            if column in shared:
                # Only one meaning of a name is explained above, so that the name alone leads to it.
                assert f"`{column.name}`" in section.split("\n| ")[0] or column.name == "landing_unit"
            else:
                assert begin_row(column) in section


def test_no_name_is_explained_twice_above_the_tables() -> None:
    names = [column.name for column in find_shared_columns()]
    assert len(names) == len(set(names)) > 50
