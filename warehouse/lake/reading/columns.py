"""What every column of a table or view means.

DuckLake keeps comments on a table's columns, and none on a view's. So the sentences of views come from here: the query's header
where it lists columns, the glossary (`schemas/data/glossary.yaml`), or the sentence of the same column in what the view reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from schemas.errors import UsageError
from schemas.table import DUCKDB_TYPES
from schemas.tables import TABLES
from warehouse.lake.definitions import read_views
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading.analyses import read_packaged_analyses
from warehouse.lake.reading.queries import (
    Query,
    find_names_read,
    list_header_entries,
    order_by_dependency,
    read_queries,
    write_nulls,
)
from warehouse.lake.reading.trial import connect_trial


@dataclass(frozen=True)
class DescribedColumn:
    """A column with its type in DuckDB; `about` is empty where nothing says what it means."""

    name: str
    type: str
    about: str


def describe_relation(name: str) -> list[DescribedColumn]:
    """The columns of a table, view or analysis, in order; UsageError for any other name."""
    relations = describe_relations()
    if name in relations:
        return relations[name]
    query = read_queries("analyses").get(name) or read_packaged_analyses().get(name)
    if query is None:
        raise UsageError(f"There is no table or view {name!r}; there are {', '.join(sorted(relations))}.")
    with connect_trial() as connection:
        found = connection.execute(f"DESCRIBE {write_nulls(query.body)}").fetchall()
    # DuckDB names what a statement reads only where it can bind it without any types; the words of it always can be read.
    names_read = set(re.findall(r"\w+", query.body)) & set(relations)
    columns, known = _describe_columns(query, found, names_read, relations), read_glossary()["analyses"]
    return [
        replace(one, about=known.get(f"{name}.{one.name}") or one.about or known.get(one.name, ""))
        for one in columns
    ]


@cache
def read_glossary() -> Mapping[str, Mapping[str, str]]:
    """What `views` and `analyses` compute: name of a column → its sentence."""
    import yaml

    text = resources.files("schemas").joinpath("data/glossary.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


@cache
def describe_relations() -> Mapping[str, list[DescribedColumn]]:
    """Every table and view of this version with its columns; needs no lake."""
    described = {
        table.name: [
            DescribedColumn(column.name, DUCKDB_TYPES[column.type], column.about) for column in table.columns
        ]
        for table in TABLES.values()
    }
    views = read_views()
    names_read = find_names_read(views)
    with connect_trial() as connection:
        for query in order_by_dependency(views):
            found = connection.execute(f"DESCRIBE {quote_name(query.name)}").fetchall()
            described[query.name] = _describe_columns(query, found, names_read[query.name], described)
    return described


def _describe_columns(
    query: Query,
    found: Sequence[tuple[str, ...]],
    names_read: AbstractSet[str],
    described: Mapping[str, list[DescribedColumn]],
) -> list[DescribedColumn]:
    """Each column with its sentence: the header's, the glossary's, or that of its origin."""
    header, known = list_header_entries(query), read_glossary()["views"]
    columns = []
    for name, data_type, *_ in found:
        passed_on = {
            column.about
            for relation in sorted(names_read & set(described))
            for column in described[relation]
            if column.name == name
        }
        about = (
            header.get(name)
            or known.get(f"{query.name}.{name}")
            or known.get(name)
            or (passed_on.pop() if len(passed_on) == 1 else "")
        )
        columns.append(DescribedColumn(name, data_type, about))
    return columns
