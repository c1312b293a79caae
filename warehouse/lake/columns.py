"""What every column of a table or view means. DuckLake keeps comments on a table's columns, and none on a view's.

So the sentences of views come from here: the query's header where it lists columns, the glossary (`schemas.columns`),
or the sentence of the same column in what the view reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.columns import GLOSSARY
from schemas.errors import UsageError
from schemas.table import DUCKDB_TYPES
from schemas.tables import TABLES
from warehouse.lake.attach import quote_name
from warehouse.lake.definitions import read_views
from warehouse.lake.queries import Query, list_header_entries, order_by_dependency
from warehouse.lake.trial import connect_trial

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class DescribedColumn:
    """A column with its type in DuckDB; `about` is empty where nothing says what it means."""

    name: str
    type: str
    about: str


def describe_relation(name: str) -> list[DescribedColumn]:
    """The columns of a table or view of this version, in order; raises UsageError for any other name."""
    relations = describe_relations()
    if name not in relations:
        raise UsageError(f"There is no table or view {name!r}; there are {', '.join(sorted(relations))}.")
    return relations[name]


def describe_relations() -> dict[str, list[DescribedColumn]]:
    """Every table and view of this version with its columns; needs no lake."""
    described = {
        table.name: [
            DescribedColumn(column.name, DUCKDB_TYPES[column.type], column.about) for column in table.columns
        ]
        for table in TABLES.values()
    }
    connection = connect_trial()
    try:
        for query in order_by_dependency(connection, read_views()):
            described[query.name] = _describe_view(connection, query, described)
    finally:
        connection.close()
    return described


def _describe_view(
    connection: duckdb.DuckDBPyConnection, query: Query, described: Mapping[str, list[DescribedColumn]]
) -> list[DescribedColumn]:
    read = sorted(connection.get_table_names(query.body) & set(described))
    header = list_header_entries(query)
    columns = []
    for name, data_type, *_ in connection.execute(f"DESCRIBE {quote_name(query.name)}").fetchall():
        passed_on = {
            column.about for relation in read for column in described[relation] if column.name == name
        }
        about = (
            header.get(name)
            or GLOSSARY.get(f"{query.name}.{name}")
            or GLOSSARY.get(name)
            or (passed_on.pop() if len(passed_on) == 1 else "")
        )
        columns.append(DescribedColumn(name, data_type, about))
    return columns
