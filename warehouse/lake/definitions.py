"""What a lake holds: every table of the contract with comments, every mart as a view."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from schemas.errors import StoreError
from schemas.settings import Settings
from schemas.table import DUCKDB_TYPES, Column, Table
from schemas.tables import TABLES
from warehouse.lake.attach import ALIAS, is_postgres, read_definition_digest, write_definition_digest
from warehouse.lake.duck import duckdb
from warehouse.lake.form import describe_form
from warehouse.lake.quoting import quote_name, quote_text
from warehouse.lake.reading.queries import Query, order_by_dependency, read_queries

_ROW_GROUP = "parquet_row_group_size"
# ICU spells TIMESTAMPTZ out; everything else comes back as it was written.
_SPELLINGS = {"TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ"}


class _Digested(NamedTuple):
    """What the digest was computed of: every opening asks for it, and it takes 2 ms."""

    form: str
    parts: list[tuple[str, Table | Query]]
    digest: str


_digested: _Digested | None = None


def read_views() -> dict[str, Query]:
    """What becomes a view: the staging queries and the marts, by name."""
    return {**read_queries("staging"), **read_queries("marts")}


def create_in_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """The contract's tables and views in plain DuckDB, for trying queries without a lake."""
    for table in TABLES.values():
        columns = ", ".join(
            f"{quote_name(column.name)} {DUCKDB_TYPES[column.type]}" for column in table.columns
        )
        connection.execute(f"CREATE TABLE {quote_name(table.name)} ({columns})")
    for query in order_by_dependency(read_views()):
        connection.execute(f"CREATE VIEW {quote_name(query.name)} AS {query.body}")


