"""Publish every judged run that a trial of the lake holds, without the gates.

Its tables of editions are filled as a real lake's.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import duckdb
import polars as pl

from tasks.editions import StabilityRequest
from tests.tasks.editions.kit import compute_stability, estimate_improvements, freeze_edition, read_basis
from tests.warehouse.lake.kit import quote_name
from warehouse.lake.reading.queries import bind_parameters, find_read

PUBLISHED_AT = datetime(2027, 1, 1, tzinfo=UTC)


def publish_runs(connection: duckdb.DuckDBPyConnection) -> None:
    """One edition of each run that has a judgement, the oldest run first.

    It has the disciplines that the run was asked.
    """

    def read(name: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        query = find_read(name)
        values = bind_parameters(query, params or {})
        return (connection.execute(query.body, values) if values else connection.execute(query.body)).pl()

    for run_id in read("unpublished_runs")["run_id"]:
        disciplines = connection.execute(
            "SELECT DISTINCT discipline FROM allocations WHERE run_id = ? ORDER BY 1", [run_id]
        ).fetchall()
        basis = read_basis(read, str(run_id), [str(name) for (name,) in disciplines])
        edition = freeze_edition(read, basis, now=PUBLISHED_AT)
        for table, frame in edition.frames.items():
            insert(connection, table, frame, edition.edition_id)
    for is_simulated in (False, True):
        insert(connection, "improvements", estimate_improvements(read, is_simulated=is_simulated), "told")


def insert(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame, unit: str) -> None:
    """Put rows into a table; most tables of an edition have none in a case, and are left alone."""
    if frame.is_empty():
        return
    connection.register("new_rows", frame.with_columns(landing_unit=pl.lit(unit)).to_arrow())
    connection.execute(f"INSERT INTO {quote_name(table)} BY NAME SELECT * FROM new_rows")
    connection.unregister("new_rows")


def draw_from_editions(connection: duckdb.DuckDBPyConnection) -> None:
    """What `proctor stability` writes of every edition, zero-shot, with small samples."""
    request = StabilityRequest(sample_sizes=(40, 40, 80), samples=3)
    for head in connection.execute("SELECT * FROM editions").pl().iter_rows(named=True):
        query = find_read("stars_of_style")
        asked = {"edition_id": head["edition_id"], "month": head["month"], "prompt_style": "zero_shot"}
        stars = connection.execute(query.body, bind_parameters(query, asked)).pl()
        for table, frame in compute_stability(head, stars, request).frames.items():
            insert(connection, table, frame, head["edition_id"])
