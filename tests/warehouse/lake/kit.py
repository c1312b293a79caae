"""Of the lake, what tests of other rooms need beside its face.

It is one place, so that a room can move what is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from schemas.lazy import pl
from warehouse.lake.attach import remember_data_path
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading.queries import Query, bind_parameters
from warehouse.lake.reading.trial import connect_trial
from warehouse.lake.validation import RefusedRow, find_refusals

__all__ = [
    "RefusedRow",
    "connect_duckdb",
    "connect_trial",
    "find_refusals",
    "quote_name",
    "remember_data_path",
    "run_trial",
]


def run_trial(
    connection: duckdb.DuckDBPyConnection,
    query: Query,
    frames: Mapping[str, pl.DataFrame],
    params: Mapping[str, object],
    prepare: Callable[[duckdb.DuckDBPyConnection], None] = lambda _: None,
    *then: Callable[[duckdb.DuckDBPyConnection], None],
) -> list[pl.DataFrame]:
    """The query's rows where tables hold `frames` and `prepare` was done, and after each `then`.

    The frames have all columns.
    """
    connection.execute("BEGIN")
    try:
        for name, frame in frames.items():
            connection.register("trial_rows", frame.to_arrow())
            connection.execute(f"INSERT INTO {quote_name(name)} BY NAME SELECT * FROM trial_rows")
            connection.unregister("trial_rows")
        values, found = bind_parameters(query, params), []
        for change in (prepare, *then):
            change(connection)
            asked = connection.execute(query.body, values) if values else connection.execute(query.body)
            found.append(asked.pl())
        return found
    finally:
        connection.execute("ROLLBACK")