def has_every_definition(settings: Settings, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a SQLite catalog has exactly this contract, which DuckDB takes 80 ms to tell."""
    if is_postgres(settings.catalog_address):
        return False
    return read_definition_digest(settings, connection) == _contract_digest()


def remember_definitions(settings: Settings) -> None:
    """Note in a SQLite catalog that it has this contract, as long as nothing is redefined."""
    if not is_postgres(settings.catalog_address):
        write_definition_digest(settings, _contract_digest())


def list_missing_definitions(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The statements that bring the lake to this contract; StoreError for another type."""
    views = dict(
        connection.execute(
            f"SELECT view_name, comment FROM duckdb_views() WHERE database_name = '{ALIAS}' AND NOT internal"
        ).fetchall()
    )
    # What was a view may be a table now.
    gone = [f"DROP VIEW {quote_name(name)}" for name in sorted(set(views) & set(TABLES))]
    left = {name: comment for name, comment in views.items() if name not in TABLES}
    return [*gone, *_table_statements(connection), *_view_statements(left)]


def list_missing_packings(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The statements by which files are packed as the contract says, for committed tables."""
    found = dict(
        connection.execute(
            f"SELECT scope_entry, value FROM {ALIAS}.options() WHERE option_name = '{_ROW_GROUP}' AND scope = 'TABLE'"
        ).fetchall()
    )
    return [
        f"CALL {ALIAS}.set_option('{_ROW_GROUP}', '{table.row_group}', table_name => {quote_text(table.name)})"
        for table in TABLES.values()
        if table.row_group is not None and found.get(f"main.{table.name}") != str(table.row_group)
    ]


def create_table_statements(table: Table) -> list[str]:
    """CREATE TABLE, its partitioning and its comments."""
    columns = ", ".join(f"{quote_name(column.name)} {DUCKDB_TYPES[column.type]}" for column in table.columns)
    statements = [f"CREATE TABLE {quote_name(table.name)} ({columns})"]
    if table.partition_by is not None:
        statements.append(
            f"ALTER TABLE {quote_name(table.name)} SET PARTITIONED BY ({quote_name(table.partition_by)})"
        )
    statements.append(_comment_on_table(table))
    statements += [_comment_on_column(table, column) for column in table.columns]
    return statements


def _table_statements(connection: duckdb.DuckDBPyConnection) -> list[str]:
    comments = dict(
        connection.execute(
            f"SELECT table_name, comment FROM duckdb_tables() WHERE database_name = '{ALIAS}'"
        ).fetchall()
    )
    found: dict[str, dict[str, tuple[str, str | None]]] = {}
    for table_name, column_name, data_type, comment in connection.execute(
        f"SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE database_name = '{ALIAS}'"
    ).fetchall():
        found.setdefault(table_name, {})[column_name] = (data_type, comment)
    statements = []
    for table in TABLES.values():
        if table.name not in comments:
            statements += create_table_statements(table)
            continue
        if comments[table.name] != _table_comment(table):
            statements.append(_comment_on_table(table))
        for column in table.columns:
            statements += _column_statements(table, column, found[table.name].get(column.name))
    return statements


def _column_statements(table: Table, column: Column, found: tuple[str, str | None] | None) -> list[str]:
    if found is None:
        return [
            f"ALTER TABLE {quote_name(table.name)} ADD COLUMN {quote_name(column.name)} {DUCKDB_TYPES[column.type]}",
            _comment_on_column(table, column),
        ]
    data_type, comment = found
    if _plain(data_type) != _plain(DUCKDB_TYPES[column.type]):
        raise StoreError(
            f"The lake's column {table.name}.{column.name} is {data_type}, this version of Proctor expects "
            f"{DUCKDB_TYPES[column.type]}. Use the version that wrote the lake, or export and import the table."
        )
    return [] if comment == column.about else [_comment_on_column(table, column)]


def _plain(data_type: str) -> str:
    return _SPELLINGS.get(data_type, data_type).replace('"', "")


def _table_comment(table: Table) -> str:
    about = f"{table.grain} Landed by {table.unit}; key: {', '.join(table.key)}."
    # The comment that is read anyway also says which form the rows of the lake have.
    return f"{about} {describe_form()}" if table.name == "landings" else about


def _contract_digest() -> str:
    """Of every table, column, comment and view of this version; kept while they stay the same."""
    global _digested
    form = describe_form()
    parts: list[tuple[str, Table | Query]] = [*TABLES.items(), *read_views().items()]
    # Parts that are the same objects are equal without a look at them.
    if _digested is None or (_digested.form, _digested.parts) != (form, parts):
        _digested = _Digested(form, parts, _compute_digest(form))
    return _digested.digest


def _compute_digest(form: str) -> str:
    digest = hashlib.sha256(form.encode())
    for table in TABLES.values():
        digest.update(
            repr(
                (table.name, table.grain, table.unit, table.key, table.partition_by, table.row_group)
            ).encode()
        )
        for column in table.columns:
            digest.update(repr((column.name, DUCKDB_TYPES[column.type], column.about)).encode())
    for name, query in sorted(read_views().items()):
        digest.update(f"{name} {_view_comment(query)}".encode())
    return digest.hexdigest()


def _comment_on_table(table: Table) -> str:
    return f"COMMENT ON TABLE {quote_name(table.name)} IS {quote_text(_table_comment(table))}"


def _comment_on_column(table: Table, column: Column) -> str:
    return (
        f"COMMENT ON COLUMN {quote_name(table.name)}.{quote_name(column.name)} IS {quote_text(column.about)}"
    )


def _view_statements(found: dict[str, str | None]) -> list[str]:
    """The statements that drop and make all views again, in order, where one has changed."""
    marts = read_views()
    wanted = {name: _view_comment(query) for name, query in marts.items()}
    ours = {name for name, comment in found.items() if "[definition " in (comment or "")}
    if ours <= set(wanted) and all(found.get(name) == comment for name, comment in wanted.items()):
        return []
    statements = [f"DROP VIEW {quote_name(name)}" for name in sorted(ours)]
    for query in order_by_dependency(marts):
        name = quote_name(query.name)
        statements.append(f"CREATE OR REPLACE VIEW {name} AS {query.body}")
        # The comment ends with a digest of the text that the view is made from.
        statements.append(f"COMMENT ON VIEW {name} IS {quote_text(_view_comment(query))}")
    return statements


def _view_comment(query: Query) -> str:
    return f"{query.question} {query.about} [definition {query.digest}]"
